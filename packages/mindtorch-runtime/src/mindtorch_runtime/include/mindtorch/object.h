// What native modules share: Python's and numpy's C interfaces, owned references, types of callable objects.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stddef.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL mindtorch_numpy
#ifndef MINDTORCH_NUMPY_IMPORT
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "mindtorch/unlocked.h"

namespace mindtorch {

// No array has more dimensions: lists of extents and steps have this many places.
constexpr int MOST_DIMENSIONS = NPY_MAXDIMS;

// An owned reference, given back when the scope is left.
class Ref {
public:
    explicit Ref(PyObject* object = nullptr) : object_(object) {}
    Ref(const Ref&) = delete;
    Ref& operator=(const Ref&) = delete;
    ~Ref() { Py_XDECREF(object_); }
    PyObject* get() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }
    PyObject* release() {
        PyObject* object = object_;
        object_ = nullptr;
        return object;
    }
    void reset(PyObject* object) {
        PyObject* old = object_;
        object_ = object;
        Py_XDECREF(old);
    }

private:
    PyObject* object_;
};

// How the objects of a type are visited, cleared and freed.
struct Life {
    traverseproc traverse;
    inquiry clear;
    destructor dealloc;
};

// A type whose objects are called through their field `call` and may be parts of cycles.
template <typename Object>
PyTypeObject callable_type(const char* name, const char* doc, const Life& life, PyMemberDef* members) {
    PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
    type.tp_name = name;
    type.tp_doc = doc;
    type.tp_basicsize = sizeof(Object);
    type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;
    type.tp_vectorcall_offset = offsetof(Object, call);
    type.tp_call = PyVectorcall_Call;
    type.tp_traverse = life.traverse;
    type.tp_clear = life.clear;
    type.tp_dealloc = life.dealloc;
    type.tp_members = members;
    return type;
}

}  // namespace mindtorch
