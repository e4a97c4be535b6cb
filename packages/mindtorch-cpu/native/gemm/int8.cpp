// Which loop multiplies bytes, and how a linear layer is shared among threads.
#include "gemm/int8.h"

#include <math.h>
#include <stdlib.h>

#include "memory/scratch.h"
#include "parallel.h"

namespace mindtorch {

namespace {

constexpr double WORTH_A_THREAD = 4e6;     // multiplications
constexpr size_t WORTH_A_READER = 200000;  // numbers to be rounded
constexpr float SMALLEST_SCALE = 6.1e-5f;

size_t parts_of(size_t count, size_t parts) { return (count + parts - 1) / parts; }

bool adds_four_products() {
#ifdef MINDTORCH_X86_LEVELS
    const char* wanted = getenv("MINDTORCH_INSTRUCTIONS");
    return instruction_set == 3 && __builtin_cpu_supports("avx512vnni") && (wanted == nullptr || *wanted == '\0');
#else
    return false;
#endif
}

const Int8GemmLoops& loops() {
    static const bool dot = adds_four_products();
    return dot ? int8_dot_loops() : int8_gemm_loops();
}

void multiply(const Int8Product& p, size_t width, decltype(Int8GemmLoops::multiply) columns) {
    const double work = static_cast<double>(p.rows) * static_cast<double>(p.columns) * static_cast<double>(p.depth);
    const size_t tiles = parts_of(p.columns, width);
    parallel(tiles, work < WORTH_A_THREAD ? tiles : 1, [&](size_t from, size_t to) {
        columns(p, from * width, to * width < p.columns ? to * width : p.columns);
    });
}

// Panels of the left operand, and the sums of its rows behind them.
struct LeftPanels {
    uint32_t* words;
    int* sums;
    size_t count, size;
};

bool take(size_t rows, size_t depth, const Int8GemmLoops& loop, LeftPanels& left) {
    left.count = parts_of(rows, loop.mr);
    left.size = parts_of(depth, INT8_WORD) * loop.mr;
    left.words = static_cast<uint32_t*>(scratch(left.count * (left.size + loop.mr) * sizeof(uint32_t)));
    if (left.words == nullptr) return false;
    left.sums = reinterpret_cast<int*>(left.words + left.count * left.size);
    return true;
}

// Call pack(words, sums, row, rows) for all panels.
template <typename Pack>
void fill(const LeftPanels& left, size_t rows, size_t depth, size_t mr, const Pack& pack) {
    parallel(left.count, rows * depth < WORTH_A_READER ? left.count : 1, [&](size_t from, size_t to) {
        for (size_t at = from; at < to; at++) {
            const size_t row = at * mr;
            pack(left.words + at * left.size, left.sums + row, row, rows - row < mr ? rows - row : mr);
        }
    });
}

}  // namespace

Parameters parameters_of(float least, float greatest) {
    constexpr double MOST = 127;
    double low = least, high = greatest, scale = (high - low) / MOST, sign = -1;
    if (static_cast<float>(scale) == 0.0f) scale = 0.1;
    if (scale < SMALLEST_SCALE) {
        const double larger = SMALLEST_SCALE / static_cast<double>(static_cast<float>(scale));
        scale = SMALLEST_SCALE;
        sign = 1;
        if (low == 0.0)
            high = scale * MOST;
        else if (high == 0.0)
            low = -scale * MOST;
        else
            low *= larger, high *= larger;
    }
    const bool from_low = sign * fabs(low / scale) < MOST + sign * fabs(high / scale);
    const double start = from_low ? -low / scale : MOST - high / scale;
    const double zero_point = start < 0 ? 0 : start > MOST ? MOST : nearbyint(start);
    return {static_cast<float>(scale), static_cast<int>(zero_point)};
}

Outcome linear_dynamic(const Int8Linear& l) {
    const Int8GemmLoops& loop = loops();
    float least, greatest;
    if (!loop.range(l.input, l.rows * l.depth, &least, &greatest)) return DECLINED;
    const Parameters parameters = parameters_of(least, greatest);
    LeftPanels left;
    if (!take(l.rows, l.depth, loop, left)) return NO_MEMORY;
    const Levels levels = {1.0f / parameters.scale, parameters.zero_point};
    fill(left, l.rows, l.depth, loop.mr, [&](uint32_t* words, int* sums, size_t row, size_t rows) {
        loop.pack_rows(words, sums, l.input + row * l.depth, rows, l.depth, levels);
    });
    const Int8Product product = {l.rows,        l.columns,
                                 l.depth,       left.words,
                                 left.sums,     l.weight,
                                 l.weight_sums, parameters.zero_point,
                                 l.weight_zero, parameters.scale * l.weight_scale,
                                 l.bias,        l.out};
    multiply(product, loop.nr, loop.multiply);
    return DONE;
}

Outcome linear_sums(const Int8Sums& l) {
    const Int8GemmLoops& loop = loops();
    LeftPanels left;
    if (!take(l.rows, l.depth, loop, left)) return NO_MEMORY;
    fill(left, l.rows, l.depth, loop.mr, [&](uint32_t* words, int* sums, size_t row, size_t rows) {
        loop.pack_levels(words, sums, l.input + row * l.depth, rows, l.depth);
    });
    multiply({l.rows, l.columns, l.depth, left.words, left.sums, l.weight, l.weight_sums, l.input_zero, l.weight_zero,
              1.0f, nullptr, l.out},
             loop.nr, loop.multiply_levels);
    return DONE;
}

}  // namespace mindtorch
