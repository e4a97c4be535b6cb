// Which convolutions are done by minimal filtering, and how their tiles are shared among threads.
#include "kernels/winograd.h"

#include <atomic>

#include "kernels/conv_share.h"
#include "memory/scratch.h"

namespace mindtorch {

namespace {

constexpr size_t FEWEST_LINES = 24;  // channels, and features: with fewer the transforms take longer than the products
constexpr size_t FEWEST_TILES = 48;  // below, transformed weights are used too seldom
constexpr size_t FEATURES_TOGETHER = 96;

size_t parts_of(size_t count, size_t each) { return (count + each - 1) / each; }

bool fits(const Convolution& c) {
    if (c.kernel[0] != 3 || c.kernel[1] != 3 || c.stride[0] != 1 || c.stride[1] != 1) return false;
    if (c.dilation[0] != 1 || c.dilation[1] != 1 || c.depth * c.out_depth * c.deep_kernel != 1) return false;
    for (const ptrdiff_t padding : c.padding)
        if (padding < 0 || padding > 2) return false;
    const size_t tiles = c.batch * static_cast<size_t>((c.out_height + 1) / 2 * ((c.out_width + 1) / 2));
    const size_t places = c.batch * static_cast<size_t>(c.out_height * c.out_width);
    return c.channels >= FEWEST_LINES && c.features >= FEWEST_LINES && tiles >= FEWEST_TILES &&
           10 * places >= 7 * 4 * tiles;
}

}  // namespace

bool winograd(const Convolution& c, float* out, const float* in, const WinogradWeights& weights, const float* bias) {
    if (!fits(c)) return false;
    const WinogradLoops& loops = winograd_loops();
    const double work = work_of(c);
    const size_t lines = loops.tile_rows(c), threads = static_cast<size_t>(thread_count());
    // As many blocks for one thread as for the other.
    const size_t blocks = parts_of(parts_of(lines, loops.block(c)), threads) * threads;
    const size_t rows = parts_of(lines, blocks < lines ? blocks : lines), count = parts_of(lines, rows);
    const size_t packed = loops.packed(c), each = loops.scratch(c, rows);
    auto* memory = static_cast<float*>(scratch((packed + workers_for(count, work) * each) * sizeof(float)));
    if (memory == nullptr) return false;
    std::atomic<bool> finite{true};
    for (size_t group = 0; group < c.groups && finite; group++) {
        WinogradWeights own = weights;
        own.data += static_cast<ptrdiff_t>(group * c.features * c.channels * 9);
        share_parts(parts_of(c.features, loops.mr), work, nullptr, 0, [&](size_t from, size_t to, float*) {
            const size_t end = to * loops.mr;
            loops.pack(c, memory, own, from * loops.mr, end < c.features ? end : c.features);
        });
        share(count, work, memory + packed, each, [&](size_t at, float* mine) {
            const size_t row = at * rows, rest = lines - row;
            if (!loops.forward(c, out, in, memory, bias, group, row, rows < rest ? rows : rest, mine)) finite = false;
        });
    }
    return finite;
}

bool winograd_weight_gradient(const Convolution& c, float* weight_grad, const float* grad, const float* in) {
    if (!fits(c)) return false;
    const WinogradLoops& loops = winograd_loops();
    const double work = work_of(c);
    const size_t lines = loops.tile_rows(c), rows = loops.gradient_block(c);
    const size_t pieces = parts_of(c.features, FEATURES_TOGETHER), count = WINOGRAD_PLACES * pieces;
    const size_t sums = loops.sums(c), channels = loops.operand(c, c.channels, rows),
                 features = loops.operand(c, c.features, rows);
    const size_t line = loops.line_scratch(c, rows), product = loops.sum_scratch(c, FEATURES_TOGETHER, rows);
    const size_t each = line < product ? product : line;
    auto* memory = static_cast<float*>(
        scratch((sums + channels + features + workers_for(count + c.channels, work) * each) * sizeof(float)));
    if (memory == nullptr) return false;
    float *tiles = memory + sums, *grads = tiles + channels, *own = grads + features;
    std::atomic<bool> finite{true};
    for (size_t group = 0; group < c.groups && finite; group++) {
        for (size_t row = 0; row < lines; row += rows) {
            const size_t here = rows < lines - row ? rows : lines - row;
            share(c.channels + c.features, work, own, each, [&](size_t at, float* mine) {
                if (at < c.channels)
                    loops.channel(c, tiles, in, group, at, row, here, mine);
                else
                    loops.feature(c, grads, grad, group, at - c.channels, row, here, mine);
            });
            share(count, work, own, each, [&](size_t at, float* mine) {
                const size_t from = at % pieces * FEATURES_TOGETHER, rest = c.features - from;
                loops.sum(c, memory, grads, tiles, at / pieces, from,
                          rest < FEATURES_TOGETHER ? rest : FEATURES_TOGETHER, here, row > 0, mine);
            });
        }
        float* to = weight_grad + group * c.features * c.channels * 9;
        share_parts(c.features, work, nullptr, 0, [&](size_t from, size_t end, float*) {
            if (!loops.gradient(c, to, memory, from, end)) finite = false;
        });
    }
    return finite;
}

}  // namespace mindtorch
