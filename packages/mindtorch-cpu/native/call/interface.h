// What the parts of `mindtorch_cpu._native` share: numpy's C-API, owned references, the kernel type, the configuration.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stddef.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL mindtorch_cpu_numpy
#ifndef MINDTORCH_NUMPY_IMPORT
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "call/layout.h"  // made of layout.py
#include "unlocked.h"

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

// A native kernel fills `out` from `values` and returns 1; 0 when it does not take these operands (nothing is written
// then, and the numpy kernel runs); -1 with an error set.
using KernelFunction = int (*)(PyObject* out, PyObject* const* values, Py_ssize_t count);

// As above, of an op whose shapes depend on values: the new array, or null without an error when numpy must make it.
using MakingFunction = PyObject* (*)(PyObject* const* values, Py_ssize_t count);

// What a kernel reads and writes itself: operands of reduced precision come to others as float32.
enum Precision { FULL_PRECISION, REDUCED_PRECISION };

struct NamedKernel {
    const char* rows;  // of the op table, apart by spaces
    KernelFunction function;
    Precision precision = FULL_PRECISION;
    MakingFunction make = nullptr;  // in `function`'s place
};

struct Kernel {
    PyObject_HEAD vectorcallfunc call;
    KernelFunction function;
    MakingFunction make;
    PyObject* numpy;  // what runs where `function` returns 0
    PyObject* name;
};

extern PyTypeObject KernelType;
extern PyTypeObject CallerType;
extern PyTypeObject MethodType;
extern PyTypeObject ShortcutType;
extern PyTypeObject GuardedType;

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

// Run `kernel(out, *values)`, arguments[0] being `out`; -1 with an error set. Floating-point flags make no warnings.
int run_kernel_function(PyObject* kernel, PyObject* const* arguments, Py_ssize_t count);

// What `layout.py` declares, and what is made of it. Set once by `install`.
struct Configuration : Shared {
    bool ready = false;
    PyObject *zero = nullptr, *one = nullptr;
    PyObject* default_creation = nullptr;  // of views
    // Names.
    PyObject *mode_name = nullptr, *free_name = nullptr, *key_name = nullptr, *dict_name = nullptr,
             *enabled_name = nullptr, *materialize_name = nullptr, *unpack_name = nullptr, *outputs_name = nullptr,
             *edges_name = nullptr, *seq_name = nullptr, *evaluate_name = nullptr, *pipe_name = nullptr,
             *flush_name = nullptr, *module_name = nullptr, *transforms_name = nullptr;
    int bfloat16 = -1;  // its number among numpy's types
};

extern Configuration configuration;

PyObject* chain(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* chain_operations();

int use_host_cache();
PyObject* limit_host_cache(PyObject* module, PyObject* bytes);
PyObject* empty_host_cache(PyObject* module, PyObject* nothing);
PyObject* host_cache(PyObject* module, PyObject* nothing);

PyObject* install(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* install_autograd(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* draw_from(PyObject* module, PyObject* arguments);
PyObject* caller(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* propagate(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* fill(PyObject* module, PyObject* records);
PyObject* shortcut(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* guarded(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* view_of(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* subscript_by(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
int add_types(PyObject* module);

}  // namespace mindtorch
