// The twin of the generic executor for the commonest plans: look the plan up, allocate, run the kernel, make the tensor,
// record. No op is named and nothing is decided here; what is unusual goes to the Python executor before anything is done.
#include "interface.h"

namespace mindtorch {

Configuration configuration;

namespace {

constexpr Py_ssize_t MOST_OPERANDS = 16;

struct Caller {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject* packet;
    PyObject* fallback;
};

// Types known to be in `plain_types`, which only grows; each is kept alive.
PyTypeObject* plain_seen[4];

int is_plain(PyTypeObject* type) {
    for (PyTypeObject* seen : plain_seen)
        if (seen == type) return 1;
    const int found = PySet_Contains(configuration.plain_types, reinterpret_cast<PyObject*>(type));
    if (found == 1) {
        for (PyTypeObject*& seen : plain_seen)
            if (seen == nullptr) {
                Py_INCREF(type);
                seen = type;
                break;
            }
    }
    return found;
}

PyObject* fingerprint(PyObject* value);

PyObject* fingerprint_sequence(PyObject* value, PyTypeObject* kind) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    Ref key(PyTuple_New(count + 1));
    if (!key) return nullptr;
    PyTuple_SET_ITEM(key.get(), 0, Py_NewRef(reinterpret_cast<PyObject*>(kind)));
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject* part = fingerprint(PySequence_Fast_GET_ITEM(value, index));
        if (part == nullptr) return nullptr;
        PyTuple_SET_ITEM(key.get(), index + 1, part);
    }
    return key.release();
}

PyObject* typed(PyObject* value) { return PyTuple_Pack(2, reinterpret_cast<PyObject*>(Py_TYPE(value)), value); }

// As `fingerprint` of the dispatcher's call path; null with an error set, or without one where a slot is unset.
PyObject* fingerprint(PyObject* value) {
    PyTypeObject* kind = Py_TYPE(value);
    if (kind == &PyLong_Type || kind == &PyUnicode_Type || value == Py_None) return Py_NewRef(value);
    if (kind == &PyList_Type || kind == &PyTuple_Type) return fingerprint_sequence(value, kind);
    if (kind == &PyFloat_Type || kind == &PyBool_Type) return typed(value);
    const int plain = is_plain(kind);
    if (plain < 0) return nullptr;
    if (plain) return Py_XNewRef(slot(value, configuration.tensor.sig));
    return PyObject_CallOneArg(configuration.fingerprint, value);
}

// One element of a call's key, as `call` of the dispatcher's call path makes it.
PyObject* key_part(Caller* self, PyObject* argument, Py_ssize_t position) {
    PyTypeObject* kind = Py_TYPE(argument);
    if (kind == &PyFloat_Type || kind == &PyLong_Type || kind == &PyBool_Type) {
        Ref free(PyObject_GetAttr(self->packet, configuration.free_name));  // it changes with the packet's rows
        Ref place(PyLong_FromSsize_t(position));
        if (!free || !place) return nullptr;
        const int is_free = PySet_Contains(free.get(), place.get());
        if (is_free < 0) return nullptr;
        if (is_free) return Py_NewRef(reinterpret_cast<PyObject*>(kind));
        return kind == &PyLong_Type ? Py_NewRef(argument) : typed(argument);
    }
    return fingerprint(argument);
}

// The plan of a call as a new reference; null without an error when it must be made or the call is none for a key.
PyObject* find_plan(Caller* self, PyObject* args) {
    const Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject* mode = PyObject_GetAttr(configuration.state, configuration.mode_name);
    if (mode == nullptr) return nullptr;
    Ref key(PyTuple_New(count + 1));
    if (!key) {
        Py_DECREF(mode);
        return nullptr;
    }
    PyTuple_SET_ITEM(key.get(), 0, mode);
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject* part = key_part(self, PyTuple_GET_ITEM(args, index), index + 1);
        if (part == nullptr) {
            if (PyErr_Occurred() && PyErr_ExceptionMatches(configuration.unplannable)) PyErr_Clear();
            return nullptr;
        }
        PyTuple_SET_ITEM(key.get(), index + 1, part);
    }
    PyObject* plans = slot(self->packet, configuration.packet_plans);
    return Py_XNewRef(PyDict_GetItemWithError(plans, key.get()));
}

// The arguments of a kernel: its output, then the plan's values with the call's in place.
class Operands {
public:
    explicit Operands(PyObject* plan) : plan_(plan) {}

    // 1: filled; 0: something is missing or unusual, nothing was done; -1 with an error set.
    int fill(PyObject* flat) {
        const auto& at = configuration.plan;
        PyObject* values = slot(plan_, at.values);
        if (values == nullptr || !PyList_CheckExact(values)) return 0;
        count_ = PyList_GET_SIZE(values);
        if (count_ > MOST_OPERANDS) return 0;
        for (Py_ssize_t index = 0; index < count_; index++) arguments[index + 1] = PyList_GET_ITEM(values, index);
        const int filled = fill_tensors(flat);
        if (filled != 1) return filled;
        PyObject* prepare = slot(plan_, at.prepare);
        if (prepare == Py_None) return 1;
        const int done = fill_numbers(flat);
        return done != 0 ? done : run_prepare(prepare, flat);
    }

    Py_ssize_t size() const { return count_ + 1; }

    PyObject* arguments[MOST_OPERANDS + 1];

private:
    int fill_tensors(PyObject* flat) {
        PyObject* tensors = slot(plan_, configuration.plan.tensors);
        if (!PyList_CheckExact(tensors) && !PyTuple_CheckExact(tensors)) return 0;
        const Py_ssize_t count = PySequence_Fast_GET_SIZE(tensors);
        PyObject** pairs = PySequence_Fast_ITEMS(tensors);
        for (Py_ssize_t number = 0; number < count; number++) {
            const Py_ssize_t index = PyLong_AsSsize_t(PyTuple_GET_ITEM(pairs[number], 0));
            PyObject* source = PyTuple_GET_ITEM(pairs[number], 1);
            if (!PyLong_CheckExact(source)) return 0;
            const Py_ssize_t place = PyLong_AsSsize_t(source);
            if (index < 0 || index >= count_ || place < 0 || place >= PyTuple_GET_SIZE(flat)) return 0;
            PyObject* tensor = PyTuple_GET_ITEM(flat, place);
            const int plain = is_plain(Py_TYPE(tensor));
            if (plain <= 0) return plain;
            PyObject* array = slot(tensor, configuration.tensor.array);
            if (array == nullptr) return 0;  // a pipeline has yet to make it
            keep(number, array);
            arguments[index + 1] = array;
        }
        return 1;
    }

    // What `prepare` does where all that is left are Python floats, which it passes on as they are; 0 where it is more.
    int fill_numbers(PyObject* flat) {
        const auto& at = configuration.plan;
        PyObject *numbers = slot(plan_, at.scalars), *lists = slot(plan_, at.lists);
        if (slot(plan_, at.casts) != Py_False || !PyList_CheckExact(numbers) || !PyList_CheckExact(lists) ||
            PyList_GET_SIZE(lists) != 0)
            return 0;
        for (Py_ssize_t number = 0; number < PyList_GET_SIZE(numbers); number++) {
            PyObject* pair = PyList_GET_ITEM(numbers, number);
            PyObject* source = PyTuple_GET_ITEM(pair, 1);
            if (!PyLong_CheckExact(source)) return 0;
            const Py_ssize_t index = PyLong_AsSsize_t(PyTuple_GET_ITEM(pair, 0)), place = PyLong_AsSsize_t(source);
            if (index < 0 || index >= count_ || place < 0 || place >= PyTuple_GET_SIZE(flat)) return 0;
            PyObject* value = PyTuple_GET_ITEM(flat, place);
            if (!PyFloat_CheckExact(value)) return 0;
            arguments[index + 1] = value;
        }
        return 1;
    }

    // The arrays are kept: what a kernel calls may put others into the tensors.
    void keep(Py_ssize_t number, PyObject* array) {
        if (number < MOST_OPERANDS) kept_[number].reset(Py_NewRef(array));
    }

    int run_prepare(PyObject* prepare, PyObject* flat) {
        values_.reset(PyList_New(count_));
        if (!values_) return -1;
        for (Py_ssize_t index = 0; index < count_; index++)
            PyList_SET_ITEM(values_.get(), index, Py_NewRef(arguments[index + 1]));
        PyObject* const given[3] = {plan_, values_.get(), flat};
        Ref done(PyObject_Vectorcall(prepare, given, 3, nullptr));
        if (!done) return -1;
        if (PyList_GET_SIZE(values_.get()) != count_) {
            PyErr_SetString(PyExc_SystemError, "a plan's values changed in number");
            return -1;
        }
        for (Py_ssize_t index = 0; index < count_; index++)
            arguments[index + 1] = PyList_GET_ITEM(values_.get(), index);
        return 1;
    }

    PyObject* plan_;
    Py_ssize_t count_ = 0;
    Ref kept_[MOST_OPERANDS];
    Ref values_;
};

PyObject* allocate(PyObject* plan) {
    const auto& at = configuration.plan;
    PyObject* alloc = slot(plan, at.alloc);
    PyObject* shape = slot(plan, at.shape);
    PyObject* dtype = slot(plan, at.np_dtype);
    if (alloc != configuration.empty || !PyTuple_Check(shape) || !PyArray_DescrCheck(dtype) ||
        PyTuple_GET_SIZE(shape) > NPY_MAXDIMS) {
        PyObject* const given[2] = {shape, dtype};
        return PyObject_Vectorcall(alloc, given, 2, nullptr);
    }
    npy_intp extents[NPY_MAXDIMS];
    const int ndim = static_cast<int>(PyTuple_GET_SIZE(shape));
    for (int dim = 0; dim < ndim; dim++) {
        extents[dim] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, dim));
        if (extents[dim] == -1 && PyErr_Occurred()) return nullptr;
    }
    return PyArray_Empty(ndim, extents, reinterpret_cast<PyArray_Descr*>(Py_NewRef(dtype)), 0);
}

// A fresh tensor of the plan's class that owns `array`.
PyObject* make_tensor(PyObject* plan, PyObject* array) {
    const auto& at = configuration.tensor;
    auto* cls = reinterpret_cast<PyTypeObject*>(slot(plan, configuration.plan.cls));
    Ref counter(PyList_New(1));
    if (!counter) return nullptr;
    PyList_SET_ITEM(counter.get(), 0, Py_NewRef(configuration.zero));
    PyObject* tensor = cls->tp_alloc(cls, 0);
    if (tensor == nullptr) return nullptr;
    slot(tensor, at.sig) = Py_NewRef(slot(plan, configuration.plan.sig));
    slot(tensor, at.array) = Py_NewRef(array);
    slot(tensor, at.storage) = Py_NewRef(Py_None);
    slot(tensor, at.offset) = Py_NewRef(configuration.zero);
    slot(tensor, at.counter) = counter.release();
    slot(tensor, at.grad_fn) = Py_NewRef(Py_None);
    slot(tensor, at.output_nr) = Py_NewRef(configuration.zero);
    slot(tensor, at.view) = Py_NewRef(Py_None);
    slot(tensor, at.meta) = Py_NewRef(Py_None);
    return tensor;
}

// The twins return null without an error when nothing was done and the Python executor must run the plan.

PyObject* run_functional(PyObject* plan, PyObject* flat) {
    const auto& at = configuration.plan;
    if (slot(plan, at.shape) == nullptr || slot(plan, at.np_dtype) == nullptr || slot(plan, at.sig) == nullptr)
        return nullptr;
    Operands operands(plan);
    if (operands.fill(flat) != 1) return nullptr;
    Ref array(allocate(plan));
    if (!array) return nullptr;
    operands.arguments[0] = array.get();
    Ref done(run_kernel_function(slot(plan, at.kernel), operands.arguments, operands.size()));
    if (!done) return nullptr;
    Ref tensor(make_tensor(plan, array.get()));
    if (!tensor) return nullptr;
    PyObject* record = slot(plan, at.record);
    if (record != Py_None && record_call(record, flat, tensor.get()) < 0) return nullptr;
    return tensor.release();
}

int bump(PyObject* counter) {
    Ref one(PyLong_FromLong(1));
    Ref next(one ? PyNumber_Add(PyList_GET_ITEM(counter, 0), one.get()) : nullptr);
    return next ? PyList_SetItem(counter, 0, next.release()) : -1;
}

PyObject* run_inplace(PyObject* plan, PyObject* flat) {
    const auto& at = configuration.plan;
    PyObject* source = slot(plan, at.source);
    if (source == nullptr || !PyLong_CheckExact(source)) return nullptr;
    const Py_ssize_t place = PyLong_AsSsize_t(source);
    if (place < 0 || place >= PyTuple_GET_SIZE(flat)) return nullptr;
    PyObject* target = PyTuple_GET_ITEM(flat, place);
    PyObject *before = slot(plan, at.before), *kernel = slot(plan, at.kernel), *record = slot(plan, at.record);
    // Operands are looked at first here, and `before` comes first: with one, Python runs the plan.
    if (before != Py_None || kernel == Py_None) return nullptr;
    const int plain = is_plain(Py_TYPE(target));
    if (plain <= 0) return nullptr;
    Ref array(Py_XNewRef(slot(target, configuration.tensor.array)));
    PyObject* counter = slot(target, configuration.tensor.counter);
    if (!array || counter == nullptr || !PyList_CheckExact(counter) || PyList_GET_SIZE(counter) < 1) return nullptr;
    Operands operands(plan);
    if (operands.fill(flat) != 1) return nullptr;
    operands.arguments[0] = array.get();
    Ref done(run_kernel_function(kernel, operands.arguments, operands.size()));
    if (!done || bump(slot(target, configuration.tensor.counter)) < 0) return nullptr;
    if (record != Py_None) {
        PyObject* const given[3] = {flat, target, Py_None};
        Ref recorded(PyObject_Vectorcall(record, given, 3, nullptr));
        if (!recorded) return nullptr;
    }
    return Py_NewRef(target);
}

// The Python executor's answer; an AttributeError may be that of a tensor whose bytes are yet to be made.
PyObject* run_python(PyObject* plan, PyObject* flat) {
    PyObject* const given[2] = {plan, flat};
    return PyObject_Vectorcall(slot(plan, configuration.plan.run), given, 2, nullptr);
}

PyObject* run_again(PyObject* plan, PyObject* flat) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != nullptr) PyException_SetTraceback(value, traceback);
    Ref held_type(type), held_value(value), held_traceback(traceback);
    PyObject* const given[3] = {plan, flat, value};
    return PyObject_Vectorcall(configuration.run_again, given, 3, nullptr);
}

PyObject* execute(PyObject* plan, PyObject* flat) {
    PyObject* run = slot(plan, configuration.plan.run);
    PyObject* result = nullptr;
    if (run == configuration.run_kernel) {
        result = run_functional(plan, flat);
    } else if (run == configuration.run_inplace) {
        result = run_inplace(plan, flat);
    }
    if (result == nullptr && !PyErr_Occurred()) result = run_python(plan, flat);
    if (result == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError)) return run_again(plan, flat);
    return result;
}

PyObject* run_call(Caller* self, PyObject* args) {
    Ref plan(find_plan(self, args));
    if (plan) return execute(plan.get(), args);
    return PyErr_Occurred() ? nullptr : PyObject_Call(self->fallback, args, nullptr);
}

PyObject* caller_vectorcall(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    auto* self = reinterpret_cast<Caller*>(object);
    if (PyVectorcall_NARGS(flags) != 1 || names != nullptr || !PyTuple_CheckExact(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "a native caller takes the tuple of a call's arguments");
        return nullptr;
    }
    return run_call(self, arguments[0]);
}

int caller_traverse(PyObject* object, visitproc visit, void* arg) {
    auto* self = reinterpret_cast<Caller*>(object);
    Py_VISIT(self->packet);
    Py_VISIT(self->fallback);
    return 0;
}

int caller_clear(PyObject* object) {
    auto* self = reinterpret_cast<Caller*>(object);
    Py_CLEAR(self->packet);
    Py_CLEAR(self->fallback);
    return 0;
}

void caller_dealloc(PyObject* object) {
    PyObject_GC_UnTrack(object);
    caller_clear(object);
    PyObject_GC_Del(object);
}

}  // namespace

PyTypeObject CallerType = [] {
    PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
    type.tp_name = "mindtorch_cpu._native.Caller";
    type.tp_doc = "Runs the planned calls of one packet.";
    type.tp_basicsize = sizeof(Caller);
    type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;
    type.tp_vectorcall_offset = offsetof(Caller, call);
    type.tp_call = PyVectorcall_Call;
    type.tp_traverse = caller_traverse;
    type.tp_clear = caller_clear;
    type.tp_dealloc = caller_dealloc;
    return type;
}();

PyObject* caller(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2 || !configuration.ready) {
        PyErr_SetString(PyExc_TypeError, "caller(packet, fallback), after install()");
        return nullptr;
    }
    auto* made = PyObject_GC_New(Caller, &CallerType);
    if (made == nullptr) return nullptr;
    made->call = caller_vectorcall;
    made->packet = Py_NewRef(arguments[0]);
    made->fallback = Py_NewRef(arguments[1]);
    PyObject_GC_Track(reinterpret_cast<PyObject*>(made));
    return reinterpret_cast<PyObject*>(made);
}

}  // namespace mindtorch
