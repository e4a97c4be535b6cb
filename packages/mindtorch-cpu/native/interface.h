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

namespace mindtorch {

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

// A native kernel fills `out` from `values` and returns 1; 0 when it does not take these operands (nothing is written
// then, and the numpy kernel runs); -1 with an error set.
using KernelFunction = int (*)(PyObject* out, PyObject* const* values, Py_ssize_t count);

struct NamedKernel {
    const char* name;
    KernelFunction function;
};

struct Kernel {
    PyObject_HEAD
    vectorcallfunc call;
    KernelFunction function;
    PyObject* numpy;  // what runs where `function` returns 0
    PyObject* name;
};

extern PyTypeObject KernelType;
extern PyTypeObject CallerType;

// Run `kernel(out, *values)`, arguments[0] being `out`; null with an error set. Floating-point flags make no warnings.
PyObject* run_kernel_function(PyObject* kernel, PyObject* const* arguments, Py_ssize_t count);

// Where the slots of the Python classes lie, and the objects the executor compares with. Set once by `install`.
struct Configuration {
    bool ready = false;
    struct {
        Py_ssize_t sig, array, storage, offset, counter, grad_fn, output_nr, view, meta;
    } tensor;
    struct {
        Py_ssize_t run, alloc, kernel, before, prepare, record, tensors, scalars, lists, casts, values, cls, sig, shape, np_dtype,
            source;
    } plan;
    Py_ssize_t packet_plans = 0;
    struct {
        Py_ssize_t cls, written, single, edges, outputs, plain_saves;
    } recorder;
    struct {
        Py_ssize_t recorder, hooks, seq, outputs, edges, saved;
    } node;
    Py_ssize_t accumulator = 0;         // of AutogradMeta
    PyObject* after = nullptr;          // Recorder.after, whose twin is here; null without autograd
    PyObject* sequence = nullptr;       // the counter of nodes
    PyObject* anomaly = nullptr;        // its settings
    PyObject* gradient_edge = nullptr;
    PyObject* nowhere = nullptr;
    PyObject* enabled_name = nullptr;
    PyObject* state = nullptr;          // the dispatcher's thread-local state
    PyObject* plain_types = nullptr;    // a set
    PyObject* fingerprint = nullptr;    // part of a key, for what is rare
    PyObject* unplannable = nullptr;    // what `fingerprint` raises
    PyObject* run_again = nullptr;      // run_again(plan, flat, error)
    PyObject* run_kernel = nullptr;     // the Python functions whose twins are here
    PyObject* run_inplace = nullptr;
    PyObject* empty = nullptr;          // numpy.empty
    PyObject* enter = nullptr;          // quiet.enter, quiet.leave, quiet.SILENT
    PyObject* leave = nullptr;
    PyObject* silent = nullptr;
    PyObject* error_state = nullptr;    // numpy's context variable, or None where numpy has none
    PyObject* mode_name = nullptr;
    PyObject* free_name = nullptr;
    PyObject* zero = nullptr;
};

extern Configuration configuration;

// Call `record(flat, tensor)`, which may be a recorder's `after`; -1 with an error set.
int record_call(PyObject* record, PyObject* flat, PyObject* tensor);

PyObject* install(PyObject* module, PyObject* settings);
PyObject* draw_from(PyObject* module, PyObject* arguments);
PyObject* caller(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
int add_types(PyObject* module);

}  // namespace mindtorch
