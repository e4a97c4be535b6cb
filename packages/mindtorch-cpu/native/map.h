// What elementwise loops look like: the driver in elementwise.h gives them dense elements, whatever the operands are.
#pragma once

#include "instructions.h"

namespace mindtorch {

// What a loop computes with: float, double, int64_t, a byte of 0 or 1.
enum Kind { SINGLE, WIDE, WHOLE, TRUTH, KINDS };

constexpr int MOST_SOURCES = 4;
constexpr int MOST_NUMBERS = 4;

// out[i] = f(in[0][i], in[1][i], ..., numbers). `out` may be one of the operands: elements are read before written.
using Map = void (*)(void* out, const void* const* in, size_t count, const double* numbers);

}  // namespace mindtorch
