// The steps of chains, over one block each. An operand is the output itself or apart from it: `ivdep` tells the
// compiler.
#include "kernels/foreach.h"
#include "simd/fmadd.h"
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
        EACH out[i] = fmadd(b[i] - a[i], w, a[i]);
    } else {
        EACH out[i] = fmadd(a[i] - b[i], kept, b[i]);
    }
}

template <typename T>
void several_operands(const ChainStep& step, T* out, const T* a, const T* b, const T* c, T number, size_t count) {
    switch (step.operation) {
        case CHAIN_mul: EACH out[i] = a[i] * b[i]; break;
        case CHAIN_div: EACH out[i] = a[i] / b[i]; break;
        case CHAIN_maximum: EACH out[i] = a[i] > b[i] || a[i] != a[i] ? a[i] : b[i]; break;
        case CHAIN_add_scaled: EACH out[i] = fmadd(b[i], number, a[i]); break;
        case CHAIN_sub_scaled: EACH out[i] = fmadd(-b[i], number, a[i]); break;
        case CHAIN_addcmul: EACH out[i] = fmadd(b[i] * number, c[i], a[i]); break;
        default: EACH out[i] = a[i] + b[i] * number / c[i]; break;
    }
}

template <typename T>
struct AdamNumbers {
    T mean_weight, square_kept, square_weight, correction, eps, move;
};

// One element's lerp, mul_number, addcmul, (maximum,) sqrt, div_number, add_number and addcdiv, each rounding as the
// step of that name; returns the parameter. The mean starts from the gradient where `far`, as lerp does.
template <bool amsgrad, bool far, typename T>
INLINE T adam_element(T param, T grad, T& mean, T& square, T* largest, const AdamNumbers<T>& n) {
    mean = far ? fmadd(mean - grad, T(1) - n.mean_weight, grad) : fmadd(grad - mean, n.mean_weight, mean);
    square = fmadd(grad * n.square_weight, grad, square * n.square_kept);
    T second = square;
    if constexpr (amsgrad) {
        second = *largest > square || *largest != *largest ? *largest : square;
        *largest = second;
    }
    return param + mean * n.move / (root(second) / n.correction + n.eps);
}

// Decay that enters the gradient is `decay`, decay of the parameter itself `kept`; one of the two does nothing.
template <typename T, bool amsgrad, bool far>
void adam(T* param, const T* grad, T* mean, T* square, T* largest, const double* numbers, size_t count) {
    const T sign = static_cast<T>(numbers[ADAM_SIGN]), decay = static_cast<T>(numbers[ADAM_DECAY]);
    const T kept = static_cast<T>(numbers[ADAM_KEPT]);
    const AdamNumbers<T> n = {
        static_cast<T>(numbers[ADAM_MEAN_WEIGHT]),   static_cast<T>(numbers[ADAM_SQUARE_KEPT]),
        static_cast<T>(numbers[ADAM_SQUARE_WEIGHT]), static_cast<T>(numbers[ADAM_ROOT_CORRECTION]),
        static_cast<T>(numbers[ADAM_EPS]),           static_cast<T>(-numbers[ADAM_STEP_SIZE])};
    EACH {
        const T g = fmadd(param[i], decay, grad[i] * sign);
        param[i] = adam_element<amsgrad, far>(param[i] * kept, g, mean[i], square[i], largest + i, n);
    }
}

template <typename T, bool amsgrad, bool far>
void adam_stepwise(T* param, const T* grad, T* mean, T* square, T* largest, const double* numbers, size_t count) {
    const AdamNumbers<T> n = {
        static_cast<T>(numbers[STEPWISE_MEAN_WEIGHT]),   static_cast<T>(numbers[STEPWISE_SQUARE_KEPT]),
        static_cast<T>(numbers[STEPWISE_SQUARE_WEIGHT]), static_cast<T>(numbers[STEPWISE_ROOT_CORRECTION]),
        static_cast<T>(numbers[STEPWISE_EPS]),           static_cast<T>(numbers[STEPWISE_MOVE])};
    EACH param[i] = adam_element<amsgrad, far>(param[i], grad[i], mean[i], square[i], largest + i, n);
}

// Without amsgrad the step's fourth operand is its output, which stands for the largest squares and is not touched.
template <typename T>
void run_adam(const ChainStep& step, T* const* slots, const double* numbers, size_t count) {
    const bool stepwise = step.operation == CHAIN_adam_stepwise, amsgrad = step.d != step.out;
    const double weight = numbers[stepwise ? int(STEPWISE_MEAN_WEIGHT) : int(ADAM_MEAN_WEIGHT)];
    const bool far = !(weight < 0.5 && weight > -0.5);
    using Loop = void (*)(T*, const T*, T*, T*, T*, const double*, size_t);
    constexpr Loop loops[2][2][2] = {
        {{adam<T, false, false>, adam<T, false, true>}, {adam<T, true, false>, adam<T, true, true>}},
        {{adam_stepwise<T, false, false>, adam_stepwise<T, false, true>},
         {adam_stepwise<T, true, false>, adam_stepwise<T, true, true>}}};
    loops[stepwise][amsgrad][far](slots[step.out], slots[step.a], slots[step.b], slots[step.c], slots[step.d], numbers,
                                  count);
}

template <typename T>
void adagrad(T* param, const T* grad, T* total, const double* numbers, size_t count) {
    const T sign = static_cast<T>(numbers[ADAGRAD_SIGN]), decay = static_cast<T>(numbers[ADAGRAD_DECAY]);
    const T step_size = static_cast<T>(numbers[ADAGRAD_STEP_SIZE]), eps = static_cast<T>(numbers[ADAGRAD_EPS]);
    EACH {
        const T g = fmadd(param[i], decay, grad[i] * sign);
        const T t = fmadd(g, g, total[i]);
        total[i] = t;
        param[i] = param[i] - g * step_size / (root(t) + eps);
    }
}

template <typename T>
void run_step(const ChainStep& step, T* const* slots, const double* numbers, size_t count) {
    T* const out = slots[step.out];
    const T *a = slots[step.a], *b = slots[step.b], *c = slots[step.c];
    if (step.operation == CHAIN_adam || step.operation == CHAIN_adam_stepwise)
        return run_adam(step, slots, numbers + step.number, count);
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
