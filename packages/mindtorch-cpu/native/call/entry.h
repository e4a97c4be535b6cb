// The guarded entry from Python into native code. Every function that Python's or numpy's C code calls is entered
// through `entry<function>`: a C++ exception ends there and becomes Python's, because it must not pass through C.
//
// What it promises: std::bad_alloc becomes the RuntimeError of memory that cannot be had, PythonError leaves the error
// that is set, and any other exception is a RuntimeError with its text. The caller sees what stands for an error: null
// or -1.
#pragma once

#include "call/interface.h"

namespace mindtorch {

// Thrown where Python's error is set already.
struct PythonError {};

// Say that `bytes` of memory could not be had; -1.
int no_memory(size_t bytes);

// Make the exception that is being handled Python's error.
void translate_exception() noexcept;

// What a caller takes for an error.
template <typename Result>
constexpr Result failure() {
    if constexpr (!std::is_void_v<Result> && !std::is_pointer_v<Result>) return static_cast<Result>(-1);
    if constexpr (std::is_pointer_v<Result>) return nullptr;
}

template <auto function>
struct Entry;

template <typename Result, typename... Arguments, Result (*function)(Arguments...)>
struct Entry<function> {
    static Result call(Arguments... arguments) noexcept {
        try {
            return function(arguments...);
        } catch (const ThreadEnd&) {
            wait_for_end();
        } catch (...) {
            translate_exception();
        }
        return failure<Result>();
    }
};

template <auto function>
constexpr auto entry = &Entry<function>::call;

// The same for callbacks of those who know no Python errors, such as numpy's handler of memory: null, or nothing, is
// all they hear.
template <auto function>
struct QuietEntry;

template <typename Result, typename... Arguments, Result (*function)(Arguments...)>
struct QuietEntry<function> {
    static Result call(Arguments... arguments) noexcept {
        try {
            return function(arguments...);
        } catch (const ThreadEnd&) {
            wait_for_end();
        } catch (...) {
            return failure<Result>();
        }
    }
};

template <auto function>
constexpr auto quiet_entry = &QuietEntry<function>::call;

// A row of a module's or a type's functions.
template <PyObject* (*function)(PyObject*, PyObject*)>
constexpr PyMethodDef method(const char* name, int flags, const char* doc) {
    return {name, entry<function>, flags, doc};
}

// As above, of a function that takes its arguments as they lie: METH_FASTCALL.
template <PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)>
PyMethodDef method(const char* name, const char* doc) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(entry<function>)), METH_FASTCALL, doc};
}

}  // namespace mindtorch
