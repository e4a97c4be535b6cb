// As a recorder's `after` for ops that write nothing and save no list; others are recorded in Python.
#include "call/program.h"

namespace mindtorch {

namespace {

PyObject* edge(PyObject* node, PyObject* number) {
    PyObject* made = PyTuple_New(2);
    if (made == nullptr) return nullptr;
    PyTuple_SET_ITEM(made, 0, Py_NewRef(node));
    PyTuple_SET_ITEM(made, 1, Py_NewRef(number));
    return made;
}

// The operand at a place of the call, or at a place of a list in it; borrowed.
PyObject* operand(const Call& call, const EdgePlace& at) {
    PyObject* found = call[at.place];
    if (at.item < 0) return found;
    return PyTuple_Check(found) ? PyTuple_GetItem(found, at.item) : PyList_GetItem(found, at.item);
}

// The node that made a view, borrowed; null where it is not known before Python has looked.
PyObject* maker_of_view(PyObject* tensor, PyObject* view) {
    PyObject* version = version_of(tensor);
    PyObject* known = slot(view, configuration.view.attr_version);
    if (version == nullptr || known == nullptr) return nullptr;
    if (version != known && PyObject_RichCompareBool(version, known, Py_EQ) != 1) return nullptr;
    PyObject* made = slot(tensor, configuration.tensor.grad_fn);
    return made == Py_None ? nullptr : made;
}

bool requires_grad(PyObject* tensor) {
    PyObject* sig = signature_of(tensor);
    return sig != nullptr && slot(sig, configuration.signature.requires_grad) == Py_True;
}

// The node of a leaf, made where there is none; null without an error where that is Python's to do.
PyObject* accumulator_of(PyObject* tensor, PyObject* meta) {
    PyObject* known = slot(meta, configuration.meta.accumulator);
    if (known == nullptr || !PyWeakref_CheckRefExact(known)) return nullptr;
    PyObject* found = referent(known);
    if (found != nullptr || !requires_grad(tensor)) return found;
    PyTypeObject* type = configuration.leaf_type;
    Ref node(type->tp_alloc(type, 0));
    if (!node) return nullptr;
    slot(node.get(), configuration.leaf.hooks) = Py_NewRef(Py_None);
    slot(node.get(), configuration.leaf.variable) = Py_NewRef(tensor);
    PyObject* weak = PyWeakref_NewRef(node.get(), nullptr);
    if (weak == nullptr) return nullptr;
    Py_SETREF(slot(meta, configuration.meta.accumulator), weak);
    return node.release();
}

PyObject* edge_of(PyObject* tensor) {
    const auto& at = configuration.tensor;
    PyObject *view = history_of(tensor), *made = slot(tensor, at.grad_fn), *meta = meta_of(tensor);
    if (view == nullptr || made == nullptr || meta == nullptr)
        return into_python<PyObject_CallOneArg>(configuration.gradient_edge, tensor);
    if (view != Py_None) {
        made = maker_of_view(tensor, view);
        return made != nullptr ? edge(made, slot(tensor, at.output_nr))
                               : into_python<PyObject_CallOneArg>(configuration.gradient_edge, tensor);
    }
    if (made != Py_None) return edge(made, slot(tensor, at.output_nr));
    Ref accumulator(meta == Py_None ? nullptr : accumulator_of(tensor, meta));
    if (accumulator) return edge(accumulator.get(), configuration.zero);
    return PyErr_Occurred() ? nullptr : into_python<PyObject_CallOneArg>(configuration.gradient_edge, tensor);
}

PyObject* edges_of(const Recording& recording, const Call& call) {
    const auto count = static_cast<Py_ssize_t>(recording.edges.size());
    Ref edges(PyList_New(count));
    if (!edges) return nullptr;
    for (Py_ssize_t index = 0; index < count; index++) {
        const EdgePlace& at = recording.edges[index];
        PyObject* made = nullptr;
        if (at.place < 0) {
            made = Py_NewRef(configuration.nowhere);
        } else {
            PyObject* tensor = operand(call, at);
            made = tensor == nullptr ? nullptr : edge_of(tensor);
        }
        if (made == nullptr) return nullptr;
        PyList_SET_ITEM(edges.get(), index, made);
    }
    return edges.release();
}

// A result as its own node keeps it: an alias without the node, or the tensor itself where it requires no grad.
PyObject* kept_result(PyObject* output, Py_ssize_t number) {
    if (!requires_grad(output)) return Py_NewRef(output);
    Ref alias(alias_of(output)), place(alias ? PyLong_FromSsize_t(number) : nullptr);
    if (!place) return nullptr;
    PyTypeObject* type = configuration.result_type;
    PyObject* made = type->tp_alloc(type, 0);
    if (made == nullptr) return nullptr;
    slot(made, configuration.result.alias) = alias.release();
    slot(made, configuration.result.number) = place.release();
    slot(made, configuration.result.owner) = Py_NewRef(Py_None);
    return made;
}

// What a save keeps, as a new reference, and its version, borrowed: None for what has none. Null with an error set.
PyObject* save(const Save& one, const Call& call, PyObject* result, PyObject*& version) {
    PyObject* item = one.kind != Save::RESULT ? call[one.place] : result;
    version = Py_None;
    if (one.kind == Save::SCALAR) return Py_NewRef(item);
    if (one.kind == Save::OFFSET) return Py_XNewRef(slot(item, configuration.tensor.offset));
    if (one.kind == Save::RESULT && PyTuple_CheckExact(result)) item = PyTuple_GetItem(result, one.place);
    version = item == nullptr ? nullptr : version_of(item);
    if (version == nullptr) return nullptr;
    return one.kind == Save::RESULT ? kept_result(item, one.place) : Py_NewRef(item);
}

// [item, its version, ...]
PyObject* saved_of(const Recording& recording, const Call& call, PyObject* result) {
    const auto count = static_cast<Py_ssize_t>(recording.saves.size());
    Ref saved(PyList_New(2 * count));
    if (!saved) return nullptr;
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject* version;
        PyObject* item = save(recording.saves[index], call, result, version);
        if (item == nullptr) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "an operand to save has no memory");
            return nullptr;
        }
        PyList_SET_ITEM(saved.get(), 2 * index, item);
        PyList_SET_ITEM(saved.get(), 2 * index + 1, Py_NewRef(version));
    }
    return saved.release();
}

// Make `node` the history of a result, or of those of several that require grad.
int connect(PyObject* node, PyObject* result) {
    const auto& at = configuration.tensor;
    if (!PyTuple_CheckExact(result)) {
        Py_XSETREF(slot(result, at.grad_fn), Py_NewRef(node));
        return 0;
    }
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(result); number++) {
        PyObject* output = PyTuple_GET_ITEM(result, number);
        if (output == Py_None || !requires_grad(output)) continue;
        PyObject* place = PyLong_FromSsize_t(number);
        if (place == nullptr) return -1;
        Py_XSETREF(slot(output, at.grad_fn), Py_NewRef(node));
        Py_XSETREF(slot(output, at.output_nr), place);
    }
    return 0;
}

int record_plain(const Recording& recording, const Call& call, PyObject* result) {
    const auto& at = configuration.node;
    Ref number(PyIter_Next(configuration.sequence));
    if (!number) return -1;
    Ref edges(edges_of(recording, call));
    Ref saved(edges ? saved_of(recording, call, result) : nullptr);
    if (!saved) return -1;
    Ref made(recording.cls->tp_alloc(recording.cls, 0));
    PyObject* node = made.get();
    if (node == nullptr) return -1;
    slot(node, at.recorder) = Py_NewRef(recording.recorder);
    slot(node, at.hooks) = Py_NewRef(Py_None);
    slot(node, at.seq) = number.release();
    slot(node, at.outputs) = Py_NewRef(slot(recording.recorder, configuration.recorder.outputs));
    slot(node, at.edges) = edges.release();
    slot(node, at.saved) = saved.release();
    return connect(node, result);
}

bool read_edges(PyObject* places, std::vector<EdgePlace>& edges) {
    if (places == nullptr || !PyTuple_CheckExact(places)) return false;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(places); index++) {
        PyObject* place = PyTuple_GET_ITEM(places, index);
        EdgePlace made = {-1, -1};
        if (PyLong_CheckExact(place)) {
            made.place = PyLong_AsSsize_t(place);
        } else if (place != Py_None) {
            if (!PyTuple_CheckExact(place) || PyTuple_GET_SIZE(place) != 2) return false;
            made = {PyLong_AsSsize_t(PyTuple_GET_ITEM(place, 0)), PyLong_AsSsize_t(PyTuple_GET_ITEM(place, 1))};
        }
        edges.push_back(made);
    }
    return true;
}

// Only kinds that no hook and no check looks at are taken.
bool read_saves(PyObject* saves, std::vector<Save>& to) {
    if (saves == nullptr || !PyTuple_CheckExact(saves)) return false;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(saves); index++) {
        PyObject* one = PyTuple_GET_ITEM(saves, index);
        const auto& at = configuration.save;
        if (!Py_IS_TYPE(one, configuration.save_type) || !PyLong_CheckExact(slot(one, at.source))) return false;
        PyObject* kind = slot(one, at.kind);
        Save made = {Save::TENSOR, PyLong_AsSsize_t(slot(one, at.source))};
        if (kind == configuration.save_scalar) {
            made.kind = Save::SCALAR;
        } else if (kind == configuration.save_offset) {
            made.kind = Save::OFFSET;
        } else if (kind == configuration.save_result) {
            made.kind = Save::RESULT;
        } else if (kind != configuration.save_tensor) {
            return false;
        }
        to.push_back(made);
    }
    return true;
}

bool has_array(PyObject* tensor) {
    PyObject* array = tensor == Py_None ? nullptr : slot(tensor, configuration.tensor.array);
    return array != nullptr && PyArray_CheckExact(array);
}

bool saves_results(const Recording& recording) {
    for (const Save& one : recording.saves)
        if (one.kind == Save::RESULT) return true;
    return false;
}

// True when results are as many as the node has outputs, and have what it saves of them.
bool is_made_for(const Recording& recording, PyObject* result) {
    const bool checked = saves_results(recording);
    if (recording.single || !PyTuple_CheckExact(result)) return recording.single && (!checked || has_array(result));
    PyObject* outputs = slot(recording.recorder, configuration.recorder.outputs);
    if (!PyTuple_CheckExact(outputs) || PyTuple_GET_SIZE(outputs) < PyTuple_GET_SIZE(result)) return false;
    for (const Save& one : recording.saves)
        if (one.kind == Save::RESULT &&
            (one.place >= PyTuple_GET_SIZE(result) || !has_array(PyTuple_GET_ITEM(result, one.place))))
            return false;
    return true;
}

}  // namespace

bool plan_recording(PyObject* record, Recording& to) {
    if (configuration.after == nullptr || !PyMethod_Check(record)) return false;
    if (PyMethod_GET_FUNCTION(record) != configuration.after) return false;
    const auto& at = configuration.recorder;
    to.recorder = PyMethod_GET_SELF(record);
    to.cls = reinterpret_cast<PyTypeObject*>(slot(to.recorder, at.cls));
    to.single = slot(to.recorder, at.single) == Py_True;
    return slot(to.recorder, at.plain) == Py_True && read_edges(slot(to.recorder, at.edges), to.edges) &&
           read_saves(slot(to.recorder, at.saves), to.saves);
}

int record_call(const Program& program, Call& call, PyObject* result) {
    if (program.records && is_made_for(program.recording, result) &&
        PyDict_GetItemWithError(configuration.anomaly, configuration.enabled_name) == Py_False)
        return record_plain(program.recording, call, result);
    if (call.flat() == nullptr) return -1;
    PyObject* const given[2] = {call.flat(), result};
    Ref recorded(into_python<PyObject_Vectorcall>(program.record, given, 2, nullptr));
    return recorded ? 0 : -1;
}

}  // namespace mindtorch
