// Images as convolutions read them best: with zeros around, and columns sorted by their place in the stride, so that
// what one element of the window has at neighbouring positions lies side by side. Included by conv_loops.cpp alone.
#pragma once

#include "conv.h"
#include "gemm_tile.h"

namespace mindtorch {
namespace {

constexpr size_t FRAME_SLACK = 8 * Simd<float>::TILE_COLUMNS;  // vectors may be read past a frame's end

// The rows of a plane that some rows of the result see; sizes in elements.
struct Frame {
    ptrdiff_t first, rows;      // of the padded image
    ptrdiff_t line, row, size;  // columns of one place in the stride; a row; the plane

    // For the result's rows from `from` on and `columns` of its columns.
    Frame(const Convolution& c, ptrdiff_t from, ptrdiff_t count, ptrdiff_t columns)
        : first(from * c.stride[0]),
          rows((count - 1) * c.stride[0] + (c.kernel[0] - 1) * c.dilation[0] + 1),
          line((columns + (c.kernel[1] - 1) * c.dilation[1] / c.stride[1] + 4) / 4 * 4),
          row(line * c.stride[1]),
          size(row * rows) {}

    // Where an element of the window reads for the frame's first position.
    ptrdiff_t tap(const Convolution& c, ptrdiff_t down, ptrdiff_t across) const {
        const ptrdiff_t column = across * c.dilation[1];
        return down * c.dilation[0] * row + column % c.stride[1] * line + column / c.stride[1];
    }
    // How much further it reads `y` rows of the result below.
    ptrdiff_t below(const Convolution& c, ptrdiff_t y) const { return y * c.stride[0] * row; }
};

// One row of an image into a frame's row of zeros.
MINDTORCH_INLINE void fill_frame_row(const Convolution& c, const Frame& f, float* to, const float* from) {
    const ptrdiff_t step = c.stride[1], before = c.padding[1];
    ptrdiff_t place = 0;
    if (before == 0 && step % 4 == 0) {
        const ptrdiff_t columns = c.width / step < f.line ? c.width / step / 4 * 4 : f.line;
        for (ptrdiff_t at = 0; at < step; at += 4)
            for (ptrdiff_t i = 0; i < columns; i += 4)
                transpose(to + at * f.line + i, static_cast<size_t>(f.line), from + i * step + at, step);
        place = columns * step;
    }
    const ptrdiff_t phases = c.dilation[1] == 1 && c.kernel[1] < step ? c.kernel[1] : step;
    for (ptrdiff_t phase = 0; phase < phases; phase++) {
        // Columns x of the image with (x + before) % step == phase, from `place` on.
        const ptrdiff_t least_index = before < 0 ? 0 : (before + place - phase + step - 1) / step;
        ptrdiff_t index = least_index < 0 ? 0 : least_index;
        const ptrdiff_t last = (c.width - 1 + before - phase) / step + 1;
        const ptrdiff_t end = c.width + before <= phase ? 0 : last < f.line ? last : f.line;
        float* line = to + phase * f.line;
        const float* at = from + phase - before;
        if (step == 1)
            for (; index < end; index++) line[index] = at[index];
        else if (step == 2)
            for (; index < end; index++) line[index] = at[2 * index];
        else
            for (; index < end; index++) line[index] = at[index * step];
    }
}

void fill_frame(const Convolution& c, const Frame& f, float* to, const float* plane) {
    memset(to, 0, static_cast<size_t>(f.size) * sizeof(float));
    const bool sparse = c.dilation[0] == 1 && c.kernel[0] < c.stride[0];
    for (ptrdiff_t row = 0; row < f.rows; row++) {
        if (sparse && row % c.stride[0] >= c.kernel[0]) continue;
        const ptrdiff_t y = f.first + row - c.padding[0];
        if (y >= 0 && y < c.height) fill_frame_row(c, f, to + row * f.row, plane + y * c.width);
    }
}

// A stretch of a panel's positions in one row of the result.
struct Stretch {
    ptrdiff_t at;  // where its first position reads
    size_t place, count;
};

// The stretches of `positions` positions from `from` on; returns how many.
size_t stretches_of(const Convolution& c, const Frame& f, Stretch* stretches, ptrdiff_t from, size_t positions) {
    size_t count = 0;
    ptrdiff_t row = from / c.out_width, column = from % c.out_width;
    const ptrdiff_t above = f.first / c.stride[0];
    for (size_t done = 0; done < positions; row++, column = 0) {
        const size_t here = least(static_cast<size_t>(c.out_width - column), positions - done);
        stretches[count++] = {f.below(c, row - above) + column, done, here};
        done += here;
    }
    return count;
}

// Vectors are copied whole: what is written too far is written again by the next stretch or element.
MINDTORCH_INLINE void copy_stretch(float* to, const float* from, size_t count) {
    constexpr size_t WIDTH = Simd<float>::WIDTH;
    write(to, read(from));
    if (count > WIDTH) write(to + WIDTH, read(from + WIDTH));
}

// Pack what the window has at its elements `k`.. at up to a panel's width of positions from `from` on.
void pack_frame(const Convolution& c, const Frame& f, float* to, const float* planes, ptrdiff_t from, size_t positions,
                size_t k, size_t depth) {
    constexpr size_t PANEL = Simd<float>::TILE_COLUMNS;
    Stretch stretches[PANEL];
    const size_t count = stretches_of(c, f, stretches, from, positions);
    const ptrdiff_t window = c.kernel[0] * c.kernel[1], at = static_cast<ptrdiff_t>(k);
    planes += at / window * f.size;
    ptrdiff_t down = at % window / c.kernel[1], across = at % c.kernel[1];
    for (size_t done = 0; done < depth; done++, to += PANEL) {
        const float* tap = planes + f.tap(c, down, across);
        for (size_t i = 0; i < count; i++)
            copy_stretch(to + stretches[i].place, tap + stretches[i].at, stretches[i].count);
        if (++across == c.kernel[1]) {
            across = 0;
            if (++down == c.kernel[0]) down = 0, planes += f.size;
        }
    }
}

}  // namespace
}  // namespace mindtorch
