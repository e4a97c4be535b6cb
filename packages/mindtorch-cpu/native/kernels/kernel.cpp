// The type of native kernels: a function, and the numpy kernel for the operands it does not take.
#include "kernels/kernel.h"
#include "kernels/integer.h"
#include "kernels/operand.h"
#include "kernels/region.h"

#include <string.h>

namespace mindtorch {

namespace {

// Our own copy where it takes the arrays, else numpy's.
bool copy_values(PyArrayObject* to, PyArrayObject* from) {
    return copy_array(to, from) == 1 || PyArray_CopyInto(to, from) == 0;
}

// Whether elements of an array may share memory: what a kernel leaves there depends on its order.
bool may_share_elements(PyArrayObject* array) {
    npy_intp steps[NPY_MAXDIMS], extents[NPY_MAXDIMS];
    int count = 0;
    for (int dim = 0; dim < PyArray_NDIM(array); dim++) {
        if (PyArray_DIM(array, dim) < 2) continue;
        const npy_intp stride = PyArray_STRIDE(array, dim), step = stride < 0 ? -stride : stride;
        int place = count++;
        for (; place > 0 && steps[place - 1] > step; place--) {
            steps[place] = steps[place - 1];
            extents[place] = extents[place - 1];
        }
        steps[place] = step;
        extents[place] = PyArray_DIM(array, dim);
    }
    npy_intp reach = PyArray_ITEMSIZE(array);
    for (int place = 0; place < count; place++) {
        if (steps[place] < reach) return PyArray_SIZE(array) > 0;
        reach = steps[place] * extents[place];
    }
    return false;
}

// Dense arrays in the place of those that are not.
struct DenseValues {
    static constexpr Py_ssize_t MOST = 16;
    PyObject* items[MOST];
    Ref owned[MOST];

    // -1 without memory, else how many were replaced; what is `read` has the values of those it stands for.
    int take(PyObject* const* values, Py_ssize_t count, bool read) {
        int replaced = 0;
        for (Py_ssize_t at = 0; at < count; at++) {
            items[at] = values[at];
            if (!PyArray_CheckExact(values[at])) continue;
            auto* array = reinterpret_cast<PyArrayObject*>(values[at]);
            if (PyArray_ISCARRAY_RO(array)) continue;
            owned[at].reset(PyArray_NewLikeArray(array, NPY_CORDER, nullptr, 0));
            if (!owned[at] || (read && !copy_values(reinterpret_cast<PyArrayObject*>(owned[at].get()), array)))
                return -1;
            items[at] = owned[at].get();
            replaced++;
        }
        return replaced;
    }
};

int copy_back(const DenseValues& outs, PyObject* const* to, Py_ssize_t count) {
    for (Py_ssize_t at = 0; at < count; at++)
        if (outs.owned[at] &&
            !copy_values(reinterpret_cast<PyArrayObject*>(to[at]), reinterpret_cast<PyArrayObject*>(outs.items[at])))
            return -1;
    return 1;
}

// The kernel on dense copies of what is not dense; 0 where all is, or where it declines them, too.
int run_densely(const Kernel& kernel, PyObject* out, PyObject* const* values, Py_ssize_t count) {
    const bool several = PyTuple_CheckExact(out);
    PyObject* const* outs = several ? &PyTuple_GET_ITEM(out, 0) : &out;
    const Py_ssize_t out_count = several ? PyTuple_GET_SIZE(out) : 1;
    if (count > DenseValues::MOST || out_count > DenseValues::MOST) return 0;
    for (Py_ssize_t at = 0; at < out_count; at++)
        if (PyArray_CheckExact(outs[at]) && may_share_elements(reinterpret_cast<PyArrayObject*>(outs[at]))) return 0;
    DenseValues given, made;
    const int copied = given.take(values, count, true), replaced = copied < 0 ? -1 : made.take(outs, out_count, false);
    if (replaced < 0) return -1;
    if (copied + replaced == 0) return 0;
    Ref dense(Py_NewRef(several ? out : made.items[0]));
    if (several && replaced > 0) {
        dense.reset(PyTuple_New(out_count));
        if (!dense) return -1;
        for (Py_ssize_t at = 0; at < out_count; at++) PyTuple_SET_ITEM(dense.get(), at, Py_NewRef(made.items[at]));
    }
    const int done = kernel.function(dense.get(), given.items, count);
    return done == 1 ? copy_back(made, outs, out_count) : done;
}

// The dimensions of arrays of one shape from the farthest to the nearest in memory, which is dense in that order.
struct MemoryOrder {
    static constexpr int MOST = 8;
    PyArrayObject* first = nullptr;
    int dims[MOST], ndim = 0;

    bool find(PyArrayObject* array) {
        first = array;
        ndim = PyArray_NDIM(array);
        if (ndim < 2 || ndim > MOST || PyArray_SIZE(array) == 0 || !PyArray_ISBEHAVED_RO(array)) return false;
        for (int dim = 0; dim < ndim; dim++) {
            int place = dim;
            for (; place > 0 && PyArray_STRIDE(array, dims[place - 1]) < PyArray_STRIDE(array, dim); place--)
                dims[place] = dims[place - 1];
            dims[place] = dim;
        }
        npy_intp step = PyArray_ITEMSIZE(array);
        for (int place = ndim - 1; place >= 0; step *= PyArray_DIM(array, dims[place]), place--)
            if (PyArray_DIM(array, dims[place]) != 1 && PyArray_STRIDE(array, dims[place]) != step) return false;
        return true;
    }

    // Whether another array has the shape of the first one and lies as it does.
    bool fits(PyArrayObject* array) const {
        if (!PyArray_SAMESHAPE(array, first) || !PyArray_ISBEHAVED_RO(array)) return false;
        for (int dim = 0; dim < ndim; dim++)
            if (PyArray_DIM(first, dim) != 1 && PyArray_STRIDE(array, dim) * PyArray_ITEMSIZE(first) !=
                                                    PyArray_STRIDE(first, dim) * PyArray_ITEMSIZE(array))
                return false;
        return true;
    }

    // An array in this order, for as long as the one given is there.
    PyObject* view(PyArrayObject* array) const {
        npy_intp extents[MOST];
        for (int place = 0; place < ndim; place++) extents[place] = PyArray_DIM(array, dims[place]);
        PyArray_Descr* type = PyArray_DESCR(array);
        Py_INCREF(type);
        return PyArray_NewFromDescr(&PyArray_Type, type, ndim, extents, nullptr, PyArray_DATA(array),
                                    PyArray_ISWRITEABLE(array) ? NPY_ARRAY_CARRAY : NPY_ARRAY_CARRAY_RO, nullptr);
    }

    int place_of(npy_intp dim) const {
        for (int place = 0; place < ndim; place++)
            if (dims[place] == (dim < 0 ? dim + ndim : dim)) return place;
        return -1;
    }
};

// The kernel on its arrays in the order in which they lie; 0 where they do not lie in one, or where it declines them.
int run_in_order(const Kernel& kernel, PyObject* out, PyObject* const* values, Py_ssize_t count) {
    const bool several = PyTuple_CheckExact(out);
    const Py_ssize_t outs = several ? PyTuple_GET_SIZE(out) : 1;
    Py_ssize_t dim = 0;
    const bool lines = kernel.along != NO_DIMENSION;
    if (kernel.along >= count || count + outs > DenseValues::MOST || (lines && !index_of(values[kernel.along], dim)))
        return 0;
    PyObject* given[DenseValues::MOST];
    Ref views[DenseValues::MOST];
    for (Py_ssize_t at = 0; at < outs; at++) given[at] = several ? PyTuple_GET_ITEM(out, at) : out;
    for (Py_ssize_t at = 0; at < count; at++) given[outs + at] = values[at];
    MemoryOrder order;
    for (Py_ssize_t at = 0; at < outs + count; at++) {
        if (!PyArray_CheckExact(given[at])) continue;
        auto* array = reinterpret_cast<PyArrayObject*>(given[at]);
        if (order.first == nullptr ? !order.find(array) : !order.fits(array)) return 0;
        views[at].reset(order.view(array));
        if (!views[at]) return -1;
        given[at] = views[at].get();
    }
    if (order.first == nullptr || order.place_of(dim) < 0) return 0;
    Ref along(PyLong_FromLong(order.place_of(dim))), made(several ? PyTuple_New(outs) : Py_NewRef(given[0]));
    if (!along || !made) return -1;
    if (several)
        for (Py_ssize_t at = 0; at < outs; at++) PyTuple_SET_ITEM(made.get(), at, Py_NewRef(given[at]));
    if (lines) given[outs + kernel.along] = along.get();
    return kernel.function(made.get(), given + outs, count);
}

int run_function(const Kernel& kernel, PyObject* out, PyObject* const* values, Py_ssize_t count) {
    int done = kernel.function(out, values, count);
    if (done == 0 && kernel.along != ALL_DIMENSIONS) done = run_in_order(kernel, out, values, count);
    return done != 0 || kernel.layout == ANY_LAYOUT ? done : run_densely(kernel, out, values, count);
}

// What the native call path calls: 1 when the function did it, 0 when numpy's must, -1 with an error set.
int run_form(const mindtorch_kernel* form, PyObject* out, PyObject* const* values, Py_ssize_t count) {
    const char* object = reinterpret_cast<const char*>(form) - offsetof(Kernel, form);
    return run_function(*reinterpret_cast<const Kernel*>(object), out, values, count);
}

PyObject* kernel_vectorcall(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    auto* kernel = reinterpret_cast<Kernel*>(object);
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (kernel->make != nullptr && names == nullptr) {
        PyObject* made = kernel->make(arguments, count);
        if (made != nullptr || PyErr_Occurred()) return made;
    }
    if (kernel->function != nullptr && names == nullptr && count > 0) {
        const int done = run_function(*kernel, arguments[0], arguments + 1, count - 1);
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
    made->layout = named.layout;
    made->along = named.along;
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
