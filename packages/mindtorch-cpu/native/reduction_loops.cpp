// Reductions in GCC's vector notation, for every kind of element. Long sums are made of short ones: a chain of
// additions in single precision has at most 64 terms.
#include "reduction.h"

#include <math.h>
#include <string.h>

namespace mindtorch {

namespace {

#define INLINE inline __attribute__((always_inline))

template <typename T>
struct Vectors;
template <>
struct Vectors<float> {
    typedef float Of __attribute__((vector_size(64)));
    typedef int Index __attribute__((vector_size(64)));
    using Whole = int;
};
template <>
struct Vectors<double> {
    typedef double Of __attribute__((vector_size(64)));
    typedef long long Index __attribute__((vector_size(64)));
    using Whole = long long;
};
template <>
struct Vectors<long long> {
    typedef long long Of __attribute__((vector_size(64)));
    typedef long long Index __attribute__((vector_size(64)));
    using Whole = long long;
};
template <>
struct Vectors<unsigned char> {
    typedef unsigned char Of __attribute__((vector_size(64)));
    typedef signed char Index __attribute__((vector_size(64)));
    using Whole = signed char;
};

template <typename T>
using Vector = typename Vectors<T>::Of;
template <typename T>
constexpr size_t WIDTH = 64 / sizeof(T);

template <typename V, typename T>
INLINE V load(const T* from) {
    V value;
    memcpy(&value, from, sizeof value);
    return value;
}

// step(a, x): with one more element; combine(a, b): of two parts. V is a vector or an element.
struct Sum {
    template <typename V>
    static INLINE V step(V a, V x) {
        return a + x;
    }
    template <typename V>
    static INLINE V combine(V a, V b) {
        return a + b;
    }
    template <typename T>
    static T identity() {
        return 0;
    }
};
struct Product {
    template <typename V>
    static INLINE V step(V a, V x) {
        return a * x;
    }
    template <typename V>
    static INLINE V combine(V a, V b) {
        return a * b;
    }
    template <typename T>
    static T identity() {
        return 1;
    }
};
template <typename T>
constexpr T LOWEST = (T)-9223372036854775807LL - 1;
template <>
constexpr float LOWEST<float> = -INFINITY;
template <>
constexpr double LOWEST<double> = -INFINITY;
template <>
constexpr unsigned char LOWEST<unsigned char> = 0;
template <typename T>
constexpr T HIGHEST = (T)9223372036854775807LL;
template <>
constexpr float HIGHEST<float> = INFINITY;
template <>
constexpr double HIGHEST<double> = INFINITY;
template <>
constexpr unsigned char HIGHEST<unsigned char> = 255;

struct Greatest {
    template <typename V>
    static INLINE V step(V a, V x) {
        return (x > a) | (x != x) ? x : a;
    }  // a nan stays
    template <typename V>
    static INLINE V combine(V a, V b) {
        return step(a, b);
    }
    template <typename T>
    static T identity() {
        return LOWEST<T>;
    }
};
struct Least {
    template <typename V>
    static INLINE V step(V a, V x) {
        return (x < a) | (x != x) ? x : a;
    }
    template <typename V>
    static INLINE V combine(V a, V b) {
        return step(a, b);
    }
    template <typename T>
    static T identity() {
        return HIGHEST<T>;
    }
};
struct AbsoluteSum : Sum {
    template <typename V>
    static INLINE V step(V a, V x) {
        return a + (x < 0 ? -x : x);
    }
};
struct SquareSum : Sum {
    template <typename V>
    static INLINE V step(V a, V x) {
        return a + x * x;
    }
};

template <typename T>
INLINE void put(Accumulator& to, T value) {
    to.whole = value;
}
template <>
INLINE void put<float>(Accumulator& to, float value) {
    to.real = value;
}
template <>
INLINE void put<double>(Accumulator& to, double value) {
    to.real = value;
}
template <typename T>
struct Wide {
    using Of = long long;
};
template <>
struct Wide<float> {
    using Of = double;
};
template <>
struct Wide<double> {
    using Of = double;
};
template <typename T>
INLINE typename Wide<T>::Of& of(Accumulator& accumulator) {
    return reinterpret_cast<typename Wide<T>::Of&>(accumulator);
}
template <typename T>
INLINE const typename Wide<T>::Of& of(const Accumulator& accumulator) {
    return reinterpret_cast<const typename Wide<T>::Of&>(accumulator);
}

// Reduce `count` elements, value(from) giving vectors or elements, part by part.
template <typename Op, typename T, typename F>
INLINE void row_of(const T* in, size_t count, Accumulator* into, const F& value) {
    using V = Vector<T>;
    constexpr size_t W = WIDTH<T>, CHUNK = 4 * W * 64;
    for (size_t start = 0; start < count; start += CHUNK) {
        const size_t end = count - start < CHUNK ? count : start + CHUNK;
        V a, b, c, d;
        a = b = c = d = V{} + Op::template identity<T>();
        size_t i = start;
        for (; i + 4 * W <= end; i += 4 * W) {
            a = Op::step(a, value(load<V>(in + i)));
            b = Op::step(b, value(load<V>(in + i + W)));
            c = Op::step(c, value(load<V>(in + i + 2 * W)));
            d = Op::step(d, value(load<V>(in + i + 3 * W)));
        }
        for (; i + W <= end; i += W) a = Op::step(a, value(load<V>(in + i)));
        a = Op::combine(Op::combine(a, b), Op::combine(c, d));
        T lanes[W];
        memcpy(lanes, &a, sizeof a);
        for (size_t step = W / 2; step > 0; step /= 2)
            for (size_t lane = 0; lane < step; lane++) lanes[lane] = Op::combine(lanes[lane], lanes[lane + step]);
        T total = lanes[0], second = Op::template identity<T>(), third = second, fourth = second;
        for (; i + 4 <= end; i += 4) {
            total = Op::step(total, value(in[i]));
            second = Op::step(second, value(in[i + 1]));
            third = Op::step(third, value(in[i + 2]));
            fourth = Op::step(fourth, value(in[i + 3]));
        }
        for (; i < end; i++) total = Op::step(total, value(in[i]));
        total = Op::combine(Op::combine(total, second), Op::combine(third, fourth));
        of<T>(*into) = Op::combine(of<T>(*into), (typename Wide<T>::Of)total);
    }
}

struct Same {
    template <typename V>
    INLINE V operator()(V x) const {
        return x;
    }
};

template <typename Op, typename T>
void row(const void* in, size_t count, Accumulator* into) {
    row_of<Op, T>(static_cast<const T*>(in), count, into, Same());
}

template <typename T>
INLINE const T* at(const void* in, ptrdiff_t step, size_t row) {
    return reinterpret_cast<const T*>(static_cast<const char*>(in) + step * (ptrdiff_t)row);
}

template <typename Op, typename T>
void short_rows(const void* in, ptrdiff_t step, size_t rows, size_t count, Accumulator* into) {
    for (size_t r = 0; r < rows; r++) {
        const T* from = at<T>(in, step, r);
        T total = Op::template identity<T>(), second = total;
        size_t i = 0;
        for (; i + 2 <= count; i += 2) {
            total = Op::step(total, from[i]);
            second = Op::step(second, from[i + 1]);
        }
        if (i < count) total = Op::step(total, from[i]);
        of<T>(into[r]) = Op::combine(of<T>(into[r]), (typename Wide<T>::Of)Op::combine(total, second));
    }
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

template <typename T>
void running(void* given, const void* from, size_t count, size_t step, size_t width) {
    using W = typename Wide<T>::Of;
    auto* out = static_cast<T*>(given);
    const auto* in = static_cast<const T*>(from);
    if (width == 1) {
        W total = 0;
        for (size_t i = 0; i < count; i++) {
            total += (W)in[i * step];
            out[i * step] = (T)total;
        }
        return;
    }
    W totals[COLUMNS] = {};
    for (size_t row = 0; row < count; row++, out += step, in += step) {
#pragma GCC ivdep
        for (size_t j = 0; j < width; j++) {
            totals[j] += (W)in[j];
            out[j] = (T)totals[j];
        }
    }
}

template <typename Op, typename T>
size_t place(const void* given, size_t count) {
    const auto* in = static_cast<const T*>(given);
    Accumulator found;
    put<T>(found, Op::template identity<T>());
    row<Op, T>(in, count, &found);
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
    using V = Vector<T>;
    using Whole = typename Vectors<T>::Whole;
    using I = typename Vectors<T>::Index;
    constexpr size_t W = WIDTH<T>;
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

#define REAL(Op, start)                                                                                    \
    {{.real = start}, row<Op, float>, short_rows<Op, float>, columns<Op, float>, combine<Op, float>}, {    \
        {.real = start}, row<Op, double>, short_rows<Op, double>, columns<Op, double>, combine<Op, double> \
    }
#define WHOLE_NUMBERS(Op, start) \
    {{.whole = start}, row<Op, long long>, short_rows<Op, long long>, columns<Op, long long>, combine<Op, long long>}
#define TRUTHS(Op, start)           \
    {{.whole = start},              \
     row<Op, unsigned char>,        \
     short_rows<Op, unsigned char>, \
     columns<Op, unsigned char>,    \
     combine<Op, unsigned char>}
#define NONE {{.whole = 0}, nullptr, nullptr, nullptr, nullptr}

extern const ReductionLoops MINDTORCH_LOOPS(reduction_loops) = {
    {
        {REAL(Sum, 0), WHOLE_NUMBERS(Sum, 0), NONE},
        {REAL(Product, 1), WHOLE_NUMBERS(Product, 1), NONE},
        {REAL(Greatest, -INFINITY), WHOLE_NUMBERS(Greatest, LOWEST<long long>), TRUTHS(Greatest, 0)},
        {REAL(Least, INFINITY), WHOLE_NUMBERS(Least, HIGHEST<long long>), TRUTHS(Least, 1)},
        {REAL(AbsoluteSum, 0), NONE, NONE},
        {REAL(SquareSum, 0), NONE, NONE},
    },
    {row_spread<float>, row_spread<double>},
    {column_spread<float>, column_spread<double>},
    {running<float>, running<double>, running<long long>, nullptr},
    {{place<Greatest, float>, place<Greatest, double>, place<Greatest, long long>, nullptr},
     {place<Least, float>, place<Least, double>, place<Least, long long>, nullptr}},
    {{places<false, float>, places<false, double>, places<false, long long>, nullptr},
     {places<true, float>, places<true, double>, places<true, long long>, nullptr}},
};

}  // namespace mindtorch
