#include "call/tensor.h"

#include <exception>
#include <new>

namespace mindtorch {

void translate_exception() noexcept {
    try {
        throw;
    } catch (const PythonError&) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "native code failed and said nothing");
    } catch (const std::bad_alloc&) {
        PyErr_SetString(PyExc_RuntimeError,
                        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory. "
                        "Error code 12 (Cannot allocate memory)");
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "native code failed: an unknown C++ exception");
    }
}

int no_memory(size_t bytes) {
    Ref amount(PyLong_FromSize_t(bytes));
    if (amount) PyErr_SetObject(PyExc_MemoryError, amount.get());
    return -1;
}

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
