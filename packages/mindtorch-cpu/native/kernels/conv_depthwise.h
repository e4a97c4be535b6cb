// Depthwise convolutions: every channel by itself, from a frame of its plane. Included by conv_loops.cpp alone.
#pragma once

#include "kernels/conv_frame.h"

namespace mindtorch {
namespace {

constexpr size_t MOST_ELEMENTS = 128;
#if defined(__AVX512F__)
constexpr ptrdiff_t MOST_SUMS = 16;  // that stay in registers
#else
constexpr ptrdiff_t MOST_SUMS = 8;
#endif

// How many vectors and rows of a result are worked on together.
struct Together {
    ptrdiff_t vectors, rows;

    explicit Together(const Convolution& c) {
        constexpr ptrdiff_t WIDTH = Simd<float>::WIDTH;
        const ptrdiff_t wanted = (c.out_width + WIDTH - 1) / WIDTH;
        vectors = wanted < 4 ? wanted : 4;
        rows = MOST_SUMS / vectors < 4 ? MOST_SUMS / vectors : 4;
    }
    ptrdiff_t columns_of(const Convolution& c) const {
        const ptrdiff_t block = vectors * static_cast<ptrdiff_t>(Simd<float>::WIDTH);
        return (c.out_width + block - 1) / block * block;
    }
    Frame frame(const Convolution& c) const {
        return Frame(c, 0, (c.out_height + rows - 1) / rows * rows, columns_of(c));
    }
};

// The frame, and a second one or a result's plane with rows as long as the frame's columns.
size_t depthwise_scratch(const Convolution& c) {
    const Together together(c);
    const ptrdiff_t grads = together.columns_of(c) * c.out_height, frame = together.frame(c).size;
    return static_cast<size_t>(frame + (grads > frame ? grads : frame)) + FRAME_SLACK;
}

struct KernelElements {
    ptrdiff_t at[MOST_ELEMENTS];
    size_t count = 0;

    KernelElements(const Convolution& c, const Frame& f) {
        for (ptrdiff_t down = 0; down < c.kernel[0]; down++)
            for (ptrdiff_t across = 0; across < c.kernel[1]; across++) at[count++] = f.element(c, down, across);
    }
};

bool one_below_another(const Convolution& c) { return c.stride[0] == 1 && c.dilation[0] == 1; }

// Add to rows whose windows begin one below the other: what is read once is part of several rows' sums.
template <typename Factor, size_t ROWS, size_t VECTORS>
MINDTORCH_INLINE void depthwise_rows(Simd<float>::Vector (&accumulators)[ROWS][VECTORS], const float* from,
                                     ptrdiff_t row, const KernelElements& elements, const Factor* weight, size_t height,
                                     size_t width) {
    constexpr size_t WIDTH = Simd<float>::WIDTH;
#pragma GCC unroll 6
    for (size_t down = 0; down < ROWS + height - 1; down++, from += row)
#pragma GCC unroll 3
        for (size_t across = 0; across < width; across++) {
            Simd<float>::Vector values[VECTORS];
#pragma GCC unroll 4
            for (size_t x = 0; x < VECTORS; x++) {
                values[x] = read(from + elements.at[across] + x * WIDTH);
                keep(values[x]);
            }
#pragma GCC unroll 4
            for (size_t y = 0; y < ROWS; y++) {
                if (down < y || down - y >= height) continue;
                const Factor factor = weight[(down - y) * width + across];
#pragma GCC unroll 4
                for (size_t x = 0; x < VECTORS; x++) accumulators[y][x] += values[x] * factor;
            }
        }
}

// The sums of ROWS rows by VECTORS vectors, from `bias` on. `square` has the window's weights where it is 3 by 3 and
// the rows' windows begin one below the other: of few elements the weights' reading counts.
template <bool SQUARE, size_t ROWS, size_t VECTORS>
MINDTORCH_INLINE void depthwise_sums(Simd<float>::Vector (&sums)[ROWS][VECTORS], const Convolution& c,
                                     const float* from, ptrdiff_t row, const KernelElements& elements,
                                     const float* weight, const Simd<float>::Vector (&square)[9], float bias) {
    constexpr size_t WIDTH = Simd<float>::WIDTH;
    const Simd<float>::Vector start = Simd<float>::Vector{} + bias;
    Simd<float>::Vector accumulators[ROWS][VECTORS];  // in registers
#pragma GCC unroll 4
    for (size_t y = 0; y < ROWS; y++)
#pragma GCC unroll 4
        for (size_t x = 0; x < VECTORS; x++) accumulators[y][x] = start;
    if (SQUARE) {
        depthwise_rows(accumulators, from, row, elements, square, 3, 3);
    } else if (!one_below_another(c)) {
        for (size_t k = 0; k < elements.count; k++) {
            const float* element = from + elements.at[k];
            const float factor = weight[k];
#pragma GCC unroll 4
            for (size_t y = 0; y < ROWS; y++)
#pragma GCC unroll 4
                for (size_t x = 0; x < VECTORS; x++)
                    accumulators[y][x] += read(element + static_cast<ptrdiff_t>(y) * row + x * WIDTH) * factor;
        }
    } else {
        depthwise_rows(accumulators, from, row, elements, weight, static_cast<size_t>(c.kernel[0]),
                       static_cast<size_t>(c.kernel[1]));
    }
#pragma GCC unroll 4
    for (size_t y = 0; y < ROWS; y++)
#pragma GCC unroll 4
        for (size_t x = 0; x < VECTORS; x++) sums[y][x] = accumulators[y][x];
}

// Write vectors of a row; what lies past `end` is left out.
template <size_t VECTORS>
MINDTORCH_INLINE void write_row(float* to, const float* end, const Simd<float>::Vector (&values)[VECTORS]) {
    constexpr size_t WIDTH = Simd<float>::WIDTH;
    for (size_t x = 0; x < VECTORS; x++, to += WIDTH) {
        if (to + WIDTH <= end)
            write(to, values[x]);
        else if (to < end)
            memcpy(to, &values[x], static_cast<size_t>(end - to) * sizeof(float));
    }
}

template <size_t ROWS, size_t VECTORS, bool SQUARE>
void depthwise_plane(const Convolution& c, const Frame& f, float* out, const float* frame,
                     const KernelElements& elements, const float* weight, float bias) {
    constexpr ptrdiff_t BLOCK = VECTORS * Simd<float>::WIDTH;
    const float* end = out + c.out_height * c.out_width;
    Simd<float>::Vector square[9];
    if (SQUARE)
        for (size_t k = 0; k < 9; k++) square[k] = Simd<float>::Vector{} + weight[k];
    for (ptrdiff_t y = 0; y < c.out_height; y += ROWS)
        for (ptrdiff_t x = 0; x < c.out_width; x += BLOCK) {
            Simd<float>::Vector sums[ROWS][VECTORS];
            depthwise_sums<SQUARE>(sums, c, frame + f.below(c, y) + x, f.below(c, 1), elements, weight, square, bias);
            for (size_t row = 0; row < ROWS && y + static_cast<ptrdiff_t>(row) < c.out_height; row++) {
                float* to = out + (y + static_cast<ptrdiff_t>(row)) * c.out_width;
                // Where a block is as long as a row, what is written past the row is written again with the next.
                write_row(to + x, c.out_width <= BLOCK ? end : to + c.out_width, sums[row]);
            }
        }
}

template <bool SQUARE>
void depthwise_any(const Convolution& c, const Frame& f, ptrdiff_t vectors, float* out, const float* frame,
                   const KernelElements& elements, const float* weight, float bias) {
    if (vectors == 1) return depthwise_plane<4, 1, SQUARE>(c, f, out, frame, elements, weight, bias);
    if (vectors == 2) return depthwise_plane<4, 2, SQUARE>(c, f, out, frame, elements, weight, bias);
    constexpr size_t THIRD = MOST_SUMS / 3 < 4 ? MOST_SUMS / 3 : 4;
    if (vectors == 3) return depthwise_plane<THIRD, 3, SQUARE>(c, f, out, frame, elements, weight, bias);
    depthwise_plane<MOST_SUMS / 4, 4, SQUARE>(c, f, out, frame, elements, weight, bias);
}

// Planes from `from` to `to`, image and feature being one index.
void depthwise(const Convolution& c, float* out, const float* in, const float* weight, const float* bias, size_t from,
               size_t to, float* scratch) {
    const Together together(c);
    const Frame f = together.frame(c);
    const KernelElements elements(c, f);
    // Vectors of what was written just before, in parts, are slow to read: of small planes the next one is copied
    // first.
    constexpr ptrdiff_t SMALL = 2048;
    const bool square = one_below_another(c) && c.kernel[0] == 3 && c.kernel[1] == 3;
    float* const other = scratch + (f.size < SMALL ? f.size : 0);
    const size_t area = static_cast<size_t>(c.height * c.width);
    clear_frame(f, scratch);
    clear_frame(f, other);
    if (from < to && other != scratch) copy_plane(c, f, scratch, in + from * area);
    for (size_t plane = from; plane < to; plane++) {
        const size_t feature = plane % c.groups, odd = (plane - from) % 2;
        const float* frame = odd ? other : scratch;
        if (other == scratch)
            copy_plane(c, f, scratch, in + plane * area);
        else if (plane + 1 < to)
            copy_plane(c, f, odd ? scratch : other, in + (plane + 1) * area);
        float* own = out + plane * static_cast<size_t>(c.out_height * c.out_width);
        const float* factors = weight + feature * elements.count;
        const float shift = bias == nullptr ? 0.0f : bias[feature];
        if (square)
            depthwise_any<true>(c, f, together.vectors, own, frame, elements, factors, shift);
        else
            depthwise_any<false>(c, f, together.vectors, own, frame, elements, factors, shift);
    }
}

// The products of a gradient's plane, in rows of `columns`, and what ELEMENTS elements of the window see, summed up.
template <size_t ELEMENTS>
void depthwise_products(const Convolution& c, const Frame& f, double* sums, const float* grad, ptrdiff_t columns,
                        const float* frame, const ptrdiff_t* elements) {
    using Vector = Simd<float>::Vector;
    constexpr ptrdiff_t WIDTH = Simd<float>::WIDTH;
    typedef int Order __attribute__((vector_size(VECTOR_BYTES)));
    Order order;
    for (int lane = 0; lane < static_cast<int>(WIDTH); lane++) order[lane] = lane;
    Vector accumulators[ELEMENTS] = {};
    for (ptrdiff_t y = 0; y < c.out_height; y++, grad += columns) {
        const float* row = frame + f.below(c, y);
        ptrdiff_t x = 0;
        for (; x + WIDTH <= c.out_width; x += WIDTH) {
            const Vector part = read(grad + x);
#pragma GCC unroll 4
            for (size_t k = 0; k < ELEMENTS; k++) accumulators[k] += read(row + elements[k] + x) * part;
        }
        if (x == c.out_width) continue;
        const Vector part = read(grad + x);
        const auto seen = order < static_cast<int>(c.out_width - x);  // what lies past the row may be infinite
#pragma GCC unroll 4
        for (size_t k = 0; k < ELEMENTS; k++) accumulators[k] += (seen ? read(row + elements[k] + x) : Vector{}) * part;
    }
    for (size_t k = 0; k < ELEMENTS; k++)
        for (ptrdiff_t lane = 0; lane < WIDTH; lane++) sums[k] += static_cast<double>(accumulators[k][lane]);
}

// The weights' gradient of one feature.
void depthwise_weight(const Convolution& c, float* to, const float* grad, const float* in, size_t feature,
                      float* scratch) {
    const Together together(c);
    const Frame f = together.frame(c);
    const KernelElements elements(c, f);
    const ptrdiff_t columns = together.columns_of(c);
    float* framed = scratch + f.size;
    memset(framed, 0, (static_cast<size_t>(columns * c.out_height) + FRAME_SLACK) * sizeof(float));
    clear_frame(f, scratch);
    double sums[MOST_ELEMENTS] = {};
    for (size_t image = 0; image < c.batch; image++) {
        const size_t plane = image * c.groups + feature;
        const float* own = grad + plane * static_cast<size_t>(c.out_height * c.out_width);
        copy_plane(c, f, scratch, in + plane * static_cast<size_t>(c.height * c.width));
        for (ptrdiff_t y = 0; y < c.out_height; y++)
            memcpy(framed + y * columns, own + y * c.out_width, static_cast<size_t>(c.out_width) * sizeof(float));
        size_t k = 0;
        for (; k + 4 <= elements.count; k += 4)
            depthwise_products<4>(c, f, sums + k, framed, columns, scratch, elements.at + k);
        for (; k < elements.count; k++)
            depthwise_products<1>(c, f, sums + k, framed, columns, scratch, elements.at + k);
    }
    for (size_t k = 0; k < elements.count; k++) to[feature * elements.count + k] = static_cast<float>(sums[k]);
}

}  // namespace
}  // namespace mindtorch
