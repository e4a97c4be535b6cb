// Loops of batch norm and group norm over dense float32 rows.
#include "kernels/batch_norm.h"
#include "simd/vector.h"
#include "simd/loop.h"

namespace mindtorch {

namespace {

void affine(float* out, const float* in, size_t count, float mean, float factor, float shift) {
    for (size_t i = 0; i < count; i++) out[i] = (in[i] - mean) * factor + shift;
}

void affine_columns(float* out, const float* in, size_t rows, size_t width, const float* mean, const float* factor,
                    const float* shift) {
    for (size_t row = 0; row < rows; row++, out += width, in += width) {
        MINDTORCH_IVDEP
        for (size_t i = 0; i < width; i++) out[i] = (in[i] - mean[i]) * factor[i] + shift[i];
    }
}

void sums(const float* grad, const float* in, size_t count, float mean, double* total, double* along) {
    constexpr size_t CHUNK = 64 * 2 * LANES;
    for (size_t start = 0; start < count; start += CHUNK) {
        const size_t end = count - start < CHUNK ? count : start + CHUNK;
        Floats a = {}, b = {}, c = {}, d = {};
        size_t i = start;
        for (; i + 2 * LANES <= end; i += 2 * LANES) {
            const Floats first = load(grad + i), second = load(grad + i + LANES);
            a += first;
            b += second;
            c += first * (load(in + i) - mean);
            d += second * (load(in + i + LANES) - mean);
        }
        for (; i < end; i += LANES) {
            const size_t n = end - i < LANES ? end - i : LANES;
            const Floats first = load_part(grad + i, n, 0);
            a += first;
            c += first * (load_part(in + i, n, 0) - mean);
        }
        *total += sum_of(a + b);
        *along += sum_of(c + d);
    }
}

void sums_of_columns(const float* grad, const float* in, size_t rows, size_t width, const float* mean, double* total,
                     double* along) {
    constexpr size_t TILE = 256;
    for (size_t first = 0; first < width; first += TILE) {
        const size_t n = width - first < TILE ? width - first : TILE;
        for (size_t start = 0; start < rows; start += 32) {
            const size_t end = rows - start < 32 ? rows : start + 32;
            float sum[TILE] = {}, product[TILE] = {};
            for (size_t row = start; row < end; row++) {
                const float *g = grad + row * width + first, *x = in + row * width + first;
                for (size_t i = 0; i < n; i++) {
                    sum[i] += g[i];
                    product[i] += g[i] * (x[i] - mean[first + i]);
                }
            }
            for (size_t i = 0; i < n; i++) {
                total[first + i] += sum[i];
                along[first + i] += product[i];
            }
        }
    }
}

void gradient(float* out, const float* grad, const float* in, size_t count, float mean, float weight, float total,
              float along, float factor) {
    for (size_t i = 0; i < count; i++) out[i] = (grad[i] * weight - total - (in[i] - mean) * along) * factor;
}

void gradient_of_columns(float* out, const float* grad, const float* in, size_t rows, size_t width, const float* mean,
                         const float* total, const float* along, const float* factor) {
    for (size_t row = 0; row < rows; row++, out += width, grad += width, in += width) {
        MINDTORCH_IVDEP
        for (size_t i = 0; i < width; i++) out[i] = (grad[i] - total[i] - (in[i] - mean[i]) * along[i]) * factor[i];
    }
}

}  // namespace

extern const ChannelNormLoops MINDTORCH_LOOPS(channel_norm_loops) = {
    affine, affine_columns, sums, sums_of_columns, gradient, gradient_of_columns,
};

}  // namespace mindtorch
