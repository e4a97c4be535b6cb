// What native code learns of a tensor: the parts in its slots, whose types are looked at here and nowhere else. Any
// Python code can put anything there. A part of another type raises TypeError; null stands for a slot that is unset.
//
// A signature that is only compared needs no look: those that plans were made for are signatures. Nor does the geometry
// of an array: a kernel takes those alone whose type, shape and strides it has seen to.
#pragma once

#include "mindtorch/entry.h"
#include "call/interface.h"

namespace mindtorch {

// True for the arrays of a device, which kernels of the CPU pass on.
bool is_device_array(PyObject* array);

// Raise TypeError for what is in the slot `name` of `owner`.
[[noreturn]] void wrong_part(PyObject* owner, const char* name, PyObject* found);

inline PyObject* signature_of(PyObject* tensor) {
    PyObject* sig = slot(tensor, configuration.tensor.sig);
    if (sig != nullptr && Py_TYPE(sig) != configuration.signature_type) wrong_part(tensor, "_sig", sig);
    return sig;
}

// The elements as kernels take them: numpy's array or a device's, None where there are none.
inline PyObject* array_of(PyObject* tensor) {
    PyObject* array = slot(tensor, configuration.tensor.array);
    if (array != nullptr && !PyArray_CheckExact(array) && array != Py_None && !is_device_array(array))
        wrong_part(tensor, "_array", array);
    return array;
}

// Of a signature; a sparse tensor's is of another class.
inline PyObject* spec_of(PyObject* sig) {
    PyObject* spec = slot(sig, configuration.signature.spec);
    if (spec != nullptr && Py_TYPE(spec) != configuration.spec_type &&
        !PyObject_TypeCheck(spec, configuration.spec_type))
        wrong_part(sig, "spec", spec);
    return spec;
}

// A list that begins with the version.
inline PyObject* counter_of(PyObject* tensor) {
    PyObject* counter = slot(tensor, configuration.tensor.counter);
    if (counter != nullptr && (!PyList_CheckExact(counter) || PyList_GET_SIZE(counter) == 0))
        wrong_part(tensor, "_counter", counter);
    return counter;
}

inline PyObject* version_of(PyObject* tensor) {
    PyObject* counter = counter_of(tensor);
    return counter == nullptr ? nullptr : PyList_GET_ITEM(counter, 0);
}

// A storage or None.
inline PyObject* known_storage_of(PyObject* tensor) {
    PyObject* storage = slot(tensor, configuration.tensor.storage);
    if (storage != nullptr && storage != Py_None && Py_TYPE(storage) != configuration.storage_type &&
        !PyObject_TypeCheck(storage, configuration.storage_type))
        wrong_part(tensor, "_storage", storage);
    return storage;
}

// What a view is a view of, or None.
inline PyObject* history_of(PyObject* tensor) {
    PyObject* view = slot(tensor, configuration.tensor.view);
    if (view != nullptr && view != Py_None && Py_TYPE(view) != configuration.view_type)
        wrong_part(tensor, "_view", view);
    return view;
}

// The gradient and what else few tensors have, or None.
inline PyObject* meta_of(PyObject* tensor) {
    PyObject* meta = slot(tensor, configuration.tensor.meta);
    if (meta != nullptr && meta != Py_None && Py_TYPE(meta) != configuration.meta_type)
        wrong_part(tensor, "_meta", meta);
    return meta;
}

// The object in a slot of `owner` that must be a tensor.
inline PyObject* tensor_in(PyObject* owner, Py_ssize_t offset, const char* name) {
    PyObject* tensor = slot(owner, offset);
    if (tensor == nullptr || !PyObject_TypeCheck(tensor, configuration.tensor_type)) wrong_part(owner, name, tensor);
    return tensor;
}

// True when nobody but `holders` references that the caller knows of, its own included, holds on to an object. Borrowed
// references are none: a local variable of Python's that a call borrows is counted in the variable.
inline bool is_unshared(PyObject* object, Py_ssize_t holders = 1) { return Py_REFCNT(object) <= holders; }

}  // namespace mindtorch
