// What the executor does with a plan, read out of its slots once, and the call that it does it for.
#pragma once

#include "call/tensor.h"

#include <vector>

#include "mindtorch/kernel.h"

namespace mindtorch {

constexpr Py_ssize_t MOST_OPERANDS = 16;

// A call's values, positional ones first: where they lie and, once Python asks for it, the tuple of them.
class Call {
public:
    Call(PyObject* const* arguments, Py_ssize_t count, PyObject* flat = nullptr)
        : arguments_(arguments), count_(count), flat_(Py_XNewRef(flat)) {}

    Py_ssize_t count() const { return count_; }
    PyObject* operator[](Py_ssize_t place) const { return arguments_[place]; }
    PyObject* const* begin() const { return arguments_; }

    // The tuple, borrowed; null with an error set.
    PyObject* flat() {
        if (flat_) return flat_.get();
        PyObject* made = PyTuple_New(count_);
        if (made == nullptr) return nullptr;
        for (Py_ssize_t place = 0; place < count_; place++) PyTuple_SET_ITEM(made, place, Py_NewRef(arguments_[place]));
        flat_.reset(made);
        return made;
    }

private:
    PyObject* const* arguments_;
    Py_ssize_t count_;
    Ref flat_;
};

// `index` in the kernel's arguments is what the call has at `place`.
struct Routed {
    Py_ssize_t index, place;
};

// `index` in the kernel's arguments is the plan's own value, unless the call has another.
struct Constant {
    Py_ssize_t index;
    PyObject* value;
};

// An edge of the node: the tensor at `place`, or the one at `item` of the list there. -1: none.
struct EdgePlace {
    Py_ssize_t place, item;
};

struct Save {
    enum Kind { TENSOR, SCALAR, OFFSET, RESULT } kind;
    Py_ssize_t place;  // in the call, or the number of the result
};

// How calls are recorded without Python.
struct Recording {
    PyObject* recorder;
    PyTypeObject* cls;
    bool single;  // one result, and no tuple
    std::vector<EdgePlace> edges;
    std::vector<Save> saves;
};

struct Output {
    PyObject* sig;  // null for an output that is not made
    PyObject* shape;
    PyArray_Descr* dtype;
    PyObject* alloc;  // null where numpy allocates
    PyObject* offset;
    std::vector<npy_intp> extents;
    size_t small_bytes;  // 0 for what numpy had better allocate
};

// Borrows what its plan holds, and lives in one of the plan's slots.
struct Program {
    enum Way {
        PYTHON,
        KERNEL,
        KERNEL_OUTPUTS,
        INPLACE,
        VIEW,
        VIEWS,
        COMPOSITE,
        RECORD_KERNEL,
        RECORD_INPLACE,
        RECORD_VIEW
    } way = PYTHON;
    PyObject* plan = nullptr;
    PyTypeObject* cls = nullptr;
    Py_ssize_t count = 0;         // of the kernel's values
    std::vector<Constant> fixed;  // those that no tensor of the call takes the place of
    std::vector<Routed> tensors, scalars, lists;
    bool prepares = false;  // what is left to fill in is Python's to do
    bool wraps = false;     // ints among the scalars are wrapped to the dtype: Python's too
    std::vector<Output> outputs;
    PyObject* kernel = nullptr;                // a Python object
    const mindtorch_kernel* native = nullptr;  // what runs first, null where there is none
    PyObject* before = nullptr;
    bool looks_apart = false;    // `before` does nothing but look at operands that share memory with the target
    PyObject* record = nullptr;  // null where nothing is recorded
    PyObject* pack = nullptr;    // null where the tuple itself is the result
    bool records = false;        // by `recording`
    Recording recording;
    Py_ssize_t source = -1;
    PyObject* creation = nullptr;  // null where no history of views is kept
    bool follows = false;
};

// The program of a plan, made when first asked for; null with an error set.
Program* program_of(PyObject* plan);

// Run the plan's kernel; arguments[0] is its output. -1 with an error set. Floating-point flags make no warnings.
int run_kernel_of(const Program& program, PyObject* const* arguments, Py_ssize_t count);

// Fill in how `record` of a plan with results of one kind is done here; false when Python must.
bool plan_recording(PyObject* record, Recording& recording);

// Record a call that made `result`; -1 with an error set.
int record_call(const Program& program, Call& call, PyObject* result);

// What a call's plan gives; null with an error set.
PyObject* execute(Program& program, Call& call);

// The ways of a pipeline: put the call down, to be run later. Null without an error: Python's to do.
PyObject* record_kernel(const Program& program, Call& call);
PyObject* record_inplace(const Program& program, Call& call);
PyObject* record_view(const Program& program, Call& call);

// This thread's mode, borrowed; null with an error set.
PyObject* current_mode();

// What records this thread's calls, None where nothing does; borrowed, null with an error set.
PyObject* current_pipe();

// How many transforms this thread's program is inside of; borrowed, null with an error set.
PyObject* current_transforms();

// The types that `is_plain` has found to be plain lately, the commonest first.
extern PyTypeObject* plain_seen[4];

// As `is_plain`, of a type that is not among the first of them.
int is_plain_otherwise(PyTypeObject* type);

// True when results of this type need no look at overrides; -1 with an error set.
inline int is_plain(PyTypeObject* type) {
    return type == plain_seen[0] || type == plain_seen[1] ? 1 : is_plain_otherwise(type);
}

// Note that a kernel has written a tensor; -1 with an error set.
int bump_version(PyObject* tensor);

// What a tensor without history is made of, all borrowed; array and storage null for one that waits for `pipe`.
struct NewTensor {
    PyObject *sig, *array, *storage, *offset, *counter, *pipe = nullptr;
};

PyObject* new_tensor(PyTypeObject* cls, const NewTensor& of);

// The storage of a tensor, made where nobody asked for it before; null with an error set.
PyObject* storage_of(PyObject* tensor);

// A tensor without history over the bytes and the version counter of another one of the same class. Null without an
// error: Python's to make.
PyObject* alias_of(PyObject* tensor);

// A view of `base` that `output` describes, `offset` elements from where `base` starts. Null without an error:
// Python's.
PyObject* make_view(const Program& program, PyObject* base, const Output& output, Py_ssize_t offset);

// The array of a view over a storage's buffer, `offset` elements in; null without an error where Python must make it.
PyObject* array_over(PyObject* buffer, const Output& output, Py_ssize_t offset);

// Note what a view is a view of; -1 with an error set.
int relate(const Program& program, PyObject* base, PyObject* view);

// The offset of a view in elements: 1 and `offset` filled in, 0 where Python must say, -1 with an error set.
int view_offset(PyObject* rule, PyObject* const* values, Py_ssize_t count, Py_ssize_t& offset);

}  // namespace mindtorch
