// Activations of dense float32 elements and doubles, and gradients times their derivatives.
#include "kernels/activation.h"
#include "simd/double_function.h"
#include "simd/vector_map.h"

namespace mindtorch {

namespace {

// What the lanes of a vector are.
template <typename V>
struct LaneOf {
    typedef float Type;
};
template <>
struct LaneOf<Doubles> {
    typedef double Type;
};
template <typename V>
using Lane = typename LaneOf<V>::Type;
template <typename V>
INLINE V every(Lane<V> value) {
    return V{} + value;
}

// The functions of floats, of doubles.
INLINE Doubles exp(const Doubles& x) { return double_exp(x); }
INLINE Doubles exp_of_negative(const Doubles& x) { return double_exp(x); }
INLINE Doubles expm1(const Doubles& x) { return double_expm1(x); }
INLINE Doubles normal_cdf(const Doubles& x) { return 0.5 * (1.0 + double_erf(x * 0.70710678118654752440)); }

template <typename V>
INLINE V sigmoid(const V& x) {
    return 1.0f / (1.0f + exp(-x));
}
template <typename V>
INLINE V between(const V& x, Lane<V> low, Lane<V> high) {  // nan stays
    const V raised = x < low ? every<V>(low) : x;
    return raised > high ? every<V>(high) : raised;
}

#define ACTIVATION(Name, value)                 \
    struct Name : NoNumbers {                   \
        using NoNumbers::NoNumbers;             \
        template <typename V>                   \
        INLINE V operator()(const V& x) const { \
            return value;                       \
        }                                       \
    };
#define BACKWARD(Name, value)                                  \
    struct Name : NoNumbers {                                  \
        using NoNumbers::NoNumbers;                            \
        template <typename V>                                  \
        INLINE V operator()(const V& grad, const V& x) const { \
            return value;                                      \
        }                                                      \
    };

constexpr float SIXTH = 1.0f / 6.0f;                    // torch's doubles are multiplied by a float, too
constexpr float BETA = 0.79788456f, KAPPA = 0.044715f;  // sqrt(2 / pi)

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
BACKWARD(HardswishBackward, x <= -3.0f ? V{} : x < 3.0f ? grad * (x / 3.0f + 0.5f) : grad)
BACKWARD(HardsigmoidBackward, ((x > -3.0f) & (x < 3.0f)) ? grad * SIXTH : V{})
BACKWARD(LogSigmoidBackward, grad* sigmoid(-x))
BACKWARD(TanhBackward, grad * (1.0f - x * x))
BACKWARD(SigmoidBackward, grad * ((1.0f - x) * x))

BACKWARD(Glu, grad / (1.0f + exp(-x)))  // also a gradient's share that goes to the value

struct GluGateBackward : NoNumbers {
    using NoNumbers::NoNumbers;
    template <typename V>
    INLINE V operator()(const V& grad, const V& value, const V& gate) const {
        const V share = sigmoid(gate);
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
    template <typename V>
    INLINE V operator()(const V& grad, const V& x) const {
        const V density = exp_of_negative(x * x * -0.5f) * (Lane<V>)0.39894228040143267794;
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
    double numbers[MOST_NUMBERS];
};

#define NUMBERED_ACTIVATION(Name, value)                                       \
    struct Name : Numbered {                                                   \
        using Numbered::Numbered;                                              \
        template <typename V>                                                  \
        INLINE V operator()(const V& x) const {                                \
            const auto number = [this](int i) { return (Lane<V>)numbers[i]; }; \
            return value;                                                      \
        }                                                                      \
    };
#define NUMBERED_BACKWARD(Name, value)                                         \
    struct Name : Numbered {                                                   \
        using Numbered::Numbered;                                              \
        template <typename V>                                                  \
        INLINE V operator()(const V& grad, const V& x) const {                 \
            const auto number = [this](int i) { return (Lane<V>)numbers[i]; }; \
            return value;                                                      \
        }                                                                      \
    };

NUMBERED_ACTIVATION(LeakyRelu, x > 0.0f ? x : x * number(0))
NUMBERED_BACKWARD(LeakyReluBackward, x > 0.0f ? grad : grad * number(0))
NUMBERED_ACTIVATION(Hardtanh, between(x, number(0), number(1)))
NUMBERED_BACKWARD(HardtanhBackward, ((x <= number(0)) | (x >= number(1))) ? V{} : grad)
NUMBERED_ACTIVATION(Threshold, x <= number(0) ? every<V>(number(1)) : x)
NUMBERED_BACKWARD(ThresholdBackward, x <= number(0) ? V{} : grad)
NUMBERED_ACTIVATION(Softshrink, x > number(0) ? x - number(0) : x < -number(0) ? x + number(0) : x * 0.0f)
NUMBERED_ACTIVATION(Hardshrink, ((x >= -number(0)) & (x <= number(0))) ? V{} : x)
NUMBERED_BACKWARD(ShrinkBackward, ((x >= -number(0)) & (x <= number(0))) ? V{} : grad)

// The numbers are alpha, scale, input_scale.
NUMBERED_ACTIVATION(Elu, x < 0.0f ? expm1(x * number(2)) * (Lane<V>)(numbers[0] * numbers[1]) : x * number(1))
NUMBERED_BACKWARD(EluBackward, x <= 0.0f ? grad * (Lane<V>)(numbers[2] * numbers[0] * numbers[1]) * exp(x * number(2))
                                         : grad * number(1))
NUMBERED_BACKWARD(EluBackwardOfResult,
                  x <= 0.0f ? grad * number(2) * (x + (Lane<V>)(numbers[0] * numbers[1])) : grad * number(1))

// The numbers are the bounds, the lower first: what is below it becomes it whatever the upper one is.
NUMBERED_ACTIVATION(Between, x<number(0) ? every<V>(number(0)) : x> number(1) ? every<V>(number(1)) : x)
struct Logit : Numbered {
    using Numbered::Numbered;
    INLINE Floats operator()(const Floats& x) const {
        const Floats within = Between(numbers)(x);
        return log(within / (1.0f - within));
    }
};

// The numbers are beta, threshold.
NUMBERED_ACTIVATION(Softplus, x* number(0) > number(1) ? x : softplus1(x * number(0)) / number(0))
NUMBERED_BACKWARD(SoftplusBackward, x* number(0) > number(1) ? grad : grad * sigmoid(x * number(0)))

}  // namespace

#define WIDE(Op, arrays)                  \
    {                                     \
        {                                 \
            double_vector_map<Op, arrays> \
        }                                 \
    }
#define NONE(Op, arrays) \
    {                    \
    }
#define LOOP(name, arrays, numbers, Op, wide, rows) {{{vector_map<Op, arrays>}}, wide(Op, arrays)},

extern const ActivationLoops MINDTORCH_LOOPS(activation_loops) = {{MINDTORCH_ACTIVATIONS(LOOP)}};

}  // namespace mindtorch
