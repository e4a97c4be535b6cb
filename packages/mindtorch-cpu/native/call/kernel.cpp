// The type of native kernels: a function, and the numpy kernel for the operands it does not take.
#include "call/entry.h"
#include "call/interface.h"
#include "kernels/operand.h"
#include "pipeline/record.h"

#include <initializer_list>

namespace mindtorch {

namespace {

// numpy's error state is silent while a numpy kernel runs.
class Silence {
public:
    Silence() {
        if (configuration.error_state == Py_None) {
            token_ = PyObject_CallOneArg(configuration.enter, configuration.silent);
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
            Ref done(PyObject_CallOneArg(configuration.leave, token_));
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

PyObject* run_silently(PyObject* function, PyObject* const* arguments, Py_ssize_t count) {
    Silence silence;
    if (!silence) return nullptr;
    Ref done(PyObject_Vectorcall(function, arguments, static_cast<size_t>(count), nullptr));
    return silence.leave() < 0 ? nullptr : done.release();
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
    return PyObject_Vectorcall(kernel->numpy, arguments, static_cast<size_t>(count), names);
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

PyObject* make_kernel(const NamedKernel& named, PyObject* numpy) {
    Ref text(PyUnicode_FromString(named.name));
    if (!text) return nullptr;
    auto* made = PyObject_GC_New(Kernel, &KernelType);
    if (made == nullptr) return nullptr;
    made->call = entry<kernel_vectorcall>;
    made->function = named.function;
    made->make = named.make;
    made->numpy = Py_NewRef(numpy);
    made->name = text.release();
    PyObject_GC_Track(reinterpret_cast<PyObject*>(made));
    return reinterpret_cast<PyObject*>(made);
}

const NamedKernel* find_kernel(PyObject* name) {
    for (const NamedKernel* family : {
             pointwise_kernels, activation_kernels,   normalization_kernels, matmul_kernels,    attention_kernels,
             conv_kernels,      pool_kernels,         tap_kernels,           reduction_kernels, running_kernels,
             loss_kernels,      channel_norm_kernels, random_kernels,        copy_kernels,      join_kernels,
             index_kernels,     scatter_kernels,      embedding_kernels,     selection_kernels, sort_kernels,
             rank_kernels,
         })
        for (; family->name != nullptr; family++)
            if (PyUnicode_CompareWithASCIIString(name, family->name) == 0) return family;
    return nullptr;
}

PyObject* has_kernel(PyObject*, PyObject* name) {
    if (PyUnicode_Check(name)) return PyBool_FromLong(find_kernel(name) != nullptr);
    PyErr_SetString(PyExc_TypeError, "has_kernel(name)");
    return nullptr;
}

PyObject* kernel(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2 || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "kernel(name, numpy_kernel)");
        return nullptr;
    }
    const NamedKernel* found = find_kernel(arguments[0]);
    if (found != nullptr) return make_kernel(*found, arguments[1]);
    PyErr_SetObject(PyExc_KeyError, arguments[0]);
    return nullptr;
}

PyMethodDef methods[] = {
    method<kernel>("kernel", "kernel(name, numpy_kernel): the native kernel `name`; KeyError when there is none."),
    method<has_kernel>("has_kernel", METH_O, "has_kernel(name): whether there is a native kernel `name`."),
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

PyObject* run_kernel_function(PyObject* kernel, PyObject* const* arguments, Py_ssize_t count) {
    if (Py_TYPE(kernel) != &KernelType) return run_silently(kernel, arguments, count);
    auto* native = reinterpret_cast<Kernel*>(kernel);
    const int done = run_native(native, arguments, count);
    if (done != 0) return done < 0 ? nullptr : Py_NewRef(Py_None);
    return run_silently(native->numpy, arguments, count);
}

int add_types(PyObject* module) {
    for (PyTypeObject* type : {&KernelType, &CallerType, &MethodType, &ShortcutType, &GuardedType, &RecordType})
        if (PyModule_AddType(module, type) < 0) return -1;
    return PyModule_AddFunctions(module, methods);
}

}  // namespace mindtorch
