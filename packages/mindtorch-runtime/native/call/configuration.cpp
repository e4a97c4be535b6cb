// What the Python packages tell the executor: where the slots of their classes lie, and the objects it works with. What
// there is of it is declared in layout.py.
#include "call/interface.h"

namespace mindtorch {

namespace {

struct ObjectName {
    const char* name;
    PyObject** object;
};

char* place_of(size_t offset) { return reinterpret_cast<char*>(static_cast<Shared*>(&configuration)) + offset; }

// The offset of the slot `name` of a Python class; -1 with an error set when it has no such slot.
Py_ssize_t offset_of(PyObject* cls, const char* name) {
    Ref descriptor(PyObject_GetAttrString(cls, name));
    if (!descriptor) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Format(PyExc_TypeError, "%R has no slot %s, which mindtorch_runtime.layout says it has", cls, name);
        return -1;
    }
    if (Py_TYPE(descriptor.get()) != &PyMemberDescr_Type) {
        PyErr_Format(PyExc_TypeError, "%s of %R is no slot, which mindtorch_runtime.layout says it is", name, cls);
        return -1;
    }
    const PyMemberDef* member = reinterpret_cast<PyMemberDescrObject*>(descriptor.get())->d_member;
    if (member->type != T_OBJECT_EX) {
        PyErr_Format(PyExc_TypeError, "the slot %s of %R holds no object", name, cls);
        return -1;
    }
    return member->offset;
}

template <size_t slot_count, size_t type_count, size_t object_count>
int take(PyObject* const* arguments, Py_ssize_t count, const SharedSlot (&slots)[slot_count],
         const size_t (&types)[type_count], const size_t (&objects)[object_count]) {
    if (count != 2 || !PyTuple_CheckExact(arguments[0]) || !PyTuple_CheckExact(arguments[1]) ||
        PyTuple_GET_SIZE(arguments[0]) != type_count || PyTuple_GET_SIZE(arguments[1]) != object_count) {
        PyErr_Format(PyExc_TypeError, "install(classes, objects) takes tuples of %zu and %zu", type_count,
                     object_count);
        return -1;
    }
    for (size_t number = 0; number < type_count; number++)
        if (!PyType_Check(PyTuple_GET_ITEM(arguments[0], static_cast<Py_ssize_t>(number)))) {
            PyErr_Format(PyExc_TypeError, "class %zu is none", number);
            return -1;
        }
    for (const SharedSlot& one : slots) {
        const Py_ssize_t found = offset_of(PyTuple_GET_ITEM(arguments[0], static_cast<Py_ssize_t>(one.cls)), one.name);
        if (found < 0) return -1;
        *reinterpret_cast<Py_ssize_t*>(place_of(one.place)) = found;
    }
    for (size_t number = 0; number < type_count; number++)
        *reinterpret_cast<PyObject**>(place_of(types[number])) =
            Py_NewRef(PyTuple_GET_ITEM(arguments[0], static_cast<Py_ssize_t>(number)));
    for (size_t number = 0; number < object_count; number++)
        *reinterpret_cast<PyObject**>(place_of(objects[number])) =
            Py_NewRef(PyTuple_GET_ITEM(arguments[1], static_cast<Py_ssize_t>(number)));
    return 0;
}

int make_names() {
    Configuration& to = configuration;
    const ObjectName names[] = {
        {"mode", &to.mode_name},
        {"free", &to.free_name},
        {"key", &to.key_name},
        {"__dict__", &to.dict_name},
        {"enabled", &to.enabled_name},
        {"_materialized_storage", &to.materialize_name},
        {"default", &to.default_creation},
        {"_unpack", &to.unpack_name},
        {"_outputs", &to.outputs_name},
        {"_edges", &to.edges_name},
        {"_seq", &to.seq_name},
        {"_evaluate", &to.evaluate_name},
        {"pipe", &to.pipe_name},
        {"flush", &to.flush_name},
        {"__name__", &to.module_name},
        {"transforms", &to.transforms_name},
        {"kind", &to.kind_name},
        {"family", &to.family_name},
    };
    for (const ObjectName& one : names) {
        *one.object = PyUnicode_InternFromString(one.name);
        if (*one.object == nullptr) return -1;
    }
    return 0;
}

}  // namespace

PyObject* install(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    Configuration& to = configuration;
    if (take(arguments, count, dispatch_slots, dispatch_types, dispatch_objects) < 0 || make_names() < 0)
        return nullptr;
    to.zero = PyLong_FromLong(0);
    to.one = PyLong_FromLong(1);
    if (to.zero == nullptr || to.one == nullptr) return nullptr;
    to.ready = true;
    Py_RETURN_NONE;
}

PyObject* install_autograd(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (take(arguments, count, autograd_slots, autograd_types, autograd_objects) < 0) return nullptr;
    Py_RETURN_NONE;
}

}  // namespace mindtorch
