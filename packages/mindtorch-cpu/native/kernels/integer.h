// Python numbers that a call gives to a kernel. No function here sets an error.
#pragma once
#include <Python.h>

#include <climits>

// The integer `number` is; LONG_MIN, which no kernel takes, for what does not fit or is none.
inline long integer_of(PyObject* number) {
    int overflow;
    if (!PyLong_Check(number)) return LONG_MIN;
    const long value = PyLong_AsLongAndOverflow(number, &overflow);
    return overflow == 0 ? value : LONG_MIN;
}

// A Python integer as an index; false where it is none, or does not fit.
inline bool index_of(PyObject* number, Py_ssize_t& value) {
    if (!PyLong_CheckExact(number)) return false;
    value = PyLong_AsSsize_t(number);
    if (value != -1 || !PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
}

// A Python number as a double; false where it is none, or does not fit.
inline bool double_of(PyObject* number, double& value) {
    if (PyFloat_CheckExact(number)) {
        value = PyFloat_AS_DOUBLE(number);
        return true;
    }
    if (!PyLong_CheckExact(number)) return false;
    value = PyLong_AsDouble(number);
    if (value != -1.0 || !PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
}
