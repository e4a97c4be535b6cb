// Operators of a device whose vendor computes in two phases: what was planned once is launched again without Python.
//
// The backend plans a call (phase 1) and gives the vendor's executor here, under a key of all that shaped it: geometry,
// numbers, and which arguments are the same memory. A later call of the same key gets the new addresses and is launched
// (phase 2) by the vendor's functions themselves. Nothing here knows an operator.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mindtorch/entry.h"
#include "mindtorch/kernel.h"
#include "call/interface.h"

namespace mindtorch {

using Words = std::vector<int64_t>;

struct WordsHash {
    size_t operator()(const Words& words) const;
};

// One call's arguments as the cache sees them.
struct Reading {
    Words key;
    std::vector<uint64_t> addresses;  // of all tensors in order, those of lists too
    long device = -1;
    bool complete = false;
};

struct Operator;

// An executor that may run many times, with the tensors' descriptors that it was planned with.
struct Planned {
    ~Planned();
    void* executor = nullptr;
    uint64_t size = 0;                // of the workspace
    std::vector<uint64_t> places;     // per tensor: where it is among the arguments
    std::vector<int64_t> inside;      // per tensor: the element of a list, -1 for one that stands alone
    std::vector<void*> handles;       // per tensor: its descriptor, or its list's
    std::vector<uint64_t> addresses;  // those that the executor has now
    PyObject* kept = nullptr;         // given back to `release`
    PyObject* release = nullptr;
    bool busy = false;
    Operator* of = nullptr;
    std::list<Planned*>::iterator turn;
    const Words* key = nullptr;
};

// One backend's launches; a Python object.
struct Launches {
    PyObject_HEAD struct State* state;
};

// The backend's part: its classes, functions and settings.
struct State {
    PyTypeObject* array_type = nullptr;
    PyTypeObject* allocation_type = nullptr;
    struct {
        Py_ssize_t storage, dtype, shape, steps, offset;
    } array = {};
    struct {
        Py_ssize_t address, device, nbytes;
    } allocation = {};
    // Python's: code_of(dtype), stream_of(device), take(device, size, stream), give(device, address),
    // refused(name, phase, code), release(kept), append(name), counts[name].
    PyObject *code_of = nullptr, *stream_of = nullptr, *take = nullptr, *give = nullptr, *refused = nullptr,
             *release = nullptr, *append = nullptr, *counts = nullptr;
    size_t most = 0;
    bool unlocked = false;                             // Python's lock is released while the vendor launches
    uint64_t current = 1;                              // counts changes of what is current in a thread
    uint64_t generation = 1;                           // counts how often all was forgotten
    std::list<Planned*> turns;                         // the least lately used first
    std::vector<std::pair<PyObject*, int64_t>> codes;  // of dtypes
};

// One of the vendor's operators; a Python object.
struct Operator {
    PyObject_HEAD Launches* launches;
    PyObject* name;
    struct OperatorState* state;
};

struct OperatorState {
    std::string kinds;  // a letter per argument: T tensor, L list of tensors, v anything that is passed as it is
    std::string needs;  // per argument: ' ' nothing, '1' a dimension, 'c' no gaps, 'b' both
    // The vendor's: the second phase, and what replaces the address of a tensor, or of a list's element.
    int (*run)(void*, uint64_t, void*, void*) = nullptr;
    int (*set_address)(void*, size_t, void*, void*) = nullptr;
    int (*set_element)(void*, size_t, size_t, void*, void*) = nullptr;
    std::unordered_map<Words, std::shared_ptr<Planned>, WordsHash> planned;
    std::unordered_set<size_t> seen;  // hashes of keys that came once
};

// Fill in a reading: 1 done, 0 not for the cache, -1 with an error set.
int read_arguments(Operator& of, PyObject* const* arguments, Py_ssize_t count, Reading& reading);

// Launch what was planned: 1 done, 0 nothing was planned for these arguments, -1 with an error set.
int launch_planned(Operator& of, PyObject* const* arguments, Py_ssize_t count, Reading& reading);

bool is_array_of(const State& state, PyObject* object);
bool is_empty_array(const State& state, PyObject* array);

extern PyTypeObject LaunchesType;
extern PyTypeObject OperatorType;
extern PyTypeObject FormType;

// A type of objects that Python makes and frees, without references that could make a circle.
template <typename Object>
PyTypeObject object_type(const char* name, const char* doc, destructor dealloc, PyMethodDef* methods) {
    PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
    type.tp_name = name;
    type.tp_doc = doc;
    type.tp_basicsize = sizeof(Object);
    type.tp_flags = Py_TPFLAGS_DEFAULT;
    type.tp_dealloc = dealloc;
    type.tp_methods = methods;
    return type;
}

}  // namespace mindtorch
