// Chains over lists of arrays: what Python hands over is checked here, and the elements of all items shared out.
#include "kernels/foreach.h"

#include <algorithm>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/operand.h"
#include "parallel.h"

namespace mindtorch {

namespace {

#define MINDTORCH_NAME(name, numbers) #name,
const char* const operation_names[OPERATION_COUNT] = {MINDTORCH_CHAIN_OPERATIONS(MINDTORCH_NAME)};
#undef MINDTORCH_NAME

#define MINDTORCH_NUMBERS(name, numbers) numbers,
constexpr size_t operation_numbers[OPERATION_COUNT] = {MINDTORCH_CHAIN_OPERATIONS(MINDTORCH_NUMBERS)};
#undef MINDTORCH_NUMBERS

struct Item {
    void* slots[CHAIN_SLOTS];
    size_t count;
};

struct Range {
    const char *from, *to;
    size_t item;
    bool operator<(const Range& other) const { return from < other.from; }
};

struct ChainCall {
    const ChainStep* steps;
    size_t step_count, given;
    bool written[CHAIN_SLOTS + CHAIN_TEMPORARIES];
    std::vector<double> numbers;
    std::vector<Item> items;
    std::vector<Range> targets, sources;
    int kind;
};

size_t numbers_of(unsigned char operation) { return operation < OPERATION_COUNT ? operation_numbers[operation] : 1; }

// -1 with an error set when a step names what is not there: that is a mistake of the caller's.
int check_steps(ChainCall& call) {
    const size_t slots = call.given + CHAIN_TEMPORARIES;
    for (bool& one : call.written) one = false;
    for (size_t i = 0; i < call.step_count; i++) {
        const ChainStep& step = call.steps[i];
        const size_t needed = numbers_of(step.operation);
        if (step.operation >= OPERATION_COUNT || step.out >= slots || step.a >= slots || step.b >= slots ||
            step.c >= slots || step.d >= slots || step.number + needed > call.numbers.size()) {
            PyErr_SetString(PyExc_ValueError, "a chain's step names an operation, slot or number that is not there");
            return -1;
        }
        call.written[step.out] = true;
        if (step.operation == CHAIN_adagrad) call.written[step.b] = true;
        if (step.operation == CHAIN_adam || step.operation == CHAIN_adam_stepwise)
            call.written[step.b] = call.written[step.c] = call.written[step.d] = true;
    }
    return 0;
}

int read_numbers(ChainCall& call, PyObject* numbers) {
    const Py_ssize_t count = PyTuple_GET_SIZE(numbers);
    call.numbers.assign(static_cast<size_t>(count) + 1, 0.0);
    for (Py_ssize_t i = 0; i < count; i++) {
        const double value = PyFloat_AsDouble(PyTuple_GET_ITEM(numbers, i));
        if (value == -1.0 && PyErr_Occurred()) return -1;
        call.numbers[static_cast<size_t>(i)] = value;
    }
    return 0;
}

bool same_geometry(PyArrayObject* one, PyArrayObject* other) {
    return PyArray_NDIM(one) == PyArray_NDIM(other) && PyArray_TYPE(one) == PyArray_TYPE(other) &&
           PyArray_CompareLists(PyArray_DIMS(one), PyArray_DIMS(other), PyArray_NDIM(one)) &&
           ((PyArray_IS_C_CONTIGUOUS(one) && PyArray_IS_C_CONTIGUOUS(other)) ||
            (PyArray_IS_F_CONTIGUOUS(one) && PyArray_IS_F_CONTIGUOUS(other)));
}

// The array when the loops take its elements in memory order, else null.
PyArrayObject* dense(PyObject* given) {
    if (!PyArray_CheckExact(given)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    const int type = PyArray_TYPE(array);
    const bool fits = (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_ISALIGNED(array) &&
                      PyArray_ISNOTSWAPPED(array) && PyArray_ISONESEGMENT(array);
    return fits ? array : nullptr;
}

// False when the arrays of item `index` are not for the loops.
bool read_item(ChainCall& call, PyObject* const* lists, Py_ssize_t index) {
    Item item;
    PyArrayObject* first = nullptr;
    for (size_t slot = 0; slot < call.given; slot++) {
        PyObject* given = PyList_GET_ITEM(lists[slot], index);
        PyArrayObject* array = dense(given);
        if (array == nullptr || (call.written[slot] && !PyArray_ISWRITEABLE(array))) return false;
        if (first == nullptr) first = array;
        if (array != first && !same_geometry(first, array)) return false;
        item.slots[slot] = PyArray_DATA(array);
    }
    const int kind = PyArray_TYPE(first) == NPY_FLOAT ? 0 : 1;
    if (index > 0 && kind != call.kind) return false;
    call.kind = kind;
    item.count = static_cast<size_t>(PyArray_SIZE(first));
    const npy_intp bytes = PyArray_NBYTES(first);
    for (size_t slot = 0; slot < call.given; slot++) {
        if (bytes == 0) continue;
        const char* to = static_cast<char*>(item.slots[slot]);
        if (!call.written[slot]) {
            call.sources.push_back({to, to + bytes, call.items.size()});
            continue;
        }
        for (size_t other = 0; other < call.given; other++) {
            const char* from = static_cast<char*>(item.slots[other]);
            if (from != to && from < to + bytes && to < from + bytes) return false;
        }
        call.targets.push_back({to, to + bytes, call.items.size()});
    }
    call.items.push_back(item);
    return true;
}

// False when an item writes what another one reads or writes: one after the other they would see each other's results.
bool items_are_apart(ChainCall& call) {
    std::vector<Range>& targets = call.targets;
    std::sort(targets.begin(), targets.end());
    for (size_t i = 1; i < targets.size(); i++)
        if (targets[i].from < targets[i - 1].to) return false;
    for (const Range& source : call.sources) {
        auto after = std::upper_bound(targets.begin(), targets.end(), source);
        if (after != targets.end() && after->from < source.to && after->item != source.item) return false;
        if (after != targets.begin() && (after - 1)->to > source.from && (after - 1)->item != source.item) return false;
    }
    return true;
}

void run_items(const ChainCall& call) {
    std::vector<size_t> starts(1, 0);
    for (const Item& item : call.items) starts.push_back(starts.back() + item.count);
    parallel(starts.back(), GRAIN, [&](size_t from, size_t to) {
        size_t index = static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), from) - starts.begin()) - 1;
        for (; index < call.items.size() && starts[index] < to; index++) {
            const Item& item = call.items[index];
            const size_t begin = from > starts[index] ? from - starts[index] : 0;
            const size_t end = to < starts[index + 1] ? to - starts[index] : item.count;
            chain_loops().run[call.kind](call.steps, call.step_count, item.slots, call.given, call.numbers.data(),
                                         begin, end);
        }
    });
}

}  // namespace

PyObject* chain(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 3 || !PyBytes_Check(arguments[0]) || !PyTuple_Check(arguments[1]) || !PyTuple_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "chain(steps, lists, numbers)");
        return nullptr;
    }
    ChainCall call;
    call.steps = reinterpret_cast<const ChainStep*>(PyBytes_AS_STRING(arguments[0]));
    call.step_count = static_cast<size_t>(PyBytes_GET_SIZE(arguments[0])) / sizeof(ChainStep);
    call.given = static_cast<size_t>(PyTuple_GET_SIZE(arguments[1]));
    call.kind = 0;
    if (call.given == 0 || call.given > CHAIN_SLOTS) {
        PyErr_SetString(PyExc_ValueError, "a chain has 1 to 16 lists");
        return nullptr;
    }
    PyObject* lists[CHAIN_SLOTS];
    for (size_t slot = 0; slot < call.given; slot++) {
        lists[slot] = PyTuple_GET_ITEM(arguments[1], static_cast<Py_ssize_t>(slot));
        if (!PyList_Check(lists[slot]) || PyList_GET_SIZE(lists[slot]) != PyList_GET_SIZE(lists[0])) {
            PyErr_SetString(PyExc_ValueError, "the lists of a chain are of one length");
            return nullptr;
        }
    }
    if (read_numbers(call, arguments[2]) < 0 || check_steps(call) < 0) return nullptr;
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(lists[0]); index++)
        if (!read_item(call, lists, index)) Py_RETURN_FALSE;
    if (call.items.size() > 1 && !items_are_apart(call)) Py_RETURN_FALSE;
    run_items(call);
    Py_RETURN_TRUE;
}

PyObject* chain_operations() {
    Ref names(PyTuple_New(OPERATION_COUNT));
    for (Py_ssize_t i = 0; names && i < OPERATION_COUNT; i++) {
        PyObject* name = PyUnicode_InternFromString(operation_names[i]);
        if (name == nullptr) return nullptr;
        PyTuple_SET_ITEM(names.get(), i, name);
    }
    return names.release();
}

}  // namespace mindtorch
