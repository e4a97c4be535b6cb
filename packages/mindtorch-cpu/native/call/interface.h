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

// Run `kernel(out, *values)`, arguments[0] being `out`; null with an error set. Floating-point flags make no warnings.
PyObject* run_kernel_function(PyObject* kernel, PyObject* const* arguments, Py_ssize_t count);

// Where the slots of the Python classes lie, and the objects the executor compares with. Set once by `install`.
struct Configuration {
    bool ready = false;
    struct {
        Py_ssize_t sig, array, storage, offset, counter, grad_fn, output_nr, view, meta, pipe;
    } tensor;
    struct {
        Py_ssize_t run, alloc, kernel, before, prepare, record, tensors, scalars, lists, casts, wraps, values, cls, sig,
            source, outputs, pack, offset, creation, follows, native;
    } plan;
    struct {
        Py_ssize_t spec, requires_grad, inference;
    } signature;
    struct {
        Py_ssize_t shape, np_dtype, np_strides, plain;
    } spec;
    struct {
        Py_ssize_t device, allocation, buffer;
    } storage;
    struct {
        Py_ssize_t buffer, nbytes, resizable, lent, shared, filename;
    } allocation;
    struct {
        Py_ssize_t alias, number, owner;
    } result;
    struct {
        Py_ssize_t version, base, creation, leaf;
    } view;
    struct {
        Py_ssize_t place, extent, step, clamped;
    } start;
    struct {
        Py_ssize_t cls, single, edges, outputs, plain, saves, saves_tensors, formulas, environment, native;
    } recorder;
    struct {
        Py_ssize_t recorder, hooks, seq, outputs, edges, saved;
    } node;
    struct {
        Py_ssize_t accumulator, grad, hooks, post_hooks;
    } meta;
    struct {
        Py_ssize_t hooks, variable;
    } leaf;
    struct {
        Py_ssize_t grad, function_modes, dispatch_modes, inference, overriding, include, exclude, forward_ad, profiling;
    } mode;
    struct {
        Py_ssize_t node, needed, captures, keep_graph;
    } task;
    struct {
        Py_ssize_t records, limit;
    } pipeline;
    Py_ssize_t packet_plans = 0;
    Py_ssize_t overlap_before = 0;
    // Classes.
    PyTypeObject *spec_type = nullptr, *view_type = nullptr, *start_type = nullptr, *overlap_type = nullptr,
                 *storage_type = nullptr, *allocation_type = nullptr, *result_type = nullptr, *pipeline_type = nullptr,
                 *dtype_type = nullptr, *signature_type = nullptr, *meta_type = nullptr, *tensor_type = nullptr;
    // The Python functions whose twins are here.
    struct {
        PyObject *kernel, *outputs, *inplace, *view, *views, *composite, *record_kernel, *record_inplace, *record_view;
    } runs = {};
    // Those that run what a pipeline has put down.
    struct {
        PyObject *kernel, *inplace, *view;
    } fills = {};
    PyTypeObject *leaf_type = nullptr, *node_type = nullptr,
                 *recorder_type = nullptr;             // of leaves' nodes and ops' nodes
    PyObject *add = nullptr, *add_in_place = nullptr;  // of gradients
    PyObject* fit = nullptr;                           // fit(grad, spec, node, index)
    PyObject* unpack = nullptr;                        // unpack(node, item, version)
    PyObject* array_types = nullptr;                   // device type to its arrays
    PyObject* tensor_class = nullptr;                  // a list of the class of results
    PyObject* after = nullptr;                         // Recorder.after; null without autograd
    PyObject* sequence = nullptr;                      // the counter of nodes
    PyObject* anomaly = nullptr;                       // its settings
    PyObject* gradient_edge = nullptr;
    PyObject* nowhere = nullptr;
    PyObject* state = nullptr;         // the dispatcher's thread-local state
    PyObject* default_mode = nullptr;  // of a thread that set none
    PyObject* deferred = nullptr;      // the thread-local state of deferred execution
    PyObject* library = nullptr;       // what names of modules that are no program begin with
    PyObject* plain_types = nullptr;   // a set
    PyObject* fingerprint = nullptr;   // part of a key, for what is rare
    PyObject* unplannable = nullptr;   // what `fingerprint` raises
    PyObject* run_again = nullptr;     // run_again(plan, flat, error)
    PyObject* relate = nullptr;        // relate(plan, base, view)
    PyObject* empty = nullptr;         // numpy.empty
    PyObject *enter = nullptr, *leave = nullptr, *silent = nullptr;  // of `quiet`
    PyObject* error_state = nullptr;  // numpy's context variable, or None where numpy has none
    PyObject *zero = nullptr, *one = nullptr;
    PyObject* cpu = nullptr;               // the device
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

PyObject* install(PyObject* module, PyObject* settings);
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
