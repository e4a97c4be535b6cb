// Objects made of others of their class, slot by slot: plans and recorders of calls that differ in sizes alone.
#include "call/interface.h"

#include "mindtorch/entry.h"

#include <vector>

namespace mindtorch {

namespace {

// The slots of one class that are copied; `names` says which, and is known by identity.
struct Slots {
    PyTypeObject* type;
    PyObject* names;
    std::vector<Py_ssize_t> offsets;
};

std::vector<Slots> known;  // a few, kept for good

bool find_offsets(Slots& slots) {
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(slots.names); index++) {
        Ref found(PyObject_GetAttr(reinterpret_cast<PyObject*>(slots.type), PyTuple_GET_ITEM(slots.names, index)));
        if (!found) return false;
        const bool member = Py_TYPE(found.get()) == &PyMemberDescr_Type;
        const PyMemberDef* slot = member ? reinterpret_cast<PyMemberDescrObject*>(found.get())->d_member : nullptr;
        if (slot == nullptr || slot->type != T_OBJECT_EX) {
            PyErr_Format(PyExc_TypeError, "copied(object, names): %R of %R is no slot",
                         PyTuple_GET_ITEM(slots.names, index), slots.type);
            return false;
        }
        slots.offsets.push_back(slot->offset);
    }
    return true;
}

const Slots* slots_of(PyTypeObject* type, PyObject* names) {
    for (const Slots& one : known)
        if (one.type == type && one.names == names) return &one;
    Slots made = {type, names, {}};
    if (!find_offsets(made)) return nullptr;
    Py_INCREF(type);
    Py_INCREF(names);
    known.push_back(std::move(made));
    return &known.back();
}

}  // namespace

PyObject* copied(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2 || !PyTuple_CheckExact(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "copied(object, names)");
        return nullptr;
    }
    const Slots* slots = slots_of(Py_TYPE(arguments[0]), arguments[1]);
    if (slots == nullptr) return nullptr;
    PyObject* made = slots->type->tp_alloc(slots->type, 0);
    if (made == nullptr) return nullptr;
    for (const Py_ssize_t offset : slots->offsets) slot(made, offset) = Py_XNewRef(slot(arguments[0], offset));
    return made;
}

}  // namespace mindtorch
