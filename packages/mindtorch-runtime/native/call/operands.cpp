// Memory for outputs, and what is asked of operands before a kernel writes.
#include "call/operands.h"

#include <stdlib.h>

namespace mindtorch {

namespace {

// What readies a thread for large arrays: the backend's of the main memory, if it has one.
mindtorch_memory prepare_memory = [] { return 0; };

}  // namespace

PyObject* use_memory(PyObject*, PyObject* capsule) {
    void* found = PyCapsule_GetPointer(capsule, MINDTORCH_MEMORY_CAPSULE);
    if (found == nullptr) return nullptr;
    prepare_memory = reinterpret_cast<mindtorch_memory>(found);
    Py_RETURN_NONE;
}

PyObject* allocate(const Output& output) {
    if (output.alloc != nullptr) {
        PyObject* const given[2] = {output.shape, reinterpret_cast<PyObject*>(output.dtype)};
        return into_python<PyObject_Vectorcall>(output.alloc, given, 2, nullptr);
    }
    const int ndim = static_cast<int>(output.extents.size());
    auto* extents = const_cast<npy_intp*>(output.extents.data());
    auto* dtype = reinterpret_cast<PyArray_Descr*>(Py_NewRef(output.dtype));
    if (output.small_bytes == 0) {
        if (prepare_memory() == 0) return PyArray_Empty(ndim, extents, dtype, 0);
        Py_DECREF(dtype);
        return nullptr;
    }
    // numpy frees what has no memory handler by free(): of an array this small the handler is a good part of the cost.
    void* data = malloc(output.small_bytes);
    if (data == nullptr) {
        Py_DECREF(dtype);
        return PyErr_NoMemory();
    }
    PyObject* made =
        PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, extents, nullptr, data, NPY_ARRAY_CARRAY, nullptr);
    if (made == nullptr) {
        free(data);
        return nullptr;
    }
    PyArray_ENABLEFLAGS(reinterpret_cast<PyArrayObject*>(made), NPY_ARRAY_OWNDATA);
    return made;
}

// Whether nothing of an operand is memory of the target, as far as can be told at sight.
bool is_apart(PyObject* other, PyObject* counter, PyObject* storage) {
    if (slot(other, configuration.tensor.counter) == counter) return false;
    return storage == nullptr || slot(other, configuration.tensor.storage) != storage;  // `data`, `set_`
}

bool are_apart(const Program& program, const Call& call, PyObject* target) {
    if (program.before == nullptr) return true;
    if (!program.looks_apart) return false;
    PyObject* counter = slot(target, configuration.tensor.counter);
    PyObject* storage = slot(target, configuration.tensor.storage);
    if (storage == Py_None) storage = nullptr;
    for (const Routed& one : program.tensors) {
        // At other places than its own the target may be refused, too.
        if (one.place != program.source && !is_apart(call[one.place], counter, storage)) return false;
    }
    for (const Routed& one : program.lists) {
        PyObject* list = call[one.place];
        if (!PyList_CheckExact(list)) return false;
        for (Py_ssize_t at = 0; at < PyList_GET_SIZE(list); ++at) {
            PyObject* other = PyList_GET_ITEM(list, at);
            if (other == Py_None) continue;
            if (is_plain(Py_TYPE(other)) != 1 || !is_apart(other, counter, storage)) return false;
        }
    }
    return true;
}

}  // namespace mindtorch
