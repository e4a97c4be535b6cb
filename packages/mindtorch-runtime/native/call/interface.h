// What the parts of `mindtorch_runtime._native` share: the configuration, and the functions of the module.
#pragma once

#include "mindtorch/object.h"

#include "call/layout.h"  // made of layout.py

namespace mindtorch {

// The value of a slot, borrowed; null while the slot is unset.
inline PyObject*& slot(PyObject* object, Py_ssize_t offset) {
    return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
}

// What a weak reference refers to as a new reference, null without an error when it is gone.
inline PyObject* referent(PyObject* weak) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* object = nullptr;
    return PyWeakref_GetRef(weak, &object) < 0 ? nullptr : object;
#else
    PyObject* object = PyWeakref_GET_OBJECT(weak);
    return object == Py_None ? nullptr : Py_NewRef(object);
#endif
}

extern PyTypeObject CallerType;
extern PyTypeObject MethodType;
extern PyTypeObject ShortcutType;
extern PyTypeObject GuardedType;

// What `layout.py` declares, and what is made of it. Set once by `install`.
struct Configuration : Shared {
    bool ready = false;
    PyObject *zero = nullptr, *one = nullptr;
    PyObject* default_creation = nullptr;  // of views
    // Names.
    PyObject *mode_name = nullptr, *free_name = nullptr, *key_name = nullptr, *dict_name = nullptr,
             *enabled_name = nullptr, *materialize_name = nullptr, *unpack_name = nullptr, *outputs_name = nullptr,
             *edges_name = nullptr, *seq_name = nullptr, *evaluate_name = nullptr, *pipe_name = nullptr,
             *flush_name = nullptr, *module_name = nullptr, *transforms_name = nullptr, *kind_name = nullptr,
             *family_name = nullptr;
};

extern Configuration configuration;

PyObject* install(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* install_autograd(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* caller(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* propagate(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* fill(PyObject* module, PyObject* records);
PyObject* shortcut(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* guarded(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* view_of(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* use_memory(PyObject* module, PyObject* capsule);
PyObject* plain_arrays(PyObject* module, PyObject* lists);
PyObject* note_writes(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* copied(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* tensor_over(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* subscript_by(PyObject* module, PyObject* const* arguments, Py_ssize_t count);

}  // namespace mindtorch
