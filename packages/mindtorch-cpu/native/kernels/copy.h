// Loops that move and convert elements of planes, and copies of strided regions made of them.
#pragma once

#include "simd/cpu_capability.h"

#include <stdint.h>

namespace mindtorch {

// A plane of elements; steps are in bytes.
struct Plane {
    char* to;
    const char* from;
    size_t rows, columns;
    ptrdiff_t to_row, from_row, to_column, from_column;
};

using PlaneLoop = void (*)(const Plane& plane);

// What elements convert from and to; BFLOAT16 is bfloat16.
enum Kind { BOOL, UINT8, INT32, INT64, HALF, BFLOAT16, FLOAT32, FLOAT64, KIND_COUNT };

constexpr int SIZE_COUNT = 5;  // elements of 1 << n bytes

struct CopyLoops {
    PlaneLoop move[SIZE_COUNT];
    // Where rows are adjacent in `to` and columns in `from`: to_column and from_row are the size of an element.
    PlaneLoop transpose[SIZE_COUNT];
    PlaneLoop convert[KIND_COUNT][KIND_COUNT];  // [to][from]; null for what is numpy's
};

MINDTORCH_DECLARE_LOOPS(CopyLoops, copy_loops)

}  // namespace mindtorch
