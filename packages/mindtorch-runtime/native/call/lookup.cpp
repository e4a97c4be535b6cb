// From a call's arguments to its plan. What the dispatcher's `call` does with a dict of keys is done here first with a
// small table of the keys found lately, which are compared with the arguments where they lie: no tuple is made.
#include "call/lookup.h"

// Up to Python 3.11 every change of a dict gives it a number of its own.
#if PY_VERSION_HEX < 0x030C0000 && !defined(PYPY_VERSION)
#define MINDTORCH_DICT_VERSIONS
#endif

// A few bytes of every thread lie where no function has to look for them; other C libraries load no module that asks
// for that.
#if defined(__GLIBC__)
#define MINDTORCH_NEAR __attribute__((tls_model("initial-exec")))
#else
#define MINDTORCH_NEAR
#endif

namespace mindtorch {

namespace {

size_t mixed(size_t hash, size_t value) {
    hash = (hash ^ value) * static_cast<size_t>(0x9E3779B97F4A7C15ULL);
    return hash ^ hash >> (sizeof(size_t) * 4);
}

size_t address(const void* object) { return reinterpret_cast<size_t>(object) >> 4; }

bool is_number(PyTypeObject* kind) { return kind == &PyFloat_Type || kind == &PyLong_Type || kind == &PyBool_Type; }

// Integers beyond 64 bits are refused when they are planned: no plan is for any of them.
bool is_ordinary(PyObject* value, PyTypeObject* kind) {
    int overflow = 0;
    if (kind == &PyLong_Type) (void)PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0;
}

PyObject* typed(PyObject* value) { return PyTuple_Pack(2, reinterpret_cast<PyObject*>(Py_TYPE(value)), value); }

// A list may contain itself. Deeper ones are left to Python, which refuses those without an end; a hash looks at few.
constexpr int DEEPEST = 32, DEEPEST_HASHED = 3;

PyObject* fingerprint(PyObject* value, int depth = 0);

PyObject* fingerprint_sequence(PyObject* value, PyTypeObject* kind, int depth) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    Ref key(PyTuple_New(count + 1));
    if (!key) return nullptr;
    PyTuple_SET_ITEM(key.get(), 0, Py_NewRef(reinterpret_cast<PyObject*>(kind)));
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject* part = fingerprint(PySequence_Fast_GET_ITEM(value, index), depth + 1);
        if (part == nullptr) return nullptr;
        PyTuple_SET_ITEM(key.get(), index + 1, part);
    }
    return key.release();
}

// As `fingerprint` of the dispatcher's call path; null with an error set, or without one where a slot is unset.
PyObject* fingerprint(PyObject* value, int depth) {
    PyTypeObject* kind = Py_TYPE(value);
    if (kind == &PyLong_Type || value == Py_None) return Py_NewRef(value);
    if (kind == &PyUnicode_Type) {  // the name of a device means the one that is current
        const int device = PyDict_Contains(configuration.array_types, value);
        if (device <= 0) return device < 0 ? nullptr : Py_NewRef(value);
    }
    if ((kind == &PyList_Type || kind == &PyTuple_Type) && depth < DEEPEST)
        return fingerprint_sequence(value, kind, depth);
    if (kind == &PyFloat_Type || kind == &PyBool_Type) return typed(value);
    const int plain = is_plain(kind);
    if (plain < 0) return nullptr;
    if (plain) return Py_XNewRef(signature_of(value));
    return into_python<PyObject_CallOneArg>(configuration.fingerprint, value);
}

// What a part of a key has in common with those of other sizes, as `plan.family` says it.
PyObject* kind_of(PyObject* part) {
    if (Py_TYPE(part) == configuration.signature_type) {
        PyObject* kind = slot(part, configuration.signature.kind);
        return kind != nullptr ? Py_NewRef(kind) : PyObject_GetAttr(part, configuration.kind_name);
    }
    if (PyLong_CheckExact(part))
        return Py_NewRef(is_ordinary(part, &PyLong_Type) ? reinterpret_cast<PyObject*>(&PyLong_Type) : part);
    if (!PyTuple_CheckExact(part)) return Py_NewRef(part);
    const Py_ssize_t count = PyTuple_GET_SIZE(part);
    Ref kinds(PyTuple_New(count));
    for (Py_ssize_t index = 0; kinds && index < count; index++) {
        PyObject* kind = kind_of(PyTuple_GET_ITEM(part, index));
        if (kind == nullptr) return nullptr;
        PyTuple_SET_ITEM(kinds.get(), index, kind);
    }
    return kinds.release();
}

// As `family_key` of the dispatcher's families.
PyObject* family_key(PyObject* key, Py_ssize_t values) {
    const Py_ssize_t count = PyTuple_GET_SIZE(key);
    Ref kinds(PyTuple_New(count + 2)), number(PyLong_FromSsize_t(values));
    if (!kinds || !number) return nullptr;
    PyTuple_SET_ITEM(kinds.get(), 0, Py_NewRef(configuration.family_name));
    PyTuple_SET_ITEM(kinds.get(), 1, number.release());
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject* kind = kind_of(PyTuple_GET_ITEM(key, index));
        if (kind == nullptr) return nullptr;
        PyTuple_SET_ITEM(kinds.get(), index + 2, kind);
    }
    return kinds.release();
}

bool same(PyObject* part, PyObject* value);

bool same_items(PyObject* part, PyObject* value, PyTypeObject* kind) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    if (!PyTuple_CheckExact(part) || PyTuple_GET_SIZE(part) != count + 1) return false;
    if (PyTuple_GET_ITEM(part, 0) != reinterpret_cast<PyObject*>(kind)) return false;
    for (Py_ssize_t index = 0; index < count; index++)
        if (!same(PyTuple_GET_ITEM(part, index + 1), PySequence_Fast_GET_ITEM(value, index))) return false;
    return true;
}

bool same_number(PyObject* part, PyObject* value, PyTypeObject* kind) {
    if (part == reinterpret_cast<PyObject*>(kind)) return is_ordinary(value, kind);  // any number of the type
    if (kind == &PyLong_Type) return PyLong_CheckExact(part) && PyObject_RichCompareBool(part, value, Py_EQ) == 1;
    if (!PyTuple_CheckExact(part) || PyTuple_GET_SIZE(part) != 2) return false;
    if (PyTuple_GET_ITEM(part, 0) != reinterpret_cast<PyObject*>(kind)) return false;
    PyObject* known = PyTuple_GET_ITEM(part, 1);
    return known == value || (kind == &PyFloat_Type && PyFloat_AS_DOUBLE(known) == PyFloat_AS_DOUBLE(value));
}

// True when `fingerprint(value)` would give `part`; false also where that is not easily said.
bool same(PyObject* part, PyObject* value) {
    PyTypeObject* kind = Py_TYPE(value);
    if (is_plain(kind) == 1) return slot(value, configuration.tensor.sig) == part;
    if (is_number(kind)) return part == value || same_number(part, value, kind);
    if (value == Py_None) return part == Py_None;
    if (kind == &PyUnicode_Type)
        return part == value || (PyUnicode_CheckExact(part) && PyUnicode_Compare(part, value) == 0);
    if (kind == &PyList_Type) return same_items(part, value, kind);
    if (PyTuple_Check(value)) return same_items(part, value, &PyTuple_Type);
    if (part == reinterpret_cast<PyObject*>(kind)) return true;  // any value of the type
    return PyTuple_CheckExact(part) && PyTuple_GET_SIZE(part) == 2 && PyTuple_GET_ITEM(part, 1) == value &&
           PyTuple_GET_ITEM(part, 0) == reinterpret_cast<PyObject*>(kind);
}

size_t hash_of_value(PyObject* value, int depth = 0) {
    PyTypeObject* kind = Py_TYPE(value);
    if (is_plain(kind) == 1) return address(slot(value, configuration.tensor.sig));
    if (kind == &PyLong_Type) return static_cast<size_t>(PyLong_Type.tp_hash(value));
    if (kind == configuration.dtype_type || kind == &PyBool_Type) return address(value);
    if (kind != &PyList_Type && !PyTuple_Check(value)) return address(kind);
    size_t hash = address(kind);
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    for (Py_ssize_t index = 0; index < count && index < 8 && depth < DEEPEST_HASHED; index++)
        hash = mixed(hash, hash_of_value(PySequence_Fast_GET_ITEM(value, index), depth + 1));
    return mixed(hash, static_cast<size_t>(count));
}

// A value of a `threading.local` in this thread, which keeps the dict of its values alive for as long as it lives.
struct ThreadValue {
    uint64_t thread = 0;
    PyObject* values = nullptr;
#ifdef MINDTORCH_DICT_VERSIONS
    uint64_t version = 0;
    PyObject* value = nullptr;  // as of `version`, which no other contents of a dict ever have
#endif
};

thread_local ThreadValue mode_of_thread MINDTORCH_NEAR, pipe_of_thread MINDTORCH_NEAR,
    transforms_of_thread MINDTORCH_NEAR;

int find_thread_values(ThreadValue& known, uint64_t thread, PyObject* local) {
    PyObject* values = PyObject_GetAttr(local, configuration.dict_name);
    if (values == nullptr) return -1;
    if (!PyDict_Check(values) || Py_REFCNT(values) < 2) {
        Py_DECREF(values);
        PyErr_SetString(PyExc_SystemError, "a thread's state is not its own");
        return -1;
    }
    Py_DECREF(values);
    known = {};
    known.thread = thread;
    known.values = values;
    return 0;
}

// That this thread holds Python's lock need not be asked again.
inline PyThreadState* this_thread() {
#if PY_VERSION_HEX >= 0x030D0000
    return PyThreadState_GetUnchecked();
#else
    return _PyThreadState_UncheckedGet();
#endif
}

// The value of that name, `otherwise` (the class's) until the thread sets one; borrowed, null with an error set.
inline PyObject* thread_value(ThreadValue& known, PyObject* local, PyObject* name, PyObject* otherwise) {
    const uint64_t thread = this_thread()->id;  // never given twice
    if (known.thread != thread && find_thread_values(known, thread, local) < 0) return nullptr;
#ifdef MINDTORCH_DICT_VERSIONS
    const uint64_t version = reinterpret_cast<PyDictObject*>(known.values)->ma_version_tag;
    if (known.version == version) return known.value;
#endif
    PyObject* value = PyDict_GetItemWithError(known.values, name);
    if (value == nullptr && PyErr_Occurred()) return nullptr;
    if (value == nullptr) value = otherwise;
#ifdef MINDTORCH_DICT_VERSIONS
    known.version = version;
    known.value = value;
#endif
    return value;
}

}  // namespace

PyObject* current_mode() {
    return thread_value(mode_of_thread, configuration.state, configuration.mode_name, configuration.default_mode);
}

PyObject* current_transforms() {
    return thread_value(transforms_of_thread, configuration.state, configuration.transforms_name, configuration.zero);
}

PyObject* current_pipe() {
    return thread_value(pipe_of_thread, configuration.deferred, configuration.pipe_name, Py_None);
}

// Types known to be in `plain_types`, which only grows; each is kept alive.
PyTypeObject* plain_seen[4];

int is_plain_otherwise(PyTypeObject* type) {
    if (type == &PyLong_Type || type == &PyFloat_Type || type == Py_TYPE(Py_None)) return 0;
    for (PyTypeObject* seen : plain_seen)
        if (seen == type) return 1;
    const int found = PySet_Contains(configuration.plain_types, reinterpret_cast<PyObject*>(type));
    if (found == 1) {
        for (PyTypeObject*& seen : plain_seen)
            if (seen == nullptr) {
                Py_INCREF(type);
                seen = type;
                break;
            }
    }
    if (found < 0) PyErr_Clear();
    return found == 1;
}

bool Lookup::is_free(Py_ssize_t place, const Given& given) const {
    if (place < given.positional) return place < 63 && (free_places_ >> (place + 1) & 1);
    return PySet_Contains(free_, PyTuple_GET_ITEM(given.names, place - given.positional)) == 1;
}

size_t Lookup::hash_of(PyObject* mode, const Given& given) const {
    size_t hash = address(mode);
    const Py_ssize_t named = given.named(), count = given.positional + named;
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject* value = given.arguments[place];
        size_t part;
        if (Py_TYPE(value) == plain_seen[0]) {
            part = address(slot(value, configuration.tensor.sig));
        } else if (Py_TYPE(value) == &PyLong_Type && is_free(place, given)) {
            part = address(&PyLong_Type);
        } else {
            part = hash_of_value(value);
        }
        hash = mixed(hash, part);
    }
    return named == 0 ? hash : mixed(hash, static_cast<size_t>(named));
}

// As `matches`, of a key that begins with a row, the mode and the names.
bool Lookup::matches_row(PyObject* key, PyObject* mode, const Given& given) const {
    const Py_ssize_t count = given.count();
    if (PyTuple_GET_SIZE(key) != count + 3 || PyTuple_GET_ITEM(key, 1) != mode) return false;
    PyObject* names = PyTuple_GET_ITEM(key, 2);
    if (!PyTuple_CheckExact(names) || PyTuple_GET_SIZE(names) != given.named()) return false;
    for (Py_ssize_t index = 0; index < given.named(); index++)
        if (!same(PyTuple_GET_ITEM(names, index), PyTuple_GET_ITEM(given.names, index))) return false;
    for (Py_ssize_t place = 0; place < count; place++)
        if (!same(PyTuple_GET_ITEM(key, place + 3), given.arguments[place])) return false;
    return true;
}

bool Lookup::matches(PyObject* key, PyObject* mode, const Given& given) const {
    if (row_ != nullptr) return matches_row(key, mode, given);
    const Py_ssize_t count = given.count();
    if (PyTuple_GET_SIZE(key) != count + 1 + (given.names != nullptr)) return false;
    if (PyTuple_GET_ITEM(key, 0) != mode) return false;
    // Tensors come first, and often nothing else comes.
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject* value = given.arguments[place];
        if (Py_TYPE(value) != plain_seen[0]) return matches_from(place, key, given);
        if (slot(value, configuration.tensor.sig) != PyTuple_GET_ITEM(key, place + 1)) return false;
    }
    return given.names == nullptr || matches_from(count, key, given);
}

// As `matches`, of the values from `place` on and of the names.
bool Lookup::matches_from(Py_ssize_t place, PyObject* key, const Given& given) const {
    const Py_ssize_t count = given.count();
    for (; place < count; place++)
        if (!same(PyTuple_GET_ITEM(key, place + 1), given.arguments[place])) return false;
    if (given.names == nullptr) return true;
    PyObject* names = PyTuple_GET_ITEM(key, count + 1);
    if (names == given.names) return true;
    if (!PyTuple_CheckExact(names) || PyTuple_GET_SIZE(names) != given.named()) return false;
    for (Py_ssize_t index = 0; index < given.named(); index++)
        if (!same(PyTuple_GET_ITEM(names, index), PyTuple_GET_ITEM(given.names, index))) return false;
    return true;
}

// The key of a call; null without an error where it has none.
PyObject* Lookup::make_key(PyObject* mode, const Given& given) const {
    const Py_ssize_t count = given.count(), first = row_ != nullptr ? 3 : 1;
    Ref key(PyTuple_New(count + first + (given.names != nullptr && row_ == nullptr)));
    if (!key) return nullptr;
    if (row_ != nullptr) {
        PyObject* names = given.names == nullptr ? PyTuple_New(0) : Py_NewRef(given.names);
        if (names == nullptr) return nullptr;
        PyTuple_SET_ITEM(key.get(), 0, Py_NewRef(row_));
        PyTuple_SET_ITEM(key.get(), 2, names);
    }
    PyTuple_SET_ITEM(key.get(), row_ != nullptr, Py_NewRef(mode));
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject* value = given.arguments[place];
        PyObject* kind = reinterpret_cast<PyObject*>(Py_TYPE(value));
        const bool any = is_number(Py_TYPE(value)) && is_free(place, given) && is_ordinary(value, Py_TYPE(value));
        PyObject* part = any ? Py_NewRef(kind) : fingerprint(value);
        if (part == nullptr) {
            if (PyErr_Occurred() && PyErr_ExceptionMatches(configuration.unplannable)) PyErr_Clear();
            return nullptr;
        }
        PyTuple_SET_ITEM(key.get(), place + first, part);
    }
    if (given.names != nullptr && row_ == nullptr) PyTuple_SET_ITEM(key.get(), count + 1, Py_NewRef(given.names));
    return key.release();
}

// The plan with that key, made now where calls that differ in sizes alone were planned; null without an error where it
// has to be planned in full.
PyObject* Lookup::search_by(PyObject* plans, PyObject* key, const Given& given) const {
    PyObject* plan = PyDict_GetItemWithError(plans, key);
    if (plan != nullptr || PyErr_Occurred()) return Py_XNewRef(plan);
    Ref kinds(family_key(key, given.count()));
    Ref family(kinds ? Py_XNewRef(PyDict_GetItemWithError(plans, kinds.get())) : nullptr);
    if (!family) return nullptr;
    Ref held(Py_NewRef(plans)), flat(PyTuple_New(given.count()));
    if (!flat) return nullptr;
    for (Py_ssize_t place = 0; place < given.count(); place++)
        PyTuple_SET_ITEM(flat.get(), place, Py_NewRef(given.arguments[place]));
    PyObject* const values[4] = {family.get(), plans, key, flat.get()};
    Ref made(into_python<PyObject_Vectorcall>(configuration.plan_member, values, 4, nullptr));
    return !made || made.get() == Py_None ? nullptr : made.release();
}

// The plan in the packet's own table, and the key to remember it by.
PyObject* Lookup::search(PyObject* packet, PyObject* mode, const Given& given, Ref& key) {
    PyObject* plans = slot(packet, configuration.packet.plans);
    key.reset(make_key(mode, given));
    if (!key) return nullptr;
    const bool keyed = own_key_ != Py_None && given.names == nullptr && given.positional > 0 &&
                       is_plain(Py_TYPE(given.arguments[0])) == 1;
    if (!keyed) return search_by(plans, key.get(), given);
    Ref function(Py_NewRef(own_key_));
    Ref part(into_python<PyObject_Vectorcall>(function.get(), given.arguments, static_cast<size_t>(given.positional),
                                              nullptr));
    if (!part) return nullptr;
    if (part.get() == Py_None) return search_by(plans, key.get(), given);
    Ref count(PyLong_FromSsize_t(given.positional));
    PyObject* sig = signature_of(given.arguments[0]);
    if (!count || sig == nullptr) return nullptr;
    Ref own(PyTuple_Pack(4, mode, sig, count.get(), part.get()));
    return own ? search_by(plans, own.get(), given) : nullptr;
}

int Lookup::start_anew(PyObject* packet, PyObject* plans) {
    clear();
    if (row_ != nullptr) {  // every number belongs to the key
        free_places_ = 0;
        free_ = PyFrozenSet_New(nullptr);
        if (free_ == nullptr) return -1;
        own_key_ = Py_NewRef(Py_None);
        plans_ = Py_NewRef(plans);
        return 0;
    }
    Ref places(PyObject_GetAttr(packet, configuration.free_name));
    Ref own(places ? PyObject_GetAttr(packet, configuration.key_name) : nullptr);
    if (!own) return -1;
    free_places_ = 0;
    for (int place = 1; place < 64; place++) {
        Ref number(PyLong_FromLong(place));
        const int found = number ? PySet_Contains(places.get(), number.get()) : -1;
        if (found < 0) return -1;
        if (found) free_places_ |= 1ULL << place;
    }
    free_ = places.release();
    own_key_ = own.release();
    plans_ = Py_NewRef(plans);
    return 0;
}

int Lookup::remember(size_t hash, PyObject* key, PyObject* plan, Program* program) {
    Entry* place = entries_.empty() ? nullptr : place_of(hash);
    if (place == nullptr || (place->key != nullptr && place->hash != hash && entries_.size() < MOST)) {
        std::vector<Entry> before(entries_.empty() ? FEWEST : entries_.size() * 4);
        before.swap(entries_);
        for (const Entry& one : before) {
            if (one.key == nullptr) continue;
            remember(one.hash, one.key, one.plan, one.program);
            Py_DECREF(one.key);
            Py_DECREF(one.plan);
        }
        place = place_of(hash);
    }
    const Entry old = *place;
    *place = {hash, Py_NewRef(key), Py_NewRef(plan), program};
    Py_XDECREF(old.key);
    Py_XDECREF(old.plan);
    return 0;
}

// Where an entry goes: a place that is free or that of the same hash, else the first of the two it may lie at.
Lookup::Entry* Lookup::place_of(size_t hash) {
    Entry* const both[] = {&entries_[hash & (entries_.size() - 1)], &entries_[(hash & (entries_.size() - 1)) ^ 1]};
    for (Entry* one : both)
        if (one->key != nullptr && one->hash == hash) return one;
    for (Entry* one : both)
        if (one->key == nullptr) return one;
    return both[0];
}

PyObject* Lookup::find(PyObject* packet, const Given& given, Program*& program) {
    PyObject* mode = current_mode();
    if (mode == nullptr) return nullptr;
    PyObject* plans = slot(packet, configuration.packet.plans);
    if (plans != plans_ && start_anew(packet, plans) < 0) return nullptr;
    const size_t hash = hash_of(mode, given);
    if (!entries_.empty()) {
        const Entry* entry = &entries_[hash & (entries_.size() - 1)];
        if (entry->hash != hash) entry = &entries_[(hash & (entries_.size() - 1)) ^ 1];
        if (entry->hash == hash && entry->key != nullptr && matches(entry->key, mode, given)) {
            program = entry->program;
            return Py_NewRef(entry->plan);
        }
    }
    Ref key, plan(search(packet, mode, given, key));
    if (!plan) return nullptr;
    program = program_of(plan.get());
    if (program == nullptr) return nullptr;
    if (slot(packet, configuration.packet.plans) == plans_ && remember(hash, key.get(), plan.get(), program) < 0)
        return nullptr;
    return plan.release();
}

void Lookup::clear() {
    std::vector<Entry> before;
    before.swap(entries_);
    for (const Entry& one : before) {
        Py_XDECREF(one.key);
        Py_XDECREF(one.plan);
    }
    Py_CLEAR(plans_);
    Py_CLEAR(free_);
    Py_CLEAR(own_key_);
}

int Lookup::traverse(visitproc visit, void* arg) {
    for (const Entry& one : entries_) {
        Py_VISIT(one.key);
        Py_VISIT(one.plan);
    }
    Py_VISIT(row_);
    Py_VISIT(plans_);
    Py_VISIT(free_);
    Py_VISIT(own_key_);
    return 0;
}

}  // namespace mindtorch
