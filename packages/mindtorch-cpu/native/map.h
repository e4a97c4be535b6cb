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

// Loops that read and write bfloat16 in place of float. Bit i of a loop's place: in[i] has floats all the same.
constexpr int BRAIN_FORMS = 8;
struct BrainMaps {
    Map form[BRAIN_FORMS];
};

}  // namespace mindtorch
