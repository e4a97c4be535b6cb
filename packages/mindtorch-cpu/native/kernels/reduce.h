// Reductions of rows and of columns, into accumulators of eight bytes: double for floats, int64_t for whole numbers.
#pragma once

#include "kernels/map.h"

namespace mindtorch {

enum Reduction { SUM, PROD, AMAX, AMIN, NORM1, NORM2, NANSUM, REDUCTION_COUNT };

// bfloat16, as one more kind: it is read and written as it is stored.
constexpr int BFLOAT16_KIND = KINDS;

// How many columns are reduced at a time at most.
constexpr size_t COLUMNS = 1024;

union Accumulator {
    double real;
    long long whole;
};

// Steps from row to row are in bytes; the elements of a row are dense.
struct Reducer {
    Accumulator identity;
    void (*row)(const void* in, size_t count, Accumulator* into);
    // Rows of `width`, each into its accumulator.
    void (*rows)(const void* in, ptrdiff_t step, size_t count, size_t width, Accumulator* into);
    void (*columns)(const void* in, ptrdiff_t step, size_t rows, size_t width, Accumulator* into);
    void (*combine)(Accumulator* into, const Accumulator* other, size_t count);
};

struct ReduceLoops {
    Reducer reducer[REDUCTION_COUNT][KINDS + 1];
    // The sum of squared distances from the means, one for each column.
    void (*row_spread[2])(const void* in, size_t count, const Accumulator* mean, Accumulator* into);
    void (*column_spread[2])(const void* in, ptrdiff_t step, size_t rows, size_t width, const Accumulator* mean,
                             Accumulator* into);
    // Results: float or double, divided, and their roots where `root`.
    void (*finish[2])(void* to, ptrdiff_t step, const Accumulator* from, size_t count, double divisor, bool root);
    void (*finish_bfloat16)(void* to, ptrdiff_t step, const Accumulator* from, size_t count, double divisor, bool root);
};

// `rows` work on whole rows of `count` elements, one after the other; `columns` over `count` rows, dense and one after
// the other, of `width` at most COLUMNS, where `step` elements lie between rows. Extremes leave their places too.
struct CumulativeLoops {
    struct {
        void (*rows[KINDS])(void* out, const void* in, size_t count, size_t rows);
        void (*columns[KINDS])(void* out, const void* in, size_t count, size_t step, size_t width);
    } sum, product;
    struct {
        void (*rows[KINDS])(void* out, long long* places, const void* in, size_t count, size_t rows);
        void (*columns[KINDS])(void* out, long long* places, const void* in, size_t count, size_t step, size_t width);
    } extreme[2];  // the greatest, the least
};

// Where the first greatest (or least) element is; a nan counts as the extreme. [least][kind]
struct ArgExtremeLoops {
    size_t (*row[2][KINDS])(const void* in, size_t count);
    void (*columns[2][KINDS])(const void* in, ptrdiff_t step, size_t rows, size_t width, long long* into);
};

MINDTORCH_DECLARE_LOOPS(ReduceLoops, reduce_loops)
MINDTORCH_DECLARE_LOOPS(CumulativeLoops, cumulative_loops)
MINDTORCH_DECLARE_LOOPS(ArgExtremeLoops, arg_extreme_loops)

}  // namespace mindtorch
