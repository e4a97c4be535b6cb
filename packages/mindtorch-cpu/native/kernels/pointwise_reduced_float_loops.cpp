// Elementwise arithmetic on bfloat16 and float16, computed as floats and rounded once.
#include "simd/functors.h"
#include "kernels/pointwise.h"
#include "simd/reduced_float.h"
#include "simd/loop.h"

namespace mindtorch {

namespace {

struct BFloat16Format {
    static constexpr bool VECTORISED = false;
    static constexpr uint16_t INFINITE = 0x7f80;
};
struct Float16Format {
    static constexpr bool VECTORISED = true;
    static constexpr uint16_t INFINITE = 0x7c00;
};

// One element of an operand: of those that bit `place` of `form` is set for, they are all one float.
template <int form, int place>
INLINE float element(const void* in, size_t i) {
    if constexpr ((form >> place & 1) != 0) {
        return *static_cast<const float*>(in);
    } else {
        return float_of_bfloat16(static_cast<const uint16_t*>(in)[i]);
    }
}

template <typename Op, int arity, int form>
void bfloat16_loop(void* out, const void* const* in, size_t count, const double* numbers) {
    auto* to = static_cast<uint16_t*>(out);
    const void *a = in[0], *b = in[arity > 1 ? 1 : 0], *c = in[arity > 2 ? 2 : 0];
    const Op op(numbers);
    MINDTORCH_IVDEP
    for (size_t i = 0; i < count; i++) {
        float result;
        if constexpr (arity == 1) {
            result = op(element<form, 0>(a, i));
        } else if constexpr (arity == 2) {
            result = op(element<form, 0>(a, i), element<form, 1>(b, i));
        } else {
            result = op(element<form, 0>(a, i), element<form, 1>(b, i), element<form, 2>(c, i));
        }
        to[i] = bfloat16_of(to_bits(result));
    }
}

// The compiler does not vectorise conversions of float16: they are done for as many elements as fill a vector.
template <typename Op, int arity, int form>
void float16_loop(void* out, const void* const* in, size_t count, const double* numbers) {
    constexpr size_t PART = 16;
    auto* to = static_cast<char*>(out);
    const Op op(numbers);
    alignas(64) float values[3][PART], results[PART];
    for (int each = 0; each < arity; each++)
        for (size_t i = 0; i < PART; i++)
            values[each][i] = (form >> each & 1) != 0 ? *static_cast<const float*>(in[each]) : 0;
    auto part = [&](size_t start, size_t n) __attribute__((always_inline)) {
        for (int each = 0; each < arity; each++)
            if ((form >> each & 1) == 0)
                floats_of(reinterpret_cast<char*>(values[each]), static_cast<const char*>(in[each]) + 2 * start, n);
        // Unrolled, it would be left scalar.
#pragma GCC unroll 1
        for (size_t i = 0; i < PART; i++) {
            if constexpr (arity == 1) {
                results[i] = op(values[0][i]);
            } else if constexpr (arity == 2) {
                results[i] = op(values[0][i], values[1][i]);
            } else {
                results[i] = op(values[0][i], values[1][i], values[2][i]);
            }
        }
        halves_of(to + 2 * start, reinterpret_cast<const char*>(results), n);
    };
    size_t start = 0;
    for (; start + PART <= count; start += PART) part(start, PART);
    if (start < count) part(start, count - start);
}

template <typename Op, int arity, int form, typename Format>
constexpr Map loop() {
    if constexpr (Format::VECTORISED) {
        return float16_loop<Op, arity, form>;
    } else {
        return bfloat16_loop<Op, arity, form>;
    }
}

template <typename Op, int arity, typename Format>
constexpr Forms forms() {
    if constexpr (arity == 1) {
        return {{loop<Op, 1, 0, Format>()}};
    } else if constexpr (arity == 2) {
        return {{loop<Op, 2, 0, Format>(), loop<Op, 2, 1, Format>(), loop<Op, 2, 2, Format>()}};
    } else {
        return {{loop<Op, 3, 0, Format>(), nullptr, nullptr, nullptr, loop<Op, 3, 4, Format>(), nullptr,
                 loop<Op, 3, 6, Format>()}};
    }
}

// What changes the sign alone.
template <typename Op>
void bits(void* out, const void* const* in, size_t count, const double*) {
    auto* to = static_cast<uint16_t*>(out);
    const auto* from = static_cast<const uint16_t*>(in[0]);
    MINDTORCH_IVDEP
    for (size_t i = 0; i < count; i++) to[i] = Op::of(from[i]);
}
struct NegBits {
    static uint16_t of(uint16_t x) { return (uint16_t)(x ^ 0x8000); }
};
struct AbsBits {
    static uint16_t of(uint16_t x) { return x & 0x7fff; }
};
template <typename Format>
struct ReluBits {
    static uint16_t of(uint16_t x) { return (int16_t)x > 0 || (x & 0x7fff) > Format::INFINITE ? x : 0; }
};

#define REDUCED(Op, arity) forms<Op, arity, Format>()
#define BITS(Op)     \
    {                \
        {            \
            bits<Op> \
        }            \
    }
#define NONE \
    {        \
    }
#define POINTWISE(name, arity, loops, reduced, rows) reduced,

template <typename Format>
constexpr ReducedForms reduced_forms = {{MINDTORCH_POINTWISE(POINTWISE)}};

}  // namespace

extern const ReducedLoops MINDTORCH_LOOPS(reduced_loops) = {
    {reduced_forms<BFloat16Format>, reduced_forms<Float16Format>}};

}  // namespace mindtorch
