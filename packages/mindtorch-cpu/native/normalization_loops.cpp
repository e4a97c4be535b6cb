// What normalizes rows (softmax, layer norm) of float32, with its backwards.
#include "normalization.h"
#include "vector.h"

#include <math.h>

namespace mindtorch {

namespace {

INLINE Floats greater(const Floats& a, const Floats& b) {  // a nan stays
    return (a > b) | (a != a) ? a : b;
}

float greatest(const float* row, size_t width) {
    Floats found = all(-INFINITY);
    size_t i = 0;
    for (; i + LANES <= width; i += LANES) found = greater(load(row + i), found);
    if (i < width) found = greater(load_part(row + i, width - i, -INFINITY), found);
    float lanes[LANES], result = -INFINITY;
    store(lanes, found);
    for (float lane : lanes) result = lane > result || lane != lane ? lane : result;
    return result;
}

// The sum of f(i) over a row, in two chains of sixteen sums; f(i, count) gives zeros past the row's end.
template <typename F>
INLINE float sum_row(size_t width, const F& f) {
    Floats first = {}, second = {};
    size_t i = 0;
    for (; i + 2 * LANES <= width; i += 2 * LANES) {
        first += f(i, LANES);
        second += f(i + LANES, LANES);
    }
    for (; i < width; i += LANES) first += f(i, width - i < LANES ? width - i : LANES);
    return sum_of(first + second);
}

template <typename F>
INLINE void fill_row(float* out, size_t width, const F& f) {
    size_t i = 0;
    for (; i + LANES <= width; i += LANES) store(out + i, f(i, LANES));
    if (i < width) store_part(out + i, f(i, width - i), width - i);
}

INLINE Floats part(const float* from, size_t count, float rest = 0) {
    return count == LANES ? load(from) : load_part(from, count, rest);
}

void softmax(float* out, const float* in, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++, out += width, in += width) {
        const float most = greatest(in, width);
        fill_row(out, width, [=](size_t i, size_t n) { return exponential(part(in + i, n) - most); });
        const float total = sum_row(width, [=](size_t i, size_t n) { return part(out + i, n); });
        fill_row(out, width, [=](size_t i, size_t n) { return part(out + i, n) / total; });
    }
}

void log_softmax(float* out, const float* in, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++, out += width, in += width) {
        const float most = greatest(in, width);
        const float total =
            sum_row(width, [=](size_t i, size_t n) { return exponential(part(in + i, n, -INFINITY) - most); });
        const float share = logf(total);
        fill_row(out, width, [=](size_t i, size_t n) { return part(in + i, n) - most - share; });
    }
}

void softmax_backward(float* out, const float* grad, const float* result, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++, out += width, grad += width, result += width) {
        const float total = sum_row(width, [=](size_t i, size_t n) { return part(grad + i, n) * part(result + i, n); });
        fill_row(out, width, [=](size_t i, size_t n) { return (part(grad + i, n) - total) * part(result + i, n); });
    }
}

void log_softmax_backward(float* out, const float* grad, const float* result, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++, out += width, grad += width, result += width) {
        const float total = sum_row(width, [=](size_t i, size_t n) { return part(grad + i, n); });
        fill_row(out, width,
                 [=](size_t i, size_t n) { return part(grad + i, n) - exponential(part(result + i, n)) * total; });
    }
}

void layer_norm(const LayerNorm& to, const float* in, const float* weight, const float* bias, size_t rows, size_t width,
                double eps) {
    float* out = to.out;
    for (size_t row = 0; row < rows; row++, out += width, in += width) {
        const float mean = sum_row(width, [=](size_t i, size_t n) { return part(in + i, n); }) / (float)width;
        const float spread = sum_row(width, [=](size_t i, size_t n) {
            const Floats apart = part(in + i, n, mean) - mean;
            return apart * apart;
        });
        const float scale = (float)(1.0 / sqrt((double)spread / (double)width + eps));
        to.mean[row] = mean;
        to.scale[row] = scale;
        fill_row(out, width, [=](size_t i, size_t n) {
            Floats value = (part(in + i, n) - mean) * scale;
            if (weight != nullptr) value *= part(weight + i, n);
            if (bias != nullptr) value += part(bias + i, n);
            return value;
        });
    }
}

void layer_norm_backward(const LayerNormGradients& to, const float* grad, const float* in, const float* mean,
                         const float* scale, const float* weight, size_t rows, size_t width) {
    if (to.weight != nullptr) memset(to.weight, 0, width * sizeof(float));
    if (to.bias != nullptr) memset(to.bias, 0, width * sizeof(float));
    for (size_t row = 0; row < rows; row++, grad += width, in += width) {
        const float middle = mean[row], size = scale[row];
        auto standard = [=](size_t i, size_t n) { return (part(in + i, n) - middle) * size; };
        auto weighted = [=](size_t i, size_t n) {
            return weight == nullptr ? part(grad + i, n) : part(grad + i, n) * part(weight + i, n);
        };
        if (to.weight != nullptr)
            fill_row(to.weight, width,
                     [=](size_t i, size_t n) { return part(to.weight + i, n) + part(grad + i, n) * standard(i, n); });
        if (to.bias != nullptr)
            fill_row(to.bias, width, [=](size_t i, size_t n) { return part(to.bias + i, n) + part(grad + i, n); });
        if (to.input != nullptr) {
            const float total = sum_row(width, weighted) / (float)width;
            const float along = sum_row(width, [=](size_t i, size_t n) {
                return weighted(i, n) * (part(in + i, n, middle) - middle) * size;
            }) / (float)width;
            fill_row(to.input + row * width, width, [=](size_t i, size_t n) {
                return (weighted(i, n) - total - standard(i, n) * along) * size;
            });
        }
    }
}

}  // namespace

extern const NormalizationLoops MINDTORCH_LOOPS(normalization_loops) = {
    {softmax, log_softmax}, {softmax_backward, log_softmax_backward}, layer_norm, layer_norm_backward,
};

}  // namespace mindtorch
