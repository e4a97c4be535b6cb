// Loops over positions: rows and elements picked, written and added.
#pragma once

#include "simd/cpu_capability.h"

#include <stdint.h>

namespace mindtorch {

// Rows of `bytes` at offsets, which are bytes too, from the start of `from` (or of `to`).
struct PickedRows {
    char* to;
    const char* from;
    const int64_t* offsets;
    size_t count, bytes;
    ptrdiff_t step;  // between rows on the side without offsets
};

// A line of elements. Element i lies `positions[i]` times `reach` and i times `lane` from the start of the indexed
// side, i times `step` from that of the other; steps are in bytes.
struct PickedLine {
    char* to;
    const char* from;
    const char* positions;
    size_t count;
    ptrdiff_t positions_step, reach, lane, step;
};

// Numbers that are added, or combined in another way.
enum Sum { FLOAT_SUM, DOUBLE_SUM, LONG_SUM, SUM_COUNT };
enum Combination { ADDED, MULTIPLIED, GREATER, LESSER, COMBINATION_COUNT };

constexpr int WIDTH_COUNT = 5;  // elements of 1 << n bytes

struct IndexLoops {
    // Whether all positions are in low..high-1.
    bool (*within)(const char* positions, size_t count, ptrdiff_t step, int64_t low, int64_t high);
    // Positions, from the end where they are below zero, times `step`; added to what is there if `adds`.
    void (*offsets)(int64_t* to, const char* positions, size_t count, ptrdiff_t positions_step, int64_t extent,
                    int64_t step, bool adds);
    void (*pick_rows)(const PickedRows& rows);               // `from` has the offsets
    void (*place_rows)(const PickedRows& rows);              // `to` has them
    void (*fill_rows[WIDTH_COUNT])(const PickedRows& rows);  // `to` has them, and `from` is one element
    void (*add_rows[SUM_COUNT])(const PickedRows& rows, double factor);
    // One row, the sum of the table's rows that are named, each times its factor where there are any; rows are `bytes`
    // long.
    void (*sum_rows[SUM_COUNT])(char* to, const char* table, const int64_t* numbers, size_t count, size_t bytes,
                                const void* factors);
    void (*gather[WIDTH_COUNT])(const PickedLine& line);
    void (*scatter[WIDTH_COUNT])(const PickedLine& line);
    // A not-a-number is both the greater and the lesser.
    void (*combine[COMBINATION_COUNT][SUM_COUNT])(const PickedLine& line);
    // Divided by `first` more than the counts, at least by one; whole numbers are rounded down.
    void (*divide[SUM_COUNT])(char* to, const int64_t* counts, size_t count, int64_t first);
    // The `many` largest (or smallest) of `count` floats, best first and the first of equals; not-a-numbers are larger
    // than all others. `keys` has room for `many`.
    void (*best)(float* values, int64_t* places, int32_t* keys, const float* from, size_t count, size_t many,
                 bool largest);
    // The item at `number` where the mask holds.
    void (*fill_under[WIDTH_COUNT])(char* to, const uint8_t* mask, const char* number, size_t count);
    size_t (*count_set)(const uint8_t* mask, size_t count);
};

MINDTORCH_DECLARE_LOOPS(IndexLoops, index_loops)

}  // namespace mindtorch
