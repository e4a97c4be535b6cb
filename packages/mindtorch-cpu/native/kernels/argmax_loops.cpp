// Where the extremes of rows and columns are.
#include "kernels/reduce_vector.h"

namespace mindtorch {

namespace {

template <typename Op, typename T>
size_t place(const void* given, size_t count) {
    const auto* in = static_cast<const T*>(given);
    Accumulator found;
    put<T>(found, Op::template identity<T>());
    row_of<Op>(in, count, &found, Same());
    const T value = (T)of<T>(found);
    const bool is_nan = value != value;
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        int here = 0;
        for (size_t j = 0; j < 64; j++) here |= is_nan ? in[i + j] != in[i + j] : in[i + j] == value;
        if (here) break;
    }
    while (i < count && !(is_nan ? in[i] != in[i] : in[i] == value)) i++;
    return i;
}

template <bool least, typename T>
void places(const void* in, ptrdiff_t step, size_t rows, size_t width, long long* into) {
    using V = typename Register<T>::Of;
    using Whole = typename Vectors<T>::Whole;
    using I = typename Register<Whole>::Of;
    constexpr size_t W = VECTOR_BYTES / sizeof(T);
    size_t j = 0;
    for (; j + W <= width; j += W) {
        V best = load<V>(at<T>(in, step, 0) + j);
        I found = {};
        for (size_t r = 1; r < rows; r++) {
            const V x = load<V>(at<T>(in, step, r) + j);
            const I better = (I)((least ? x < best : x > best) | ((x != x) & (best == best)));
            best = better ? x : best;
            found = better ? I{} + (Whole)r : found;
        }
        for (size_t lane = 0; lane < W; lane++) into[j + lane] = found[lane];
    }
    for (; j < width; j++) {
        T best = at<T>(in, step, 0)[j];
        into[j] = 0;
        for (size_t r = 1; r < rows; r++) {
            const T x = at<T>(in, step, r)[j];
            if ((least ? x < best : x > best) || (x != x && best == best)) {
                best = x;
                into[j] = (long long)r;
            }
        }
    }
}

}  // namespace

extern const ArgExtremeLoops MINDTORCH_LOOPS(arg_extreme_loops) = {
    {{place<Greatest, float>, place<Greatest, double>, place<Greatest, long long>, nullptr},
     {place<Least, float>, place<Least, double>, place<Least, long long>, nullptr}},
    {{places<false, float>, places<false, double>, places<false, long long>, nullptr},
     {places<true, float>, places<true, double>, places<true, long long>, nullptr}},
};

}  // namespace mindtorch
