// Plain loops that the compiler vectorises; built once per instruction set.
#include "simd/functors.h"
#include "kernels/pointwise.h"
#include "simd/loop.h"

#include <type_traits>

namespace mindtorch {

namespace {

using Byte = unsigned char;

// Bytes that came from elsewhere may be any where they are seen as bool: all but 0 are true.
template <typename T>
INLINE T element(T stored) {
    if constexpr (std::is_same_v<T, Byte>)
        return stored != 0;
    else
        return stored;
}

// An operation is a function of `arity` elements and the numbers of the call. Operands may be the output, whose
// elements are read before they are written: the compiler need not look whether they overlap.
template <typename Op, int arity, int form, typename T, typename R>
void loop(void* out, const void* const* in, size_t count, const double* numbers) {
    auto* to = static_cast<R*>(out);
    const auto* a = static_cast<const T*>(in[0]);
    const auto* b = static_cast<const T*>(in[arity > 1 ? 1 : 0]);
    const auto* c = static_cast<const T*>(in[arity > 2 ? 2 : 0]);
    const T x = element(*a), y = element(*b), z = element(*c);
    const Op op(numbers);
    MINDTORCH_IVDEP
    for (size_t i = 0; i < count; i++) {
        if constexpr (arity == 1) {
            to[i] = (R)op(element(a[i]));
        } else if constexpr (arity == 2) {
            to[i] = (R)op(form & 1 ? x : element(a[i]), form & 2 ? y : element(b[i]));
        } else {
            to[i] = (R)op(form & 1 ? x : element(a[i]), form & 2 ? y : element(b[i]), form & 4 ? z : element(c[i]));
        }
    }
}

constexpr size_t PART = 64;

// What is left of a after whole multiples of b, with the sign of a. In double precision it is exact where the quotient
// has less than 29 bits; blocks with others, infinities and nans are the C library's.
void rests_of(float* rests, const float* a, const float* b, size_t part) {
    int other = 0;
    for (size_t i = 0; i < part; i++) {
        const double x = a[i], y = b[i], quotient = trunc(x / y), rest = x - quotient * y;
        other |= !(fabs(quotient) < 536870912.0) | (rest != rest);
        // A quotient that was rounded up to a whole number is one too large.
        const double back = (rest < 0) != (x < 0) && rest != 0 ? fabs(y) - fabs(rest) : rest;
        rests[i] = copysignf((float)fabs(back), a[i]);
    }
    if (other)
        for (size_t i = 0; i < part; i++) rests[i] = fmodf(a[i], b[i]);
}

// Results that need the rests of divisions: `Result::of(a, b, rest)`.
template <typename Result>
void by_rests(void* out, const void* const* in, size_t count, const double*) {
    auto* to = static_cast<float*>(out);
    const auto *a = static_cast<const float*>(in[0]), *b = static_cast<const float*>(in[1]);
    for (size_t start = 0; start < count; start += PART, to += PART, a += PART, b += PART) {
        const size_t part = count - start < PART ? count - start : PART;
        float rests[PART];
        rests_of(rests, a, b, part);
        for (size_t i = 0; i < part; i++) to[i] = Result::of(a[i], b[i], rests[i]);
    }
}

// What is left, with the sign of b where `floored`.
template <bool floored>
struct Remainder {
    static INLINE float of(float, float b, float rest) {
        return floored && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
};

// The quotient rounded down: that without the rest, which is a whole number but for rounding.
struct FlooredQuotient {
    static INLINE float of(float a, float b, float rest) {
        const float plain = a / b, whole = (a - rest) / b;
        const float quotient = rest != 0 && (rest < 0) != (b < 0) ? whole - 1 : whole;
        const float down = floorf(quotient), nearest = quotient - down > 0.5f ? down + 1 : down;
        return b == 0 ? plain : quotient == 0 ? copysignf(0.0f, plain) : nearest;
    }
};

// The first operand tells which of the others.
template <typename T, int form>
void select(void* out, const void* const* in, size_t count, const double*) {
    auto* to = static_cast<T*>(out);
    const auto* chosen = static_cast<const Byte*>(in[0]);
    const auto* a = static_cast<const T*>(in[1]);
    const auto* b = static_cast<const T*>(in[2]);
    const T x = *a, y = *b;
    MINDTORCH_IVDEP
    for (size_t i = 0; i < count; i++) to[i] = chosen[i] ? (form & 2 ? x : a[i]) : (form & 4 ? y : b[i]);
}
template <typename T>
constexpr Forms select_forms = {
    {select<T, 0>, nullptr, select<T, 2>, nullptr, select<T, 4>, nullptr, select<T, 6>, nullptr}};

template <typename Op, int arity, typename T, typename R = T>
constexpr Forms forms() {
    if constexpr (arity == 1) {
        return {{loop<Op, 1, 0, T, R>}};
    } else if constexpr (arity == 2) {
        return {{loop<Op, 2, 0, T, R>, loop<Op, 2, 1, T, R>, loop<Op, 2, 2, T, R>}};
    } else {
        return {{loop<Op, 3, 0, T, R>, nullptr, nullptr, nullptr, loop<Op, 3, 4, T, R>, nullptr, loop<Op, 3, 6, T, R>}};
    }
}

}  // namespace

#define FLOATS(Op, arity) forms<Op, arity, float>(), forms<Op, arity, double>()
#define NUMBERS(Op, arity) FLOATS(Op, arity), forms<Op, arity, int64_t>()
// Integers wrap, as unsigned ones do.
#define WRAPPED(Op, arity) FLOATS(Op, arity), forms<Op, arity, uint64_t>()
#define INTEGERS(Op, arity) {}, {}, forms<Op, arity, int64_t>()
#define WITH_BOOL(loops, Op, arity) loops, forms<Op, arity, Byte>()
#define WHERE select_forms<float>, select_forms<double>, select_forms<int64_t>, select_forms<Byte>
#define REMAINDERS(floored)              \
    {                                    \
        {                                \
            by_rests<Remainder<floored>> \
        }                                \
    }
#define QUOTIENTS                     \
    {                                 \
        {                             \
            by_rests<FlooredQuotient> \
        }                             \
    }
#define POINTWISE(name, arity, loops, reduced, rows) {loops},
#define COMPARISON(name, arity, Op, rows)                                                                  \
    {forms<Op, arity, float, Byte>(), forms<Op, arity, double, Byte>(), forms<Op, arity, int64_t, Byte>(), \
     forms<Op, arity, Byte>()},

extern const PointwiseLoops MINDTORCH_LOOPS(pointwise_loops) = {{MINDTORCH_POINTWISE(POINTWISE)},
                                                                {MINDTORCH_COMPARISONS(COMPARISON)}};

}  // namespace mindtorch
