// Activations of dense float32 elements, and gradients times their derivatives.
#include "kernels/activation.h"
#include "simd/vector_map.h"
#include "simd/vector_double.h"

namespace mindtorch {

namespace {

INLINE Floats sigmoid(const Floats& x) { return 1.0f / (1.0f + exp(-x)); }
INLINE Floats between(const Floats& x, float low, float high) {  // nan stays
    const Floats raised = x < low ? all(low) : x;
    return raised > high ? all(high) : raised;
}

#define ACTIVATION(Name, value)                                           \
    struct Name : NoNumbers {                                             \
        using NoNumbers::NoNumbers;                                       \
        INLINE Floats operator()(const Floats& x) const { return value; } \
    };
#define BACKWARD(Name, value)                                                                 \
    struct Name : NoNumbers {                                                                 \
        using NoNumbers::NoNumbers;                                                           \
        INLINE Floats operator()(const Floats& grad, const Floats& x) const { return value; } \
    };

constexpr float BETA = 0.79788456f, KAPPA = 0.044715f;  // sqrt(2 / pi)
constexpr float SIXTH = 1.0f / 6.0f;

ACTIVATION(Silu, x / (1.0f + exp(-x)))
ACTIVATION(Gelu, x* normal_cdf(x))
ACTIVATION(GeluTanh, (tanh((x * x * KAPPA + 1.0f) * x * BETA) + 1.0f) * x * 0.5f)
ACTIVATION(Hardswish, x* between(x + 3.0f, 0.0f, 6.0f) / 6.0f)
ACTIVATION(Hardsigmoid, between(x + 3.0f, 0.0f, 6.0f) / 6.0f)

ACTIVATION(LogSigmoid, -softplus1(-x))

// tanh(log(1 + e)), from e = e**x, which is not too large.
INLINE Floats tanh_softplus(const Floats& e) {
    const Floats n = e * (e + 2.0f);
    return n / (n + 2.0f);
}
ACTIVATION(Mish, x > 20.0f ? x : x * tanh_softplus(exp(x)))

BACKWARD(SiluBackward, grad*(sigmoid(x) * (1.0f + x * (1.0f - sigmoid(x)))))
BACKWARD(HardswishBackward, x <= -3.0f ? Floats{} : x < 3.0f ? grad * (x / 3.0f + 0.5f) : grad)
BACKWARD(HardsigmoidBackward, ((x > -3.0f) & (x < 3.0f)) ? grad * SIXTH : Floats{})
BACKWARD(LogSigmoidBackward, grad* sigmoid(-x))
BACKWARD(TanhBackward, grad * (1.0f - x * x))
BACKWARD(SigmoidBackward, grad * ((1.0f - x) * x))

BACKWARD(Glu, grad / (1.0f + exp(-x)))  // also a gradient's share that goes to the value

struct GluGateBackward : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& grad, const Floats& value, const Floats& gate) const {
        const Floats share = sigmoid(gate);
        return grad * value * ((1.0f - share) * share);
    }
};
struct MishBackward : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& grad, const Floats& x) const {
        const Floats e = exp(x > 20.0f ? all(20.0f) : x);
        const Floats bounded = x > 20.0f ? all(1.0f) : tanh_softplus(e);
        return grad * (bounded + x * (e / (1.0f + e)) * (1.0f - bounded * bounded));
    }
};
struct GeluBackward : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& grad, const Floats& x) const {
        const Floats density = exp_of_negative(x * x * -0.5f) * 0.39894228f;
        return grad * (density * x + normal_cdf(x));
    }
};
struct GeluTanhBackward : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& grad, const Floats& x) const {
        const Floats t = tanh((x * x * KAPPA + 1.0f) * x * BETA);
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
#define NUMBERED_BACKWARD(Name, value)                                                        \
    struct Name : Numbered {                                                                  \
        using Numbered::Numbered;                                                             \
        INLINE Floats operator()(const Floats& grad, const Floats& x) const { return value; } \
    };

NUMBERED_ACTIVATION(LeakyRelu, x > 0.0f ? x : x * number(0))
NUMBERED_BACKWARD(LeakyReluBackward, x > 0.0f ? grad : grad * number(0))
NUMBERED_ACTIVATION(Hardtanh, between(x, number(0), number(1)))
NUMBERED_BACKWARD(HardtanhBackward, ((x <= number(0)) | (x >= number(1))) ? Floats{} : grad)
NUMBERED_ACTIVATION(Threshold, x <= number(0) ? all(number(1)) : x)
NUMBERED_BACKWARD(ThresholdBackward, x <= number(0) ? Floats{} : grad)
NUMBERED_ACTIVATION(Softshrink, x > number(0) ? x - number(0) : x < -number(0) ? x + number(0) : x * 0.0f)
NUMBERED_ACTIVATION(Hardshrink, ((x >= -number(0)) & (x <= number(0))) ? Floats{} : x)
NUMBERED_BACKWARD(ShrinkBackward, ((x >= -number(0)) & (x <= number(0))) ? Floats{} : grad)

// The numbers are alpha, scale, input_scale.
struct Elu : Numbered {
    using Numbered::Numbered;
    INLINE Floats operator()(const Floats& x) const {
        const Floats below = expm1(x * number(2)) * (float)(numbers[0] * numbers[1]);
        return x < 0.0f ? below : x * number(1);
    }
};
struct EluBackward : Numbered {
    using Numbered::Numbered;
    INLINE Floats operator()(const Floats& grad, const Floats& x) const {
        const float factor = (float)(numbers[2] * numbers[0] * numbers[1]);
        return x <= 0.0f ? grad * factor * exp(x * number(2)) : grad * number(1);
    }
};
struct EluBackwardOfResult : Numbered {
    using Numbered::Numbered;
    INLINE Floats operator()(const Floats& grad, const Floats& x) const {
        return x <= 0.0f ? grad * number(2) * (x + (float)(numbers[0] * numbers[1])) : grad * number(1);
    }
};

// The numbers are beta, threshold.
NUMBERED_ACTIVATION(Softplus, x* number(0) > number(1) ? x : softplus1(x * number(0)) / number(0))
NUMBERED_BACKWARD(SoftplusBackward, x* number(0) > number(1) ? grad : grad * sigmoid(x * number(0)))

}  // namespace

#define LOOP(name, arrays, numbers, Op, rows) {{{vector_map<Op, arrays>}}},

extern const ActivationLoops MINDTORCH_LOOPS(activation_loops) = {{MINDTORCH_ACTIVATIONS(LOOP)}};

}  // namespace mindtorch
