// Running of kernels: their form for C where they have one, and what Python calls where that declines.
#include "call/program.h"

namespace mindtorch {

namespace {

// numpy's error state is silent while a numpy kernel runs.
class Silence {
public:
    Silence() {
        if (configuration.error_state == Py_None) {
            token_ = into_python<PyObject_CallOneArg>(configuration.enter, configuration.silent);
        } else {
            token_ = PyContextVar_Set(configuration.error_state, configuration.silent);
        }
    }

    explicit operator bool() const { return token_ != nullptr; }

    // Put the state of before back, whatever error is set; -1 when that fails.
    int leave() {
        if (token_ == nullptr) return -1;
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        int result;
        if (configuration.error_state == Py_None) {
            Ref done(into_python<PyObject_CallOneArg>(configuration.leave, token_));
            result = done ? 0 : -1;
        } else {
            result = PyContextVar_Reset(configuration.error_state, token_);
        }
        Py_CLEAR(token_);
        if (type != nullptr) PyErr_Restore(type, value, traceback);
        return result;
    }

private:
    PyObject* token_ = nullptr;
};

int run_silently(PyObject* function, PyObject* const* arguments, Py_ssize_t count) {
    Silence silence;
    if (!silence) return -1;
    Ref done(into_python<PyObject_Vectorcall>(function, arguments, static_cast<size_t>(count), nullptr));
    return silence.leave() < 0 || !done ? -1 : 0;
}

}  // namespace

int run_kernel_of(const Program& program, PyObject* const* arguments, Py_ssize_t count) {
    if (program.native != nullptr && program.native->run != nullptr) {
        const int done = program.native->run(program.native, arguments[0], arguments + 1, count - 1);
        if (done != 0) return done < 0 ? -1 : 0;
    }
    return run_silently(program.kernel, arguments, count);
}

}  // namespace mindtorch
