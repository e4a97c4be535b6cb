// Losses of dense float32 elements, and gradients times their derivatives.
#include "kernels/loss.h"
#include "simd/vector_map.h"
#include "simd/vector_double.h"

namespace mindtorch {

namespace {

// The numbers are the share of an element, and beta or delta.
struct Numbered {
    explicit Numbered(const double* numbers)
        : share((float)numbers[0]), bound((float)numbers[1]), half(0.5f / (bound == 0.0f ? 1.0f : bound)) {}
    float share, bound, half;
};

#define LOSS(Name, value)                                                                       \
    struct Name : Numbered {                                                                    \
        using Numbered::Numbered;                                                               \
        INLINE Floats operator()(const Floats& x, const Floats& target) const { return value; } \
    };
#define BACKWARD(Name, value)                                                                                       \
    struct Name : Numbered {                                                                                        \
        using Numbered::Numbered;                                                                                   \
        INLINE Floats operator()(const Floats& grad, const Floats& x, const Floats& target) const { return value; } \
    };

INLINE Floats at_least(const Floats& x, float low) { return x < low ? all(low) : x; }
INLINE Floats between(const Floats& x, float low, float high) {
    const Floats raised = at_least(x, low);
    return raised > high ? all(high) : raised;
}
INLINE Floats sign(const Floats& x) { return x > 0.0f ? all(1.0f) : x < 0.0f ? all(-1.0f) : x; }

INLINE Floats smooth_l1(const Floats& size, float beta, float half) {
    return size < beta ? size * size * half : size - 0.5f * beta;
}
INLINE Floats huber(const Floats& size, float delta) {
    return size <= delta ? size * size * 0.5f : (size - 0.5f * delta) * delta;
}
INLINE Floats smooth_l1_derivative(const Floats& apart, float beta) {
    return absolute(apart) < beta ? apart / (beta == 0.0f ? 1.0f : beta) : sign(apart);
}

LOSS(MseLoss, (x - target) * (x - target))
LOSS(SmoothL1Loss, smooth_l1(absolute(x - target), bound, half))
LOSS(HuberLoss, huber(absolute(x - target), bound))
LOSS(BinaryCrossEntropy, (target - 1.0f) * at_least(log1p(-x), -100.0f) - target * at_least(log(x), -100.0f))
LOSS(BinaryCrossEntropyWithLogits, (1.0f - target) * x + softplus1(-x))
BACKWARD(MseLossBackward, (x - target) * (2.0f * share) * grad)
BACKWARD(SmoothL1LossBackward, smooth_l1_derivative(x - target, bound) * share * grad)
BACKWARD(HuberLossBackward, between(x - target, -bound, bound) * share * grad)
BACKWARD(BinaryCrossEntropyBackward, grad*(x - target) / at_least((1.0f - x) * x, 1e-12f) * share)

}  // namespace

#define LOSS_LOOP(name, Op) vector_map<Op, 2>,
#define BACKWARD_LOOP(name, Op) vector_map<Op, 3>,

extern const LossLoops MINDTORCH_LOOPS(loss_loops) = {MINDTORCH_LOSSES(LOSS_LOOP)
                                                          MINDTORCH_LOSS_BACKWARDS(BACKWARD_LOOP)};

}  // namespace mindtorch
