// One call that a pipeline has put down: what Python sees as `(fill, plan, values, result, code, instruction)`, in one
// object.
#pragma once

#include "call/program.h"

namespace mindtorch {

struct Record {
    PyObject_VAR_HEAD PyObject* fill;
    PyObject* plan;
    Program* program;  // the plan's
    PyObject* result;
    PyObject* code;
    int instruction;
    PyObject* flat;  // the tuple of the values, once somebody asked for it: then they are nowhere else
    PyObject* own[1];

    PyObject* const* values() const { return flat == nullptr ? own : &PyTuple_GET_ITEM(flat, 0); }
};

extern PyTypeObject RecordType;

// A record without a result yet, of `count` values, which are borrowed as all else is; lists of a plan that has them
// are copied, as the program may change its own before the call runs. Null with an error set.
Record* new_record(PyObject* fill, const Program& program, PyObject* const* values, Py_ssize_t count);

}  // namespace mindtorch
