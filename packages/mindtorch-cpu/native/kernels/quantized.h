// Whole numbers of eight or 32 bits that stand for numbers: loops from one to the other, and of sums and products.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// The range that results are brought into, in the type in which they are computed. What is no number becomes `most`,
// of 32 bits `least`.
struct Range {
    double least, most;
};

// What two operands are read by, and what their result is written by; `factor` is that of a product.
struct BinaryScales {
    float scales[2];
    int zero_points[2];
    float scale, factor;
    int zero_point;
    bool relu;
};

// How sums of integers become those of a result. By fbgemm, bias and sum are scaled together.
struct Requantization {
    const float *factors, *bias;  // of each column
    float inverse_scale;
    int zero_point;
    bool scaled_bias, relu;
};

enum Integers { BYTES, SIGNED_BYTES, INTEGERS };

struct QuantizedLoops {
    // Bytes of either sign: product and sum are rounded once.
    void (*levels)(uint8_t* out, const float* in, size_t count, float inverse_scale, int zero_point, Range range);
    // Product and sum are rounded one after the other.
    void (*wide_levels)(int32_t* out, const float* in, size_t count, float inverse_scale, int zero_point, Range range);
    void (*numbers[3])(float* out, const void* in, size_t count, float scale, int zero_point);
    void (*clamp[3])(void* out, const void* in, size_t count, int least, int most);
    // The first `whole` elements as torch's vectors add them, the others as it adds single ones.
    void (*add[2])(uint8_t* out, const void* a, const void* b, size_t whole, size_t count, const BinaryScales& p,
                   Range range);
    void (*mul[2])(uint8_t* out, const void* a, const void* b, size_t count, const BinaryScales& p, Range range);
    // One row of sums.
    void (*requantize)(uint8_t* out, const float* sums, size_t columns, const Requantization& r, Range range);
};

MINDTORCH_DECLARE_LOOPS(QuantizedLoops, quantized_loops)

}  // namespace mindtorch
