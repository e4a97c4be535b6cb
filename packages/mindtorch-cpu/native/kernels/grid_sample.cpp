// Planes of float32 at the points of a grid; everything else is numpy's.
#include "kernels/grid_sample.h"

#include "kernels/integer.h"
#include "kernels/pooling.h"

namespace mindtorch {

namespace {

// Gradients of one image: more of them are spread in less time by `steps.weighted_scatter`, some planes at once.
constexpr ptrdiff_t MOST_GRADIENTS = 1 << 14;

// Planes, as (images, channels, height, width), and points as (images, rows, columns, 2).
struct Sampling {
    Points p;
    ptrdiff_t images, channels;

    // `values` are (mode, padding, align); false for what no loop takes.
    bool take(PyObject* planes, PyObject* grid, PyObject* const* values) {
        if (!dense(planes, NPY_FLOAT) || !dense(grid, NPY_FLOAT) || PyArray_NDIM(array_of(planes)) != 4 ||
            PyArray_NDIM(array_of(grid)) != 4 || PyArray_DIM(array_of(grid), 3) != 2 ||
            PyArray_SIZE(array_of(planes)) == 0 || PyArray_SIZE(array_of(grid)) == 0)
            return false;
        const npy_intp *extents = PyArray_DIMS(array_of(planes)), *points = PyArray_DIMS(array_of(grid));
        const long mode = integer_of(values[0]), padding = integer_of(values[1]);
        if (mode < 0 || mode >= SAMPLED_COUNT || padding < 0 || padding >= PADDING_COUNT || !PyBool_Check(values[2]) ||
            points[0] != extents[0] || extents[2] * extents[3] > MOST_ELEMENTS)
            return false;
        images = extents[0], channels = extents[1];
        p = {static_cast<const float*>(PyArray_DATA(array_of(grid))),
             static_cast<size_t>(points[1] * points[2]),
             extents[2],
             extents[3],
             static_cast<Sampled>(mode),
             static_cast<Padding>(padding),
             values[2] == Py_True};
        return true;
    }

    // The points and planes of one image.
    Points of(ptrdiff_t image) const {
        Points one = p;
        one.grid += image * static_cast<ptrdiff_t>(2 * p.count);
        return one;
    }
    ptrdiff_t planes(ptrdiff_t image) const { return image * channels * p.height * p.width; }
    ptrdiff_t results(ptrdiff_t image) const { return image * channels * static_cast<ptrdiff_t>(p.count); }
    // An array of the shape that sampling makes.
    bool fits(PyObject* result, PyObject* grid) const {
        const npy_intp* points = PyArray_DIMS(array_of(grid));
        const npy_intp wanted[] = {images, channels, points[1], points[2]};
        return dense(result, NPY_FLOAT) && PyArray_NDIM(array_of(result)) == 4 &&
               PyArray_CompareLists(PyArray_DIMS(array_of(result)), wanted, 4);
    }
};

float* floats_of(PyObject* array) { return static_cast<float*>(PyArray_DATA(array_of(array))); }

// Values are (planes, grid, mode, padding, align).
int grid_sampler_2d(PyObject* out, PyObject* const* values, Py_ssize_t given) {
    Sampling s;
    if (given != 5 || !s.take(values[0], values[1], values + 2) || !s.fits(out, values[1]) ||
        !separate(out, values[0]) || !separate(out, values[1]))
        return 0;
    const auto points = static_cast<ptrdiff_t>(s.p.count);
    const ptrdiff_t chunks = (points + POINTS_TOGETHER - 1) / POINTS_TOGETHER;
    float *to = floats_of(out), *from = floats_of(values[0]);
    parallel(
        static_cast<size_t>(s.images * chunks), grain(POINTS_TOGETHER * 8 * s.channels), [&](size_t first, size_t end) {
            for (auto at = static_cast<ptrdiff_t>(first); at < static_cast<ptrdiff_t>(end); at++) {
                const ptrdiff_t image = at / chunks, begin = at % chunks * POINTS_TOGETHER;
                const ptrdiff_t rest = points - begin, stop = begin + (rest < POINTS_TOGETHER ? rest : POINTS_TOGETHER);
                grid_sample_loops().forward(s.of(image), s.channels, to + s.results(image), from + s.planes(image),
                                            begin, stop);
            }
        });
    return 1;
}

// Outputs are (of the planes, of the grid), None where they are not wanted; values (grad, planes, grid, mode, padding,
// align, mask).
int grid_sampler_2d_backward(PyObject* outs, PyObject* const* values, Py_ssize_t given) {
    Sampling s;
    if (given != 7 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 2 ||
        !s.take(values[1], values[2], values + 3) || !s.fits(values[0], values[2]) ||
        static_cast<ptrdiff_t>(s.p.count) * s.channels > MOST_GRADIENTS)
        return 0;
    float* to[2] = {nullptr, nullptr};
    for (int at = 0; at < 2; at++) {
        PyObject* out = PyTuple_GET_ITEM(outs, at);
        if (out == Py_None) continue;
        if (!dense(out, NPY_FLOAT) || PyArray_NDIM(array_of(out)) != 4 ||
            !PyArray_SAMESHAPE(array_of(out), array_of(values[1 + at])))
            return 0;
        for (int operand = 0; operand < 3; operand++)
            if (!separate(out, values[operand])) return 0;
        to[at] = floats_of(out);
    }
    const float *grad = floats_of(values[0]), *in = floats_of(values[1]);
    parallel(static_cast<size_t>(s.images), grain(static_cast<ptrdiff_t>(s.p.count) * 8 * s.channels),
             [&](size_t first, size_t end) {
                 for (auto image = static_cast<ptrdiff_t>(first); image < static_cast<ptrdiff_t>(end); image++)
                     grid_sample_loops().backward(
                         s.of(image), s.channels, to[0] == nullptr ? nullptr : to[0] + s.planes(image),
                         to[1] == nullptr ? nullptr : to[1] + image * static_cast<ptrdiff_t>(2 * s.p.count),
                         grad + s.results(image), in + s.planes(image));
             });
    return 1;
}

}  // namespace

const NamedKernel grid_sample_kernels[] = {
    {"grid_sampler_2d", grid_sampler_2d, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"grid_sampler_2d_backward", grid_sampler_2d_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
