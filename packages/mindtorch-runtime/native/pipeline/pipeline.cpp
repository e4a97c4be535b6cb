// What a pipeline does with a call: it is put down with the line that made it, and run later, in order.
#include <string_view>

#include "call/operands.h"
#include "pipeline/record.h"

namespace mindtorch {

namespace {

// What records this thread's calls, borrowed; null, without an error, where that is Python's to say.
PyObject* recording_pipe() {
    PyObject* pipe = current_pipe();
    if (pipe == nullptr) PyErr_Clear();
    if (pipe == nullptr || Py_TYPE(pipe) != configuration.pipeline_type) return nullptr;
    PyObject* records = slot(pipe, configuration.pipeline.records);
    return records != nullptr && PyList_CheckExact(records) ? pipe : nullptr;
}

// As dispatch's `is_own`: whether a module belongs to the library, under its own name or under torch's.
bool is_own(std::string_view name) {
    return name.compare(0, 9, "mindtorch") == 0 || name == "torch" || name.compare(0, 6, "torch.") == 0;
}

bool is_program(PyFrameObject* frame) {
    Ref globals(PyFrame_GetGlobals(frame));
    PyObject* name = globals ? PyDict_GetItemWithError(globals.get(), configuration.module_name) : nullptr;
    const char* text = name != nullptr && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    if (text == nullptr) PyErr_Clear();
    return text == nullptr || !is_own(text);
}

// Code of the program that made a call lately, kept alive.
PyObject* known_code = nullptr;

// The nearest frame of the program from `nearest` outwards; `nearest` itself where there is none.
PyObject* program_frame(PyFrameObject* nearest, bool& found) {
    Ref frame(Py_NewRef(reinterpret_cast<PyObject*>(nearest)));
    while (frame && !(found = is_program(reinterpret_cast<PyFrameObject*>(frame.get()))))
        frame.reset(reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.get()))));
    return frame ? frame.release() : Py_NewRef(reinterpret_cast<PyObject*>(nearest));
}

// The code and the instruction of the program's call; false without an error where there is none.
bool find_caller(Ref& code, int& instruction) {
    PyFrameObject* frame = PyEval_GetFrame();
    if (frame == nullptr) return false;
    code.reset(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    Ref kept;
    if (code.get() != known_code) {
        bool found = false;
        kept.reset(program_frame(frame, found));
        frame = reinterpret_cast<PyFrameObject*>(kept.get());
        code.reset(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
        if (found) Py_XSETREF(known_code, Py_NewRef(code.get()));
    }
    instruction = PyFrame_GetLasti(frame);
    return true;
}

// A record of `values` at the end of the pipeline's; null with an error set.
Record* put_down(PyObject* pipe, const Ref& record, PyObject* result, Ref& code, int instruction) {
    auto* made = reinterpret_cast<Record*>(record.get());
    made->result = Py_NewRef(result);
    made->code = code.release();
    made->instruction = instruction;
    return PyList_Append(slot(pipe, configuration.pipeline.records), record.get()) < 0 ? nullptr : made;
}

PyObject* record_of(PyObject* fill, const Program& program, PyObject* const* values, Py_ssize_t count) {
    return reinterpret_cast<PyObject*>(new_record(fill, program, values, count));
}

int keep_to_limit(PyObject* pipe) {
    PyObject* records = slot(pipe, configuration.pipeline.records);
    const Py_ssize_t limit = PyLong_AsSsize_t(slot(pipe, configuration.pipeline.limit));
    if (limit == -1 && PyErr_Occurred()) return -1;
    if (!PyList_CheckExact(records) || PyList_GET_SIZE(records) <= limit) return 0;
    Ref done(into_python<PyObject_CallMethodNoArgs>(pipe, configuration.flush_name));
    return done ? 0 : -1;
}

// A tensor that waits for the pipeline.
PyObject* waiting(const Program& program, const Output& output, PyObject* pipe) {
    Ref counter(PyList_New(1));
    if (!counter) return nullptr;
    PyList_SET_ITEM(counter.get(), 0, Py_NewRef(configuration.zero));
    return new_tensor(program.cls, {output.sig, nullptr, nullptr, configuration.zero, counter.get(), pipe});
}

// True when nobody but tensors can see the target's bytes; false also where Python must look.
bool is_private(PyObject* target) {
    PyObject* storage = known_storage_of(target);
    if (storage == nullptr || storage == Py_None) return true;
    if (Py_TYPE(storage) != configuration.storage_type) return false;
    PyObject* allocation = slot(storage, configuration.storage.allocation);
    return allocation != nullptr && Py_TYPE(allocation) == configuration.allocation_type &&
           slot(allocation, configuration.allocation.lent) == Py_False;
}

// The record of `call`, whose result is there: the graph, and what waits where that is too much. `result` is given
// back.
PyObject* recorded(const Program& program, Call& call, PyObject* pipe, Ref& result) {
    if (program.record != nullptr && record_call(program, call, result.get()) < 0) return nullptr;
    return keep_to_limit(pipe) < 0 ? nullptr : result.release();
}

void settle(PyObject* tensor, PyObject* array, PyObject* storage) {
    const auto& at = configuration.tensor;
    Py_XSETREF(slot(tensor, at.storage), Py_NewRef(storage));
    Py_XSETREF(slot(tensor, at.array), Py_NewRef(array));
    Py_XSETREF(slot(tensor, at.pipe), Py_NewRef(Py_None));
}

// 1: filled; 0: Python's to do, and nothing was done; -1 with an error set.

int fill_kernel(const Program& program, Call& call, PyObject* tensor) {
    Operands operands(program);
    const int filled = operands.fill(call);
    if (filled != 1) return filled;
    Ref array(allocate(program.outputs[0]));
    if (!array) return -1;
    operands.arguments[0] = array.get();
    if (run_kernel_of(program, operands.arguments, operands.size()) < 0) return -1;
    settle(tensor, array.get(), Py_None);
    return 1;
}

int fill_inplace(const Program& program, Call& call, PyObject* target) {
    Ref array(Py_XNewRef(array_of(target)));
    if (!array) return 0;
    Operands operands(program);
    const int filled = operands.fill(call);
    if (filled != 1) return filled;
    operands.arguments[0] = array.get();
    if (run_kernel_of(program, operands.arguments, operands.size()) < 0) return -1;
    Py_XSETREF(slot(target, configuration.tensor.pipe), Py_NewRef(Py_None));
    return 1;
}

int fill_view(const Program& program, const Call& call, PyObject* tensor) {
    const auto& at = configuration.tensor;
    if (call.count() != 1 || is_plain(Py_TYPE(call[0])) != 1 || slot(tensor, at.sig) != program.outputs[0].sig)
        return 0;
    PyObject* base = call[0];
    PyObject* whole = slot(base, at.array);
    if (whole == nullptr || !PyArray_CheckExact(whole)) return 0;
    Ref storage(storage_of(base));
    if (!storage) return -1;
    if (Py_TYPE(storage.get()) != configuration.storage_type) return 0;
    PyObject* buffer = slot(storage.get(), configuration.storage.buffer);
    const Py_ssize_t offset = PyLong_AsSsize_t(slot(tensor, at.offset));
    if (offset == -1 && PyErr_Occurred()) return -1;
    if (buffer == nullptr) return 0;
    Ref array(array_over(buffer, program.outputs[0], offset));
    if (!array) return PyErr_Occurred() ? -1 : 0;
    settle(tensor, array.get(), storage.get());
    return 1;
}

int fill_by(PyObject* fill, const Program& program, Call& call, PyObject* result) {
    const auto& fills = configuration;
    if (is_plain(Py_TYPE(result)) != 1) return 0;
    if (fill == fills.fill_kernel && program.way == Program::RECORD_KERNEL) return fill_kernel(program, call, result);
    if (fill == fills.fill_inplace && program.way == Program::RECORD_INPLACE)
        return fill_inplace(program, call, result);
    if (fill == fills.fill_view && program.way == Program::RECORD_VIEW) return fill_view(program, call, result);
    return 0;
}

int fill_record(PyObject* given) {
    if (Py_TYPE(given) == &RecordType) {
        auto* record = reinterpret_cast<Record*>(given);
        Call call(record->values(), Py_SIZE(record), record->flat);
        return fill_by(record->fill, *record->program, call, record->result);
    }
    if (!PyTuple_CheckExact(given) || PyTuple_GET_SIZE(given) < 4) return 0;  // by Python
    const auto& fills = configuration;
    PyObject *fill = PyTuple_GET_ITEM(given, 0), *flat = PyTuple_GET_ITEM(given, 2);
    if ((fill != fills.fill_kernel && fill != fills.fill_inplace && fill != fills.fill_view) ||
        !PyTuple_CheckExact(flat))
        return 0;
    Program* program = program_of(PyTuple_GET_ITEM(given, 1));
    if (program == nullptr) return -1;
    Call call(&PyTuple_GET_ITEM(flat, 0), PyTuple_GET_SIZE(flat), flat);
    return fill_by(fill, *program, call, PyTuple_GET_ITEM(given, 3));
}

}  // namespace

PyObject* record_kernel(const Program& program, Call& call) {
    PyObject* pipe = recording_pipe();
    Ref code;
    int instruction;
    if (pipe == nullptr || !find_caller(code, instruction)) return nullptr;
    Ref keeper(Py_NewRef(pipe)), record(record_of(configuration.fill_kernel, program, call.begin(), call.count()));
    Ref tensor(record ? waiting(program, program.outputs[0], pipe) : nullptr);
    const Record* made = tensor ? put_down(pipe, record, tensor.get(), code, instruction) : nullptr;
    if (made == nullptr) return nullptr;
    Call own(made->values(), call.count());
    return recorded(program, own, pipe, tensor);
}

PyObject* record_inplace(const Program& program, Call& call) {
    PyObject* pipe = recording_pipe();
    Ref code;
    int instruction;
    // Python records where something comes before the write.
    if (pipe == nullptr || program.record != nullptr || program.source >= call.count()) return nullptr;
    Ref target(Py_NewRef(call[program.source]));
    for (const Routed& one : program.tensors)
        if (one.place >= call.count() || is_plain(Py_TYPE(call[one.place])) != 1) return nullptr;
    if (is_plain(Py_TYPE(target.get())) != 1 || !is_private(target.get()) || !are_apart(program, call, target.get()) ||
        !find_caller(code, instruction))
        return nullptr;
    Ref keeper(Py_NewRef(pipe)), record(record_of(configuration.fill_inplace, program, call.begin(), call.count()));
    if (!record || put_down(pipe, record, target.get(), code, instruction) == nullptr) return nullptr;
    Py_XSETREF(slot(target.get(), configuration.tensor.pipe), Py_NewRef(pipe));
    if (bump_version(target.get()) < 0) return nullptr;
    return recorded(program, call, pipe, target);
}

PyObject* record_view(const Program& program, Call& call) {
    const auto& at = configuration.tensor;
    PyObject* pipe = recording_pipe();
    Ref code;
    int instruction;
    if (pipe == nullptr || program.source >= call.count() || is_plain(Py_TYPE(call[program.source])) != 1)
        return nullptr;
    Operands operands(program);
    operands.fill_values(call);
    PyObject *base = call[program.source], *array = slot(base, at.array), *counter = counter_of(base);
    Py_ssize_t offset = 0, start = PyLong_AsSsize_t(slot(base, at.offset));
    const int known = view_offset(program.outputs[0].offset, operands.arguments + 1, operands.size() - 1, offset);
    if (known != 1 || counter == nullptr || (array != nullptr && !PyArray_CheckExact(array)) ||
        __builtin_add_overflow(start, offset, &start) || !find_caller(code, instruction))
        return nullptr;
    Ref keeper(Py_NewRef(pipe)), number(PyLong_FromSsize_t(start));
    Ref record(record_of(configuration.fill_view, program, &base, 1));
    Ref storage(array == nullptr ? nullptr : storage_of(base));
    if (!number || !record || (array != nullptr && !storage)) return nullptr;
    Ref tensor(new_tensor(program.cls, {program.outputs[0].sig, nullptr, storage.get(), number.get(), counter, pipe}));
    if (!tensor || (program.creation != nullptr && relate(program, base, tensor.get()) < 0) ||
        put_down(pipe, record, tensor.get(), code, instruction) == nullptr)
        return nullptr;
    return recorded(program, call, pipe, tensor);
}

PyObject* fill(PyObject*, PyObject* records) {
    if (!PyList_CheckExact(records)) {
        PyErr_SetString(PyExc_TypeError, "fill(records)");
        return nullptr;
    }
    const Py_ssize_t count = PyList_GET_SIZE(records);
    Py_ssize_t left = count;
    int done = 1;
    while (left > 0 && done == 1) {
        Ref record(Py_NewRef(PyList_GET_ITEM(records, left - 1)));
        done = fill_record(record.get());
        // What is done is let go of at once: its operands' memory may be had again.
        if (done == 1 && PyList_SetItem(records, --left, Py_NewRef(Py_None)) < 0) return nullptr;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const int cut = PyList_SetSlice(records, left, count, nullptr);
    if (cut == 0) PyErr_Restore(type, value, traceback);
    if (done < 0 || cut < 0) return nullptr;
    Py_RETURN_NONE;
}

}  // namespace mindtorch
