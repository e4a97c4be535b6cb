// The engine's loop: which node is ready next, what arrives at it. Nodes without hooks whose formulas are a
// recorder's run here, all others in Python, each by the task's own method.
#include "autograd/engine.h"

#include <algorithm>
#include <memory>

namespace mindtorch {

namespace {

// A node that takes part: what it waits for, and the gradients of its outputs that have arrived.
struct Pending {
    PyObject* node;
    NodeSort sort;
    PyObject* edges = nullptr;  // a list or tuple of (node, output number)
    Py_ssize_t waiting = 0;
    bool arrived = false;
    Refs grads;

    explicit Pending(PyObject* owned) : node(owned), sort(sort_of(owned)) {}
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    ~Pending() {
        Py_XDECREF(edges);
        Py_DECREF(node);
    }
};

struct Ready {
    unsigned long long sequence;
    size_t order, place;

    bool operator<(const Ready& other) const {  // the heap gives the greatest first
        return sequence != other.sequence ? sequence < other.sequence : order > other.order;
    }
};

class Pass {
public:
    explicit Pass(PyObject* task) : task_(task), buckets_(64, -1) {}
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    int run(PyObject* starts, PyObject* roots);

private:
    Py_ssize_t find(PyObject* node) const;
    Py_ssize_t add(PyObject* node);
    int wants(PyObject* node) const;
    int count(size_t place);
    int fill(PyObject* roots);
    int push(size_t place);
    int arrive(size_t place, Py_ssize_t number, PyObject* owned);
    int evaluate(Pending& of, Refs& answers);
    int evaluate_in_python(PyObject* node, Refs& grads, Refs& answers);
    int keeps(PyObject* node) const;
    int run_node(Pending& of, Refs& grads, Refs& answers);
    int fit(Pending& of, Refs& answers);
    int pass_on(Pending& of, Refs& answers);

    PyObject* task_;
    std::vector<std::unique_ptr<Pending>> nodes_;
    std::vector<Py_ssize_t> buckets_;
    std::vector<Ready> heap_;
    size_t order_ = 0;
};

// A node's edges as a new reference to a list or tuple of (node, output number).
PyObject* edges_of(PyObject* node, NodeSort sort) {
    if (sort == LEAF_NODE) return PyTuple_New(0);
    PyObject* known = sort == OP_NODE ? slot(node, configuration.node.edges) : nullptr;
    if (known != nullptr && (PyList_CheckExact(known) || PyTuple_CheckExact(known))) return Py_NewRef(known);
    Ref edges(PyObject_GetAttr(node, configuration.edges_name));
    return edges ? PySequence_Fast(edges.get(), "a node's edges") : nullptr;
}

// One edge, borrowed; null with an error set.
PyObject* edge_at(PyObject* edges, Py_ssize_t index) {
    PyObject* edge = PySequence_Fast_GET_ITEM(edges, index);
    if (PyTuple_Check(edge) && PyTuple_GET_SIZE(edge) == 2) return edge;
    PyErr_SetString(PyExc_SystemError, "an edge of the graph is no pair");
    return nullptr;
}

// The parts of one edge, borrowed; false with an error set.
bool read_edge(PyObject* edges, Py_ssize_t index, PyObject*& child, Py_ssize_t& number) {
    PyObject* edge = edge_at(edges, index);
    if (edge == nullptr) return false;
    child = PyTuple_GET_ITEM(edge, 0);
    number = PyLong_AsSsize_t(PyTuple_GET_ITEM(edge, 1));
    return number != -1 || !PyErr_Occurred();
}

Py_ssize_t count_outputs(PyObject* node, NodeSort sort) {
    if (sort == LEAF_NODE) return 1;
    PyObject* known = sort == OP_NODE ? slot(node, configuration.node.outputs) : nullptr;
    if (known != nullptr && PyTuple_CheckExact(known)) return PyTuple_GET_SIZE(known);
    Ref outputs(PyObject_GetAttr(node, configuration.outputs_name));
    return outputs ? PyObject_Size(outputs.get()) : -1;
}

size_t bucket_of(PyObject* node, size_t count) {
    size_t hash = (reinterpret_cast<size_t>(node) >> 4) * static_cast<size_t>(0x9E3779B97F4A7C15ULL);
    return (hash ^ hash >> (sizeof(size_t) * 4)) & (count - 1);
}

Py_ssize_t Pass::find(PyObject* node) const {
    for (size_t bucket = bucket_of(node, buckets_.size());; bucket = (bucket + 1) & (buckets_.size() - 1)) {
        const Py_ssize_t place = buckets_[bucket];
        if (place < 0 || nodes_[static_cast<size_t>(place)]->node == node) return place;
    }
}

Py_ssize_t Pass::add(PyObject* node) {
    if ((nodes_.size() + 1) * 2 > buckets_.size()) {
        buckets_.assign(buckets_.size() * 4, -1);
        for (size_t place = 0; place < nodes_.size(); place++) {
            size_t bucket = bucket_of(nodes_[place]->node, buckets_.size());
            while (buckets_[bucket] >= 0) bucket = (bucket + 1) & (buckets_.size() - 1);
            buckets_[bucket] = static_cast<Py_ssize_t>(place);
        }
    }
    size_t bucket = bucket_of(node, buckets_.size());
    while (buckets_[bucket] >= 0) bucket = (bucket + 1) & (buckets_.size() - 1);
    buckets_[bucket] = static_cast<Py_ssize_t>(nodes_.size());
    nodes_.push_back(std::make_unique<Pending>(Py_NewRef(node)));
    return buckets_[bucket];
}

// Whether the pass runs `node` or keeps what arrives at it.
int Pass::wants(PyObject* node) const {
    PyObject* needed = slot(task_, configuration.task.needed);
    if (needed == Py_None) return 1;
    const int found = PySet_Contains(needed, node);
    return found != 0 ? found : PyDict_Contains(slot(task_, configuration.task.captures), node);
}

// Count the edges that lead to the children of a node; those seen first are added.
int Pass::count(size_t place) {
    Pending& of = *nodes_[place];
    of.edges = edges_of(of.node, of.sort);
    if (of.edges == nullptr) return -1;
    for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(of.edges); index++) {
        PyObject* edge = edge_at(of.edges, index);
        if (edge == nullptr) return -1;
        PyObject* child = PyTuple_GET_ITEM(edge, 0);
        if (child == Py_None) continue;
        Py_ssize_t found = find(child);
        if (found < 0) {
            const int wanted = wants(child);
            if (wanted < 0) return -1;
            if (!wanted) continue;
            found = add(child);
        }
        nodes_[static_cast<size_t>(found)]->waiting++;
    }
    return 0;
}

int Pass::push(size_t place) {
    const Pending& of = *nodes_[place];
    Ready ready = {~0ULL, order_++, place};
    if (of.sort != LEAF_NODE) {
        Ref number(of.sort == OP_NODE ? Py_XNewRef(slot(of.node, configuration.node.seq))
                                      : PyObject_GetAttr(of.node, configuration.seq_name));
        if (!number) return -1;
        ready.sequence = PyLong_AsUnsignedLongLong(number.get());
        if (PyErr_Occurred()) return -1;
    }
    heap_.push_back(ready);
    std::push_heap(heap_.begin(), heap_.end());
    return 0;
}

// Take over a gradient of output `number`, null where undefined.
int Pass::arrive(size_t place, Py_ssize_t number, PyObject* owned) {
    Pending& to = *nodes_[place];
    Ref grad(owned);
    if (!to.arrived) {
        const Py_ssize_t outputs = count_outputs(to.node, to.sort);
        if (outputs < 0) return -1;
        to.grads.grow(static_cast<size_t>(std::max(outputs, number + 1)));
        to.arrived = true;
    }
    const auto index = static_cast<size_t>(number);
    to.grads.grow(index + 1);
    if (to.grads[index] == nullptr || !grad) {
        to.grads.set(index, grad.release());
        return 0;
    }
    PyObject* sum = add_gradients(to.grads.take(index), grad.get());
    if (sum == nullptr) return -1;
    to.grads.set(index, sum);
    return 0;
}

int Pass::fill(PyObject* roots) {
    while (PyList_GET_SIZE(roots) > 0) {
        Ref root(Py_NewRef(PyList_GET_ITEM(roots, 0)));
        if (PyList_SetSlice(roots, 0, 1, nullptr) < 0) return -1;
        if (!PyTuple_Check(root.get()) || PyTuple_GET_SIZE(root.get()) != 3) {
            PyErr_SetString(PyExc_SystemError, "a root of a backward pass has three parts");
            return -1;
        }
        const Py_ssize_t place = find(PyTuple_GET_ITEM(root.get(), 0));
        const Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(root.get(), 1));
        Ref grad(Py_NewRef(PyTuple_GET_ITEM(root.get(), 2)));
        root.reset(nullptr);
        if (place < 0 || number < 0) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_SystemError, "a root of a backward pass that does not start it");
            return -1;
        }
        if (arrive(static_cast<size_t>(place), number, grad.get() == Py_None ? nullptr : grad.release()) < 0) return -1;
    }
    return 0;
}

// Fit the gradients of a node's inputs to these.
int Pass::fit(Pending& of, Refs& answers) {
    for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(of.edges); index++) {
        PyObject* child;
        Py_ssize_t number;
        if (!read_edge(of.edges, index, child, number)) return -1;
        PyObject* grad = answers[static_cast<size_t>(index)];
        if (grad == nullptr || child == Py_None) continue;
        Ref spec(output_spec(child, sort_of(child), number));
        if (!spec) return -1;
        if (spec.get() == Py_None) continue;
        if (is_plain(Py_TYPE(grad)) == 1) {
            PyObject* sig = signature_of(grad);
            if (sig != nullptr && spec_of(sig) == spec.get()) continue;
        }
        Ref place(PyLong_FromSsize_t(index));
        if (!place) return -1;
        PyObject* const given[4] = {grad, spec.get(), of.node, place.get()};
        PyObject* fitted = into_python<PyObject_Vectorcall>(configuration.fit, given, 4, nullptr);
        if (fitted == nullptr) return -1;
        answers.set(static_cast<size_t>(index), fitted);
    }
    return 0;
}

// Whether the pass keeps what arrives at `node`, or may not run it.
int Pass::keeps(PyObject* node) const {
    PyObject* needed = slot(task_, configuration.task.needed);
    if (needed == Py_None) return 0;
    const int runs = PySet_Contains(needed, node);
    if (runs <= 0) return runs < 0 ? -1 : 1;
    return PyDict_Contains(slot(task_, configuration.task.captures), node);
}

int Pass::run_node(Pending& of, Refs& grads, Refs& answers) {
    std::vector<char> wanted;
    const bool all = slot(task_, configuration.task.needed) == Py_None;
    for (Py_ssize_t index = 0; !all && index < PySequence_Fast_GET_SIZE(of.edges); index++) {
        PyObject* child;
        Py_ssize_t number;
        if (!read_edge(of.edges, index, child, number)) return -1;
        wanted.push_back(child != Py_None && find(child) >= 0);
    }
    PyObject* edges = slot(slot(of.node, configuration.node.recorder), configuration.recorder.edges);
    if (!all && static_cast<Py_ssize_t>(wanted.size()) != PyTuple_GET_SIZE(edges)) {
        PyErr_SetString(PyExc_SystemError, "a recorder's edges are not its node's");
        return -1;
    }
    if (run_formulas(of.node, grads, all ? nullptr : &wanted, answers) < 0) return -1;
    grads.clear();
    if (static_cast<Py_ssize_t>(answers.size()) != PySequence_Fast_GET_SIZE(of.edges)) {
        PyErr_SetString(PyExc_SystemError, "a recorder's edges are not its node's");
        return -1;
    }
    if (fit(of, answers) < 0) return -1;
    PyObject* recorder = slot(of.node, configuration.node.recorder);
    if (slot(task_, configuration.task.keep_graph) == Py_False &&
        slot(recorder, configuration.recorder.saves_tensors) == Py_True)
        Py_XSETREF(slot(of.node, configuration.node.saved), Py_NewRef(Py_None));
    return 0;
}

int Pass::evaluate_in_python(PyObject* node, Refs& grads, Refs& answers) {
    Ref given(PyList_New(static_cast<Py_ssize_t>(grads.size())));
    if (!given) return -1;
    for (size_t index = 0; index < grads.size(); index++) {
        PyObject* grad = grads.take(index);
        PyList_SET_ITEM(given.get(), static_cast<Py_ssize_t>(index), grad == nullptr ? Py_NewRef(Py_None) : grad);
    }
    PyObject* const call[3] = {task_, node, given.get()};
    Ref result(into_python<PyObject_VectorcallMethod>(configuration.evaluate_name, call, 3, nullptr));
    if (!result) return -1;
    given.reset(nullptr);
    Ref all(PySequence_Fast(result.get(), "a node's gradients"));
    if (!all) return -1;
    answers.grow(static_cast<size_t>(PySequence_Fast_GET_SIZE(all.get())));
    for (size_t index = 0; index < answers.size(); index++) {
        PyObject* answer = PySequence_Fast_GET_ITEM(all.get(), static_cast<Py_ssize_t>(index));
        if (answer != Py_None) answers.set(index, Py_NewRef(answer));
    }
    return 0;
}

// Run a node; one gradient per edge, or none at all.
int Pass::evaluate(Pending& of, Refs& answers) {
    Refs grads;
    grads.take_all(of.grads);
    if (!of.arrived) {
        const Py_ssize_t outputs = count_outputs(of.node, of.sort);
        if (outputs < 0) return -1;
        grads.grow(static_cast<size_t>(std::max<Py_ssize_t>(1, outputs)));
    }
    const bool leaf = of.sort == LEAF_NODE;
    bool plain = leaf || (of.sort == OP_NODE && runs_natively(of.node));
    plain = plain && slot(of.node, leaf ? configuration.leaf.hooks : configuration.node.hooks) == Py_None;
    const int kept = plain ? keeps(of.node) : 0;
    if (kept < 0) return -1;
    if (plain && kept == 0) {
        Py_XSETREF(slot(task_, configuration.task.node), Py_NewRef(of.node));
        if (!leaf) return run_node(of, grads, answers);
        PyObject* grad = grads.size() == 1 ? grads[0] : nullptr;
        const int done = grad == nullptr ? 0 : accumulate(of.node, grad);
        if (done == 1) grads.take(0);
        if (done != 0) return done < 0 ? -1 : 0;
    }
    return evaluate_in_python(of.node, grads, answers);
}

int Pass::pass_on(Pending& of, Refs& answers) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(of.edges);
    if (answers.size() != 0 && static_cast<Py_ssize_t>(answers.size()) < count) {
        PyErr_SetString(PyExc_IndexError, "list index out of range");
        return -1;
    }
    for (Py_ssize_t index = 0; answers.size() != 0 && index < count; index++) {
        PyObject* child;
        Py_ssize_t number;
        if (!read_edge(of.edges, index, child, number)) return -1;
        const Py_ssize_t found = child == Py_None ? -1 : find(child);
        if (found < 0) continue;
        const auto place = static_cast<size_t>(found);
        PyObject* grad = answers.take(static_cast<size_t>(index));
        if (grad != nullptr && arrive(place, number, grad) < 0) return -1;
        if (--nodes_[place]->waiting == 0 && push(place) < 0) return -1;
    }
    return 0;
}

int Pass::run(PyObject* starts, PyObject* roots) {
    const Py_ssize_t count_of_starts = PyList_GET_SIZE(starts);
    for (Py_ssize_t index = 0; index < count_of_starts; index++) add(PyList_GET_ITEM(starts, index));
    for (size_t place = 0; place < nodes_.size(); place++)
        if (count(place) < 0) return -1;
    if (fill(roots) < 0) return -1;
    for (Py_ssize_t place = 0; place < count_of_starts; place++)
        if (nodes_[static_cast<size_t>(place)]->waiting == 0 && push(static_cast<size_t>(place)) < 0) return -1;
    while (!heap_.empty()) {
        std::pop_heap(heap_.begin(), heap_.end());
        const size_t place = heap_.back().place;
        heap_.pop_back();
        Refs answers;
        if (evaluate(*nodes_[place], answers) < 0 || pass_on(*nodes_[place], answers) < 0) return -1;
    }
    return 0;
}

}  // namespace

PyObject* propagate(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 3 || configuration.after == nullptr || !PyList_CheckExact(arguments[1]) ||
        !PyList_CheckExact(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "propagate(task, starts, roots), after install() with autograd");
        return nullptr;
    }
    Pass pass(arguments[0]);
    if (pass.run(arguments[1], arguments[2]) < 0) return nullptr;
    Py_RETURN_NONE;
}

}  // namespace mindtorch
