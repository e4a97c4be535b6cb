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
    if (!loop.range(l.input, l.rows * l.depth, &least, &greatest)) return NOT_FINITE;
    const Parameters parameters = parameters_of(least, greatest);
    const size_t panels = parts_of(l.rows, loop.mr), panel = parts_of(l.depth, INT8_WORD) * loop.mr;
    auto* left = static_cast<uint32_t*>(scratch(panels * (panel + loop.mr) * sizeof(uint32_t)));
    if (left == nullptr) return NO_MEMORY;
    auto* sums = reinterpret_cast<int*>(left + panels * panel);
    const Levels levels = {1.0f / parameters.scale, parameters.zero_point};
    parallel(panels, l.rows * l.depth < WORTH_A_READER ? panels : 1, [&](size_t from, size_t to) {
        for (size_t at = from; at < to; at++) {
            const size_t row = at * loop.mr, rows = l.rows - row < loop.mr ? l.rows - row : loop.mr;
            loop.pack_rows(left + at * panel, sums + row, l.input + row * l.depth, rows, l.depth, levels);
        }
    });
    const Int8Product product = {l.rows,        l.columns,
                                 l.depth,       left,
                                 sums,          l.weight,
                                 l.weight_sums, parameters.zero_point,
                                 l.weight_zero, parameters.scale * l.weight_scale,
                                 l.bias,        l.out};
    const double work = static_cast<double>(l.rows) * static_cast<double>(l.columns) * static_cast<double>(l.depth);
    const size_t tiles = parts_of(l.columns, loop.nr);
    parallel(tiles, work < WORTH_A_THREAD ? tiles : 1, [&](size_t from, size_t to) {
        loop.multiply(product, from * loop.nr, to * loop.nr < l.columns ? to * loop.nr : l.columns);
    });
    return DONE;
}

}  // namespace mindtorch
