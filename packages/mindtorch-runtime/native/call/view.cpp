// Views: new geometry over the bytes of a tensor, as the executor of the dispatcher makes them.
#include "call/program.h"

namespace mindtorch {

namespace {

// Numbers of a tuple; false when there are too many or other ones.
bool read_numbers(PyObject* from, npy_intp* to, int count) {
    if (from == nullptr || !PyTuple_Check(from) || PyTuple_GET_SIZE(from) != count) return false;
    for (int index = 0; index < count; index++) to[index] = PyLong_AsSsize_t(PyTuple_GET_ITEM(from, index));
    if (!PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
}

constexpr Py_ssize_t FOLLOWERS = 64;

// Have `view` require grad as soon as its base does; from so many views on, those that are gone are forgotten at every
// power of two.
int follow(PyObject* counter, PyObject* view) {
    const Py_ssize_t count = PyList_GET_SIZE(counter);
    if (count >= FOLLOWERS && (count & (count - 1)) == 0) {
        Ref alive(PyList_New(0));
        if (!alive) return -1;
        for (Py_ssize_t index = 1; index < PyList_GET_SIZE(counter); index++) {
            PyObject* weak = PyList_GET_ITEM(counter, index);
            Ref found(PyWeakref_CheckRefExact(weak) ? referent(weak) : Py_NewRef(weak));
            if (found && PyList_Append(alive.get(), weak) < 0) return -1;
        }
        if (PyList_SetSlice(counter, 1, PyList_GET_SIZE(counter), alive.get()) < 0) return -1;
    }
    Ref weak(PyWeakref_NewRef(view, nullptr));
    return weak ? PyList_Append(counter, weak.get()) : -1;
}

// [0, extent] with negative positions counted from the end, or -1.
Py_ssize_t counted(PyObject* value, Py_ssize_t extent, bool clamped) {
    if (clamped && value == Py_None) return 0;
    if (!PyLong_CheckExact(value)) return -1;
    Py_ssize_t position = PyLong_AsSsize_t(value);
    if (position == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return -1;
    }
    if (position < 0) position += extent;
    if (clamped) return position < 0 ? 0 : position > extent ? extent : position;
    return position < extent ? position : -1;
}

}  // namespace

PyObject* array_over(PyObject* buffer, const Output& output, Py_ssize_t offset) {
    npy_intp shape[MOST_DIMENSIONS], strides[MOST_DIMENSIONS];
    PyObject* spec = slot(output.sig, configuration.signature.spec);
    const int ndim = static_cast<int>(PyTuple_GET_SIZE(output.shape));
    if (!PyArray_CheckExact(buffer) || !read_numbers(output.shape, shape, ndim) ||
        !read_numbers(slot(spec, configuration.spec.np_strides), strides, ndim))
        return nullptr;
    auto* bytes = reinterpret_cast<PyArrayObject*>(buffer);
    const npy_intp itemsize = PyDataType_ELSIZE(output.dtype);
    npy_intp start = 0, end = 0;
    if (__builtin_mul_overflow(offset, itemsize, &start) || __builtin_add_overflow(start, itemsize, &end))
        return nullptr;
    for (int dim = 0; dim < ndim; dim++) {
        npy_intp reach = 0;
        if (shape[dim] == 0 || strides[dim] < 0 || __builtin_mul_overflow(shape[dim] - 1, strides[dim], &reach) ||
            __builtin_add_overflow(end, reach, &end))
            return nullptr;
    }
    if (start < 0 || end > PyArray_NBYTES(bytes) || !PyArray_ISONESEGMENT(bytes)) return nullptr;
    const int flags = PyArray_ISWRITEABLE(bytes) ? NPY_ARRAY_BEHAVED : NPY_ARRAY_ALIGNED;
    Ref made(PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(Py_NewRef(output.dtype)), ndim, shape,
                                  strides, PyArray_BYTES(bytes) + start, flags, nullptr));
    if (!made) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(made.get());
    PyArray_UpdateFlags(array, NPY_ARRAY_ALIGNED);
    return PyArray_SetBaseObject(array, Py_NewRef(buffer)) < 0 ? nullptr : made.release();
}

int relate(const Program& program, PyObject* base, PyObject* view) {
    const auto& at = configuration.view;
    PyObject *creation = program.creation, *above = history_of(base);
    if (above == nullptr) {
        PyObject* const given[3] = {program.plan, base, view};
        Ref done(into_python<PyObject_Vectorcall>(configuration.relate, given, 3, nullptr));
        return done ? 0 : -1;
    }
    PyObject* root = base;
    if (above != Py_None) {
        root = tensor_in(above, at.base, "base");
        if (creation == configuration.default_creation) creation = slot(above, at.creation);
    }
    PyObject *counter = counter_of(root), *version = version_of(root);
    if (version == nullptr || (program.follows && follow(counter, view) < 0)) return -1;
    PyTypeObject* type = configuration.view_type;
    PyObject* info = type->tp_alloc(type, 0);
    if (info == nullptr) return -1;
    slot(info, at.base) = Py_NewRef(root);
    slot(info, at.attr_version) = Py_NewRef(version);
    slot(info, at.creation) = Py_NewRef(creation);
    slot(info, at.leaf) = Py_NewRef(Py_False);
    Py_XSETREF(slot(view, configuration.tensor.view), info);
    return 0;
}

int view_offset(PyObject* rule, PyObject* const* values, Py_ssize_t count, Py_ssize_t& offset) {
    const auto& at = configuration.start;
    if (PyLong_CheckExact(rule)) {
        offset = PyLong_AsSsize_t(rule);
        return offset == -1 && PyErr_Occurred() ? -1 : 1;
    }
    if (Py_TYPE(rule) != configuration.start_type) return 0;
    const Py_ssize_t place = PyLong_AsSsize_t(slot(rule, at.place)), extent = PyLong_AsSsize_t(slot(rule, at.extent));
    const Py_ssize_t step = PyLong_AsSsize_t(slot(rule, at.step));
    if (PyErr_Occurred()) return -1;
    if (place < 0 || place >= count) return 0;
    const Py_ssize_t position = counted(values[place], extent, slot(rule, at.clamped) == Py_True);
    return position < 0 || __builtin_mul_overflow(position, step, &offset) ? 0 : 1;
}

PyObject* make_view(const Program& program, PyObject* base, const Output& output, Py_ssize_t offset) {
    const auto& at = configuration.tensor;
    PyObject *array = slot(base, at.array), *counter = counter_of(base), *start = slot(base, at.offset);
    if (array == nullptr || counter == nullptr || start == nullptr || !PyArray_CheckExact(array)) return nullptr;
    Py_ssize_t whole = PyLong_AsSsize_t(start);
    if (PyErr_Occurred() || __builtin_add_overflow(whole, offset, &whole)) return nullptr;
    Ref storage(storage_of(base));
    if (!storage || Py_TYPE(storage.get()) != configuration.storage_type) return nullptr;
    PyObject* buffer = slot(storage.get(), configuration.storage.buffer);
    if (buffer == nullptr) return nullptr;
    Ref made(array_over(buffer, output, whole)), number(made ? PyLong_FromSsize_t(whole) : nullptr);
    if (!number) return nullptr;
    Ref tensor(new_tensor(program.cls, {output.sig, made.get(), storage.get(), number.get(), counter}));
    if (!tensor) return nullptr;
    if (program.creation != nullptr && relate(program, base, tensor.get()) < 0) return nullptr;
    return tensor.release();
}

}  // namespace mindtorch
