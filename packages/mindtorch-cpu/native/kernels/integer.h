// Python integers that a call gives to a kernel.
#pragma once
#include <Python.h>

#include <climits>

// The integer `number` is; LONG_MIN, which no kernel takes, for what does not fit or is none. It sets no error.
inline long integer_of(PyObject* number) {
    int overflow;
    if (!PyLong_Check(number)) return LONG_MIN;
    const long value = PyLong_AsLongAndOverflow(number, &overflow);
    return overflow == 0 ? value : LONG_MIN;
}
