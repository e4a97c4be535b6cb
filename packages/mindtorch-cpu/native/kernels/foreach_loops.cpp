// The steps of chains, over one block each. An operand is the output itself or apart from it: `ivdep` tells the
// compiler.
#include "kernels/foreach.h"
#include "simd/loop.h"

namespace mindtorch {

namespace {

#define EACH MINDTORCH_IVDEP for (size_t i = 0; i < count; i++)

inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

template <typename T>
void one_operand(const ChainStep& step, T* out, const T* a, T number, size_t count) {
    switch (step.operation) {
        case CHAIN_neg: EACH out[i] = -a[i]; break;
        case CHAIN_sqrt: EACH out[i] = root(a[i]); break;
        case CHAIN_abs: EACH out[i] = a[i] < 0 ? -a[i] : a[i] + T(0); break;
        case CHAIN_reciprocal: EACH out[i] = T(1) / a[i]; break;
        case CHAIN_add_number: EACH out[i] = a[i] + number; break;
        case CHAIN_sub_number: EACH out[i] = a[i] - number; break;
        case CHAIN_mul_number: EACH out[i] = a[i] * number; break;
        default: EACH out[i] = a[i] / number; break;
    }
}

template <typename T>
void lerp(T* out, const T* a, const T* b, double weight, size_t count) {
    const T w = static_cast<T>(weight), kept = T(1) - w;
    if (weight < 0.5 && weight > -0.5) {
        EACH out[i] = a[i] + (b[i] - a[i]) * w;
    } else {
        EACH out[i] = b[i] - (b[i] - a[i]) * kept;
    }
}

template <typename T>
void several_operands(const ChainStep& step, T* out, const T* a, const T* b, const T* c, T number, size_t count) {
    switch (step.operation) {
        case CHAIN_mul: EACH out[i] = a[i] * b[i]; break;
        case CHAIN_div: EACH out[i] = a[i] / b[i]; break;
        case CHAIN_maximum: EACH out[i] = a[i] > b[i] || a[i] != a[i] ? a[i] : b[i]; break;
        case CHAIN_add_scaled: EACH out[i] = a[i] + b[i] * number; break;
        case CHAIN_sub_scaled: EACH out[i] = a[i] - b[i] * number; break;
        case CHAIN_addcmul: EACH out[i] = a[i] + b[i] * number * c[i]; break;
        default: EACH out[i] = a[i] + b[i] * number / c[i]; break;
    }
}

// Decay that enters the gradient is `decay`, decay of the parameter itself `kept`; one of the two does nothing.
template <typename T, bool amsgrad>
void adam(T* param, const T* grad, T* mean, T* square, T* largest, const double* numbers, size_t count) {
    const T sign = static_cast<T>(numbers[ADAM_SIGN]), decay = static_cast<T>(numbers[ADAM_DECAY]);
    const T kept = static_cast<T>(numbers[ADAM_KEPT]), mean_weight = static_cast<T>(numbers[ADAM_MEAN_WEIGHT]);
    const T square_kept = static_cast<T>(numbers[ADAM_SQUARE_KEPT]);
    const T square_weight = static_cast<T>(numbers[ADAM_SQUARE_WEIGHT]);
    const T step_size = static_cast<T>(numbers[ADAM_STEP_SIZE]), eps = static_cast<T>(numbers[ADAM_EPS]);
    const T correction = static_cast<T>(1 / numbers[ADAM_ROOT_CORRECTION]);
    EACH {
        const T p = param[i] * kept;
        const T g = grad[i] * sign + param[i] * decay;
        const T m = mean[i] + (g - mean[i]) * mean_weight;
        const T s = square[i] * square_kept + g * square_weight * g;
        mean[i] = m;
        square[i] = s;
        T second = s;
        if constexpr (amsgrad) {
            second = largest[i] > s || largest[i] != largest[i] ? largest[i] : s;
            largest[i] = second;
        }
        param[i] = p - m * step_size / (root(second) * correction + eps);
    }
}

// lerp, mul_number, addcmul, (maximum,) sqrt, div_number, add_number and addcdiv, each rounding as the step of that
// name.
template <typename T, bool amsgrad, bool far>
void adam_stepwise(T* param, const T* grad, T* mean, T* square, T* largest, const double* numbers, size_t count) {
    const T weight = static_cast<T>(numbers[STEPWISE_MEAN_WEIGHT]), kept = T(1) - weight;
    const T square_kept = static_cast<T>(numbers[STEPWISE_SQUARE_KEPT]);
    const T square_weight = static_cast<T>(numbers[STEPWISE_SQUARE_WEIGHT]);
    const T correction = static_cast<T>(numbers[STEPWISE_ROOT_CORRECTION]);
    const T eps = static_cast<T>(numbers[STEPWISE_EPS]), move = static_cast<T>(numbers[STEPWISE_MOVE]);
    EACH {
        const T g = grad[i];
        const T m = far ? g - (g - mean[i]) * kept : mean[i] + (g - mean[i]) * weight;
        const T s = square[i] * square_kept + g * square_weight * g;
        mean[i] = m;
        square[i] = s;
        T second = s;
        if constexpr (amsgrad) {
            second = largest[i] > s || largest[i] != largest[i] ? largest[i] : s;
            largest[i] = second;
        }
        param[i] = param[i] + m * move / (root(second) / correction + eps);
    }
}

template <typename T>
void run_stepwise(const ChainStep& step, T* const* slots, const double* numbers, size_t count) {
    T *param = slots[step.out], *mean = slots[step.b], *square = slots[step.c], *largest = slots[step.d];
    const T* grad = slots[step.a];
    const double weight = numbers[STEPWISE_MEAN_WEIGHT];
    const bool far = !(weight < 0.5 && weight > -0.5);
    if (step.d == step.out) {
        if (far) return adam_stepwise<T, false, true>(param, grad, mean, square, nullptr, numbers, count);
        return adam_stepwise<T, false, false>(param, grad, mean, square, nullptr, numbers, count);
    }
    if (far) return adam_stepwise<T, true, true>(param, grad, mean, square, largest, numbers, count);
    adam_stepwise<T, true, false>(param, grad, mean, square, largest, numbers, count);
}

template <typename T>
void adagrad(T* param, const T* grad, T* total, const double* numbers, size_t count) {
    const T sign = static_cast<T>(numbers[ADAGRAD_SIGN]), decay = static_cast<T>(numbers[ADAGRAD_DECAY]);
    const T step_size = static_cast<T>(numbers[ADAGRAD_STEP_SIZE]), eps = static_cast<T>(numbers[ADAGRAD_EPS]);
    EACH {
        const T g = grad[i] * sign + param[i] * decay;
        const T t = total[i] + g * g;
        total[i] = t;
        param[i] = param[i] - g * step_size / (root(t) + eps);
    }
}

template <typename T>
void run_step(const ChainStep& step, T* const* slots, const double* numbers, size_t count) {
    T* const out = slots[step.out];
    const T *a = slots[step.a], *b = slots[step.b], *c = slots[step.c];
    if (step.operation == CHAIN_adam) {
        const double* own = numbers + step.number;
        if (step.d == step.out) return adam<T, false>(out, a, slots[step.b], slots[step.c], nullptr, own, count);
        return adam<T, true>(out, a, slots[step.b], slots[step.c], slots[step.d], own, count);
    }
    if (step.operation == CHAIN_adam_stepwise) return run_stepwise(step, slots, numbers + step.number, count);
    if (step.operation == CHAIN_adagrad) return adagrad(out, a, slots[step.b], numbers + step.number, count);
    const double number = numbers[step.number];
    if (step.operation == CHAIN_lerp) return lerp(out, a, b, number, count);
    const bool one = step.operation <= CHAIN_reciprocal ||
                     (step.operation >= CHAIN_add_number && step.operation <= CHAIN_div_number);
    if (one) return one_operand(step, out, a, static_cast<T>(number), count);
    several_operands(step, out, a, b, c, static_cast<T>(number), count);
}

template <typename T>
void run(const ChainStep* steps, size_t step_count, void* const* slots, size_t given, const double* numbers,
         size_t from, size_t to) {
    alignas(64) T temporaries[CHAIN_TEMPORARIES][CHAIN_BLOCK];
    T* at[CHAIN_SLOTS + CHAIN_TEMPORARIES];
    for (size_t i = 0; i < CHAIN_TEMPORARIES; i++) at[given + i] = temporaries[i];
    bool is_one = step_count == 1;  // nothing to keep in the cache for
    for (size_t i = 0; i < step_count; i++) is_one = is_one && steps[i].out < given;
    const size_t block = is_one ? to - from : CHAIN_BLOCK;
    for (size_t start = from; start < to; start += block) {
        const size_t count = to - start < block ? to - start : block;
        for (size_t i = 0; i < given; i++) at[i] = static_cast<T*>(slots[i]) + start;
        for (size_t i = 0; i < step_count; i++) run_step<T>(steps[i], at, numbers, count);
    }
}

}  // namespace

extern const ChainLoops MINDTORCH_LOOPS(chain_loops) = {{run<float>, run<double>}};

}  // namespace mindtorch
