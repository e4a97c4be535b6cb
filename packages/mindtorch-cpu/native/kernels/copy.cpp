// Copies, conversions and fills.
#include "kernels/region.h"

#include <string.h>

namespace mindtorch {

int copy_array(PyArrayObject* out, PyArrayObject* from) {
    Region region;
    if (may_overlap(out, from) || !region_of(region, out, from)) return 0;
    if (PyArray_TYPE(out) == PyArray_TYPE(from)) {
        const int size = size_class(out);
        if (size < 0) return 0;
        copy_region(region, size);
        return 1;
    }
    const int to_kind = kind_of_element(out), from_kind = kind_of_element(from);
    return to_kind >= 0 && from_kind >= 0 && convert_region(region, to_kind, from_kind) ? 1 : 0;
}

namespace {

// Values are (self, options).
int clone(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = plain_array(given, true);
    PyArrayObject* from = count > 0 ? plain_array(values[0]) : nullptr;
    return out != nullptr && from != nullptr ? copy_array(out, from) : 0;
}

// Values are (self, src, non_blocking).
int copy_(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = plain_array(given, true);
    PyArrayObject* from = count == 3 ? plain_array(values[1]) : nullptr;
    return out != nullptr && from != nullptr ? copy_array(out, from) : 0;
}

int fill_with(PyObject* given, PyObject* number) {
    PyArrayObject* out = plain_array(given, true);
    const int size = out == nullptr ? -1 : size_class(out);
    char element[16] = {0};
    if (size < 0 || !element_from(out, number, element)) return 0;
    fill_array(out, size, element);
    return 1;
}

int zeros(PyObject* given, PyObject* const*, Py_ssize_t) {
    PyArrayObject* out = plain_array(given, true);
    const int size = out == nullptr ? -1 : size_class(out);
    const char element[16] = {0};
    if (size < 0 || (PyTypeNum_ISUSERDEF(PyArray_TYPE(out)) && kind_of_element(out) < 0)) return 0;
    fill_array(out, size, element);
    return 1;
}

int ones(PyObject* given, PyObject* const*, Py_ssize_t) {
    Ref one(PyFloat_FromDouble(1.0));
    Ref whole(PyLong_FromLong(1));
    if (!one || !whole) return -1;
    const int done = fill_with(given, one.get());
    return done != 0 ? done : fill_with(given, whole.get());
}

// The number is value `place`, of at least `place` + 1.
template <int place>
int fill(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    return count > place ? fill_with(given, values[place]) : 0;
}

// Values are (self, number or array).
int fill_(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 2) return 0;
    if (!PyArray_Check(values[1])) return fill_with(given, values[1]);
    PyArrayObject *out = plain_array(given, true), *from = plain_array(values[1]);
    if (out == nullptr || from == nullptr || PyArray_TYPE(out) != PyArray_TYPE(from)) return 0;
    return copy_array(out, from);
}

}  // namespace

const NamedKernel copy_kernels[] = {
    {"clone _to_copy", clone},
    {"copy_", copy_},
    {"zeros zeros_like new_zeros zero_", zeros},
    {"ones ones_like new_ones", ones},
    {"full full_like", fill<1>},
    {"new_full", fill<2>},
    {"fill_.Scalar fill_.Tensor", fill_},
    {"scalar_tensor", fill<0>},
    {nullptr, nullptr},
};

}  // namespace mindtorch
