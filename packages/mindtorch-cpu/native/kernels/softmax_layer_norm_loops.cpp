// What normalizes rows (softmax, layer norm) of float32, with its backwards.
#include "kernels/softmax_layer_norm.h"
#include "simd/vector.h"

#include <math.h>

namespace mindtorch {

namespace {

constexpr size_t CHAIN = 256 * LANES;  // elements that are added in float32; what comes of them, in float64

// The sum of f(i) over a part of a row, in two chains of sums; f(i, count) gives zeros past the row's end.
template <typename F>
INLINE float sum_chain(size_t from, size_t width, const F& f) {
    Floats first = {}, second = {};
    size_t i = from;
    for (; i + 2 * LANES <= width; i += 2 * LANES) {
        first += f(i, LANES);
        second += f(i + LANES, LANES);
    }
    for (; i < width; i += LANES) first += f(i, width - i < LANES ? width - i : LANES);
    return sum_of(first + second);
}

// The sum of f(i) over a row: one of a million elements is as exact as one of thousands.
template <typename F>
INLINE float sum_row(size_t width, const F& f) {
    if (width <= CHAIN) return sum_chain(0, width, f);
    double total = 0;
    for (size_t i = 0; i < width; i += CHAIN) total += sum_chain(i, width - i < CHAIN ? width : i + CHAIN, f);
    return (float)total;
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

// Write e**(x - most) where `out` is not null; return the sum.
INLINE float exponentials(float* out, const float* in, size_t width, float most) {
    return sum_row(width, [=](size_t i, size_t n) {
        const Floats value = exp_of_negative(part(in + i, n, -INFINITY) - most);
        if (out != nullptr) {
            if (n == LANES) {
                store(out + i, value);
            } else {
                store_part(out + i, value, n);
            }
        }
        return value;
    });
}

void softmax(float* out, const float* in, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++, out += width, in += width) {
        const float softmax = 1.0f / exponentials(out, in, width, greatest(in, width));
        fill_row(out, width, [=](size_t i, size_t n) { return part(out + i, n) * softmax; });
    }
}

void log_softmax(float* out, const float* in, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++, out += width, in += width) {
        const float most = greatest(in, width), softmax = logf(exponentials(nullptr, in, width, most));
        fill_row(out, width, [=](size_t i, size_t n) { return part(in + i, n) - most - softmax; });
    }
}

void logsumexp(float* out, const float* in, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++, in += width) {
        float most = greatest(in, width);
        if (most - most != 0.0f && most == most) most = 0.0f;  // infinite
        const float total = sum_row(width, [=](size_t i, size_t n) { return exp(part(in + i, n, -INFINITY) - most); });
        out[row] = logf(total) + most;
    }
}

// Columns are worked on in tiles of vectors; the last may be part of one.
constexpr size_t TILE = 8;

struct Tile {
    size_t vectors, last;  // how many, and how many lanes of the last are taken
    explicit Tile(size_t columns) : vectors((columns + LANES - 1) / LANES), last(columns - (vectors - 1) * LANES) {}
    INLINE Floats load_at(const float* from, size_t vector, float rest = 0) const {
        return part(from + vector * LANES, vector + 1 < vectors ? LANES : last, rest);
    }
    INLINE void store_at(float* to, size_t vector, const Floats& value) const {
        if (vector + 1 < vectors || last == LANES) {
            store(to + vector * LANES, value);
        } else {
            store_part(to + vector * LANES, value, last);
        }
    }
};

// The sums of f(row, vector) over the rows of a tile, of which at most 64 are added one after the other.
template <typename F>
INLINE void sum_tile(Floats* total, const Tile& tile, size_t count, const F& f) {
    for (size_t v = 0; v < tile.vectors; v++) total[v] = Floats{};
    for (size_t start = 0; start < count; start += 64) {
        const size_t end = count - start < 64 ? count : start + 64;
        Floats sum[TILE] = {};
        for (size_t row = start; row < end; row++)
            for (size_t v = 0; v < tile.vectors; v++) sum[v] += f(row, v);
        for (size_t v = 0; v < tile.vectors; v++) total[v] += sum[v];
    }
}

template <bool log>
void share_columns(float* out, const float* in, size_t count, size_t step, size_t width) {
    for (size_t first = 0; first < width; first += TILE * LANES) {
        const Tile tile(width - first < TILE * LANES ? width - first : TILE * LANES);
        const float* from = in + first;
        float* to = out + first;
        Floats most[TILE], total[TILE];
        for (size_t v = 0; v < tile.vectors; v++) most[v] = all(-INFINITY);
        for (size_t row = 0; row < count; row++)
            for (size_t v = 0; v < tile.vectors; v++) {
                const Floats x = tile.load_at(from + row * step, v);
                most[v] = greater_of(x, most[v]);
            }
        sum_tile(total, tile, count, [&](size_t row, size_t v) {
            const Floats value = exp_of_negative(tile.load_at(from + row * step, v) - most[v]);
            if (!log) tile.store_at(to + row * step, v, value);
            return value;
        });
        for (size_t v = 0; v < tile.vectors; v++) {
            if (log) {
                for (size_t lane = 0; lane < LANES; lane++) total[v][lane] = logf(total[v][lane]);
            } else {
                total[v] = 1.0f / total[v];
            }
        }
        for (size_t row = 0; row < count; row++)
            for (size_t v = 0; v < tile.vectors; v++)
                tile.store_at(to + row * step, v,
                              log ? tile.load_at(from + row * step, v) - most[v] - total[v]
                                  : tile.load_at(to + row * step, v) * total[v]);
    }
}

template <bool log>
void share_columns_backward(float* out, const float* grad, const float* result, size_t count, size_t step,
                            size_t width) {
    for (size_t first = 0; first < width; first += TILE * LANES) {
        const Tile tile(width - first < TILE * LANES ? width - first : TILE * LANES);
        const float *g = grad + first, *y = result + first;
        float* to = out + first;
        Floats total[TILE];
        sum_tile(total, tile, count, [&](size_t row, size_t v) {
            const Floats value = tile.load_at(g + row * step, v);
            return log ? value : value * tile.load_at(y + row * step, v);
        });
        for (size_t row = 0; row < count; row++)
            for (size_t v = 0; v < tile.vectors; v++) {
                const Floats value = tile.load_at(g + row * step, v), softmax = tile.load_at(y + row * step, v);
                tile.store_at(to + row * step, v, log ? value - exp(softmax) * total[v] : (value - total[v]) * softmax);
            }
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
        fill_row(out, width, [=](size_t i, size_t n) { return part(grad + i, n) - exp(part(result + i, n)) * total; });
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

template <bool weighted>
void layer_norm_gradient(const LayerNormGradients& to, const float* grad, const float* in, const float* mean,
                         const float* scale, const float* weight, size_t rows, size_t width) {
    float *to_weight = to.weight, *to_bias = to.bias;
    for (size_t row = 0; row < rows; row++, grad += width, in += width) {
        const float middle = mean[row], size = scale[row];
        Floats total = {}, along = {};
        double before = 0, along_before = 0;
        for (size_t i = 0; i < width; i += LANES) {
            if (i % CHAIN == 0) {
                before += sum_of(total);
                along_before += sum_of(along);
                total = along = Floats{};
            }
            const size_t n = width - i < LANES ? width - i : LANES;
            const Floats g = part(grad + i, n), standard = (part(in + i, n, middle) - middle) * size;
            const Floats scaled = weighted ? g * part(weight + i, n) : g, product = g * standard;
            total += scaled;
            along += scaled * standard;
            if (n == LANES) {
                if (to_weight != nullptr) store(to_weight + i, load(to_weight + i) + product);
                if (to_bias != nullptr) store(to_bias + i, load(to_bias + i) + g);
            } else {
                if (to_weight != nullptr) store_part(to_weight + i, part(to_weight + i, n) + product, n);
                if (to_bias != nullptr) store_part(to_bias + i, part(to_bias + i, n) + g, n);
            }
        }
        if (to.input == nullptr) continue;
        const float shift = (float)((before + sum_of(total)) / (double)width);
        const float slant = (float)((along_before + sum_of(along)) / (double)width) * size;
        fill_row(to.input + row * width, width, [=](size_t i, size_t n) {
            const Floats g = part(grad + i, n), scaled = weighted ? g * part(weight + i, n) : g;
            return (scaled - shift - (part(in + i, n) - middle) * slant) * size;
        });
    }
}

void layer_norm_backward(const LayerNormGradients& to, const float* grad, const float* in, const float* mean,
                         const float* scale, const float* weight, size_t rows, size_t width) {
    (weight == nullptr ? layer_norm_gradient<false> : layer_norm_gradient<true>)(to, grad, in, mean, scale, weight,
                                                                                 rows, width);
}

}  // namespace

extern const NormalizationLoops MINDTORCH_LOOPS(normalization_loops) = {
    {softmax, log_softmax},
    {softmax_backward, log_softmax_backward},
    {share_columns<false>, share_columns<true>},
    {share_columns_backward<false>, share_columns_backward<true>},
    logsumexp,
    layer_norm,
    layer_norm_backward,
};

}  // namespace mindtorch
