// Sums and products of all elements up to each, in double precision; extremes of them, and where they are.
#include "kernels/reduce_vector.h"
#include "simd/loop.h"

namespace mindtorch {

namespace {

// Rows whose chains of operations run side by side.
constexpr size_t CHAINS = 4;

template <typename Op, typename T, size_t chains>
INLINE void running_chains(T* out, const T* in, size_t count) {
    using W = typename Wide<T>::Of;
    W totals[chains];
    for (size_t row = 0; row < chains; row++) totals[row] = Op::template identity<W>();
    for (size_t i = 0; i < count; i++) {  // stores follow all loads, whose addresses may be as many pages apart
        for (size_t row = 0; row < chains; row++) totals[row] = Op::combine(totals[row], (W)in[row * count + i]);
        for (size_t row = 0; row < chains; row++) out[row * count + i] = (T)totals[row];
    }
}

template <typename Op, typename T>
void running_rows(void* given, const void* from, size_t count, size_t rows) {
    auto* out = static_cast<T*>(given);
    const auto* in = static_cast<const T*>(from);
    size_t row = 0;
    for (; row + CHAINS <= rows; row += CHAINS)
        running_chains<Op, T, CHAINS>(out + row * count, in + row * count, count);
    for (; row < rows; row++) running_chains<Op, T, 1>(out + row * count, in + row * count, count);
}

template <typename Op, typename T>
void running(void* given, const void* from, size_t count, size_t step, size_t width) {
    using W = typename Wide<T>::Of;
    auto* out = static_cast<T*>(given);
    const auto* in = static_cast<const T*>(from);
    W totals[COLUMNS];
    for (size_t j = 0; j < width; j++) totals[j] = Op::template identity<W>();
    for (size_t row = 0; row < count; row++, out += step, in += step) {
        MINDTORCH_IVDEP
        for (size_t j = 0; j < width; j++) {
            totals[j] = Op::combine(totals[j], (W)in[j]);
            out[j] = (T)totals[j];
        }
    }
}

// The last of equal extremes is found, and the last nan where there is one.
template <bool least, typename T>
INLINE bool is_reached(T best, T x) {
    return (least ? x <= best : x >= best) | (x != x);
}

template <bool least, typename T>
void extremes_of_row(T* out, long long* places, const T* in, size_t count) {
    constexpr size_t PART = 32;
    T best = in[0];
    long long at = 0;
    for (size_t start = 0; start < count; start += PART) {
        const size_t part = count - start < PART ? count - start : PART;
        int reached = part < PART ? 1 : 0;
        if (part == PART)
            for (size_t i = 0; i < PART; i++) reached |= is_reached<least>(best, in[start + i]) ? 1 : 0;
        if (reached == 0) {
            for (size_t i = 0; i < PART; i++) out[start + i] = best;
            for (size_t i = 0; i < PART; i++) places[start + i] = at;
            continue;
        }
        for (size_t i = start; i < start + part; i++) {
            if (is_reached<least>(best, in[i])) {
                best = in[i];
                at = (long long)i;
            }
            out[i] = best;
            places[i] = at;
        }
    }
}

template <bool least, typename T>
void extreme_rows(void* out, long long* places, const void* in, size_t count, size_t rows) {
    for (size_t row = 0; row < rows; row++)
        extremes_of_row<least>(static_cast<T*>(out) + row * count, places + row * count,
                               static_cast<const T*>(in) + row * count, count);
}

template <typename T>
struct Places {
    using Of = typename Vectors<T>::Whole;
};
template <>
struct Places<unsigned char> {
    using Of = int;
};

template <bool least, typename T>
void extremes(void* given, long long* places, const void* from, size_t count, size_t step, size_t width) {
    using Whole = typename Places<T>::Of;
    auto* out = static_cast<T*>(given);
    const auto* in = static_cast<const T*>(from);
    T best[COLUMNS];
    Whole at[COLUMNS];
    for (size_t j = 0; j < width; j++) {
        best[j] = in[j];
        at[j] = 0;
    }
    for (size_t row = 0; row < count; row++, out += step, in += step, places += step) {
        MINDTORCH_IVDEP
        for (size_t j = 0; j < width; j++) {
            const bool reached = is_reached<least>(best[j], in[j]);
            best[j] = reached ? in[j] : best[j];
            at[j] = reached ? (Whole)row : at[j];
            out[j] = best[j];
        }
        for (size_t j = 0; j < width; j++) places[j] = at[j];
    }
}

}  // namespace

#define RUNNING(Op)                                                                                  \
    {                                                                                                \
        {running_rows<Op, float>, running_rows<Op, double>, running_rows<Op, long long>, nullptr}, { \
            running<Op, float>, running<Op, double>, running<Op, long long>, nullptr                 \
        }                                                                                            \
    }
#define EXTREMES(loop, least) \
    {loop<least, float>, loop<least, double>, loop<least, long long>, loop<least, unsigned char>}

extern const CumulativeLoops MINDTORCH_LOOPS(cumulative_loops) = {
    RUNNING(Sum),
    RUNNING(Product),
    {{EXTREMES(extreme_rows, false), EXTREMES(extremes, false)},
     {EXTREMES(extreme_rows, true), EXTREMES(extremes, true)}},
};

}  // namespace mindtorch
