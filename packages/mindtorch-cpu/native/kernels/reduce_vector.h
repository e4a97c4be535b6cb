// Vectors of every kind of element, the operations that reduce them, and rows reduced by them.
#pragma once

#include "kernels/reduce.h"
#include "simd/shuffle.h"
#include "simd/vector_width.h"

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

// An element of bfloat16, which is computed with as float.
struct BFloat16 {
    unsigned short bits;
    INLINE operator float() const { return __builtin_bit_cast(float, (unsigned)bits << 16); }
};
template <>
struct Vectors<BFloat16> : Vectors<float> {};

template <typename T>
struct Numbers {
    using Of = T;
};
template <>
struct Numbers<BFloat16> {
    using Of = float;
};
// What elements are computed with.
template <typename T>
using Number = typename Numbers<T>::Of;
template <typename T>
using Vector = typename Vectors<T>::Of;
template <typename T>
constexpr size_t WIDTH = 64 / sizeof(Number<T>);

template <typename V, typename T>
INLINE V load(const T* from) {
    V value;
    memcpy(&value, from, sizeof value);
    return value;
}
template <>
INLINE Vector<float> load<Vector<float>, BFloat16>(const BFloat16* from) {
    typedef unsigned short Narrow __attribute__((vector_size(32)));
    typedef unsigned Bits __attribute__((vector_size(64)));
    Narrow narrow;
    memcpy(&narrow, from, sizeof narrow);
    return (Vector<float>)(__builtin_convertvector(narrow, Bits) << 16);
}

// As many elements as a register has room for.
template <typename T>
struct Register {
    typedef T Of __attribute__((vector_size(VECTOR_BYTES)));
};

// What `choose` makes of vectors, a register at a time: GCC makes the conditions of wider ones element by element.
template <typename V, typename Choose>
INLINE V by_registers(const V& a, const V& b, const Choose& choose) {
    if constexpr (sizeof(V) <= VECTOR_BYTES) {
        return choose(a, b);
    } else {
        using Part = typename Register<__typeof__(V{}[0] + V{}[0])>::Of;
        constexpr size_t PARTS = sizeof(V) / sizeof(Part);
        Part first[PARTS], second[PARTS];
        memcpy(first, &a, sizeof first);
        memcpy(second, &b, sizeof second);
        for (size_t i = 0; i < PARTS; i++) first[i] = choose(first[i], second[i]);
        V made;
        memcpy(&made, first, sizeof made);
        return made;
    }
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

// Of elements without a nan.
struct Above {
    template <typename V>
    static INLINE V combine(V a, V b) {
        return by_registers(a, b, [](const auto& x, const auto& y) { return y > x ? y : x; });
    }
};
struct Below {
    template <typename V>
    static INLINE V combine(V a, V b) {
        return by_registers(a, b, [](const auto& x, const auto& y) { return y < x ? y : x; });
    }
};

struct Greatest {
    using WithoutNan = Above;
    template <typename V>
    static INLINE V step(V a, V x) {
        return by_registers(a, x, [](const auto& kept, const auto& next) {
            const auto greater = next > kept ? next : kept;  // of a nan, the other stays
            return next != next ? next : greater;
        });
    }
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
    using WithoutNan = Below;
    template <typename V>
    static INLINE V step(V a, V x) {
        return by_registers(a, x, [](const auto& kept, const auto& next) {
            const auto less = next < kept ? next : kept;
            return next != next ? next : less;
        });
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
// Of all that are numbers.
struct NumberSum : Sum {
    template <typename V>
    static INLINE V step(V a, V x) {
        return by_registers(a, x, [](const auto& sum, const auto& next) { return next == next ? sum + next : sum; });
    }
};
struct AbsoluteSum : Sum {
    template <typename V>
    static INLINE V step(V a, V x) {
        return by_registers(a, x, [](const auto& sum, const auto& next) { return sum + (next < 0 ? -next : next); });
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
struct Wide<BFloat16> {
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

template <typename T>
INLINE const T* at(const void* in, ptrdiff_t step, size_t row) {
    return reinterpret_cast<const T*>(static_cast<const char*>(in) + step * (ptrdiff_t)row);
}

template <typename T>
struct Quarters {
    typedef T Of __attribute__((vector_size(16)));
};

// Sixteen bytes that are what the four parts of a vector come to.
template <typename Op, typename T>
INLINE typename Quarters<T>::Of quarter_of(const Vector<T>& parts) {
    typename Quarters<T>::Of quarters[4];
    memcpy(quarters, &parts, sizeof parts);
    return Op::combine(Op::combine(quarters[0], quarters[1]), Op::combine(quarters[2], quarters[3]));
}

// One element of the lanes of `parts`.
template <typename Op, typename T>
INLINE T across(const Vector<T>& parts) {
    constexpr size_t W = 16 / sizeof(T);
    const auto one = quarter_of<Op, T>(parts);
    T lanes[W];
    memcpy(lanes, &one, sizeof one);
    for (size_t step = W / 2; step > 0; step /= 2)
        for (size_t lane = 0; lane < step; lane++) lanes[lane] = Op::combine(lanes[lane], lanes[lane + step]);
    return lanes[0];
}

// The same of as many vectors as sixteen bytes have lanes, side by side; each as it would be alone.
template <typename T>
constexpr size_t TOGETHER = sizeof(T) == 4   ? 4
                            : sizeof(T) == 8 ? 2
                                             : 1;

template <typename Op, typename T>
INLINE void across_together(T* to, const Vector<T>* parts) {
    using Quarter = typename Quarters<T>::Of;
    if constexpr (TOGETHER<T> == 4) {
        Quarter q[4];
        for (size_t i = 0; i < 4; i++) q[i] = quarter_of<Op, T>(parts[i]);
        const Quarter first = Op::combine(shuffle<0, 1, 4, 5>(q[0], q[1]), shuffle<2, 3, 6, 7>(q[0], q[1]));
        const Quarter second = Op::combine(shuffle<0, 1, 4, 5>(q[2], q[3]), shuffle<2, 3, 6, 7>(q[2], q[3]));
        const Quarter all = Op::combine(shuffle<0, 2, 4, 6>(first, second), shuffle<1, 3, 5, 7>(first, second));
        memcpy(to, &all, sizeof all);
    } else if constexpr (TOGETHER<T> == 2) {
        const Quarter first = quarter_of<Op, T>(parts[0]), second = quarter_of<Op, T>(parts[1]);
        const Quarter both = Op::combine(shuffle<0, 2>(first, second), shuffle<1, 3>(first, second));
        memcpy(to, &both, sizeof both);
    } else {
        to[0] = across<Op, T>(parts[0]);
    }
}

// The lanes of a row's last vector that were not in the one before: WIDTH that were, then WIDTH that were not.
template <typename T>
struct Tail {
    typename Vectors<T>::Whole lanes[2 * WIDTH<T>];
    constexpr Tail() : lanes() {
        for (size_t lane = WIDTH<T>; lane < 2 * WIDTH<T>; lane++) lanes[lane] = -1;
    }
};
template <typename T>
constexpr Tail<T> TAIL;

// Fewer elements than a vector has.
template <typename Op, typename T, typename F>
INLINE Number<T> few_of(const T* in, size_t count, const F& value) {
    using N = Number<T>;
    N total = Op::template identity<N>(), second = total;
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        total = Op::step(total, value((N)in[i]));
        second = Op::step(second, value((N)in[i + 1]));
    }
    if (i < count) total = Op::step(total, value((N)in[i]));
    return Op::combine(total, second);
}

// So many elements are reduced without a wider accumulator.
template <typename T>
constexpr size_t CHUNK = 4 * WIDTH<T> * 64;

// The lanes that the elements of `start`..`end` come to, at least a vector's; `in` has a vector's before `end`.
template <typename Op, typename T, typename F>
INLINE Vector<T> lanes_of(const T* in, size_t start, size_t end, const F& value) {
    using V = Vector<T>;
    constexpr size_t W = WIDTH<T>;
    const V nothing = V{} + Op::template identity<Number<T>>();
    V a, b, c, d;
    a = b = c = d = nothing;
    size_t i = start;
    for (; i + 4 * W <= end; i += 4 * W) {
        a = Op::step(a, value(load<V>(in + i)));
        b = Op::step(b, value(load<V>(in + i + W)));
        c = Op::step(c, value(load<V>(in + i + 2 * W)));
        d = Op::step(d, value(load<V>(in + i + 3 * W)));
    }
    for (; i + W <= end; i += W) a = Op::step(a, value(load<V>(in + i)));
    if (i < end) {
        const auto taken = load<typename Vectors<T>::Index>(TAIL<T>.lanes + (end - i));
        const V last = value(load<V>(in + end - W));
        b = Op::step(b, taken ? last : nothing);
    }
    return Op::combine(Op::combine(a, b), Op::combine(c, d));
}

// Reduce `count` elements, value(from) giving vectors or elements, part by part.
template <typename Op, typename T, typename F>
INLINE void row_of(const T* in, size_t count, Accumulator* into, const F& value) {
    using Sum = typename Wide<T>::Of;
    if (count < WIDTH<T>) {
        of<T>(*into) = Op::combine(of<T>(*into), (Sum)few_of<Op>(in, count, value));
        return;
    }
    for (size_t start = 0; start < count; start += CHUNK<T>) {
        const size_t end = count - start < CHUNK<T> ? count : start + CHUNK<T>;
        const Number<T> total = across<Op, Number<T>>(lanes_of<Op>(in, start, end, value));
        of<T>(*into) = Op::combine(of<T>(*into), (Sum)total);
    }
}

struct Same {
    template <typename V>
    INLINE V operator()(V x) const {
        return x;
    }
};

}  // namespace
}  // namespace mindtorch
