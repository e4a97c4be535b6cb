// Types whose objects look like Python's functions: with attributes, weak references and a name to be pickled by.
#pragma once

#include "mindtorch/entry.h"

namespace mindtorch {

extern PyGetSetDef function_getters[];
extern PyMethodDef function_reducers[];

// The descriptor's function of methods.
PyObject* bind_method(PyObject* function, PyObject* instance, PyObject* owner);

template <typename Object>
PyTypeObject function_type(PyTypeObject type, bool method) {
    if (method) {
        type.tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
        type.tp_descr_get = entry<bind_method>;
    }
    type.tp_getset = function_getters;
    type.tp_methods = function_reducers;
    type.tp_dictoffset = offsetof(Object, attributes);
    type.tp_weaklistoffset = offsetof(Object, weak);
    return type;
}

}  // namespace mindtorch
