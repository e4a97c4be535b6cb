// Products of matrices, vectors and batches of float32, float64 or bfloat16, at any strides; everything else is
// numpy's.
#include "gemm/gemm.h"
#include "kernels/integer.h"
#include "kernels/operand.h"

#include <float.h>
#include <math.h>

namespace mindtorch {

namespace {

// An array as a batch of matrices; steps are in elements.
struct View {
    char* data = nullptr;
    npy_intp count = 1, rows = 1, columns = 1;
    ptrdiff_t step = 0, row = 0, column = 0;
};

bool takes(PyArrayObject* array, int type) {
    return PyArray_TYPE(array) == type && PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array);
}

// The array's dimensions as a matrix's; one dimension alone is a column, or a row where `lying`. False for what is no
// array of `type`, or has more dimensions or odd strides.
bool look(PyObject* value, int type, bool lying, View& view) {
    if (!PyArray_CheckExact(value)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    const int ndim = PyArray_NDIM(array);
    if (!takes(array, type) || ndim > 3) return false;
    const npy_intp size = PyArray_ITEMSIZE(array), *extents = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    for (int at = 0; at < ndim; at++)
        if (strides[at] % size != 0) return false;
    view.data = PyArray_BYTES(array);
    if (ndim == 3) view.count = extents[0], view.step = extents[0] > 1 ? strides[0] / size : 0;
    if (ndim == 1 && lying) {
        view.columns = extents[0];
        view.column = strides[0] / size;
    } else if (ndim > 0) {
        const int at = ndim > 1 ? ndim - 2 : 0;
        view.rows = extents[at];
        view.row = strides[at] / size;
        if (ndim > 1) view.columns = extents[ndim - 1], view.column = strides[ndim - 1] / size;
    }
    // A step that leads nowhere may be any; 1 is what loops like.
    if (view.columns == 1) view.column = 1;
    if (view.rows == 1) view.row = view.column == 1 ? view.columns : 1;
    return true;
}

// The array broadcast to a result's dimensions, `shape`. False when it does not fit.
bool look_broadcast(PyObject* value, int type, int ndim, const npy_intp* shape, View& view) {
    if (!PyArray_CheckExact(value)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    const int own = PyArray_NDIM(array);
    if (!takes(array, type) || own > ndim) return false;
    const npy_intp size = PyArray_ITEMSIZE(array);
    ptrdiff_t steps[3] = {0, 0, 0};
    for (int at = 0; at < own; at++) {
        const npy_intp extent = PyArray_DIM(array, at), stride = PyArray_STRIDE(array, at);
        const int place = ndim - own + at;
        if (stride % size != 0 || (extent != 1 && extent != shape[place])) return false;
        if (extent != 1) steps[place] = stride / size;
    }
    view.data = PyArray_BYTES(array);
    if (ndim == 3) view.step = steps[0];
    if (ndim == 1) view.row = steps[0];
    if (ndim > 1) view.row = steps[ndim - 2], view.column = steps[ndim - 1];
    return true;
}

// The bytes an array lies in.
void extent_of(PyArrayObject* array, const char*& from, const char*& to) {
    from = PyArray_BYTES(array);
    to = from + PyArray_ITEMSIZE(array);
    for (int at = 0; at < PyArray_NDIM(array); at++) {
        const npy_intp reach = (PyArray_DIM(array, at) - 1) * PyArray_STRIDE(array, at);
        (reach < 0 ? from : to) += reach;
    }
}

bool separate(PyObject* out, PyObject* value) {
    auto *to = reinterpret_cast<PyArrayObject*>(out), *array = reinterpret_cast<PyArrayObject*>(value);
    if (PyArray_SIZE(array) == 0 || PyArray_SIZE(to) == 0) return true;
    const char *first, *last, *out_first, *out_last;
    extent_of(array, first, last);
    extent_of(to, out_first, out_last);
    return last <= out_first || out_last <= first;
}

// An addend may be the result's own memory, element by element.
bool same_places(PyObject* out, PyObject* value) {
    auto *to = reinterpret_cast<PyArrayObject*>(out), *array = reinterpret_cast<PyArrayObject*>(value);
    if (PyArray_BYTES(to) != PyArray_BYTES(array) || PyArray_NDIM(to) != PyArray_NDIM(array)) return false;
    for (int at = 0; at < PyArray_NDIM(to); at++)
        if (PyArray_DIM(to, at) != PyArray_DIM(array, at) || PyArray_STRIDE(to, at) != PyArray_STRIDE(array, at))
            return false;
    return true;
}

// A number that the elements do not hold is an error, which numpy's kernel raises.
bool fits(double number, int type) { return type == NPY_DOUBLE || isinf(number) || !(fabs(number) > FLT_MAX); }

struct Operands {
    View out, left, right, addend;
    double alpha = 1, beta = 0;
};

template <typename Real>
int multiply(const Operands& o) {
    const auto matrix = [](const View& v) { return Matrix<Real>{reinterpret_cast<Real*>(v.data), v.row, v.column}; };
    Batch<Real> batch;
    Product<Real>& p = batch.first;
    p.rows = static_cast<size_t>(o.out.rows);
    p.columns = static_cast<size_t>(o.out.columns);
    p.depth = static_cast<size_t>(o.left.columns);
    p.left = matrix(o.left);
    p.right = matrix(o.right);
    p.out = reinterpret_cast<Real*>(o.out.data);
    p.out_row = o.out.row;
    p.out_column = o.out.column;
    p.alpha = static_cast<AccumulateType<Real>>(o.alpha);
    p.beta = static_cast<AccumulateType<Real>>(o.beta);
    p.addend = o.beta != 0 ? matrix(o.addend) : Matrix<Real>{nullptr, 0, 0};
    batch.count = static_cast<size_t>(o.out.count);
    batch.left = o.left.step;
    batch.right = o.right.step;
    batch.out = o.out.step;
    batch.addend = o.addend.step;
    return multiply_all(batch) ? 1 : 0;
}

int product(PyObject* out, PyObject* left, PyObject* right, Operands& operands) {
    if (!PyArray_CheckExact(out)) return 0;
    auto* array = reinterpret_cast<PyArrayObject*>(out);
    const int type = PyArray_TYPE(array);
    const bool bfloat16 = type == bfloat16_type;
    if ((type != NPY_FLOAT && type != NPY_DOUBLE && !bfloat16) || !PyArray_ISWRITEABLE(array)) return 0;
    View &to = operands.out, &a = operands.left, &b = operands.right;
    const bool inner = PyArray_NDIM(array) == 0;
    if (!look(out, type, false, to) || !look(left, type, inner, a) || !look(right, type, false, b)) return 0;
    if (a.rows != to.rows || b.columns != to.columns || a.columns != b.rows || a.count != to.count ||
        b.count != to.count)
        return 0;
    if (operands.alpha == 0 || !separate(out, left) || !separate(out, right)) return 0;
    if (bfloat16) return multiply<uint16_t>(operands);
    return type == NPY_FLOAT ? multiply<float>(operands) : multiply<double>(operands);
}

// Values are the factors: of matrices, batches of matrices, a matrix and a vector, or two vectors.
int mm(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    Operands operands;
    return count == 2 ? product(out, values[0], values[1], operands) : 0;
}

// Values are (addend, left, right, beta, alpha); the addend is not looked at for beta 0.
int addmm(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    Operands operands;
    if (count != 5 || !PyArray_CheckExact(out) || !double_of(values[3], operands.beta) ||
        !double_of(values[4], operands.alpha))
        return 0;
    auto* array = reinterpret_cast<PyArrayObject*>(out);
    if (!fits(operands.beta, PyArray_TYPE(array)) || !fits(operands.alpha, PyArray_TYPE(array))) return 0;
    if (operands.beta != 0) {
        const int ndim = PyArray_NDIM(array);
        if (ndim < 1 || ndim > 3 ||
            !look_broadcast(values[0], PyArray_TYPE(array), ndim, PyArray_DIMS(array), operands.addend))
            return 0;
        if (!separate(out, values[0]) && !same_places(out, values[0])) return 0;
    }
    return product(out, values[1], values[2], operands);
}

}  // namespace

const NamedKernel matmul_kernels[] = {
    {"mm bmm mv dot steps.matmul", mm, REDUCED_PRECISION},
    {"addmm baddbmm addmv", addmm, REDUCED_PRECISION},
    {nullptr, nullptr},
};

}  // namespace mindtorch
