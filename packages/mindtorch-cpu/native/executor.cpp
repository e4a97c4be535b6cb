// The twin of the generic executor: allocate, run the kernel, make the tensors, record. No op is named and nothing is
// decided here; what is unusual goes to the Python executor before anything is done.
#include "program.h"

#include <stdlib.h>

namespace mindtorch {

Configuration configuration;

namespace {

// The arguments of a kernel: its output, then the plan's values with the call's in place.
class Operands {
public:
    Operands(const Operands&) = delete;
    Operands& operator=(const Operands&) = delete;
    ~Operands() {
        while (kept_count_ > 0) Py_DECREF(kept_[--kept_count_]);
    }

    explicit Operands(const Program& program)
        : program_(program), count_(static_cast<Py_ssize_t>(program.values.size())) {
        for (Py_ssize_t index = 0; index < count_; index++) arguments[index + 1] = program.values[index];
    }

    // 1: filled with arrays; 0: something is missing or unusual, nothing was done; -1 with an error set.
    int fill(Call& call) {
        const int filled = fill_arrays(call);
        if (filled != 1) return filled;
        if (program_.prepares) return run_prepare(call);
        if (program_.wraps && any_int(call)) return run_prepare(call);
        fill_plain(program_.scalars, call);
        return program_.lists.empty() ? 1 : fill_lists(call);
    }

    // Filled with the call's own values, tensors as tensors.
    void fill_values(const Call& call) {
        fill_plain(program_.tensors, call);
        fill_plain(program_.scalars, call);
        fill_plain(program_.lists, call);
    }

    Py_ssize_t size() const { return count_ + 1; }

    PyObject* arguments[MOST_OPERANDS + 1];

private:
    int fill_arrays(const Call& call) {
        for (const Routed& one : program_.tensors) {
            if (one.place >= call.count()) return 0;
            PyObject* tensor = call[one.place];
            if (is_plain(Py_TYPE(tensor)) != 1) return 0;
            PyObject* array = slot(tensor, configuration.tensor.array);
            if (array == nullptr) return 0;  // a pipeline has yet to make it
            keep(Py_NewRef(array));          // what a kernel calls may put another into the tensor
            arguments[one.index + 1] = array;
        }
        return 1;
    }

    void fill_plain(const std::vector<Routed>& routes, const Call& call) {
        for (const Routed& one : routes) arguments[one.index + 1] = call[one.place];
    }

    bool any_int(const Call& call) const {
        for (const Routed& one : program_.scalars)
            if (PyLong_Check(call[one.place])) return true;
        return false;
    }

    // The tensors of a list become a list of arrays.
    int fill_lists(const Call& call) {
        for (const Routed& one : program_.lists) {
            PyObject* given = call[one.place];
            if (!PyList_CheckExact(given) && !PyTuple_CheckExact(given)) return 0;
            const Py_ssize_t count = PySequence_Fast_GET_SIZE(given);
            PyObject* arrays = PyList_New(count);
            if (arrays == nullptr) return -1;
            keep(arrays);
            for (Py_ssize_t index = 0; index < count; index++) {
                PyObject* item = PySequence_Fast_GET_ITEM(given, index);
                PyObject* array = item;
                if (item != Py_None)
                    array = is_plain(Py_TYPE(item)) == 1 ? slot(item, configuration.tensor.array) : nullptr;
                if (array == nullptr) return 0;
                PyList_SET_ITEM(arrays, index, Py_NewRef(array));
            }
            arguments[one.index + 1] = arrays;
        }
        return 1;
    }

    int run_prepare(Call& call) {
        values_.reset(PyList_New(count_));
        if (!values_ || call.flat() == nullptr) return -1;
        for (Py_ssize_t index = 0; index < count_; index++)
            PyList_SET_ITEM(values_.get(), index, Py_NewRef(arguments[index + 1]));
        PyObject* const given[3] = {program_.plan, values_.get(), call.flat()};
        Ref done(PyObject_Vectorcall(slot(program_.plan, configuration.plan.prepare), given, 3, nullptr));
        if (!done) return -1;
        if (PyList_GET_SIZE(values_.get()) != count_) {
            PyErr_SetString(PyExc_SystemError, "a plan's values changed in number");
            return -1;
        }
        for (Py_ssize_t index = 0; index < count_; index++)
            arguments[index + 1] = PyList_GET_ITEM(values_.get(), index);
        return 1;
    }

    void keep(PyObject* owned) { kept_[kept_count_++] = owned; }

    const Program& program_;
    Py_ssize_t count_;
    Py_ssize_t kept_count_ = 0;
    PyObject* kept_[MOST_OPERANDS];  // an operand each at most
    Ref values_;
};

PyObject* allocate(const Output& output) {
    if (output.alloc != nullptr) {
        PyObject* const given[2] = {output.shape, reinterpret_cast<PyObject*>(output.dtype)};
        return PyObject_Vectorcall(output.alloc, given, 2, nullptr);
    }
    const int ndim = static_cast<int>(output.extents.size());
    auto* extents = const_cast<npy_intp*>(output.extents.data());
    auto* dtype = reinterpret_cast<PyArray_Descr*>(Py_NewRef(output.dtype));
    if (output.small_bytes == 0) {
        if (use_host_cache() == 0) return PyArray_Empty(ndim, extents, dtype, 0);
        Py_DECREF(dtype);
        return nullptr;
    }
    // numpy frees what has no memory handler by free(): of an array this small the handler is a good part of the cost.
    void* data = malloc(output.small_bytes);
    if (data == nullptr) {
        Py_DECREF(dtype);
        return PyErr_NoMemory();
    }
    PyObject* made =
        PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, extents, nullptr, data, NPY_ARRAY_CARRAY, nullptr);
    if (made == nullptr) {
        free(data);
        return nullptr;
    }
    PyArray_ENABLEFLAGS(reinterpret_cast<PyArrayObject*>(made), NPY_ARRAY_OWNDATA);
    return made;
}

// A fresh tensor of the plan's class that owns `array`.
PyObject* make_tensor(const Program& program, const Output& output, PyObject* array) {
    Ref counter(PyList_New(1));
    if (!counter) return nullptr;
    PyList_SET_ITEM(counter.get(), 0, Py_NewRef(configuration.zero));
    return new_tensor(program.cls, {output.sig, array, Py_None, configuration.zero, counter.get()});
}

PyObject* packed(const Program& program, PyObject* tensors) {
    return program.pack == nullptr ? Py_NewRef(tensors) : PyObject_CallOneArg(program.pack, tensors);
}

// The twins return null without an error when nothing was done and the Python executor must run the plan.

PyObject* run_kernel(const Program& program, Call& call) {
    Operands operands(program);
    if (operands.fill(call) != 1) return nullptr;
    const Output& output = program.outputs[0];
    Ref array(allocate(output));
    if (!array) return nullptr;
    operands.arguments[0] = array.get();
    Ref done(run_kernel_function(program.kernel, operands.arguments, operands.size()));
    if (!done) return nullptr;
    Ref tensor(make_tensor(program, output, array.get()));
    if (!tensor || (program.record != nullptr && record_call(program, call, tensor.get()) < 0)) return nullptr;
    return tensor.release();
}

PyObject* run_kernel_outputs(const Program& program, Call& call) {
    Operands operands(program);
    if (operands.fill(call) != 1) return nullptr;
    const auto count = static_cast<Py_ssize_t>(program.outputs.size());
    Ref arrays(PyTuple_New(count)), tensors(arrays ? PyTuple_New(count) : nullptr);
    if (!tensors) return nullptr;
    for (Py_ssize_t number = 0; number < count; number++) {
        const Output& output = program.outputs[number];
        PyObject* array = output.sig == nullptr ? Py_NewRef(Py_None) : allocate(output);
        if (array == nullptr) return nullptr;
        PyTuple_SET_ITEM(arrays.get(), number, array);
    }
    operands.arguments[0] = arrays.get();
    Ref done(run_kernel_function(program.kernel, operands.arguments, operands.size()));
    if (!done) return nullptr;
    for (Py_ssize_t number = 0; number < count; number++) {
        const Output& output = program.outputs[number];
        PyObject* array = PyTuple_GET_ITEM(arrays.get(), number);
        PyObject* tensor = output.sig == nullptr ? Py_NewRef(Py_None) : make_tensor(program, output, array);
        if (tensor == nullptr) return nullptr;
        PyTuple_SET_ITEM(tensors.get(), number, tensor);
    }
    if (program.record != nullptr && record_call(program, call, tensors.get()) < 0) return nullptr;
    return packed(program, tensors.get());
}

bool counts(PyObject* counter) {
    return counter != nullptr && PyList_CheckExact(counter) && PyList_GET_SIZE(counter) > 0;
}

// True when no operand but the target itself has memory in common with the target, so that an overlap check has no more
// to look at.
bool are_apart(const Program& program, const Call& call, PyObject* target, PyObject* counter) {
    for (const Routed& one : program.tensors) {
        PyObject* other = call[one.place];
        if (other != target && slot(other, configuration.tensor.counter) == counter) return false;
    }
    return true;
}

PyObject* run_inplace(const Program& program, Call& call) {
    // Python runs the plan where something comes before the kernel, which may not come twice.
    if (program.record != nullptr || program.source >= call.count()) return nullptr;
    Ref target(Py_NewRef(call[program.source]));
    if (is_plain(Py_TYPE(target.get())) != 1) return nullptr;
    Ref array(Py_XNewRef(slot(target.get(), configuration.tensor.array)));
    Ref counter(Py_XNewRef(slot(target.get(), configuration.tensor.counter)));
    if (!array || !counts(counter.get())) return nullptr;
    Operands operands(program);
    if (operands.fill(call) != 1) return nullptr;
    if (program.before != nullptr && !(program.looks_apart && are_apart(program, call, target.get(), counter.get())))
        return nullptr;
    operands.arguments[0] = array.get();
    Ref done(run_kernel_function(program.kernel, operands.arguments, operands.size()));
    if (!done || bump_version(target.get()) < 0) return nullptr;
    return target.release();
}

// The tensor that a view is made of; null where Python must make the view.
PyObject* viewed(const Program& program, const Call& call) {
    if (program.source >= call.count()) return nullptr;
    PyObject* base = call[program.source];
    return is_plain(Py_TYPE(base)) == 1 ? base : nullptr;
}

PyObject* run_view(const Program& program, Call& call) {
    const Output& output = program.outputs[0];
    PyObject* base = viewed(program, call);
    if (base == nullptr) return nullptr;
    Operands operands(program);
    operands.fill_values(call);
    Py_ssize_t offset = 0;
    if (view_offset(output.offset, operands.arguments + 1, operands.size() - 1, offset) != 1) return nullptr;
    Ref tensor(make_view(program, base, output, offset));
    if (!tensor || (program.record != nullptr && record_call(program, call, tensor.get()) < 0)) return nullptr;
    return tensor.release();
}

PyObject* run_views(const Program& program, Call& call) {
    PyObject* base = viewed(program, call);
    if (base == nullptr) return nullptr;
    const auto count = static_cast<Py_ssize_t>(program.outputs.size());
    Ref tensors(PyTuple_New(count));
    if (!tensors) return nullptr;
    for (Py_ssize_t number = 0; number < count; number++) {
        const Output& output = program.outputs[number];
        Py_ssize_t offset = 0;
        if (view_offset(output.offset, nullptr, 0, offset) != 1) return nullptr;
        PyObject* tensor = make_view(program, base, output, offset);
        if (tensor == nullptr) return nullptr;
        PyTuple_SET_ITEM(tensors.get(), number, tensor);
    }
    if (program.record != nullptr && record_call(program, call, tensors.get()) < 0) return nullptr;
    return packed(program, tensors.get());
}

PyObject* run_composite(const Program& program, Call& call) {
    Operands operands(program);
    operands.fill_values(call);
    return PyObject_Vectorcall(program.kernel, operands.arguments + 1, static_cast<size_t>(operands.size() - 1),
                               nullptr);
}

PyObject* run_native(const Program& program, Call& call) {
    switch (program.way) {
        case Program::KERNEL: return run_kernel(program, call);
        case Program::KERNEL_OUTPUTS: return run_kernel_outputs(program, call);
        case Program::INPLACE: return run_inplace(program, call);
        case Program::VIEW: return run_view(program, call);
        case Program::VIEWS: return run_views(program, call);
        case Program::COMPOSITE: return run_composite(program, call);
        case Program::PYTHON: return nullptr;
    }
    return nullptr;
}

// The Python executor's answer.
PyObject* run_python(const Program& program, Call& call) {
    if (call.flat() == nullptr) return nullptr;
    PyObject* const given[2] = {program.plan, call.flat()};
    return PyObject_Vectorcall(slot(program.plan, configuration.plan.run), given, 2, nullptr);
}

// An AttributeError may be that of a tensor whose bytes are yet to be made.
PyObject* run_again(const Program& program, Call& call) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != nullptr) PyException_SetTraceback(value, traceback);
    Ref held_type(type), held_value(value), held_traceback(traceback);
    if (call.flat() == nullptr) return nullptr;
    PyObject* const given[3] = {program.plan, call.flat(), value};
    return PyObject_Vectorcall(configuration.run_again, given, 3, nullptr);
}

}  // namespace

PyObject* execute(Program& program, Call& call) {
    PyObject* result = run_native(program, call);
    if (result == nullptr && !PyErr_Occurred()) result = run_python(program, call);
    if (result == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError)) return run_again(program, call);
    return result;
}

}  // namespace mindtorch
