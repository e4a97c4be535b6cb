// Running of a node's formulas, and what the backward loop asks of nodes and gradients.
#pragma once

#include "call/program.h"

namespace mindtorch {

// Owned references that are given back when the scope is left; null where there is none. A few lie in the object
// itself.
class Refs {
public:
    Refs() = default;
    Refs(const Refs&) = delete;
    Refs& operator=(const Refs&) = delete;
    ~Refs() { clear(); }

    size_t size() const { return count_; }
    PyObject* operator[](size_t index) const { return index < SKINNY ? few_[index] : more_[index - SKINNY]; }

    // Takes the reference over.
    void set(size_t index, PyObject* owned) {
        PyObject* old = at(index);
        at(index) = owned;
        Py_XDECREF(old);
    }

    PyObject* take(size_t index) {
        PyObject* owned = at(index);
        at(index) = nullptr;
        return owned;
    }

    void grow(size_t count) {
        if (count <= count_) return;
        if (count > SKINNY) more_.resize(count - SKINNY, nullptr);
        count_ = count;
    }

    // Take all of another's references over, in place of none.
    void take_all(Refs& other) {
        for (size_t index = 0; index < SKINNY; index++) few_[index] = other.few_[index], other.few_[index] = nullptr;
        more_.swap(other.more_);
        count_ = other.count_;
        other.count_ = 0;
    }

    void clear() {
        const size_t count = count_;
        for (size_t index = 0; index < count; index++) set(index, nullptr);
        count_ = 0;
        more_.clear();
    }

private:
    static constexpr size_t SKINNY = 3;

    PyObject*& at(size_t index) { return index < SKINNY ? few_[index] : more_[index - SKINNY]; }

    size_t count_ = 0;
    PyObject* few_[SKINNY] = {};
    std::vector<PyObject*> more_;
};

// True for the node of a table op, when its formulas are run here.
bool runs_natively(PyObject* node);

// The sort of a node, as far as the loop treats it differently.
enum NodeSort { OP_NODE, LEAF_NODE, OTHER_NODE };

inline NodeSort sort_of(PyObject* node) {
    if (Py_TYPE(node) == configuration.leaf_type) return LEAF_NODE;
    return PyObject_TypeCheck(node, configuration.node_type) ? OP_NODE : OTHER_NODE;
}

// One gradient per edge into `answers`, for gradients of the outputs, which are given back; with `wanted`, an entry per
// edge, only for those that it says. -1 with an error set.
int run_formulas(PyObject* node, Refs& grads, const std::vector<char>* wanted, Refs& answers);

// The spec of output `number` of `node` as a new reference, None where it is not known.
PyObject* output_spec(PyObject* node, NodeSort sort, Py_ssize_t number);

// The sum of two gradients, the first of which is given back: added in place where nothing else sees its memory.
PyObject* add_gradients(PyObject* have, PyObject* grad);

// Make `grad` the gradient of the leaf behind `node` where nothing else can see it. 1: done, and the reference is
// taken; 0: Python's to do; -1 with an error set.
int accumulate(PyObject* node, PyObject* grad);

}  // namespace mindtorch
