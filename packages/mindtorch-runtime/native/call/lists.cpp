// Lists of tensors for kernels that no plan calls, such as the steps of optimizers.
#include "call/program.h"

namespace mindtorch {

namespace {

// Whether, in this thread's mode, a kernel that no plan calls may have plain tensors, and which: `devices.plain` of the
// dispatcher.
class Permission {
public:
    Permission();
    // The array of a tensor that may be had, borrowed; null without an error for any other object.
    PyObject* array_of(PyObject* tensor) const;

private:
    bool any_ = false, tracked_ = false, inference_ = false;
};

Permission::Permission() {
    const auto& at = configuration.mode;
    PyObject* mode = current_mode();
    if (mode == nullptr) {
        PyErr_Clear();
        return;
    }
    any_ = true;
    for (Py_ssize_t offset : {at.overriding, at.include, at.exclude, at.forward_ad, at.profiling})
        any_ = any_ && PyObject_IsTrue(slot(mode, offset)) == 0;
    tracked_ = slot(mode, at.grad) == Py_False;
    inference_ = slot(mode, at.inference) == Py_True;
}

PyObject* Permission::array_of(PyObject* tensor) const {
    const auto& at = configuration.tensor;
    if (!any_ || is_plain(Py_TYPE(tensor)) != 1) return nullptr;
    PyObject *pipe = slot(tensor, at.pipe), *sig = signature_of(tensor), *array = slot(tensor, at.array);
    if ((pipe != nullptr && pipe != Py_None) || sig == nullptr || array == nullptr) return nullptr;
    if (!tracked_ && slot(sig, configuration.signature.requires_grad) != Py_False) return nullptr;
    if (!inference_ && slot(sig, configuration.signature.inference) != Py_False) return nullptr;
    return PyArray_CheckExact(array) ? array : nullptr;
}

// The arrays of a list of tensors; null without an error where one may not be had.
PyObject* arrays_of(const Permission& permission, PyObject* tensors) {
    if (!PyList_Check(tensors)) {
        PyErr_SetString(PyExc_TypeError, "plain_arrays(lists): lists of tensors");
        return nullptr;
    }
    Ref made(PyList_New(PyList_GET_SIZE(tensors)));
    for (Py_ssize_t index = 0; made && index < PyList_GET_SIZE(made.get()); index++) {
        PyObject* array = permission.array_of(PyList_GET_ITEM(tensors, index));
        if (array == nullptr) return nullptr;
        PyList_SET_ITEM(made.get(), index, Py_NewRef(array));
    }
    return made.release();
}

}  // namespace

PyObject* plain_arrays(PyObject*, PyObject* lists) {
    if (!PyTuple_Check(lists)) {
        PyErr_SetString(PyExc_TypeError, "plain_arrays(lists): a tuple of lists");
        return nullptr;
    }
    const Permission permission;
    Ref made(PyTuple_New(PyTuple_GET_SIZE(lists)));
    for (Py_ssize_t place = 0; made && place < PyTuple_GET_SIZE(lists); place++) {
        PyObject* arrays = arrays_of(permission, PyTuple_GET_ITEM(lists, place));
        if (arrays == nullptr) return PyErr_Occurred() ? nullptr : Py_NewRef(Py_None);
        PyTuple_SET_ITEM(made.get(), place, arrays);
    }
    return made.release();
}

PyObject* note_writes(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2 || !PyTuple_Check(arguments[0]) || !PyBytes_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "note_writes(lists, writes)");
        return nullptr;
    }
    for (Py_ssize_t place = 0; place < PyBytes_GET_SIZE(arguments[1]); place++) {
        const auto number = static_cast<unsigned char>(PyBytes_AS_STRING(arguments[1])[place]);
        PyObject* tensors = number < PyTuple_GET_SIZE(arguments[0]) ? PyTuple_GET_ITEM(arguments[0], number) : nullptr;
        if (tensors == nullptr || !PyList_Check(tensors)) {
            PyErr_SetString(PyExc_TypeError, "note_writes(lists, writes): there is no such list");
            return nullptr;
        }
        for (Py_ssize_t index = 0; index < PyList_GET_SIZE(tensors); index++) {
            PyObject* tensor = PyList_GET_ITEM(tensors, index);
            if (!PyObject_TypeCheck(tensor, configuration.tensor_type)) {
                PyErr_SetString(PyExc_TypeError, "note_writes(lists, writes): tensors are written");
                return nullptr;
            }
            if (bump_version(tensor) < 0) return nullptr;
        }
    }
    Py_RETURN_NONE;
}

}  // namespace mindtorch
