// Methods of tensors that are written in Python: a plain tensor's call goes to the method itself, all others to what
// asks for overrides first. What small methods say about a tensor is said here, where nothing unusual is about it.
#include "mindtorch/entry.h"
#include "call/function_type.h"
#include "call/subscript.h"

namespace mindtorch {

namespace {

// What a method gives, as a new reference; null without an error where its Python function must say.
using Answer = PyObject* (*)(PyObject* mode, PyObject* const* arguments, Py_ssize_t count);

struct Guarded {
    PyObject_HEAD vectorcallfunc call;
    PyObject* function;
    PyObject* asking;
    PyObject* attributes;
    PyObject* weak;
    Answer answer;
};

Guarded* as_guarded(PyObject* object) { return reinterpret_cast<Guarded*>(object); }

bool has_none(PyObject* modes) { return modes != nullptr && PyTuple_CheckExact(modes) && PyTuple_GET_SIZE(modes) == 0; }

// The elements of a tensor as they are now, of a type that Python has; null without an error where that is not sure.
PyArrayObject* elements(PyObject* mode, PyObject* tensor) {
    PyObject* array = slot(tensor, configuration.tensor.array);
    if (array == nullptr || !PyArray_CheckExact(array) || !has_none(slot(mode, configuration.mode.dispatch_modes)))
        return nullptr;
    if (current_pipe() != Py_None) {
        PyErr_Clear();
        return nullptr;
    }
    auto* found = reinterpret_cast<PyArrayObject*>(array);
    const int type = PyArray_TYPE(found);
    return PyTypeNum_ISNUMBER(type) || PyTypeNum_ISBOOL(type) ? found : nullptr;
}

PyObject* only_element(PyObject* mode, PyObject* const* arguments, Py_ssize_t count) {
    PyArrayObject* array = count == 1 ? elements(mode, arguments[0]) : nullptr;
    return array == nullptr || PyArray_SIZE(array) != 1 ? nullptr : PyArray_GETITEM(array, PyArray_BYTES(array));
}

// The only element, where it is a real number.
PyObject* real_element(PyObject* mode, PyObject* const* arguments, Py_ssize_t count) {
    Ref value(only_element(mode, arguments, count));
    if (!value || PyFloat_CheckExact(value.get()) || PyLong_Check(value.get())) return value.release();
    return nullptr;
}

// As real_element, of a tensor without gradient: of the others Python says that their gradient ends here.
PyObject* constant_element(PyObject* mode, PyObject* const* arguments, Py_ssize_t count) {
    PyObject* sig = signature_of(arguments[0]);
    if (sig == nullptr || slot(sig, configuration.signature.requires_grad) != Py_False) return nullptr;
    return real_element(mode, arguments, count);
}

PyObject* as_float(PyObject* mode, PyObject* const* arguments, Py_ssize_t count) {
    Ref value(constant_element(mode, arguments, count));
    return value ? PyNumber_Float(value.get()) : nullptr;
}

PyObject* as_int(PyObject* mode, PyObject* const* arguments, Py_ssize_t count) {
    Ref value(real_element(mode, arguments, count));
    return value ? PyNumber_Long(value.get()) : nullptr;
}

PyObject* as_index(PyObject* mode, PyObject* const* arguments, Py_ssize_t count) {
    Ref value(real_element(mode, arguments, count));
    return value && PyLong_Check(value.get()) ? PyNumber_Long(value.get()) : nullptr;
}

PyObject* as_bool(PyObject* mode, PyObject* const* arguments, Py_ssize_t count) {
    Ref value(only_element(mode, arguments, count));
    const int truth = value ? PyObject_IsTrue(value.get()) : -1;
    return truth < 0 ? nullptr : PyBool_FromLong(truth);
}

PyObject* as_list(PyObject* mode, PyObject* const* arguments, Py_ssize_t count) {
    PyArrayObject* array = count == 1 ? elements(mode, arguments[0]) : nullptr;
    return array == nullptr ? nullptr : PyArray_ToList(array);
}

PyObject* address_of(PyObject* mode, PyObject* const* arguments, Py_ssize_t count) {
    PyArrayObject* array = count == 1 ? elements(mode, arguments[0]) : nullptr;
    return array == nullptr || PyArray_SIZE(array) == 0 ? nullptr : PyLong_FromVoidPtr(PyArray_DATA(array));
}

// The shape, borrowed; null without an error where it is no tuple.
PyObject* shape_of(PyObject* tensor) {
    PyObject* sig = signature_of(tensor);
    PyObject* spec = sig == nullptr ? nullptr : spec_of(sig);
    PyObject* shape = spec == nullptr ? nullptr : slot(spec, configuration.spec.shape);
    return shape != nullptr && PyTuple_Check(shape) ? shape : nullptr;
}

// dim(), ndimension()
PyObject* dimensions_of(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    PyObject* shape = count == 1 ? shape_of(arguments[0]) : nullptr;
    return shape == nullptr ? nullptr : PyLong_FromSsize_t(PyTuple_GET_SIZE(shape));
}

PyObject* length_of(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    PyObject* shape = count == 1 ? shape_of(arguments[0]) : nullptr;
    return shape == nullptr || PyTuple_GET_SIZE(shape) == 0 ? nullptr : Py_NewRef(PyTuple_GET_ITEM(shape, 0));
}

// size(), size(dim)
PyObject* extents_of(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    PyObject* shape = count > 2 ? nullptr : shape_of(arguments[0]);
    if (shape == nullptr) return nullptr;
    if (count == 1) return Py_NewRef(shape);
    if (!PyLong_CheckExact(arguments[1])) return nullptr;
    Py_ssize_t dim = PyLong_AsSsize_t(arguments[1]);
    if (dim == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return nullptr;
    }
    if (dim < 0) dim += PyTuple_GET_SIZE(shape);
    return dim < 0 || dim >= PyTuple_GET_SIZE(shape) ? nullptr : Py_NewRef(PyTuple_GET_ITEM(shape, dim));
}

// requires_grad_(), requires_grad_(flag): the tensor itself where that is what it is.
PyObject* already(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    PyObject* sig = signature_of(arguments[0]);
    PyObject* wanted = count == 1 ? Py_True : arguments[1];
    if (sig == nullptr || count > 2 || slot(sig, configuration.signature.requires_grad) != wanted ||
        slot(sig, configuration.signature.inference) != Py_False)
        return nullptr;
    PyObject* transforms = current_transforms();
    if (transforms == configuration.zero) return Py_NewRef(arguments[0]);
    PyErr_Clear();
    return nullptr;
}

PyObject* selected(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    return count == 2 ? subscript(arguments[0], arguments[1]) : nullptr;
}

struct NamedAnswer {
    const char* name;
    Answer answer;
};

constexpr NamedAnswer answers[] = {
    {"item", only_element},      {"__float__", as_float},   {"__int__", as_int},      {"__index__", as_index},
    {"__bool__", as_bool},       {"tolist", as_list},       {"data_ptr", address_of}, {"size", extents_of},
    {"requires_grad_", already}, {"__getitem__", selected}, {"dim", dimensions_of},   {"ndimension", dimensions_of},
    {"__len__", length_of},
};

PyObject* guarded_vectorcall(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    Guarded* self = as_guarded(object);
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject* chosen = self->asking;
    if (count > 0 && is_plain(Py_TYPE(arguments[0])) == 1) {
        PyObject* mode = current_mode();
        if (mode == nullptr) return nullptr;
        if (has_none(slot(mode, configuration.mode.function_modes))) {
            if (self->answer != nullptr && (names == nullptr || PyTuple_GET_SIZE(names) == 0)) {
                PyObject* result = self->answer(mode, arguments, count);
                if (result != nullptr || PyErr_Occurred()) return result;
            }
            chosen = self->function;
        }
    }
    return into_python<PyObject_Vectorcall>(chosen, arguments, static_cast<size_t>(count), names);
}

int guarded_traverse(PyObject* object, visitproc visit, void* arg) {
    Guarded* self = as_guarded(object);
    Py_VISIT(self->function);
    Py_VISIT(self->asking);
    Py_VISIT(self->attributes);
    return 0;
}

int guarded_clear(PyObject* object) {
    Guarded* self = as_guarded(object);
    Py_CLEAR(self->function);
    Py_CLEAR(self->asking);
    Py_CLEAR(self->attributes);
    return 0;
}

void guarded_dealloc(PyObject* object) {
    PyObject_GC_UnTrack(object);
    if (as_guarded(object)->weak != nullptr) PyObject_ClearWeakRefs(object);
    guarded_clear(object);
    PyObject_GC_Del(object);
}

PyMemberDef* guarded_members() {
    static PyMemberDef members[] = {
        {"__wrapped__", T_OBJECT_EX, offsetof(Guarded, function), READONLY, "The Python function of the method."},
        {nullptr, 0, 0, 0, nullptr},
    };
    return members;
}

}  // namespace

PyTypeObject GuardedType = function_type<Guarded>(
    callable_type<Guarded>("mindtorch_runtime._native.Guarded", "A method of tensors that is written in Python.",
                           {guarded_traverse, guarded_clear, guarded_dealloc}, guarded_members()),
    true);

PyObject* guarded(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 3 || !PyUnicode_Check(arguments[2]) || !configuration.ready) {
        PyErr_SetString(PyExc_TypeError, "guarded(function, asking, name), after install()");
        return nullptr;
    }
    auto* made = PyObject_GC_New(Guarded, &GuardedType);
    if (made == nullptr) return nullptr;
    made->call = entry<guarded_vectorcall>;
    made->function = Py_NewRef(arguments[0]);
    made->asking = Py_NewRef(arguments[1]);
    made->attributes = nullptr;
    made->weak = nullptr;
    made->answer = nullptr;
    for (const NamedAnswer& one : answers)
        if (PyUnicode_CompareWithASCIIString(arguments[2], one.name) == 0) made->answer = one.answer;
    PyObject_GC_Track(reinterpret_cast<PyObject*>(made));
    return reinterpret_cast<PyObject*>(made);
}

}  // namespace mindtorch
