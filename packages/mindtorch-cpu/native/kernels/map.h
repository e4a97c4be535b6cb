// What elementwise loops look like: the driver in elementwise.h gives them dense elements, whatever the operands are.
#pragma once

#include "simd/cpu_capability.h"

namespace mindtorch {

// What a loop computes with: float, double, int64_t, a byte of 0 or 1.
enum Kind { FLOAT_KIND, DOUBLE_KIND, LONG_KIND, BOOL_KIND, KINDS };

constexpr int MOST_SOURCES = 4;
constexpr int MOST_NUMBERS = 4;

// out[i] = f(in[0][i], in[1][i], ..., numbers). `out` may be one of the operands: elements are read before written.
using Map = void (*)(void* out, const void* const* in, size_t count, const double* numbers);

// The loops of one operation. Bit i of a loop's place: in[i] is one element for all.
constexpr int FORM_COUNT = 8;
struct Forms {
    Map form[FORM_COUNT];
};

// Elements of two bytes that loops may read and write in place of float: bfloat16 and float16. What is one element for
// all is a float all the same.
enum ReducedFormat { BFLOAT16_FORMAT, FLOAT16_FORMAT, REDUCED_FORMATS };

}  // namespace mindtorch
