// Convolutions of dense float32 lines, planes and volumes, transposed ones, and their gradients; everything else is
// numpy's. A transposed one is the gradient of a plain one's input, from whose result it makes the input.
#include "kernels/conv.h"

#include <initializer_list>

#include "kernels/conv_last.h"
#include "kernels/conv_share.h"
#include "kernels/integer.h"
#include "kernels/operand.h"
#include "kernels/winograd.h"
#include "memory/scratch.h"

namespace mindtorch {

namespace {

// Up to three whole numbers, the first of three to `deep`; of two, the first is `before` where there is one.
bool numbers(PyObject* values, int dims, ptrdiff_t before, ptrdiff_t least, ptrdiff_t& deep, ptrdiff_t* to) {
    PyObject* const* items;
    if (PyTuple_CheckExact(values) && PyTuple_GET_SIZE(values) == dims)
        items = &PyTuple_GET_ITEM(values, 0);
    else if (PyList_CheckExact(values) && PyList_GET_SIZE(values) == dims)
        items = &PyList_GET_ITEM(values, 0);
    else
        return false;
    deep = to[0] = before;
    for (int at = 0; at < dims; at++) {
        if (!PyLong_CheckExact(items[at])) return false;
        const Py_ssize_t value = PyLong_AsSsize_t(items[at]);
        if (value == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return false;
        }
        if (value < least) return false;
        const int place = 2 - dims + at;
        (place < 0 ? deep : to[place]) = value;
    }
    return true;
}

struct Options {
    PyObject *stride, *padding, *dilation, *groups;
};

// The last three extents of an array with `dims` of them, 1 where there are fewer.
void extents(PyArrayObject* array, int dims, ptrdiff_t& depth, ptrdiff_t& height, ptrdiff_t& width) {
    depth = dims == 3 ? PyArray_DIM(array, 2) : 1;
    height = dims >= 2 ? PyArray_DIM(array, dims) : 1;
    width = PyArray_DIM(array, dims + 1);
}

bool is_floats(PyObject* value) {
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    return PyArray_CheckExact(value) && PyArray_ISBEHAVED_RO(array) && PyArray_TYPE(array) == NPY_FLOAT;
}

bool are_dense(std::initializer_list<PyObject*> values) {
    for (PyObject* value : values)
        if (!PyArray_IS_C_CONTIGUOUS(reinterpret_cast<PyArrayObject*>(value))) return false;
    return true;
}

// The plain convolution that makes `result` of `input`, arrays of any layout.
bool describe(PyObject* input, PyObject* weight, PyObject* result, const Options& o, Convolution& c) {
    for (PyObject* value : {input, weight, result})
        if (!is_floats(value)) return false;
    auto *in = reinterpret_cast<PyArrayObject*>(input), *kernel = reinterpret_cast<PyArrayObject*>(weight);
    auto* out = reinterpret_cast<PyArrayObject*>(result);
    const int dims = PyArray_NDIM(in) - 2;
    if (dims < 1 || dims > 3 || PyArray_NDIM(kernel) != dims + 2 || PyArray_NDIM(out) != dims + 2) return false;
    if (!PyLong_CheckExact(o.groups)) return false;
    const long groups = integer_of(o.groups);
    if (groups < 1 || PyArray_SIZE(in) == 0 || PyArray_SIZE(out) == 0 || PyArray_SIZE(kernel) == 0) {
        PyErr_Clear();
        return false;
    }
    if (!numbers(o.stride, dims, 1, 1, c.deep_stride, c.stride) ||
        !numbers(o.padding, dims, 0, 0, c.deep_padding, c.padding) ||
        !numbers(o.dilation, dims, 1, 1, c.deep_dilation, c.dilation))
        return false;
    c.batch = static_cast<size_t>(PyArray_DIM(in, 0));
    c.groups = static_cast<size_t>(groups);
    c.channels = static_cast<size_t>(PyArray_DIM(kernel, 1));
    c.features = static_cast<size_t>(PyArray_DIM(kernel, 0)) / c.groups;
    extents(in, dims, c.depth, c.height, c.width);
    extents(out, dims, c.out_depth, c.out_height, c.out_width);
    extents(kernel, dims, c.deep_kernel, c.kernel[0], c.kernel[1]);
    return static_cast<size_t>(PyArray_DIM(in, 1)) == c.groups * c.channels &&
           static_cast<size_t>(PyArray_DIM(out, 1)) == c.groups * c.features &&
           PyArray_DIM(out, 0) == PyArray_DIM(in, 0);
}

const float* data_of(PyObject* array) {
    return static_cast<const float*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array)));
}

bool overlaps(PyObject* out, PyObject* value) {
    auto *to = reinterpret_cast<PyArrayObject*>(out), *from = reinterpret_cast<PyArrayObject*>(value);
    return PyArray_BYTES(to) < PyArray_BYTES(from) + PyArray_NBYTES(from) &&
           PyArray_BYTES(from) < PyArray_BYTES(to) + PyArray_NBYTES(to);
}

bool depthwise(const Convolution& c) {
    return c.channels == 1 && c.features == 1 && c.depth * c.out_depth * c.deep_kernel == 1 &&
           static_cast<size_t>(c.kernel[0] * c.kernel[1]) <= conv_loops().most_elements;
}

// A result from an input, by weights as they are; false without memory.
bool correlate(const Convolution& c, float* out, const float* in, const float* weight, const float* bias) {
    const ConvLoops& loops = conv_loops();
    const double work = work_of(c);
    if (depthwise(c)) {
        const size_t count = c.batch * c.groups, each = (loops.depthwise_scratch(c) + 15) / 16 * 16;
        auto* memory = static_cast<float*>(scratch(workers_for(count, work) * each * sizeof(float)));
        if (memory == nullptr) return false;
        share_parts(count, work, memory, each, [&](size_t from, size_t to, float* own) {
            loops.depthwise(c, out, in, weight, bias, from, to, own);
        });
        return true;
    }
    const size_t places = static_cast<size_t>(c.out_height * c.out_width), part = loops.positions(c);
    const size_t parts = (places + part - 1) / part,
                 count = c.batch * static_cast<size_t>(c.out_depth) * c.groups * parts;
    const size_t packed = (loops.packed(c) + 15) / 16 * 16, each = (loops.scratch(c) + 15) / 16 * 16;
    auto* memory = static_cast<float*>(scratch((packed + workers_for(count, work) * each) * sizeof(float)));
    if (memory == nullptr) return false;
    loops.pack(c, memory, weight);
    share(count, work, memory + packed, each, [&](size_t at, float* own) {
        const size_t image = at / parts / c.groups, group = at / parts % c.groups;
        loops.forward(c, out, in, memory, bias, image, group, at % parts * part, own);
    });
    return true;
}

// The same by minimal filtering where that is worth it.
bool result_of(const Convolution& c, float* out, const float* in, const float* weight, const float* bias) {
    const ptrdiff_t channels = static_cast<ptrdiff_t>(c.channels);
    return winograd(c, out, in, {weight, 9 * channels, 9, false}, bias) || correlate(c, out, in, weight, bias);
}

// The convolution of a result's gradient that gives the input's, where the stride is 1.
Convolution turned(const Convolution& c) {
    Convolution t = c;
    t.channels = c.features;
    t.features = c.channels;
    t.height = c.out_height;
    t.width = c.out_width;
    t.out_height = c.height;
    t.out_width = c.width;
    t.depth = c.out_depth;
    t.out_depth = c.depth;
    t.deep_padding = c.deep_dilation * (c.deep_kernel - 1) - c.deep_padding;
    for (int at = 0; at < 2; at++) t.padding[at] = c.dilation[at] * (c.kernel[at] - 1) - c.padding[at];
    return t;
}

bool input_gradient(const Convolution& c, float* to, const float* grad, const float* weight, const float* bias) {
    const ConvLoops& loops = conv_loops();
    if (c.stride[0] == 1 && c.stride[1] == 1 && c.deep_stride == 1) {
        if (winograd(turned(c), to, grad, {weight, 9, 9 * static_cast<ptrdiff_t>(c.channels), true}, bias)) return true;
        const size_t size =
            c.groups * c.features * c.channels * static_cast<size_t>(c.deep_kernel * c.kernel[0] * c.kernel[1]);
        auto* weights = static_cast<float*>(PyMem_Malloc(size * sizeof(float)));
        if (weights == nullptr) return false;
        loops.turn(c, weights, weight);
        const bool done = correlate(turned(c), to, grad, weights, bias);
        PyMem_Free(weights);
        return done;
    }
    const size_t count = c.batch * c.groups, each = loops.spread_scratch(c);
    auto* memory = static_cast<float*>(scratch(workers_for(count, work_of(c)) * each * sizeof(float)));
    if (memory == nullptr) return false;
    share(count, work_of(c), memory, each,
          [&](size_t at, float* own) { loops.spread(c, to, grad, weight, bias, at / c.groups, at % c.groups, own); });
    return true;
}

bool weight_gradient(const Convolution& c, float* to, const float* grad, const float* in) {
    if (winograd_weight_gradient(c, to, grad, in)) return true;
    const ConvLoops& loops = conv_loops();
    if (depthwise(c)) {
        const size_t own = (loops.depthwise_scratch(c) + 15) / 16 * 16;
        auto* frames = static_cast<float*>(scratch(workers_for(c.groups, work_of(c)) * own * sizeof(float)));
        if (frames == nullptr) return false;
        share(c.groups, work_of(c), frames, own,
              [&](size_t at, float* memory) { loops.depthwise_weight(c, to, grad, in, at, memory); });
        return true;
    }
    const size_t threads = static_cast<size_t>(thread_count());
    const size_t pieces = c.groups < threads && c.features >= 2 * threads ? threads : 1;
    const size_t rows = (c.features + pieces - 1) / pieces, count = c.groups * pieces, each = loops.weight_scratch(c);
    auto* memory = static_cast<float*>(scratch(workers_for(count, work_of(c)) * each * sizeof(float)));
    if (memory == nullptr) return false;
    share(count, work_of(c), memory, each, [&](size_t at, float* own) {
        const size_t from = at % pieces * rows, end = from + rows < c.features ? from + rows : c.features;
        if (from < end) loops.weight_gradient(c, to, grad, in, at / pieces, from, end, own);
    });
    return true;
}

// Values are (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups).
int convolution(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Convolution c;
    if (count != 9 || !PyArray_CheckExact(given) || !PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(given)) ||
        !PyBool_Check(values[6]))
        return 0;
    const bool plain = values[6] == Py_False;
    const Options options = {values[3], values[4], values[5], values[8]};
    if (!describe(plain ? values[0] : given, values[1], plain ? given : values[0], options, c)) return 0;
    const float* bias = nullptr;
    if (values[2] != Py_None) {
        bias = floats(values[2], static_cast<npy_intp>(c.groups * (plain ? c.features : c.channels)), nullptr);
        if (bias == nullptr || overlaps(given, values[2])) return 0;
    }
    if (overlaps(given, values[0]) || overlaps(given, values[1])) return 0;
    if (!are_dense({given, values[0], values[1]}))
        return plain ? convolution_last(c, given, values[0], values[1], bias) : 0;
    auto* out = static_cast<float*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(given)));
    const float *in = data_of(values[0]), *weight = data_of(values[1]);
    return (plain ? result_of(c, out, in, weight, bias) : input_gradient(c, out, in, weight, bias)) ? 1 : 0;
}

// Outputs are the gradients of (input, weight, bias), None where none is asked for; values (grad, input, weight,
// bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask).
int convolution_backward(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    Convolution c;
    if (count != 11 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 3 || !PyBool_Check(values[7])) return 0;
    const bool plain = values[7] == Py_False;
    const Options options = {values[4], values[5], values[6], values[9]};
    if (!describe(values[plain ? 1 : 0], values[2], values[plain ? 0 : 1], options, c) ||
        !are_dense({values[0], values[1], values[2]}))
        return 0;
    float* to[3] = {nullptr, nullptr, nullptr};
    const Convolution result = plain ? c : turned(c);
    const npy_intp sizes[] = {PyArray_SIZE(reinterpret_cast<PyArrayObject*>(values[1])),
                              PyArray_SIZE(reinterpret_cast<PyArrayObject*>(values[2])),
                              static_cast<npy_intp>(result.groups * result.features)};
    for (int at = 0; at < 3; at++) {
        PyObject* one = PyTuple_GET_ITEM(outs, at);
        if (one != Py_None && (to[at] = output_floats(one, sizes[at])) == nullptr) return 0;
    }
    const float *grad = data_of(values[0]), *in = data_of(values[1]), *weight = data_of(values[2]);
    if (to[0] != nullptr &&
        !(plain ? input_gradient(c, to[0], grad, weight, nullptr) : result_of(c, to[0], grad, weight, nullptr)))
        return 0;
    if (to[1] != nullptr && !weight_gradient(c, to[1], plain ? grad : in, plain ? in : grad)) return 0;
    if (to[2] != nullptr)
        share(result.groups * result.features, work_of(c), nullptr, 0,
              [&](size_t at, float*) { conv_loops().bias_gradient(result, to[2], grad, at, at + 1); });
    return 1;
}

}  // namespace

const NamedKernel conv_kernels[] = {
    {"convolution", convolution, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"convolution_backward", convolution_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
