// Reductions in GCC's vector notation, for every kind of element. Long sums are made of short ones: a chain of
// additions in single precision has at most 64 terms.
#include "reduction_vector.h"

namespace mindtorch {

namespace {

template <typename Op, typename T>
void row(const void* in, size_t count, Accumulator* into) {
    row_of<Op, T>(static_cast<const T*>(in), count, into, Same());
}

// The extreme of at least a vector of elements. False where a nan may be among them: their sum is one then.
template <typename Op, typename T>
INLINE bool find_extreme(const T* in, size_t count, T& found) {
    using V = Vector<T>;
    using Plain = typename Op::WithoutNan;
    constexpr size_t W = WIDTH<T>;
    V a = load<V>(in), b = load<V>(in + count - W), sum = a, other = b;
    size_t i = W;
    for (; i + 2 * W <= count; i += 2 * W) {
        const V x = load<V>(in + i), y = load<V>(in + i + W);
        a = Plain::combine(a, x);
        b = Plain::combine(b, y);
        sum += x;
        other += y;
    }
    if (i + W <= count) {
        const V x = load<V>(in + i);
        a = Plain::combine(a, x);
        sum += x;
    }
    const T total = across<Sum, T>(sum + other);
    found = across<Plain, T>(Plain::combine(a, b));
    return total == total;
}

// Rows of at least a vector.
template <typename Op, typename T>
void extremes(const void* in, ptrdiff_t step, size_t count, size_t width, Accumulator* into) {
    for (size_t r = 0; r < count; r++) {
        const T* from = at<T>(in, step, r);
        T found;
        if (width >= WIDTH<T> && find_extreme<Op, T>(from, width, found)) {
            of<T>(into[r]) = Op::combine(of<T>(into[r]), (typename Wide<T>::Of)found);
        } else {
            row_of<Op, T>(from, width, into + r, Same());
        }
    }
}

template <typename Op, typename T>
void rows(const void* in, ptrdiff_t step, size_t count, size_t width, Accumulator* into) {
    for (size_t r = 0; r < count; r++) row_of<Op, T>(at<T>(in, step, r), width, into + r, Same());
}

// value(vector or element, column): what is reduced.
template <typename Op, typename T, typename F>
INLINE void columns_of(const void* in, ptrdiff_t step, size_t rows, size_t width, Accumulator* into, const F& value) {
    using V = Vector<T>;
    constexpr size_t W = WIDTH<T>;
    T parts[COLUMNS + W];
    for (size_t start = 0; start < rows; start += 64) {
        const size_t end = rows - start < 64 ? rows : start + 64;
        for (size_t j = 0; j < width; j++) parts[j] = Op::template identity<T>();
        size_t r = start;
        for (; r < end; r += 4) {
            const size_t last = end - 1;
            const T *first = at<T>(in, step, r), *second = at<T>(in, step, r + 1 < end ? r + 1 : last),
                    *third = at<T>(in, step, r + 2 < end ? r + 2 : last),
                    *fourth = at<T>(in, step, r + 3 < end ? r + 3 : last);
            const size_t taken = end - r;
            size_t j = 0;
            if (taken >= 4) {
                for (; j + W <= width; j += W) {
                    V part = load<V>(parts + j);
                    part = Op::step(part, value(load<V>(first + j), j));
                    part = Op::step(part, value(load<V>(second + j), j));
                    part = Op::step(part, value(load<V>(third + j), j));
                    part = Op::step(part, value(load<V>(fourth + j), j));
                    memcpy(parts + j, &part, sizeof part);
                }
            }
            for (; j < width; j++) {
                T part = Op::step(parts[j], value(first[j], j));
                if (taken > 1) part = Op::step(part, value(second[j], j));
                if (taken > 2) part = Op::step(part, value(third[j], j));
                parts[j] = taken > 3 ? Op::step(part, value(fourth[j], j)) : part;
            }
        }
        for (size_t j = 0; j < width; j++) of<T>(into[j]) = Op::combine(of<T>(into[j]), (typename Wide<T>::Of)parts[j]);
    }
}

struct SameColumn {
    template <typename V>
    INLINE V operator()(V x, size_t) const {
        return x;
    }
};

template <typename Op, typename T>
void columns(const void* in, ptrdiff_t step, size_t rows, size_t width, Accumulator* into) {
    columns_of<Op, T>(in, step, rows, width, into, SameColumn());
}

template <typename T, bool root>
INLINE void finish_as(char* to, ptrdiff_t step, const Accumulator* from, size_t count, double divisor) {
    for (size_t i = 0; i < count; i++, to += step) {
        const double value = from[i].real / divisor;
        *reinterpret_cast<T*>(to) = (T)(root ? sqrt(value) : value);
    }
}

template <typename T>
void finish(void* given, ptrdiff_t step, const Accumulator* from, size_t count, double divisor, bool root) {
    auto* to = static_cast<char*>(given);
    if (root) {
        finish_as<T, true>(to, step, from, count, divisor);
    } else if (step == sizeof(T) && divisor == 1) {
        for (size_t i = 0; i < count; i++) reinterpret_cast<T*>(to)[i] = (T)from[i].real;
    } else if (step == sizeof(T)) {
        finish_as<T, false>(to, sizeof(T), from, count, divisor);
    } else {
        finish_as<T, false>(to, step, from, count, divisor);
    }
}

template <typename Op, typename T>
void combine(Accumulator* into, const Accumulator* other, size_t count) {
    for (size_t i = 0; i < count; i++) of<T>(into[i]) = Op::combine(of<T>(into[i]), of<T>(other[i]));
}

template <typename T>
struct Distance {
    T mean;
    template <typename V>
    INLINE V operator()(V x) const {
        return x - mean;
    }
};

template <typename T>
void row_spread(const void* in, size_t count, const Accumulator* mean, Accumulator* into) {
    row_of<SquareSum, T>(static_cast<const T*>(in), count, into, Distance<T>{(T)mean->real});
}

template <typename T>
struct ColumnDistance {
    const T* means;
    INLINE Vector<T> operator()(const Vector<T>& x, size_t j) const { return x - load<Vector<T>>(means + j); }
    INLINE T operator()(T x, size_t j) const { return x - means[j]; }
};

template <typename T>
void column_spread(const void* in, ptrdiff_t step, size_t rows, size_t width, const Accumulator* mean,
                   Accumulator* into) {
    T means[COLUMNS];
    for (size_t j = 0; j < width; j++) means[j] = (T)mean[j].real;
    columns_of<SquareSum, T>(in, step, rows, width, into, ColumnDistance<T>{means});
}

}  // namespace

#define REAL(Op, start)                                                                              \
    {{.real = start}, row<Op, float>, rows<Op, float>, columns<Op, float>, combine<Op, float>}, {    \
        {.real = start}, row<Op, double>, rows<Op, double>, columns<Op, double>, combine<Op, double> \
    }
#define EXTREMES(Op, start)                                                                              \
    {{.real = start}, row<Op, float>, extremes<Op, float>, columns<Op, float>, combine<Op, float>}, {    \
        {.real = start}, row<Op, double>, extremes<Op, double>, columns<Op, double>, combine<Op, double> \
    }
#define WHOLE_NUMBERS(Op, start) \
    {{.whole = start}, row<Op, long long>, rows<Op, long long>, columns<Op, long long>, combine<Op, long long>}
#define TRUTHS(Op, start)        \
    {{.whole = start},           \
     row<Op, unsigned char>,     \
     rows<Op, unsigned char>,    \
     columns<Op, unsigned char>, \
     combine<Op, unsigned char>}
#define NONE {{.whole = 0}, nullptr, nullptr, nullptr, nullptr}

extern const ReductionLoops MINDTORCH_LOOPS(reduction_loops) = {
    {
        {REAL(Sum, 0), WHOLE_NUMBERS(Sum, 0), NONE},
        {REAL(Product, 1), WHOLE_NUMBERS(Product, 1), NONE},
        {EXTREMES(Greatest, -INFINITY), WHOLE_NUMBERS(Greatest, LOWEST<long long>), TRUTHS(Greatest, 0)},
        {EXTREMES(Least, INFINITY), WHOLE_NUMBERS(Least, HIGHEST<long long>), TRUTHS(Least, 1)},
        {REAL(AbsoluteSum, 0), NONE, NONE},
        {REAL(SquareSum, 0), NONE, NONE},
    },
    {row_spread<float>, row_spread<double>},
    {column_spread<float>, column_spread<double>},
    {finish<float>, finish<double>},
};

}  // namespace mindtorch
