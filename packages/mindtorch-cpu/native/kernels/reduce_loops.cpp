// Reductions in GCC's vector notation, for every kind of element. Long sums are made of short ones: a chain of
// additions in single precision has at most 64 terms.
#include "kernels/reduce_vector.h"

namespace mindtorch {

namespace {

template <typename Op, typename T>
void row(const void* in, size_t count, Accumulator* into) {
    row_of<Op, T>(static_cast<const T*>(in), count, into, Same());
}

// The extremes of lanes of at least a vector of elements, and in `sum` their sum, which is no number where one of them
// is none.
template <typename Op, typename T>
INLINE Vector<T> extreme_lanes(const T* in, size_t count, Vector<T>& total) {
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
    total += sum + other;
    return Plain::combine(a, b);
}

template <typename Op, typename T>
INLINE void keep_together(Accumulator* into, const Number<T>* found) {
    for (size_t k = 0; k < TOGETHER<Number<T>>; k++)
        of<T>(into[k]) = Op::combine(of<T>(into[k]), (typename Wide<T>::Of)found[k]);
}

// Rows, some at a time.
template <typename Op, typename T>
void extremes(const void* in, ptrdiff_t step, size_t count, size_t width, Accumulator* into) {
    using N = Number<T>;
    size_t r = 0;
    if (width >= WIDTH<T>)
        for (; r + TOGETHER<N> <= count; r += TOGETHER<N>) {
            Vector<T> lanes[TOGETHER<N>], sum = {};
            N found[TOGETHER<N>];
            for (size_t k = 0; k < TOGETHER<N>; k++) lanes[k] = extreme_lanes<Op>(at<T>(in, step, r + k), width, sum);
            const N total = across<Sum, N>(sum);
            if (!(total == total)) {
                for (size_t k = 0; k < TOGETHER<N>; k++)
                    row_of<Op>(at<T>(in, step, r + k), width, into + r + k, Same());
                continue;
            }
            across_together<typename Op::WithoutNan, N>(found, lanes);
            keep_together<Op, T>(into + r, found);
        }
    for (; r < count; r++) row_of<Op>(at<T>(in, step, r), width, into + r, Same());
}

// One row, in parts.
template <typename Op, typename T>
void extreme(const void* given, size_t count, Accumulator* into) {
    using N = Number<T>;
    constexpr size_t PART = 8192;
    const auto* in = static_cast<const T*>(given);
    for (size_t start = 0; start < count; start += PART) {
        const size_t part = count - start < PART ? count - start : PART;
        Vector<T> lanes, sum = {};
        N total = NAN;
        if (part >= WIDTH<T>) {
            lanes = extreme_lanes<Op>(in + start, part, sum);
            total = across<Sum, N>(sum);
        }
        if (total == total) {
            of<T>(*into) = Op::combine(of<T>(*into), (typename Wide<T>::Of)across<typename Op::WithoutNan, N>(lanes));
        } else {
            row_of<Op>(in + start, part, into, Same());
        }
    }
}

template <typename Op, typename T>
void rows(const void* in, ptrdiff_t step, size_t count, size_t width, Accumulator* into) {
    using N = Number<T>;
    size_t r = 0;
    if (width >= WIDTH<T> && width <= CHUNK<T>)
        for (; r + TOGETHER<N> <= count; r += TOGETHER<N>) {
            Vector<T> lanes[TOGETHER<N>];
            N found[TOGETHER<N>];
            for (size_t k = 0; k < TOGETHER<N>; k++) lanes[k] = lanes_of<Op>(at<T>(in, step, r + k), 0, width, Same());
            across_together<Op, N>(found, lanes);
            keep_together<Op, T>(into + r, found);
        }
    for (; r < count; r++) row_of<Op>(at<T>(in, step, r), width, into + r, Same());
}

// value(vector or element, column): what is reduced.
template <typename Op, typename T, typename F>
INLINE void columns_of(const void* in, ptrdiff_t step, size_t rows, size_t width, Accumulator* into, const F& value) {
    using V = Vector<T>;
    using N = Number<T>;
    constexpr size_t W = WIDTH<T>;
    N parts[COLUMNS + W];
    for (size_t start = 0; start < rows; start += 64) {
        const size_t end = rows - start < 64 ? rows : start + 64;
        for (size_t j = 0; j < width; j++) parts[j] = Op::template identity<N>();
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
                N part = Op::step(parts[j], value((N)first[j], j));
                if (taken > 1) part = Op::step(part, value((N)second[j], j));
                if (taken > 2) part = Op::step(part, value((N)third[j], j));
                parts[j] = taken > 3 ? Op::step(part, value((N)fourth[j], j)) : part;
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

// As bfloat16, of sums that are rounded to float before.
void finish_bfloat16(void* given, ptrdiff_t step, const Accumulator* from, size_t count, double divisor, bool root) {
    auto* to = static_cast<char*>(given);
    for (size_t i = 0; i < count; i++, to += step) {
        const double value = from[i].real / divisor;
        const auto bits = __builtin_bit_cast(unsigned, (float)(root ? sqrt(value) : value));
        const unsigned rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
        *reinterpret_cast<unsigned short*>(to) = (unsigned short)(value != value ? bits >> 16 | 0x40 : rounded);
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

#define FLOATS(row, rows, Op, T, start) {{.real = start}, row<Op, T>, rows<Op, T>, columns<Op, T>, combine<Op, T>}
#define REAL(Op, start) FLOATS(row, rows, Op, float, start), FLOATS(row, rows, Op, double, start)
#define BFLOAT16(Op, start) FLOATS(row, rows, Op, BFloat16, start)
#define EXTREMES(Op, start) FLOATS(extreme, extremes, Op, float, start), FLOATS(extreme, extremes, Op, double, start)
#define BFLOAT16_EXTREMES(Op, start) FLOATS(extreme, extremes, Op, BFloat16, start)
#define WHOLE_NUMBERS(Op, start) \
    {{.whole = start}, row<Op, long long>, rows<Op, long long>, columns<Op, long long>, combine<Op, long long>}
#define TRUTHS(Op, start)        \
    {{.whole = start},           \
     row<Op, unsigned char>,     \
     rows<Op, unsigned char>,    \
     columns<Op, unsigned char>, \
     combine<Op, unsigned char>}
#define NONE {{.whole = 0}, nullptr, nullptr, nullptr, nullptr}

extern const ReduceLoops MINDTORCH_LOOPS(reduce_loops) = {
    {
        {REAL(Sum, 0), WHOLE_NUMBERS(Sum, 0), NONE, BFLOAT16(Sum, 0)},
        {REAL(Product, 1), WHOLE_NUMBERS(Product, 1), NONE, BFLOAT16(Product, 1)},
        {EXTREMES(Greatest, -INFINITY), WHOLE_NUMBERS(Greatest, LOWEST<long long>), TRUTHS(Greatest, 0),
         BFLOAT16_EXTREMES(Greatest, -INFINITY)},
        {EXTREMES(Least, INFINITY), WHOLE_NUMBERS(Least, HIGHEST<long long>), TRUTHS(Least, 1),
         BFLOAT16_EXTREMES(Least, INFINITY)},
        {REAL(AbsoluteSum, 0), NONE, NONE, BFLOAT16(AbsoluteSum, 0)},
        {REAL(SquareSum, 0), NONE, NONE, BFLOAT16(SquareSum, 0)},
        {REAL(NumberSum, 0), NONE, NONE, BFLOAT16(NumberSum, 0)},
    },
    {row_spread<float>, row_spread<double>},
    {column_spread<float>, column_spread<double>},
    {finish<float>, finish<double>},
    finish_bfloat16,
};

}  // namespace mindtorch
