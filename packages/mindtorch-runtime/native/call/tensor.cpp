#include "call/tensor.h"

namespace mindtorch {

bool is_device_array(PyObject* array) {
    static PyTypeObject* known = nullptr;  // kept alive
    PyTypeObject* type = Py_TYPE(array);
    if (type == known) return true;
    if (PyObject_HasAttrString(reinterpret_cast<PyObject*>(type), "to_host") == 0) return false;
    Py_INCREF(type);
    PyTypeObject* before = known;
    known = type;
    Py_XDECREF(before);
    return true;
}

void wrong_part(PyObject* owner, const char* name, PyObject* found) {
    PyErr_Format(PyExc_TypeError, "'%s.%s' cannot be of type '%s'", Py_TYPE(owner)->tp_name, name,
                 found == nullptr ? "nothing" : Py_TYPE(found)->tp_name);
    throw PythonError();
}

}  // namespace mindtorch
