// A call's arguments as words: what a plan depends on, and the addresses that it does not.
#include <cstring>

#include "launch/launches.h"

namespace mindtorch {

namespace {

constexpr int64_t TENSOR = -101, LIST = -102, INT = -103, FLOAT = -104, BOOL = -105, NONE = -106, TEXT = -107,
                  COMPLEX = -108, SAME = -109;
constexpr size_t FEW = 32;

class Reader {
public:
    Reader(const State& state, Reading& to) : state_(const_cast<State&>(state)), to_(to) {}

    // 1 done, 0 not for the cache, -1 with an error set.
    int tensor(PyObject* array, char need);
    int tensors(PyObject* list);
    int value(PyObject* object);
    void aliases();

private:
    int numbers(PyObject* tuple);
    int code(PyObject* dtype);
    int bits(double number);
    bool gaps(size_t shape, size_t steps, size_t rank) const;

    State& state_;
    Reading& to_;
};

int Reader::numbers(PyObject* tuple) {
    if (tuple == nullptr || !PyTuple_CheckExact(tuple)) return 0;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(tuple); index++) {
        PyObject* number = PyTuple_GET_ITEM(tuple, index);
        if (!PyLong_Check(number)) return 0;
        to_.key.push_back(PyLong_AsLongLong(number));
    }
    return PyErr_Occurred() ? -1 : 1;
}

int Reader::code(PyObject* dtype) {
    for (const auto& [known, number] : state_.codes)
        if (known == dtype) {
            to_.key.push_back(number);
            return 1;
        }
    Ref found(into_python<PyObject_CallOneArg>(state_.code_of, dtype));
    if (!found) return -1;
    const int64_t number = PyLong_AsLongLong(found.get());
    if (number == -1 && PyErr_Occurred()) return -1;
    if (state_.codes.size() < 64) state_.codes.emplace_back(Py_NewRef(dtype), number);
    to_.key.push_back(number);
    return 1;
}

bool Reader::gaps(size_t shape, size_t steps, size_t rank) const {
    int64_t step = 1;
    bool found = false;
    for (size_t dim = rank; dim-- > 0;) {
        const int64_t extent = to_.key[shape + dim];
        if (extent == 0) return false;
        found = found || (extent != 1 && to_.key[steps + dim] != step);
        step *= extent;
    }
    return found;
}

int Reader::tensor(PyObject* array, char need) {
    if (Py_TYPE(array) != state_.array_type) return 0;
    const auto& at = state_.array;
    PyObject *storage = slot(array, at.storage), *shape = slot(array, at.shape), *steps = slot(array, at.steps);
    PyObject *dtype = slot(array, at.dtype), *offset = slot(array, at.offset);
    if (storage == nullptr || dtype == nullptr || offset == nullptr || !PyLong_CheckExact(offset)) return 0;
    if (Py_TYPE(storage) != configuration.storage_type) return 0;
    PyObject* block = slot(storage, configuration.storage.allocation);
    if (block == nullptr || Py_TYPE(block) != state_.allocation_type) return 0;
    PyObject *address = slot(block, state_.allocation.address), *device = slot(block, state_.allocation.device);
    PyObject* bytes = slot(block, state_.allocation.nbytes);
    for (PyObject* one : {address, device, bytes})
        if (one == nullptr || !PyLong_Check(one)) return 0;
    to_.key.push_back(TENSOR);
    if (code(dtype) < 0) return -1;
    to_.key.push_back(PyTuple_CheckExact(shape) ? PyTuple_GET_SIZE(shape) : -1);
    const size_t first = to_.key.size();
    int done = numbers(shape);
    const size_t second = to_.key.size();
    if (done == 1) done = numbers(steps);
    if (done != 1) return done;
    const size_t rank = second - first;
    if (to_.key.size() - second != rank || (rank == 0 && (need == '1' || need == 'b'))) return 0;
    if ((need == 'c' || need == 'b') && gaps(first, second, rank)) return 0;
    to_.key.push_back(PyLong_AsLongLong(offset));
    to_.key.push_back(PyLong_AsLongLong(bytes));
    to_.addresses.push_back(PyLong_AsUnsignedLongLong(address));
    const long index = PyLong_AsLong(device);
    if (PyErr_Occurred()) return -1;
    if (to_.device >= 0 && to_.device != index) return 0;
    to_.device = index;
    return 1;
}

int Reader::tensors(PyObject* list) {
    if (!PyList_CheckExact(list) && !PyTuple_CheckExact(list)) return 0;
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
    to_.key.push_back(LIST);
    to_.key.push_back(count);
    for (Py_ssize_t index = 0; index < count; index++) {
        const int done = tensor(PySequence_Fast_GET_ITEM(list, index), ' ');
        if (done != 1) return done;
    }
    return count > 0 ? 1 : 0;
}

int Reader::bits(double number) {
    int64_t word;
    static_assert(sizeof word == sizeof number);
    std::memcpy(&word, &number, sizeof word);
    to_.key.push_back(word);
    return 1;
}

int Reader::value(PyObject* object) {
    Words& key = to_.key;
    if (object == Py_None) {
        key.push_back(NONE);
        return 1;
    }
    if (PyBool_Check(object)) {
        key.push_back(BOOL);
        key.push_back(object == Py_True);
        return 1;
    }
    if (PyLong_CheckExact(object)) {
        int overflow = 0;
        key.push_back(INT);
        key.push_back(PyLong_AsLongLongAndOverflow(object, &overflow));
        return overflow == 0;
    }
    if (PyFloat_CheckExact(object)) {
        key.push_back(FLOAT);
        return bits(PyFloat_AS_DOUBLE(object));
    }
    if (PyComplex_CheckExact(object)) {
        key.push_back(COMPLEX);
        bits(PyComplex_RealAsDouble(object));
        return bits(PyComplex_ImagAsDouble(object));
    }
    if (PyUnicode_CheckExact(object)) {
        Py_ssize_t length = 0;
        const char* text = PyUnicode_AsUTF8AndSize(object, &length);
        if (text == nullptr) return -1;
        key.push_back(TEXT);
        key.push_back(length);
        for (Py_ssize_t index = 0; index < length; index++) key.push_back(text[index]);
        return 1;
    }
    if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) return 0;
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    key.push_back(LIST);
    key.push_back(count);
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject* item = PySequence_Fast_GET_ITEM(object, index);
        if (PyList_CheckExact(item) || PyTuple_CheckExact(item)) return 0;
        const int done = value(item);
        if (done != 1) return done;
    }
    return 1;
}

// An executor may be planned otherwise where two arguments are one memory: which they are is part of the key.
void Reader::aliases() {
    const std::vector<uint64_t>& all = to_.addresses;
    if (all.size() > FEW) {
        std::unordered_map<uint64_t, size_t> first;
        for (size_t index = 0; index < all.size(); index++) {
            const auto [found, fresh] = first.emplace(all[index], index);
            if (!fresh)
                to_.key.insert(to_.key.end(), {SAME, static_cast<int64_t>(index), static_cast<int64_t>(found->second)});
        }
        return;
    }
    for (size_t index = 1; index < all.size(); index++)
        for (size_t other = 0; other < index; other++)
            if (all[other] == all[index]) {
                to_.key.insert(to_.key.end(), {SAME, static_cast<int64_t>(index), static_cast<int64_t>(other)});
                break;
            }
}

}  // namespace

size_t WordsHash::operator()(const Words& words) const {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const int64_t word : words) {
        hash = (hash ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return static_cast<size_t>(hash);
}

bool is_array_of(const State& state, PyObject* object) { return Py_TYPE(object) == state.array_type; }

bool is_empty_array(const State& state, PyObject* array) {
    PyObject* shape = slot(array, state.array.shape);
    if (shape == nullptr || !PyTuple_CheckExact(shape)) return true;
    for (Py_ssize_t dim = 0; dim < PyTuple_GET_SIZE(shape); dim++)
        if (PyObject_IsTrue(PyTuple_GET_ITEM(shape, dim)) != 1) return true;
    return false;
}

int read_arguments(Operator& of, PyObject* const* arguments, Py_ssize_t count, Reading& reading) {
    const OperatorState& own = *of.state;
    if (static_cast<size_t>(count) != own.kinds.size()) return 0;
    reading.key.clear();
    reading.addresses.clear();
    reading.device = -1;
    reading.complete = false;
    Reader reader(*of.launches->state, reading);
    for (Py_ssize_t index = 0; index < count; index++) {
        const auto place = static_cast<size_t>(index);
        int done;
        switch (own.kinds[place]) {
            case 'T': done = reader.tensor(arguments[index], own.needs[place]); break;
            case 'L': done = reader.tensors(arguments[index]); break;
            default: done = reader.value(arguments[index]); break;
        }
        if (done != 1) return done;
    }
    reader.aliases();
    reading.key.push_back(reading.device);
    reading.complete = reading.device >= 0;
    return reading.complete;
}

}  // namespace mindtorch
