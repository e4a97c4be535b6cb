// Images as convolutions read them best: with zeros around, and columns sorted by their place in the stride, so that
// what one element of the window has at neighbouring positions lies side by side. Included by conv_loops.cpp alone.
#pragma once

#include "kernels/conv.h"
#include "gemm/microkernel.h"

namespace mindtorch {
namespace {

constexpr size_t FRAME_SLACK = 8 * Simd<float>::NR;  // vectors may be read past a frame's end

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
    ptrdiff_t element(const Convolution& c, ptrdiff_t down, ptrdiff_t across) const {
        const ptrdiff_t column = across * c.dilation[1];
        if (c.stride[1] == 1) return down * c.dilation[0] * row + column;  // division is slow
        return down * c.dilation[0] * row + column % c.stride[1] * line + column / c.stride[1];
    }
    // How much further it reads `y` rows of the result below.
    ptrdiff_t below(const Convolution& c, ptrdiff_t y) const { return y * c.stride[0] * row; }
};

template <ptrdiff_t TOGETHER>
MINDTORCH_INLINE void copy_by(float* to, const float* from, ptrdiff_t count) {
    constexpr size_t BYTES = TOGETHER * sizeof(float);
    for (ptrdiff_t i = 0; i < count - TOGETHER; i += TOGETHER) __builtin_memcpy(to + i, from + i, BYTES);
    __builtin_memcpy(to + count - TOGETHER, from + count - TOGETHER, BYTES);
}

// Short lines are many: no call, and what is last may be written twice.
MINDTORCH_INLINE void copy_line(float* to, const float* from, ptrdiff_t count) {
    if (count >= 16) return copy_by<16>(to, from, count);
    if (count >= 8) return copy_by<8>(to, from, count);
    for (ptrdiff_t i = 0; i < count; i++) to[i] = from[i];
}

// What one place in the stride takes of every row: columns `from`.. of a line, `begin` onwards.
struct Columns {
    ptrdiff_t begin, end, from;

    // Columns x of the image, not before `place`, with (x + padding) % stride == phase.
    Columns(const Convolution& c, const Frame& f, ptrdiff_t phase, ptrdiff_t place) {
        const ptrdiff_t step = c.stride[1], before = c.padding[1], first = before + place - phase;
        begin = first <= 0 ? 0 : (first + step - 1) / step;
        const ptrdiff_t last = c.width - 1 + before - phase, count = last < 0 ? 0 : last / step + 1;
        end = count < f.line ? count : f.line;
        from = phase - before;
    }
    MINDTORCH_INLINE void copy(float* line, const float* row, ptrdiff_t step) const {
        const float* at = row + from;
        if (step == 1)
            copy_line(line + begin, at + begin, end - begin);
        else if (step == 2)
            for (ptrdiff_t i = begin; i < end; i++) line[i] = at[2 * i];
        else
            for (ptrdiff_t i = begin; i < end; i++) line[i] = at[i * step];
    }
};

// Lines of a row without padding, four at a time; returns how many of a row's columns they took.
MINDTORCH_INLINE ptrdiff_t turn_row(const Convolution& c, const Frame& f, float* to, const float* from) {
    const ptrdiff_t step = c.stride[1], whole = c.width / step;
    const ptrdiff_t columns = whole < f.line ? whole / 4 * 4 : f.line;
    for (ptrdiff_t at = 0; at < step; at += 4)
        for (ptrdiff_t i = 0; i < columns; i += 4)
            transpose(to + at * f.line + i, static_cast<size_t>(f.line), from + i * step + at, step);
    return columns * step;
}

void clear_frame(const Frame& f, float* to) { memset(to, 0, static_cast<size_t>(f.size) * sizeof(float)); }

// Copy what a frame has of a plane: the same places for every plane, the others stay zero.
void copy_plane(const Convolution& c, const Frame& f, float* to, const float* plane) {
    // Rows of the frame that are the image's, and the first of the image's.
    const ptrdiff_t above = c.padding[0] - f.first, begin = above < 0 ? 0 : above;
    const ptrdiff_t rest = c.height + above, end = rest < f.rows ? rest : f.rows;
    const bool sparse = c.dilation[0] == 1 && c.kernel[0] < c.stride[0];
    const bool turned = c.padding[1] == 0 && c.stride[1] % 4 == 0;
    const ptrdiff_t phases = c.dilation[1] == 1 && c.kernel[1] < c.stride[1] ? c.kernel[1] : c.stride[1];
    ptrdiff_t place = 0;
    if (turned)
        for (ptrdiff_t row = begin; row < end; row++)
            if (!sparse || row % c.stride[0] < c.kernel[0])
                place = turn_row(c, f, to + row * f.row, plane + (row - above) * c.width);
    for (ptrdiff_t phase = 0; phase < phases; phase++) {
        const Columns columns(c, f, phase, place);
        for (ptrdiff_t row = begin; row < end; row++)
            if (!sparse || row % c.stride[0] < c.kernel[0])
                columns.copy(to + row * f.row + phase * f.line, plane + (row - above) * c.width, c.stride[1]);
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

// Where the window's elements `k`.. read, of planes that begin with the first element's.
void places_of(const Convolution& c, const Frame& f, ptrdiff_t* to, size_t k, size_t depth) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(k) % (c.kernel[0] * c.kernel[1]);
    ptrdiff_t down = at / c.kernel[1], across = at % c.kernel[1], plane = 0;
    for (size_t done = 0; done < depth; done++) {
        to[done] = plane + f.element(c, down, across);
        if (++across < c.kernel[1]) continue;
        across = 0;
        if (++down == c.kernel[0]) down = 0, plane += f.size;
    }
}

// Pack what the window's elements at `places` have at up to a panel's width of positions from `from` on.
void pack_frame(const Convolution& c, const Frame& f, float* to, const float* planes, ptrdiff_t from, size_t positions,
                const ptrdiff_t* places, size_t depth) {
    constexpr size_t PANEL = Simd<float>::NR;
    Stretch stretches[PANEL] = {};
    const size_t count = stretches_of(c, f, stretches, from, positions);
    // Most panels lie in one row or two: what is known of those stays in registers.
    const Stretch first = stretches[0], second = stretches[1];
    if (count == 1) {
        for (size_t k = 0; k < depth; k++, to += PANEL) copy_stretch(to, planes + places[k] + first.at, first.count);
    } else if (count == 2) {
        for (size_t k = 0; k < depth; k++, to += PANEL) {
            const float* from = planes + places[k];
            copy_stretch(to, from + first.at, first.count);
            copy_stretch(to + second.place, from + second.at, second.count);
        }
    } else {
        for (size_t k = 0; k < depth; k++, to += PANEL)
            for (size_t i = 0; i < count; i++)
                copy_stretch(to + stretches[i].place, planes + places[k] + stretches[i].at, stretches[i].count);
    }
}

}  // namespace
}  // namespace mindtorch
