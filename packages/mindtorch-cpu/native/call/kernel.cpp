// The type of native kernels: a function, and the numpy kernel for the operands it does not take.
#include "call/entry.h"
#include "call/interface.h"
#include "kernels/operand.h"
#include "pipeline/record.h"

#include <string.h>

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

// 1 when the native function did it, 0 when numpy's must, -1 with an error set.
int run_native(Kernel* kernel, PyObject* const* arguments, Py_ssize_t count) {
    return kernel->function == nullptr ? 0 : kernel->function(arguments[0], arguments + 1, count - 1);
}

PyObject* kernel_vectorcall(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    auto* kernel = reinterpret_cast<Kernel*>(object);
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (kernel->make != nullptr && names == nullptr) {
        PyObject* made = kernel->make(arguments, count);
        if (made != nullptr || PyErr_Occurred()) return made;
    }
    if (names == nullptr && count > 0) {
        const int done = run_native(kernel, arguments, count);
        if (done != 0) return done < 0 ? nullptr : Py_NewRef(Py_None);
    }
    return into_python<PyObject_Vectorcall>(kernel->numpy, arguments, static_cast<size_t>(count), names);
}

int kernel_traverse(PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(reinterpret_cast<Kernel*>(object)->numpy);
    return 0;
}

int kernel_clear(PyObject* object) {
    Py_CLEAR(reinterpret_cast<Kernel*>(object)->numpy);
    return 0;
}

void kernel_dealloc(PyObject* object) {
    PyObject_GC_UnTrack(object);
    kernel_clear(object);
    Py_CLEAR(reinterpret_cast<Kernel*>(object)->name);
    PyObject_GC_Del(object);
}

PyObject* kernel_repr(PyObject* object) {
    return PyUnicode_FromFormat("<native kernel %U>", reinterpret_cast<Kernel*>(object)->name);
}

PyObject* make_kernel(const NamedKernel& named, PyObject* row, PyObject* numpy) {
    auto* made = PyObject_GC_New(Kernel, &KernelType);
    if (made == nullptr) return nullptr;
    made->call = entry<kernel_vectorcall>;
    made->function = named.function;
    made->make = named.make;
    made->numpy = Py_NewRef(numpy);
    made->name = Py_NewRef(row);
    PyObject_GC_Track(reinterpret_cast<PyObject*>(made));
    return reinterpret_cast<PyObject*>(made);
}

const NamedKernel* const families[] = {
#define MINDTORCH_FAMILY(family) family##_kernels,
    MINDTORCH_KERNEL_FAMILIES(MINDTORCH_FAMILY)
#undef MINDTORCH_FAMILY
};

// True where `row` is one of the words of `rows`.
bool names(const char* rows, const char* row) {
    const size_t length = strlen(row);
    for (const char* at = rows; (at = strstr(at, row)) != nullptr; at += length)
        if ((at == rows || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
    return false;
}

const NamedKernel* find_kernel(PyObject* row) {
    const char* text = PyUnicode_AsUTF8(row);
    if (text == nullptr) return nullptr;
    for (const NamedKernel* family : families)
        for (; family->rows != nullptr; family++)
            if (names(family->rows, text)) return family;
    PyErr_SetObject(PyExc_KeyError, row);
    return nullptr;
}

PyObject* kernel(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2 || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "kernel(row, numpy_kernel)");
        return nullptr;
    }
    const NamedKernel* found = find_kernel(arguments[0]);
    return found == nullptr ? nullptr : make_kernel(*found, arguments[0], arguments[1]);
}

PyObject* kernels(PyObject*, PyObject*) {
    Ref made(PyList_New(0));
    if (!made) return nullptr;
    for (const NamedKernel* family : families)
        for (; family->rows != nullptr; family++) {
            Ref one(Py_BuildValue("(sO)", family->rows, family->precision == REDUCED_PRECISION ? Py_True : Py_False));
            if (!one || PyList_Append(made.get(), one.get()) < 0) return nullptr;
        }
    return made.release();
}

PyMethodDef methods[] = {
    method<kernel>("kernel", "kernel(row, numpy_kernel): the native kernel of a row; KeyError when there is none."),
    method<kernels>("kernels", METH_NOARGS,
                    "Of every native kernel its rows, apart by spaces, and whether it reads and writes bfloat16 and "
                    "float16 itself."),
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef* kernel_members() {
    static PyMemberDef members[] = {
        {"numpy", T_OBJECT_EX, offsetof(Kernel, numpy), READONLY, "The numpy kernel."},
        {"__name__", T_OBJECT_EX, offsetof(Kernel, name), READONLY, nullptr},
        {nullptr, 0, 0, 0, nullptr},
    };
    return members;
}

}  // namespace

PyTypeObject KernelType = [] {
    PyTypeObject type =
        callable_type<Kernel>("mindtorch_cpu._native.Kernel",
                              "A native kernel: fn(out, *values); `numpy` is the kernel for what it does not take.",
                              {kernel_traverse, kernel_clear, kernel_dealloc}, kernel_members());
    type.tp_repr = entry<kernel_repr>;
    return type;
}();

int run_kernel_function(PyObject* kernel, PyObject* const* arguments, Py_ssize_t count) {
    if (Py_TYPE(kernel) != &KernelType) return run_silently(kernel, arguments, count);
    auto* native = reinterpret_cast<Kernel*>(kernel);
    const int done = run_native(native, arguments, count);
    if (done != 0) return done < 0 ? -1 : 0;
    return run_silently(native->numpy, arguments, count);
}

int add_types(PyObject* module) {
    for (PyTypeObject* type : {&KernelType, &CallerType, &MethodType, &ShortcutType, &GuardedType, &RecordType})
        if (PyModule_AddType(module, type) < 0) return -1;
    return PyModule_AddFunctions(module, methods);
}

}  // namespace mindtorch
