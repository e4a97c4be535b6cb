// The twin of a recorder's `after` for ops with one result that save operands alone; others are recorded in Python.
#include "interface.h"

namespace mindtorch {

namespace {

PyObject* edge(PyObject* node, PyObject* number) {
    PyObject* made = PyTuple_New(2);
    if (made == nullptr) return nullptr;
    PyTuple_SET_ITEM(made, 0, Py_NewRef(node));
    PyTuple_SET_ITEM(made, 1, Py_NewRef(number));
    return made;
}

// The operand at a place of `flat`, or at a (place, index) of a list in it; borrowed.
PyObject* operand(PyObject* flat, PyObject* place) {
    if (PyLong_CheckExact(place)) return PyTuple_GetItem(flat, PyLong_AsSsize_t(place));
    if (!PyTuple_CheckExact(place) || PyTuple_GET_SIZE(place) != 2) {
        PyErr_SetString(PyExc_SystemError, "a recorder's edge has no place");
        return nullptr;
    }
    PyObject* listed = PyTuple_GetItem(flat, PyLong_AsSsize_t(PyTuple_GET_ITEM(place, 0)));
    if (listed == nullptr) return nullptr;
    const Py_ssize_t index = PyLong_AsSsize_t(PyTuple_GET_ITEM(place, 1));
    return PyTuple_Check(listed) ? PyTuple_GetItem(listed, index) : PyList_GetItem(listed, index);
}

PyObject* edge_of(PyObject* tensor) {
    const auto& at = configuration.tensor;
    if (slot(tensor, at.view) != Py_None) return PyObject_CallOneArg(configuration.gradient_edge, tensor);
    PyObject* made = slot(tensor, at.grad_fn);
    if (made != Py_None) return edge(made, slot(tensor, at.output_nr));
    PyObject* meta = slot(tensor, at.meta);
    if (meta != Py_None) {
        Ref accumulator(PyObject_CallNoArgs(slot(meta, configuration.accumulator)));
        if (!accumulator) return nullptr;
        if (accumulator.get() != Py_None) return edge(accumulator.get(), configuration.zero);
    }
    return PyObject_CallOneArg(configuration.gradient_edge, tensor);
}

PyObject* edges_of(PyObject* recorder, PyObject* flat) {
    PyObject* places = slot(recorder, configuration.recorder.edges);
    const Py_ssize_t count = PyTuple_GET_SIZE(places);
    Ref edges(PyList_New(count));
    if (!edges) return nullptr;
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject* place = PyTuple_GET_ITEM(places, index);
        PyObject* made = nullptr;
        if (place == Py_None) {
            made = Py_NewRef(configuration.nowhere);
        } else {
            PyObject* tensor = operand(flat, place);
            if (tensor == nullptr) return nullptr;
            made = edge_of(tensor);
        }
        if (made == nullptr) return nullptr;
        PyList_SET_ITEM(edges.get(), index, made);
    }
    return edges.release();
}

// [operand, its version, ...]
PyObject* saved_of(PyObject* places, PyObject* flat) {
    const Py_ssize_t count = PyTuple_GET_SIZE(places);
    Ref saved(PyList_New(2 * count));
    if (!saved) return nullptr;
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject* tensor = operand(flat, PyTuple_GET_ITEM(places, index));
        if (tensor == nullptr) return nullptr;
        PyObject* version = PyList_GetItem(slot(tensor, configuration.tensor.counter), 0);
        if (version == nullptr) return nullptr;
        PyList_SET_ITEM(saved.get(), 2 * index, Py_NewRef(tensor));
        PyList_SET_ITEM(saved.get(), 2 * index + 1, Py_NewRef(version));
    }
    return saved.release();
}

int record_plain(PyObject* recorder, PyObject* flat, PyObject* tensor) {
    const auto& at = configuration.node;
    Ref number(PyIter_Next(configuration.sequence));
    if (!number) return -1;
    Ref edges(edges_of(recorder, flat));
    Ref saved(edges ? saved_of(slot(recorder, configuration.recorder.plain_saves), flat) : nullptr);
    if (!saved) return -1;
    auto* cls = reinterpret_cast<PyTypeObject*>(slot(recorder, configuration.recorder.cls));
    PyObject* node = cls->tp_alloc(cls, 0);
    if (node == nullptr) return -1;
    slot(node, at.recorder) = Py_NewRef(recorder);
    slot(node, at.hooks) = Py_NewRef(Py_None);
    slot(node, at.seq) = number.release();
    slot(node, at.outputs) = Py_NewRef(slot(recorder, configuration.recorder.outputs));
    slot(node, at.edges) = edges.release();
    slot(node, at.saved) = saved.release();
    PyObject*& made = slot(tensor, configuration.tensor.grad_fn);
    PyObject* before = made;
    made = node;
    Py_XDECREF(before);
    return 0;
}

}  // namespace

int record_call(PyObject* record, PyObject* flat, PyObject* tensor) {
    if (PyMethod_Check(record) && PyMethod_GET_FUNCTION(record) == configuration.after) {
        PyObject* recorder = PyMethod_GET_SELF(record);
        const auto& at = configuration.recorder;
        if (slot(recorder, at.plain_saves) != Py_None && slot(recorder, at.written) == Py_False &&
            slot(recorder, at.single) == Py_True &&
            PyDict_GetItemWithError(configuration.anomaly, configuration.enabled_name) == Py_False)
            return record_plain(recorder, flat, tensor);
    }
    PyObject* const given[2] = {flat, tensor};
    Ref recorded(PyObject_Vectorcall(record, given, 2, nullptr));
    return recorded ? 0 : -1;
}

}  // namespace mindtorch
