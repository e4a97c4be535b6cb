// The guarded entry from Python into native code. Every function that Python's or numpy's C code calls is entered
// through `entry<function>`: a C++ exception ends there and becomes Python's, because it must not pass through C.
//
// What it promises: std::bad_alloc becomes the RuntimeError of memory that cannot be had, PythonError leaves the error
// that is set, and any other exception is a RuntimeError with its text. The caller sees what stands for an error: null
// or -1.
#pragma once

#include <exception>
#include <new>

#include "mindtorch/object.h"

namespace mindtorch {

// Thrown where Python's error is set already.
struct PythonError {};

// Say that `bytes` of memory could not be had; -1.
inline int no_memory(size_t bytes) {
    Ref amount(PyLong_FromSize_t(bytes));
    if (amount) PyErr_SetObject(PyExc_MemoryError, amount.get());
    return -1;
}

// Make the exception that is being handled Python's error.
inline void translate_exception() noexcept {
    try {
        throw;
    } catch (const PythonError&) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "native code failed and said nothing");
    } catch (const std::bad_alloc&) {
        PyErr_SetString(PyExc_RuntimeError,
                        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory. "
                        "Error code 12 (Cannot allocate memory)");
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "native code failed: an unknown C++ exception");
    }
}

// What a caller takes for an error.
template <typename Result>
constexpr Result failure() {
    if constexpr (!std::is_void_v<Result> && !std::is_pointer_v<Result>) return static_cast<Result>(-1);
    if constexpr (std::is_pointer_v<Result>) return nullptr;
}

// What stays as it is where nobody hears of errors.
inline void ignore_exception() noexcept {}

template <auto function, void (*handle)() noexcept>
struct Entry;

template <typename Result, typename... Arguments, Result (*function)(Arguments...), void (*handle)() noexcept>
struct Entry<function, handle> {
    static Result call(Arguments... arguments) noexcept {
        try {
            return function(arguments...);
        } catch (const ThreadEnd&) {
            wait_for_end();
        } catch (...) {
            handle();
        }
        return failure<Result>();
    }
};

template <auto function>
constexpr auto entry = &Entry<function, translate_exception>::call;

// The same for callbacks of those who know no Python errors, such as numpy's handler of memory: null, or nothing, is
// all they hear.
template <auto function>
constexpr auto quiet_entry = &Entry<function, ignore_exception>::call;

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

// A module that keeps no state of its own.
inline PyModuleDef module_definition(const char* name, const char* doc, PyMethodDef* methods) {
    return {PyModuleDef_HEAD_INIT, name, doc, -1, methods, nullptr, nullptr, nullptr, nullptr};
}

}  // namespace mindtorch
