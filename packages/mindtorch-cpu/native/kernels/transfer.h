// Loops that make elements dense and put them back.
#pragma once

#include "simd/cpu_capability.h"

namespace mindtorch {

// How elements are stored: one, two (bfloat16), four, eight or two bytes (float16); those of two are computed with as
// floats.
enum Stored { BYTE, BFLOAT16, WORD, LONG_WORD, FLOAT16, STORED_COUNT };

// Steps are in bytes; 0 repeats one element.
using Transfer = void (*)(void* to, const void* from, ptrdiff_t step, size_t count);

struct TransferLoops {
    Transfer load[STORED_COUNT];   // strided to dense
    Transfer store[STORED_COUNT];  // dense to strided
};

MINDTORCH_DECLARE_LOOPS(TransferLoops, transfer_loops)

}  // namespace mindtorch
