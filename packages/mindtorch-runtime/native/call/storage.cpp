// Storages of tensors that were made without one, and tensors over the bytes of others.
#include "call/program.h"

namespace mindtorch {

namespace {

// The bytes of an array that owns its memory, or holds on to who does; null without an error where Python must say.
PyObject* bytes_of(PyArrayObject* array) {
    if (!PyArray_ISCARRAY(array)) return nullptr;
    npy_intp count = PyArray_NBYTES(array);
    PyArray_Descr* bytes = PyArray_DescrFromType(NPY_UINT8);
    Ref made(
        PyArray_NewFromDescr(&PyArray_Type, bytes, 1, &count, nullptr, PyArray_DATA(array), NPY_ARRAY_CARRAY, nullptr));
    if (!made) return nullptr;
    auto* view = reinterpret_cast<PyArrayObject*>(made.get());
    return PyArray_SetBaseObject(view, Py_NewRef(reinterpret_cast<PyObject*>(array))) < 0 ? nullptr : made.release();
}

// A storage over the memory of an array that nobody else relies on, or that is `lent` by who does.
PyObject* storage_over(PyObject* buffer, bool lent) {
    const auto& from = configuration.allocation;
    const auto& at = configuration.storage;
    Ref count(PyLong_FromSsize_t(PyArray_NBYTES(reinterpret_cast<PyArrayObject*>(buffer))));
    Ref block(count ? configuration.allocation_type->tp_alloc(configuration.allocation_type, 0) : nullptr);
    if (!block) return nullptr;
    slot(block.get(), from.buffer) = Py_NewRef(buffer);
    slot(block.get(), from.nbytes) = count.release();
    slot(block.get(), from.resizable) = Py_NewRef(lent ? Py_False : Py_True);
    slot(block.get(), from.lent) = Py_NewRef(lent ? Py_True : Py_False);
    slot(block.get(), from.shared) = Py_NewRef(Py_False);
    slot(block.get(), from.filename) = Py_NewRef(Py_None);
    PyObject* made = configuration.storage_type->tp_alloc(configuration.storage_type, 0);
    if (made == nullptr) return nullptr;
    slot(made, at.device) = Py_NewRef(configuration.cpu);
    slot(made, at.allocation) = block.release();
    slot(made, at.buffer) = Py_NewRef(buffer);
    return made;
}

// (type number, extents...): how the specs of arrays are found.
PyObject* key_of(PyArrayObject* array) {
    const int ndim = PyArray_NDIM(array);
    Ref key(PyTuple_New(ndim + 1));
    for (int at = 0; key && at <= ndim; at++) {
        PyObject* number = PyLong_FromSsize_t(at == 0 ? PyArray_TYPE(array) : PyArray_DIM(array, at - 1));
        if (number == nullptr) return nullptr;
        PyTuple_SET_ITEM(key.get(), at, number);
    }
    return key.release();
}

// Whether the array lies as a tensor of this spec does: numpy lets steps of extents 0 and 1 be anything.
bool lies_as(PyArrayObject* array, PyObject* spec) {
    PyObject* steps = slot(spec, configuration.spec.np_strides);
    if (steps == nullptr || !PyTuple_CheckExact(steps) || PyTuple_GET_SIZE(steps) != PyArray_NDIM(array)) return false;
    for (int at = 0; at < PyArray_NDIM(array); at++)
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(steps, at)) != PyArray_STRIDE(array, at)) return false;
    return true;
}

}  // namespace

PyObject* storage_of(PyObject* tensor) {
    PyObject* storage = known_storage_of(tensor);
    if (storage != nullptr && storage != Py_None) return Py_NewRef(storage);
    PyObject* array = slot(tensor, configuration.tensor.array);
    if (storage == Py_None && array != nullptr && PyArray_CheckExact(array)) {
        Ref bytes(bytes_of(reinterpret_cast<PyArrayObject*>(array)));
        if (bytes) {
            PyObject* made = storage_over(bytes.get(), false);
            if (made == nullptr) return nullptr;
            Py_XSETREF(slot(tensor, configuration.tensor.storage), made);
            return Py_NewRef(made);
        }
        if (PyErr_Occurred()) return nullptr;
    }
    return into_python<PyObject_CallMethodNoArgs>(tensor, configuration.materialize_name);
}

int bump_version(PyObject* tensor) {
    PyObject* counter = counter_of(tensor);
    if (counter == nullptr) {
        PyErr_SetString(PyExc_SystemError, "a tensor has no version");
        return -1;
    }
    Ref one(PyLong_FromLong(1)), next(one ? PyNumber_Add(PyList_GET_ITEM(counter, 0), one.get()) : nullptr);
    return next ? PyList_SetItem(counter, 0, next.release()) : -1;
}

PyObject* new_tensor(PyTypeObject* cls, const NewTensor& of) {
    const auto& at = configuration.tensor;
    PyObject* tensor = cls->tp_alloc(cls, 0);
    if (tensor == nullptr) return nullptr;
    slot(tensor, at.sig) = Py_NewRef(of.sig);
    slot(tensor, at.array) = Py_XNewRef(of.array);
    slot(tensor, at.storage) = Py_XNewRef(of.storage);
    slot(tensor, at.pipe) = Py_XNewRef(of.pipe);
    slot(tensor, at.offset) = Py_NewRef(of.offset);
    slot(tensor, at.counter) = Py_NewRef(of.counter);
    slot(tensor, at.grad_fn) = Py_NewRef(Py_None);
    slot(tensor, at.output_nr) = Py_NewRef(configuration.zero);
    slot(tensor, at.view) = Py_NewRef(Py_None);
    slot(tensor, at.meta) = Py_NewRef(Py_None);
    return tensor;
}

PyObject* tensor_over(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2 || !configuration.ready || !PyDict_CheckExact(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "tensor_over(array, specs), after install()");
        return nullptr;
    }
    auto* given = reinterpret_cast<PyArrayObject*>(arguments[0]);
    if (!PyArray_CheckExact(arguments[0]) || !PyArray_ISCARRAY(given)) Py_RETURN_NONE;
    PyObject* mode = current_mode();
    Ref key(mode == nullptr ? nullptr : key_of(given));
    if (!key) return nullptr;
    PyObject* known = PyDict_GetItemWithError(arguments[1], key.get());
    if (known == nullptr && PyErr_Occurred()) return nullptr;
    if (known == nullptr || Py_TYPE(known) != configuration.spec_type || !lies_as(given, known) ||
        slot(mode, configuration.mode.inference) != Py_False)
        Py_RETURN_NONE;
    Ref spec(Py_NewRef(known)), array(PyArray_View(given, nullptr, &PyArray_Type));  // its owner may reshape it
    Ref bytes(array ? bytes_of(given) : nullptr), storage(bytes ? storage_over(bytes.get(), true) : nullptr);
    Ref counter(storage ? PyList_New(1) : nullptr);
    if (!counter) return nullptr;
    PyList_SET_ITEM(counter.get(), 0, Py_NewRef(configuration.zero));
    auto* cls = reinterpret_cast<PyTypeObject*>(PyList_GET_ITEM(configuration.tensor_class, 0));
    PyObject* sig = slot(spec.get(), configuration.spec.plain);
    return new_tensor(cls, {sig, array.get(), storage.get(), configuration.zero, counter.get()});
}

PyObject* alias_of(PyObject* tensor) {
    const auto& at = configuration.tensor;
    PyObject* array = slot(tensor, at.array);
    PyObject* sig = signature_of(tensor);
    if (array == nullptr || !PyArray_CheckExact(array) || sig == nullptr) return nullptr;
    Ref storage(storage_of(tensor));
    if (!storage) return nullptr;
    PyObject* plain = slot(spec_of(sig), configuration.spec.plain);
    return new_tensor(Py_TYPE(tensor), {plain, slot(tensor, at.array), storage.get(), slot(tensor, at.offset),
                                        slot(tensor, at.counter)});
}

}  // namespace mindtorch
