// What a planned kernel is given.
#pragma once

#include "call/program.h"

namespace mindtorch {

// The arguments of a kernel: its output, then the plan's values with the call's in place.
class Operands {
public:
    Operands(const Operands&) = delete;
    Operands& operator=(const Operands&) = delete;
    ~Operands() {
        for (Py_ssize_t number = kept_count_; number > 0; number--) Py_DECREF(kept_[number - 1]);
    }

    explicit Operands(const Program& program) : program_(program), count_(program.count) {
        for (const Constant& one : program.fixed) arguments[one.index + 1] = one.value;
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
            PyObject* array = array_of(tensor);
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
                if (item != Py_None) array = is_plain(Py_TYPE(item)) == 1 ? array_of(item) : nullptr;
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
        Ref done(into_python<PyObject_Vectorcall>(slot(program_.plan, configuration.plan.prepare), given, 3, nullptr));
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

// The memory of an output; null with an error set.
PyObject* allocate(const Output& output);

// True when nothing has to look at the target of a kernel that writes in place before it does: no operand but the
// target itself has memory in common with it, or nobody asks. The operands are plain tensors.
bool are_apart(const Program& program, const Call& call, PyObject* target);

}  // namespace mindtorch
