// Activations and their slopes over dense float32 elements.
#include "activation.h"
#include "vector.h"

#include <math.h>

namespace mindtorch {

namespace {

struct Exponential {
    static INLINE Floats of(const Floats& x) { return exponential(x); }
};
struct Tangent {
    static INLINE Floats of(const Floats& x) { return hyperbolic_tangent(x); }
};
struct ErrorFunction {
    static INLINE Floats of(const Floats& x) { return error_function(x); }
};
struct Sigmoid {
    static INLINE Floats of(const Floats& x) { return 1.0f / (1.0f + exponential(-x)); }
};
struct Silu {
    static INLINE Floats of(const Floats& x) { return x / (1.0f + exponential(-x)); }
};
struct Gelu {
    static INLINE Floats of(const Floats& x) { return (error_function(x * 0.70710678f) + 1.0f) * x * 0.5f; }
};

constexpr float BETA = 0.79788456f, KAPPA = 0.044715f;  // sqrt(2 / pi)

struct GeluByTangent {
    static INLINE Floats of(const Floats& x) {
        return (hyperbolic_tangent((x * x * KAPPA + 1.0f) * x * BETA) + 1.0f) * x * 0.5f;
    }
};

template <typename Op>
void activate(float* out, const float* in, size_t count) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) store(out + i, Op::of(load(in + i)));
    if (i < count) store_part(out + i, Op::of(load_part(in + i, count - i, 0)), count - i);
}

// The slope at x; the backward multiplies the gradient by it.
struct GeluSlope {
    static INLINE Floats of(const Floats& x) {
        const Floats share = (error_function(x * 0.70710678f) + 1.0f) * 0.5f;
        return exponential(x * x * -0.5f) * 0.39894228f * x + share;
    }
};
struct GeluByTangentSlope {
    static INLINE Floats of(const Floats& x) {
        const Floats t = hyperbolic_tangent((x * x * KAPPA + 1.0f) * x * BETA);
        return (t + 1.0f) * 0.5f + x * 0.5f * (1.0f - t * t) * (x * x * (3 * KAPPA) + 1.0f) * BETA;
    }
};

template <typename Op>
void slope(float* out, const float* grad, const float* in, size_t count) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) store(out + i, load(grad + i) * Op::of(load(in + i)));
    if (i < count) {
        const size_t rest = count - i;
        store_part(out + i, load_part(grad + i, rest, 0) * Op::of(load_part(in + i, rest, 0)), rest);
    }
}

}  // namespace

extern const ActivationLoops MINDTORCH_LOOPS(activation_loops) = {
    {activate<Exponential>, activate<Tangent>, activate<ErrorFunction>, activate<Sigmoid>, activate<Silu>,
     activate<Gelu>, activate<GeluByTangent>},
    {slope<GeluSlope>, slope<GeluByTangentSlope>},
};

}  // namespace mindtorch
