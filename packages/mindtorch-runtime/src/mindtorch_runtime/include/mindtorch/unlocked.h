// Python's lock, released while native code computes.
//
// When a process ends, Python ends each daemon thread that asks for the lock again, by an unwinding of its stack that
// no destructor and no `catch (...)` may stop: the process would abort. Such a thread waits here for the end of the
// process, which is what Python itself does from 3.14 on.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <chrono>
#include <cstddef>
#include <thread>
#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace mindtorch {

// What unwinds the stack of a thread that is ended.
#ifdef __GLIBCXX__
using ThreadEnd = abi::__forced_unwind;
#else
struct ThreadEnd {};
#endif

// Wait until the process is gone.
[[noreturn]] inline void wait_for_end() noexcept {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Python's lock, released for as long as this lives where this thread holds it.
class Unlocked {
public:
    Unlocked() : state_(PyGILState_Check() ? PyEval_SaveThread() : nullptr) {}
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;
    ~Unlocked() {
        if (state_ == nullptr) return;
        try {
            PyEval_RestoreThread(state_);
        } catch (const ThreadEnd&) {
            wait_for_end();
        }
    }

private:
    PyThreadState* state_;
};

// The result of a call into Python, such as into_python<PyObject_CallOneArg>(function, argument). A thread that is
// ended in it waits here, before destructors touch Python's objects without its lock.
template <auto function, typename... Arguments>
PyObject* into_python(Arguments... arguments) {
    try {
        return function(arguments...);
    } catch (const ThreadEnd&) {
        wait_for_end();
    }
}

}  // namespace mindtorch
