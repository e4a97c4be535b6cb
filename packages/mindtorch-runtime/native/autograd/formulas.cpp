// As a recorder's `backward`, and the commonest cases of the accumulation of gradients.
#include "autograd/engine.h"

#include <memory>

namespace mindtorch {

namespace {

constexpr const char* CAPSULE = "mindtorch_runtime._native.formulas";

struct Formula {
    PyObject* function;
    std::vector<Py_ssize_t> places, targets, counts;
    Py_ssize_t needs;
    bool listed, wants_first;
};

// Borrows what its recorder holds, and lives in one of the recorder's slots.
struct Formulas {
    bool known = false;  // otherwise Python runs them
    bool plain = false;  // what was saved is put at its places here
    std::vector<Py_ssize_t> places;
    std::vector<Formula> all;
};

bool read_places(PyObject* from, std::vector<Py_ssize_t>& to) {
    Ref numbers(PySequence_Fast(from, "places"));
    if (!numbers) return false;
    for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(numbers.get()); index++)
        to.push_back(PyLong_AsSsize_t(PySequence_Fast_GET_ITEM(numbers.get(), index)));
    return !PyErr_Occurred();
}

bool read_formula(PyObject* from, Formula& to) {
    if (!Py_IS_TYPE(from, configuration.formula_type)) return false;
    const auto& at = configuration.formula;
    to.function = slot(from, at.fn);
    to.listed = slot(from, at.listed) == Py_True;
    to.wants_first = slot(from, at.wants_first) == Py_True;
    to.needs = PyLong_AsSsize_t(slot(from, at.needs));
    return read_places(slot(from, at.targets), to.targets) && read_places(slot(from, at.places), to.places) &&
           read_places(slot(from, at.counts), to.counts) && to.places.size() <= MOST_OPERANDS &&
           (to.listed || !to.targets.empty());
}

bool read_formulas(PyObject* recorder, Formulas& to) {
    const auto& at = configuration.recorder;
    PyObject *formulas = slot(recorder, at.formulas), *saves = slot(recorder, at.saves);
    if (!PyList_CheckExact(formulas) || !PyTuple_CheckExact(saves) ||
        !PyList_CheckExact(slot(recorder, at.environment)))
        return false;
    to.plain = slot(recorder, at.plain) == Py_True;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(saves); index++) {
        PyObject* save = PyTuple_GET_ITEM(saves, index);
        if (!Py_IS_TYPE(save, configuration.save_type)) return false;
        to.places.push_back(PyLong_AsSsize_t(slot(save, configuration.save.place)));
    }
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(formulas); index++) {
        to.all.emplace_back();
        if (!read_formula(PyList_GET_ITEM(formulas, index), to.all.back())) return false;
    }
    return !PyErr_Occurred();
}

void free_formulas(PyObject* capsule) { delete static_cast<Formulas*>(PyCapsule_GetPointer(capsule, CAPSULE)); }

Formulas* formulas_of(PyObject* recorder) {
    PyObject*& native = slot(recorder, configuration.recorder.native);
    if (native != nullptr && PyCapsule_CheckExact(native))
        return static_cast<Formulas*>(PyCapsule_GetPointer(native, CAPSULE));
    auto made = std::make_unique<Formulas>();
    made->known = read_formulas(recorder, *made);
    PyErr_Clear();
    PyObject* capsule = PyCapsule_New(made.get(), CAPSULE, free_formulas);
    if (capsule == nullptr) return nullptr;
    Py_XSETREF(native, capsule);
    return made.release();
}

bool holds(PyObject* mode, Py_ssize_t field) { return slot(mode, field) == Py_True; }

bool handles(PyObject* mode) { return PyTuple_GET_SIZE(slot(mode, configuration.mode.dispatch_modes)) > 0; }

bool is_results_class(PyObject* tensor) {
    return reinterpret_cast<PyObject*>(Py_TYPE(tensor)) == PyList_GET_ITEM(configuration.tensor_class, 0);
}

bool same_version(PyObject* one, PyObject* other) {
    return one == other || PyObject_RichCompareBool(one, other, Py_EQ) == 1;
}

// The tensor that a node kept of its own result, without its history; null where Python has to look at it.
PyObject* saved_result(PyObject* item, PyObject* version) {
    PyObject* mode = current_mode();
    if (Py_TYPE(item) != configuration.result_type || mode == nullptr || holds(mode, configuration.mode.grad) ||
        handles(mode))
        return nullptr;
    PyObject* alias = slot(item, configuration.result.alias);
    if (!is_results_class(alias)) return nullptr;
    PyObject* now = version_of(alias);
    return now != nullptr && same_version(now, version) ? Py_NewRef(alias) : nullptr;
}

// Check that nobody wrote into what was saved, and put it at its places of the environment; -1 with an error set.
int put_saved(PyObject* node, const Formulas& formulas, PyObject* saved, PyObject* environment) {
    PyObject* recorder = slot(node, configuration.node.recorder);
    if (!formulas.plain || PyList_GET_SIZE(saved) != static_cast<Py_ssize_t>(2 * formulas.places.size())) {
        PyObject* const given[4] = {recorder, node, saved, environment};
        Ref done(into_python<PyObject_VectorcallMethod>(configuration.unpack_name, given, 4, nullptr));
        return done ? 0 : -1;
    }
    for (size_t index = 0; index < formulas.places.size(); index++) {
        PyObject* item = PyList_GET_ITEM(saved, static_cast<Py_ssize_t>(2 * index));
        PyObject* version = PyList_GET_ITEM(saved, static_cast<Py_ssize_t>(2 * index + 1));
        PyObject* value = nullptr;
        if (version == Py_None) {
            value = Py_NewRef(item);
        } else {
            const bool tensor = is_plain(Py_TYPE(item)) == 1;
            PyObject* now = tensor ? version_of(item) : nullptr;
            if (now != nullptr && same_version(now, version)) {
                value = Py_NewRef(item);
            } else {
                value = saved_result(item, version);
            }
            if (value == nullptr) {
                PyObject* const given[3] = {node, item, version};
                value = into_python<PyObject_Vectorcall>(configuration.unpack, given, 3, nullptr);
                if (value == nullptr) return -1;
            }
        }
        if (PyList_SetItem(environment, formulas.places[index], value) < 0) return -1;
    }
    return 0;
}

// Whether anything that the formula computes is wanted.
bool is_wanted(const Formula& formula, const std::vector<char>& wanted) {
    for (const Py_ssize_t target : formula.targets)
        if (wanted[static_cast<size_t>(target)]) return true;
    return false;
}

// Tell the formula which of its arguments need a gradient.
int put_needs(const Formula& formula, const std::vector<char>& wanted, PyObject* environment) {
    Ref needs(PyTuple_New(static_cast<Py_ssize_t>(formula.counts.size())));
    if (!needs) return -1;
    size_t next = 0;
    for (size_t argument = 0; argument < formula.counts.size(); argument++) {
        bool needed = false;
        for (Py_ssize_t left = formula.counts[argument]; left > 0; left--)
            if (wanted[static_cast<size_t>(formula.targets[next++])]) needed = true;
        PyTuple_SET_ITEM(needs.get(), static_cast<Py_ssize_t>(argument), PyBool_FromLong(needed));
    }
    return PyList_SetItem(environment, formula.needs, needs.release());
}

int spread(PyObject* recorder, const Formula& formula, PyObject* given, const std::vector<char>* wanted,
           Refs& answers) {
    Ref listed(PySequence_Fast(given, "a formula for several arguments returns a tuple"));
    if (!listed) return -1;
    if (PySequence_Fast_GET_SIZE(listed.get()) != static_cast<Py_ssize_t>(formula.targets.size())) {
        PyErr_SetString(PyExc_ValueError, "a formula returned another number of gradients than it is for");
        return -1;
    }
    PyObject* edges = slot(recorder, configuration.recorder.edges);
    for (size_t index = 0; index < formula.targets.size(); index++) {
        const Py_ssize_t target = formula.targets[index];
        PyObject* answer = PySequence_Fast_GET_ITEM(listed.get(), static_cast<Py_ssize_t>(index));
        if (PyTuple_GET_ITEM(edges, target) == Py_None || answer == Py_None) continue;
        if (wanted == nullptr || (*wanted)[static_cast<size_t>(target)]) answers.set(target, Py_NewRef(answer));
    }
    return 0;
}

int run_all(PyObject* node, const Formulas& formulas, PyObject* environment, const std::vector<char>* wanted,
            Refs& answers) {
    PyObject* recorder = slot(node, configuration.node.recorder);
    const bool first = PyList_GET_ITEM(environment, 1) != Py_None;
    for (const Formula& formula : formulas.all) {
        if (!first && formula.wants_first) continue;
        if (wanted != nullptr) {
            if (!is_wanted(formula, *wanted)) continue;
            if (formula.needs >= 0 && put_needs(formula, *wanted, environment) < 0) return -1;
        }
        PyObject* values[MOST_OPERANDS];
        for (size_t index = 0; index < formula.places.size(); index++)
            values[index] = PyList_GET_ITEM(environment, formula.places[index]);
        Ref given(into_python<PyObject_Vectorcall>(formula.function, values, formula.places.size(), nullptr));
        if (!given) return -1;
        if (formula.listed) {
            if (spread(recorder, formula, given.get(), wanted, answers) < 0) return -1;
        } else if (given.get() != Py_None) {
            answers.set(static_cast<size_t>(formula.targets[0]), given.release());
        }
    }
    return 0;
}

// The gradients as a list, None where undefined.
PyObject* listed(Refs& grads) {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(grads.size()));
    if (list == nullptr) return nullptr;
    for (size_t index = 0; index < grads.size(); index++) {
        PyObject* grad = grads.take(index);
        PyList_SET_ITEM(list, static_cast<Py_ssize_t>(index), grad == nullptr ? Py_NewRef(Py_None) : grad);
    }
    return list;
}

bool is_whole(PyObject* tensor, PyObject* array) {
    return array != nullptr && PyArray_CheckExact(array) && is_unshared(array) &&
           PyArray_BASE(reinterpret_cast<PyArrayObject*>(array)) == nullptr &&
           slot(tensor, configuration.tensor.view) == Py_None && slot(tensor, configuration.tensor.storage) == Py_None;
}

// True for a tensor without history to which there is one reference.
bool is_single(PyObject* tensor) {
    if (!is_results_class(tensor) || !is_unshared(tensor)) return false;
    PyObject* sig = signature_of(tensor);
    return sig != nullptr && slot(sig, configuration.signature.requires_grad) == Py_False &&
           slot(tensor, configuration.tensor.grad_fn) == Py_None;
}

// True when nothing but the one reference to it sees the memory of a tensor without history.
bool is_unshared_tensor(PyObject* tensor) {
    return is_single(tensor) && is_whole(tensor, slot(tensor, configuration.tensor.array));
}

// True for a view of a tensor that nothing else sees, either.
bool is_unshared_view(PyObject* tensor) {
    if (!is_single(tensor)) return false;
    PyObject *view = history_of(tensor), *storage = known_storage_of(tensor);
    PyObject* array = slot(tensor, configuration.tensor.array);
    if (view == nullptr || view == Py_None || storage == nullptr || storage == Py_None || array == nullptr)
        return false;
    PyObject* base = tensor_in(view, configuration.view.base, "base");
    PyObject* whole = slot(base, configuration.tensor.array);
    if (!PyArray_CheckExact(array) || whole == nullptr || !PyArray_CheckExact(whole)) return false;
    // The storage is the view's and its base's; the base's array is what the storage's bytes refer to, and maybe the
    // view's.
    const Py_ssize_t known = 2 + (PyArray_BASE(reinterpret_cast<PyArrayObject*>(array)) == whole);
    return is_unshared(array) && is_unshared(base) && is_unshared(whole, known) && is_unshared(storage, 2) &&
           slot(base, configuration.tensor.storage) == storage;
}

// True when `with` may be added to `sum` in place: nothing else sees the memory of the sum, and both are alike.
bool is_writable(PyObject* sum, PyObject* with) {
    if (!is_results_class(with) || slot(sum, configuration.tensor.sig) != slot(with, configuration.tensor.sig))
        return false;
    if (is_unshared_tensor(sum)) return true;
    if (!is_unshared_view(sum)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(slot(sum, configuration.tensor.array));
    return PyArray_ISONESEGMENT(array) && PyArray_ISWRITEABLE(array);  // views may repeat elements
}

bool is_empty(PyObject* hooks) {
    if (hooks == nullptr || hooks == Py_None) return true;
    const int some = PyObject_IsTrue(hooks);
    if (some < 0) PyErr_Clear();
    return some == 0;
}

}  // namespace

bool runs_natively(PyObject* node) {
    PyObject* recorder = slot(node, configuration.node.recorder);
    PyObject* saved = slot(node, configuration.node.saved);
    return recorder != nullptr && Py_TYPE(recorder) == configuration.recorder_type && saved != nullptr &&
           PyList_CheckExact(saved);
}

int run_formulas(PyObject* node, Refs& grads, const std::vector<char>* wanted, Refs& answers) {
    PyObject* recorder = slot(node, configuration.node.recorder);
    answers.grow(static_cast<size_t>(PyTuple_GET_SIZE(slot(recorder, configuration.recorder.edges))));
    bool any = false;
    for (size_t index = 0; index < grads.size(); index++) any = any || grads[index] != nullptr;
    if (!any) return 0;
    Formulas* formulas = formulas_of(recorder);
    if (formulas == nullptr) return -1;
    PyObject* constants = slot(recorder, configuration.recorder.environment);
    Ref saved(Py_NewRef(slot(node, configuration.node.saved)));
    Ref environment(PyList_GetSlice(constants, 0, PyList_GET_SIZE(constants)));
    if (!environment || put_saved(node, *formulas, saved.get(), environment.get()) < 0) return -1;
    PyObject* all = listed(grads);
    if (all == nullptr) return -1;
    PyObject* first = PyList_GET_SIZE(all) > 0 ? PyList_GET_ITEM(all, 0) : Py_None;
    if (PyList_SetItem(environment.get(), 1, Py_NewRef(first)) < 0 || PyList_SetItem(environment.get(), 0, all) < 0)
        return -1;
    return run_all(node, *formulas, environment.get(), wanted, answers);
}

PyObject* output_spec(PyObject* node, NodeSort sort, Py_ssize_t number) {
    if (sort == LEAF_NODE) {
        PyObject* sig = signature_of(tensor_in(node, configuration.leaf.variable, "variable"));
        return Py_NewRef(sig == nullptr ? Py_None : spec_of(sig));
    }
    PyObject* known = sort == OP_NODE ? slot(node, configuration.node.outputs) : nullptr;
    if (known != nullptr && PyTuple_CheckExact(known))
        return Py_NewRef(number < PyTuple_GET_SIZE(known) ? PyTuple_GET_ITEM(known, number) : Py_None);
    Ref outputs(PyObject_GetAttr(node, configuration.outputs_name));
    if (!outputs) return nullptr;
    Ref all(PySequence_Fast(outputs.get(), "a node's outputs"));
    if (!all) return nullptr;
    if (number >= PySequence_Fast_GET_SIZE(all.get())) return Py_NewRef(Py_None);
    return Py_NewRef(PySequence_Fast_GET_ITEM(all.get(), number));
}

PyObject* add_gradients(PyObject* have, PyObject* grad) {
    Ref sum(have);
    PyObject* mode = current_mode();
    if (mode == nullptr) return nullptr;
    const bool in_place = !holds(mode, configuration.mode.grad) && !handles(mode);
    const bool into_have = in_place && is_writable(have, grad);
    const bool into_grad = in_place && !into_have && is_writable(grad, have);
    PyObject* const given[2] = {into_grad ? grad : have, into_grad ? have : grad};
    return into_python<PyObject_Vectorcall>(into_have || into_grad ? configuration.add_in_place : configuration.add,
                                            given, 2, nullptr);
}

int accumulate(PyObject* node, PyObject* grad) {
    PyObject* variable = tensor_in(node, configuration.leaf.variable, "variable");
    PyObject *meta = meta_of(variable), *mode = current_mode(), *sig = signature_of(variable);
    if (mode == nullptr || meta == nullptr || meta == Py_None || sig == nullptr) return 0;
    const auto& at = configuration.meta;
    const bool plain = slot(meta, at.grad) == Py_None && is_empty(slot(meta, at.hooks)) &&
                       is_empty(slot(meta, at.post_accumulate_hooks)) && !holds(mode, configuration.mode.grad) &&
                       !handles(mode) && slot(sig, configuration.signature.requires_grad) == Py_True;
    if (!plain || !is_results_class(grad)) return 0;
    PyObject* have = signature_of(grad);
    if (have == nullptr || spec_of(have) != spec_of(sig)) return 0;
    PyObject* taken = nullptr;
    if (is_unshared_tensor(grad)) {
        taken = Py_NewRef(grad);
    } else if (is_unshared_view(grad)) {
        taken = alias_of(grad);
        if (taken == nullptr) return PyErr_Occurred() ? -1 : 0;
    }
    if (taken == nullptr) return 0;
    Py_SETREF(slot(meta, at.grad), taken);
    Py_DECREF(grad);
    return 1;
}

}  // namespace mindtorch
