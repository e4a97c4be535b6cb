// The type of native kernels: a function, and the numpy kernel for the operands it does not take.
#include "kernels/kernel.h"
#include "kernels/operand.h"

#include <string.h>

namespace mindtorch {

namespace {

// What the native call path calls: 1 when the function did it, 0 when numpy's must, -1 with an error set.
int run_form(const mindtorch_kernel* form, PyObject* out, PyObject* const* values, Py_ssize_t count) {
    const char* object = reinterpret_cast<const char*>(form) - offsetof(Kernel, form);
    return reinterpret_cast<const Kernel*>(object)->function(out, values, count);
}

PyObject* kernel_vectorcall(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    auto* kernel = reinterpret_cast<Kernel*>(object);
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (kernel->make != nullptr && names == nullptr) {
        PyObject* made = kernel->make(arguments, count);
        if (made != nullptr || PyErr_Occurred()) return made;
    }
    if (kernel->function != nullptr && names == nullptr && count > 0) {
        const int done = kernel->function(arguments[0], arguments + 1, count - 1);
        if (done != 0) return done < 0 ? nullptr : Py_NewRef(Py_None);
    }
    return into_python<PyObject_Vectorcall>(kernel->form.fallback, arguments, static_cast<size_t>(count), names);
}

int kernel_traverse(PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(reinterpret_cast<Kernel*>(object)->form.fallback);
    return 0;
}

int kernel_clear(PyObject* object) {
    Py_CLEAR(reinterpret_cast<Kernel*>(object)->form.fallback);
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
    made->form = {MINDTORCH_KERNEL_ABI, named.precision == REDUCED_PRECISION ? MINDTORCH_KERNEL_HALVES : 0, nullptr,
                  named.function == nullptr ? nullptr : entry<run_form>, Py_NewRef(numpy)};
    made->form.row = PyUnicode_AsUTF8(row);  // which `name` keeps
    made->function = named.function;
    made->make = named.make;
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

PyObject* form_of(PyObject* object, void*) {
    return PyCapsule_New(&reinterpret_cast<Kernel*>(object)->form, MINDTORCH_KERNEL_CAPSULE, nullptr);
}

PyGetSetDef* kernel_getters() {
    static PyGetSetDef getters[] = {
        {MINDTORCH_KERNEL_ATTRIBUTE, entry<form_of>, nullptr, "What the native call path runs.", nullptr},
        {nullptr, nullptr, nullptr, nullptr, nullptr},
    };
    return getters;
}

PyMemberDef* kernel_members() {
    static PyMemberDef members[] = {
        {"numpy", T_OBJECT_EX, offsetof(Kernel, form.fallback), READONLY, "The numpy kernel."},
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
    type.tp_getset = kernel_getters();
    return type;
}();

int bfloat16_type = -1;

PyObject* use_bfloat16(PyObject*, PyObject* dtype) {
    if (!PyArray_DescrCheck(dtype)) {
        PyErr_SetString(PyExc_TypeError, "use_bfloat16(dtype): a dtype of numpy's");
        return nullptr;
    }
    bfloat16_type = reinterpret_cast<PyArray_Descr*>(dtype)->type_num;
    Py_RETURN_NONE;
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

}  // namespace mindtorch
