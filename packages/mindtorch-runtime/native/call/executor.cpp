// The generic executor: allocate, run the kernel, make the tensors, record. No op is named and nothing is
// decided here; what is unusual goes to the Python executor before anything is done.
#include "call/operands.h"

namespace mindtorch {

Configuration configuration;

namespace {

// A fresh tensor of the plan's class that owns `array`.
PyObject* make_tensor(const Program& program, const Output& output, PyObject* array) {
    Ref counter(PyList_New(1));
    if (!counter) return nullptr;
    PyList_SET_ITEM(counter.get(), 0, Py_NewRef(configuration.zero));
    return new_tensor(program.cls, {output.sig, array, Py_None, configuration.zero, counter.get()});
}

PyObject* packed(const Program& program, PyObject* tensors) {
    return program.pack == nullptr ? Py_NewRef(tensors) : into_python<PyObject_CallOneArg>(program.pack, tensors);
}

// These return null without an error when nothing was done and the Python executor must run the plan.

PyObject* run_kernel(const Program& program, Call& call) {
    Operands operands(program);
    if (operands.fill(call) != 1) return nullptr;
    const Output& output = program.outputs[0];
    Ref array(allocate(output));
    if (!array) return nullptr;
    operands.arguments[0] = array.get();
    if (run_kernel_of(program, operands.arguments, operands.size()) < 0) return nullptr;
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
    if (run_kernel_of(program, operands.arguments, operands.size()) < 0) return nullptr;
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

PyObject* run_inplace(const Program& program, Call& call) {
    // Python runs the plan where something comes before the kernel, which may not come twice.
    if (program.record != nullptr || program.source >= call.count()) return nullptr;
    Ref target(Py_NewRef(call[program.source]));
    if (is_plain(Py_TYPE(target.get())) != 1) return nullptr;
    Ref array(Py_XNewRef(array_of(target.get())));
    if (!array || counter_of(target.get()) == nullptr) return nullptr;
    Operands operands(program);
    if (operands.fill(call) != 1) return nullptr;
    if (!are_apart(program, call, target.get())) return nullptr;
    operands.arguments[0] = array.get();
    if (run_kernel_of(program, operands.arguments, operands.size()) < 0) return nullptr;
    if (bump_version(target.get()) < 0) return nullptr;
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
    return into_python<PyObject_Vectorcall>(program.kernel, operands.arguments + 1,
                                            static_cast<size_t>(operands.size() - 1), nullptr);
}

PyObject* run_native(const Program& program, Call& call) {
    switch (program.way) {
        case Program::KERNEL: return run_kernel(program, call);
        case Program::KERNEL_OUTPUTS: return run_kernel_outputs(program, call);
        case Program::INPLACE: return run_inplace(program, call);
        case Program::VIEW: return run_view(program, call);
        case Program::VIEWS: return run_views(program, call);
        case Program::COMPOSITE: return run_composite(program, call);
        case Program::RECORD_KERNEL: return record_kernel(program, call);
        case Program::RECORD_INPLACE: return record_inplace(program, call);
        case Program::RECORD_VIEW: return record_view(program, call);
        case Program::PYTHON: return nullptr;
    }
    return nullptr;
}

// The Python executor's answer.
PyObject* run_python(const Program& program, Call& call) {
    if (call.flat() == nullptr) return nullptr;
    PyObject* const given[2] = {program.plan, call.flat()};
    return into_python<PyObject_Vectorcall>(slot(program.plan, configuration.plan.run), given, 2, nullptr);
}

// An AttributeError may be that of a tensor whose bytes are yet to be made, it or a TypeError that of one whose storage
// was shortened; a MemoryError is said in torch's words.
PyObject* run_again(const Program& program, Call& call) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != nullptr) PyException_SetTraceback(value, traceback);
    Ref held_type(type), held_value(value), held_traceback(traceback);
    if (call.flat() == nullptr) return nullptr;
    PyObject* const given[3] = {program.plan, call.flat(), value};
    return into_python<PyObject_Vectorcall>(configuration.run_again, given, 3, nullptr);
}

}  // namespace

PyObject* execute(Program& program, Call& call) {
    PyObject* result = run_native(program, call);
    if (result == nullptr && !PyErr_Occurred()) result = run_python(program, call);
    if (result == nullptr && (PyErr_ExceptionMatches(PyExc_AttributeError) ||
                              PyErr_ExceptionMatches(PyExc_MemoryError) || PyErr_ExceptionMatches(PyExc_TypeError)))
        return run_again(program, call);
    return result;
}

}  // namespace mindtorch
