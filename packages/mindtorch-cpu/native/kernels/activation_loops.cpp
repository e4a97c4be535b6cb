// Activations of dense float32 elements, and gradients times their slopes.
#include "kernels/activation.h"
#include "simd/vector_map.h"
#include "simd/vector_double.h"

namespace mindtorch {

namespace {

INLINE Floats sigmoid(const Floats& x) { return 1.0f / (1.0f + exponential(-x)); }
INLINE Floats between(const Floats& x, float low, float high) {  // nan stays
    const Floats raised = x < low ? all(low) : x;
    return raised > high ? all(high) : raised;
}

#define ACTIVATION(Name, value)                                           \
    struct Name : NoNumbers {                                             \
        using NoNumbers::NoNumbers;                                       \
        INLINE Floats operator()(const Floats& x) const { return value; } \
    };
#define SLOPE(Name, value)                                                                    \
    struct Name : NoNumbers {                                                                 \
        using NoNumbers::NoNumbers;                                                           \
        INLINE Floats operator()(const Floats& grad, const Floats& x) const { return value; } \
    };

constexpr float BETA = 0.79788456f, KAPPA = 0.044715f;  // sqrt(2 / pi)
constexpr float SIXTH = 1.0f / 6.0f;

ACTIVATION(Silu, x / (1.0f + exponential(-x)))
ACTIVATION(Gelu, x* normal_distribution(x))
ACTIVATION(GeluByTangent, (hyperbolic_tangent((x * x * KAPPA + 1.0f) * x * BETA) + 1.0f) * x * 0.5f)
ACTIVATION(HardSwish, x* between(x + 3.0f, 0.0f, 6.0f) / 6.0f)
ACTIVATION(HardSigmoid, between(x + 3.0f, 0.0f, 6.0f) / 6.0f)

ACTIVATION(LogSigmoid, -soft(-x))

// tanh(log(1 + e)), from e = e**x, which is not too large.
INLINE Floats bounded_soft(const Floats& e) {
    const Floats n = e * (e + 2.0f);
    return n / (n + 2.0f);
}
ACTIVATION(Mish, x > 20.0f ? x : x * bounded_soft(exponential(x)))

SLOPE(SiluSlope, grad*(sigmoid(x) * (1.0f + x * (1.0f - sigmoid(x)))))
SLOPE(HardSwishSlope, x <= -3.0f ? Floats{} : x < 3.0f ? grad * (x / 3.0f + 0.5f) : grad)
SLOPE(HardSigmoidSlope, (x > -3.0f) & (x < 3.0f) ? grad * SIXTH : Floats{})
SLOPE(LogSigmoidSlope, grad* sigmoid(-x))
SLOPE(TangentSlope, grad * (1.0f - x * x))
SLOPE(SigmoidSlope, grad * ((1.0f - x) * x))

SLOPE(Gated, grad / (1.0f + exponential(-x)))  // also a gradient's share that goes to the value

struct GateSlope : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& grad, const Floats& value, const Floats& gate) const {
        const Floats share = sigmoid(gate);
        return grad * value * ((1.0f - share) * share);
    }
};
struct MishSlope : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& grad, const Floats& x) const {
        const Floats e = exponential(x > 20.0f ? all(20.0f) : x);
        const Floats bounded = x > 20.0f ? all(1.0f) : bounded_soft(e);
        return grad * (bounded + x * (e / (1.0f + e)) * (1.0f - bounded * bounded));
    }
};
struct GeluSlope : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& grad, const Floats& x) const {
        const Floats density = exponential_of_negative(x * x * -0.5f) * 0.39894228f;
        return grad * (density * x + normal_distribution(x));
    }
};
struct GeluByTangentSlope : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& grad, const Floats& x) const {
        const Floats t = hyperbolic_tangent((x * x * KAPPA + 1.0f) * x * BETA);
        return grad * ((t + 1.0f) * 0.5f + x * 0.5f * (1.0f - t * t) * (x * x * (3 * KAPPA) + 1.0f) * BETA);
    }
};

// Those that take numbers.
struct Numbered {
    explicit Numbered(const double* given) {
        for (int i = 0; i < MOST_NUMBERS; i++) numbers[i] = given[i];
    }
    float number(int i) const { return (float)numbers[i]; }
    double numbers[MOST_NUMBERS];
};

#define NUMBERED_ACTIVATION(Name, value)                                  \
    struct Name : Numbered {                                              \
        using Numbered::Numbered;                                         \
        INLINE Floats operator()(const Floats& x) const { return value; } \
    };
#define NUMBERED_SLOPE(Name, value)                                                           \
    struct Name : Numbered {                                                                  \
        using Numbered::Numbered;                                                             \
        INLINE Floats operator()(const Floats& grad, const Floats& x) const { return value; } \
    };

NUMBERED_ACTIVATION(Leaky, x > 0.0f ? x : x * number(0))
NUMBERED_SLOPE(LeakySlope, x > 0.0f ? grad : grad * number(0))
NUMBERED_ACTIVATION(HardTangent, between(x, number(0), number(1)))
NUMBERED_SLOPE(HardTangentSlope, (x <= number(0)) | (x >= number(1)) ? Floats{} : grad)
NUMBERED_ACTIVATION(Threshold, x <= number(0) ? all(number(1)) : x)
NUMBERED_SLOPE(ThresholdSlope, x <= number(0) ? Floats{} : grad)
NUMBERED_ACTIVATION(SoftShrink, x > number(0) ? x - number(0) : x < -number(0) ? x + number(0) : x * 0.0f)
NUMBERED_ACTIVATION(HardShrink, (x >= -number(0)) & (x <= number(0)) ? Floats{} : x)
NUMBERED_SLOPE(ShrinkSlope, (x >= -number(0)) & (x <= number(0)) ? Floats{} : grad)

// The numbers are alpha, scale, input_scale.
struct Elu : Numbered {
    using Numbered::Numbered;
    INLINE Floats operator()(const Floats& x) const {
        const Floats below = exponential_less_one(x * number(2)) * (float)(numbers[0] * numbers[1]);
        return x < 0.0f ? below : x * number(1);
    }
};
struct EluSlope : Numbered {
    using Numbered::Numbered;
    INLINE Floats operator()(const Floats& grad, const Floats& x) const {
        const float factor = (float)(numbers[2] * numbers[0] * numbers[1]);
        return x <= 0.0f ? grad * factor * exponential(x * number(2)) : grad * number(1);
    }
};
struct EluSlopeOfResult : Numbered {
    using Numbered::Numbered;
    INLINE Floats operator()(const Floats& grad, const Floats& x) const {
        return x <= 0.0f ? grad * number(2) * (x + (float)(numbers[0] * numbers[1])) : grad * number(1);
    }
};

// The numbers are beta, threshold.
NUMBERED_ACTIVATION(Softplus, x* number(0) > number(1) ? x : soft(x * number(0)) / number(0))
NUMBERED_SLOPE(SoftplusSlope, x* number(0) > number(1) ? grad : grad * sigmoid(x * number(0)))

}  // namespace

extern const ActivationLoops MINDTORCH_LOOPS(activation_loops) = {{
    {{{vector_map<Silu, 1>}}},
    {{{vector_map<Gelu, 1>}}},
    {{{vector_map<GeluByTangent, 1>}}},
    {{{vector_map<Leaky, 1>}}},
    {{{vector_map<Elu, 1>}}},
    {{{vector_map<Softplus, 1>}}},
    {{{vector_map<HardSwish, 1>}}},
    {{{vector_map<HardSigmoid, 1>}}},
    {{{vector_map<HardTangent, 1>}}},
    {{{vector_map<Mish, 1>}}},
    {{{vector_map<LogSigmoid, 1>}}},
    {{{vector_map<Threshold, 1>}}},
    {{{vector_map<SoftShrink, 1>}}},
    {{{vector_map<HardShrink, 1>}}},
    {{{vector_map<SiluSlope, 2>}}},
    {{{vector_map<GeluSlope, 2>}}},
    {{{vector_map<GeluByTangentSlope, 2>}}},
    {{{vector_map<LeakySlope, 2>}}},
    {{{vector_map<EluSlope, 2>}}},
    {{{vector_map<EluSlopeOfResult, 2>}}},
    {{{vector_map<SoftplusSlope, 2>}}},
    {{{vector_map<HardSwishSlope, 2>}}},
    {{{vector_map<HardSigmoidSlope, 2>}}},
    {{{vector_map<HardTangentSlope, 2>}}},
    {{{vector_map<MishSlope, 2>}}},
    {{{vector_map<LogSigmoidSlope, 2>}}},
    {{{vector_map<ThresholdSlope, 2>}}},
    {{{vector_map<ShrinkSlope, 2>}}},
    {{{vector_map<TangentSlope, 2>}}},
    {{{vector_map<SigmoidSlope, 2>}}},
    {{{vector_map<Gated, 2>}}},
    {{{vector_map<GateSlope, 3>}}},
}};

}  // namespace mindtorch
