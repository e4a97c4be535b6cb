// The callables of the dispatcher's packets, `torch.add` and `Tensor.add`: a planned call runs here, all others are
// left to the Python function that they stand before. A method binds to its instance as a function of Python's does,
// and without a bound object where it is called at once.
#include "mindtorch/entry.h"
#include "call/function_type.h"
#include "call/lookup.h"

#include <new>

namespace mindtorch {

namespace {

struct Caller {
    PyObject_HEAD vectorcallfunc call;
    PyObject* packet;
    PyObject* fallback;
    PyObject* attributes;
    PyObject* weak;
    Lookup lookup;
};

Caller* as_caller(PyObject* object) { return reinterpret_cast<Caller*>(object); }

// What the planned call gives; null without an error when there is none.
PyObject* run_planned(Caller* self, const Given& given) {
    Program* program = nullptr;
    Ref plan(self->lookup.find(self->packet, given, program));
    if (!plan) return nullptr;
    Call call(given.arguments, given.count());
    return execute(*program, call);
}

PyObject* caller_vectorcall(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    Caller* self = as_caller(object);
    if (names != nullptr && PyTuple_GET_SIZE(names) == 0) names = nullptr;
    const Given given = {arguments, PyVectorcall_NARGS(flags), names};
    PyObject* result = run_planned(self, given);
    if (result != nullptr || PyErr_Occurred()) return result;
    return into_python<PyObject_Vectorcall>(self->fallback, arguments, static_cast<size_t>(given.positional), names);
}

// `caller(self, *constants, argument)` where that is planned for an argument of one type, or `caller(self, *constants)`
// where the type is None's and no argument is given; else `fallback`.
struct Shortcut {
    PyObject_HEAD vectorcallfunc call;
    PyObject* caller;
    PyObject* kind;
    PyObject* constants;
    PyObject* fallback;
    PyObject* attributes;
    PyObject* weak;
};

Shortcut* as_shortcut(PyObject* object) { return reinterpret_cast<Shortcut*>(object); }

constexpr Py_ssize_t MOST_CONSTANTS = 6;

PyObject* shortcut_vectorcall(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    Shortcut* self = as_shortcut(object);
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    const bool alone = self->kind == reinterpret_cast<PyObject*>(Py_TYPE(Py_None));
    if (names == nullptr &&
        (alone ? count == 1 : count == 2 && reinterpret_cast<PyObject*>(Py_TYPE(arguments[1])) == self->kind)) {
        PyObject* values[MOST_CONSTANTS + 2];
        const Py_ssize_t constants = PyTuple_GET_SIZE(self->constants);
        values[0] = arguments[0];
        for (Py_ssize_t index = 0; index < constants; index++)
            values[index + 1] = PyTuple_GET_ITEM(self->constants, index);
        if (!alone) values[constants + 1] = arguments[1];
        PyObject* result = run_planned(as_caller(self->caller), {values, constants + count, nullptr});
        if (result != nullptr) return result;
        // What is wrong with the argument is said in the words of the fallback.
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_IndexError)) return nullptr;
        PyErr_Clear();
    }
    return into_python<PyObject_Vectorcall>(self->fallback, arguments, static_cast<size_t>(count), names);
}

int caller_traverse(PyObject* object, visitproc visit, void* arg) {
    Caller* self = as_caller(object);
    Py_VISIT(self->packet);
    Py_VISIT(self->fallback);
    Py_VISIT(self->attributes);
    return self->lookup.traverse(visit, arg);
}

int caller_clear(PyObject* object) {
    Caller* self = as_caller(object);
    Py_CLEAR(self->packet);
    Py_CLEAR(self->fallback);
    Py_CLEAR(self->attributes);
    self->lookup.clear();
    return 0;
}

void caller_dealloc(PyObject* object) {
    PyObject_GC_UnTrack(object);
    if (as_caller(object)->weak != nullptr) PyObject_ClearWeakRefs(object);
    caller_clear(object);
    as_caller(object)->lookup.~Lookup();
    PyObject_GC_Del(object);
}

int shortcut_traverse(PyObject* object, visitproc visit, void* arg) {
    Shortcut* self = as_shortcut(object);
    Py_VISIT(self->caller);
    Py_VISIT(self->fallback);
    Py_VISIT(self->constants);
    Py_VISIT(self->attributes);
    return 0;
}

int shortcut_clear(PyObject* object) {
    Shortcut* self = as_shortcut(object);
    Py_CLEAR(self->caller);
    Py_CLEAR(self->fallback);
    Py_CLEAR(self->constants);
    Py_CLEAR(self->attributes);
    return 0;
}

void shortcut_dealloc(PyObject* object) {
    PyObject_GC_UnTrack(object);
    if (as_shortcut(object)->weak != nullptr) PyObject_ClearWeakRefs(object);
    shortcut_clear(object);
    Py_CLEAR(as_shortcut(object)->kind);
    PyObject_GC_Del(object);
}

PyObject* caller_repr(PyObject* object) {
    Ref name(PyObject_GetAttrString(object, "__name__"));
    if (!name) return nullptr;
    const char* text = Py_TYPE(object) == &CallerType ? "<built-in function %U>" : "<method '%U' of tensors>";
    return PyUnicode_FromFormat(text, name.get());
}

// Pickles hold the name, and copies are the thing itself, as with Python's functions.
PyObject* reduce(PyObject* object, PyObject*) { return PyObject_GetAttrString(object, "__qualname__"); }

PyMemberDef* caller_members() {
    static PyMemberDef members[] = {
        {"__wrapped__", T_OBJECT_EX, offsetof(Caller, fallback), READONLY,
         "The Python function for calls without a plan."},
        {nullptr, 0, 0, 0, nullptr},
    };
    return members;
}

PyMemberDef* shortcut_members() {
    static PyMemberDef members[] = {
        {"__wrapped__", T_OBJECT_EX, offsetof(Shortcut, fallback), READONLY, "The Python method for all else."},
        {nullptr, 0, 0, 0, nullptr},
    };
    return members;
}

// Documentation is made when it is first read: what is set may be a function that makes it.
PyObject* documentation(PyObject* object, void*) {
    Ref attributes(PyObject_GenericGetDict(object, nullptr));
    if (!attributes) return nullptr;
    Ref found(Py_XNewRef(PyDict_GetItemString(attributes.get(), "__doc__")));
    if (!found) return Py_NewRef(Py_None);
    if (!PyCallable_Check(found.get())) return found.release();
    Ref made(PyObject_CallNoArgs(found.get()));
    if (!made || PyDict_SetItemString(attributes.get(), "__doc__", made.get()) < 0) return nullptr;
    return made.release();
}

int set_documentation(PyObject* object, PyObject* value, void*) {
    Ref attributes(PyObject_GenericGetDict(object, nullptr));
    if (!attributes) return -1;
    return PyDict_SetItemString(attributes.get(), "__doc__", value == nullptr ? Py_None : value);
}

// Functions that are kept in a class take no instance, as those of C; that they can be asked is what inspect goes by.
PyObject* unbound(PyObject* function, PyObject*, PyObject*) { return Py_NewRef(function); }

PyTypeObject caller_type(const char* name, const char* doc, bool method) {
    const Life life = {caller_traverse, caller_clear, caller_dealloc};
    PyTypeObject type = function_type<Caller>(callable_type<Caller>(name, doc, life, caller_members()), method);
    type.tp_repr = entry<caller_repr>;
    if (!method) type.tp_descr_get = entry<unbound>;
    return type;
}

}  // namespace

PyObject* bind_method(PyObject* function, PyObject* instance, PyObject*) {
    return instance == nullptr || instance == Py_None ? Py_NewRef(function) : PyMethod_New(function, instance);
}

PyMethodDef function_reducers[] = {
    method<reduce>("__reduce__", METH_NOARGS, "The name, by which it is found again."),
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef function_getters[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"__doc__", documentation, set_documentation, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject CallerType = caller_type("mindtorch_runtime._native.Function", "Runs the calls of one packet.", false);
PyTypeObject MethodType =
    caller_type("mindtorch_runtime._native.Method", "Runs the calls of one packet, as a method of tensors.", true);

PyTypeObject ShortcutType = function_type<Shortcut>(
    callable_type<Shortcut>("mindtorch_runtime._native.Shortcut",
                            "A method that is a packet's call for arguments of one type.",
                            {shortcut_traverse, shortcut_clear, shortcut_dealloc}, shortcut_members()),
    true);

PyObject* caller(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if ((count != 3 && count != 4) || !configuration.ready) {
        PyErr_SetString(PyExc_TypeError, "caller(packet, fallback, method, row), after install()");
        return nullptr;
    }
    const int method = PyObject_IsTrue(arguments[2]);
    if (method < 0) return nullptr;
    auto* made = PyObject_GC_New(Caller, method ? &MethodType : &CallerType);
    if (made == nullptr) return nullptr;
    made->call = entry<caller_vectorcall>;
    made->packet = Py_NewRef(arguments[0]);
    made->fallback = Py_NewRef(arguments[1]);
    made->attributes = nullptr;
    made->weak = nullptr;
    new (&made->lookup) Lookup(count == 4 ? arguments[3] : nullptr);
    PyObject_GC_Track(reinterpret_cast<PyObject*>(made));
    return reinterpret_cast<PyObject*>(made);
}

PyObject* shortcut(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 4 || (Py_TYPE(arguments[0]) != &MethodType && Py_TYPE(arguments[0]) != &CallerType) ||
        !PyType_Check(arguments[1]) || !PyTuple_CheckExact(arguments[2]) ||
        PyTuple_GET_SIZE(arguments[2]) > MOST_CONSTANTS) {
        PyErr_SetString(PyExc_TypeError, "shortcut(caller, type, constants, fallback)");
        return nullptr;
    }
    auto* made = PyObject_GC_New(Shortcut, &ShortcutType);
    if (made == nullptr) return nullptr;
    made->call = entry<shortcut_vectorcall>;
    made->caller = Py_NewRef(arguments[0]);
    made->kind = Py_NewRef(arguments[1]);
    made->constants = Py_NewRef(arguments[2]);
    made->fallback = Py_NewRef(arguments[3]);
    made->attributes = nullptr;
    made->weak = nullptr;
    PyObject_GC_Track(reinterpret_cast<PyObject*>(made));
    return reinterpret_cast<PyObject*>(made);
}

}  // namespace mindtorch
