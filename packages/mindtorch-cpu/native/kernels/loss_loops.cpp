// Losses of dense float32 elements, and gradients times their slopes.
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
#define SLOPE(Name, value)                                                                                          \
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

INLINE Floats smooth(const Floats& size, float beta, float half) {
    return size < beta ? size * size * half : size - 0.5f * beta;
}
INLINE Floats huber(const Floats& size, float delta) {
    return size <= delta ? size * size * 0.5f : (size - 0.5f * delta) * delta;
}
INLINE Floats smooth_slope(const Floats& apart, float beta) {
    return absolute(apart) < beta ? apart / (beta == 0.0f ? 1.0f : beta) : sign(apart);
}

LOSS(Squared, (x - target) * (x - target))
LOSS(Smooth, smooth(absolute(x - target), bound, half))
LOSS(Huber, huber(absolute(x - target), bound))
LOSS(CrossEntropy,
     (target - 1.0f) * at_least(logarithm_of_one_plus(-x), -100.0f) - target * at_least(logarithm(x), -100.0f))
LOSS(CrossEntropyOfLogits, (1.0f - target) * x + soft(-x))
SLOPE(SquaredSlope, (x - target) * (2.0f * share) * grad)
SLOPE(SmoothSlope, smooth_slope(x - target, bound) * share * grad)
SLOPE(HuberSlope, between(x - target, -bound, bound) * share * grad)
SLOPE(CrossEntropySlope, grad*(x - target) / at_least((1.0f - x) * x, 1e-12f) * share)

}  // namespace

extern const LossLoops MINDTORCH_LOOPS(loss_loops) = {
    {vector_map<Squared, 2>, vector_map<Smooth, 2>, vector_map<Huber, 2>, vector_map<CrossEntropy, 2>,
     vector_map<CrossEntropyOfLogits, 2>},
    {vector_map<SquaredSlope, 3>, vector_map<SmoothSlope, 3>, vector_map<HuberSlope, 3>,
     vector_map<CrossEntropySlope, 3>},
};

}  // namespace mindtorch
