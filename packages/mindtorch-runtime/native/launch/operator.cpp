// Launching what was planned, and the bounded cache of it.
#include <new>

#include "launch/launches.h"

namespace mindtorch {

namespace {

constexpr size_t MOST_SEEN = 1 << 14;

// What is current in this thread, as long as nothing has changed.
struct Current {
    const State* state = nullptr;
    uint64_t when = 0;
    long device = -1;
    uint64_t stream = 0;
};

thread_local Current current;

// The current stream of a device, with the device current; false with an error set.
bool ready(State& state, long device, uint64_t& stream) {
    if (current.state == &state && current.when == state.current && current.device == device) {
        stream = current.stream;
        return true;
    }
    Ref index(PyLong_FromLong(device));
    Ref found(index ? into_python<PyObject_CallOneArg>(state.stream_of, index.get()) : nullptr);
    if (!found) return false;
    stream = PyLong_AsUnsignedLongLong(found.get());
    if (PyErr_Occurred()) return false;
    current = {&state, state.current, device, stream};
    return true;
}

int refuse(const Operator& of, const char* phase, int code) {
    Ref done(PyObject_CallFunction(of.launches->state->refused, "Osi", of.name, phase, code));
    if (done) PyErr_SetString(PyExc_SystemError, "an error of a launch was not raised");
    return -1;
}

// Bytes for one launch, given back when it is enqueued: whoever gets them next on the stream comes after it.
class Workspace {
public:
    Workspace(const State& state, long device, uint64_t stream, uint64_t size) : state_(state), device_(device) {
        if (size == 0) return;
        Ref made(PyObject_CallFunction(state.take, "lKK", device, static_cast<unsigned long long>(size),
                                       static_cast<unsigned long long>(stream)));
        if (made) address = PyLong_AsUnsignedLongLong(made.get());
        if (PyErr_Occurred()) throw PythonError();
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    // Give it back; -1 with an error set.
    int give() {
        if (address == 0) return 0;
        Ref done(PyObject_CallFunction(state_.give, "lK", device_, static_cast<unsigned long long>(address)));
        return done ? 0 : -1;
    }
    uint64_t address = 0;

private:
    const State& state_;
    long device_;
};

int update_addresses(const Operator& of, Planned& planned, const std::vector<uint64_t>& addresses) {
    const OperatorState& own = *of.state;
    for (size_t index = 0; index < addresses.size(); index++) {
        if (planned.addresses[index] == addresses[index]) continue;
        auto* address = reinterpret_cast<void*>(addresses[index]);
        void* handle = planned.handles[index];
        const int code = planned.inside[index] < 0
                             ? own.set_address(planned.executor, planned.places[index], handle, address)
                             : own.set_element(planned.executor, planned.places[index],
                                               static_cast<size_t>(planned.inside[index]), handle, address);
        if (code != 0) {
            planned.addresses[index] = 0;
            return code;
        }
        planned.addresses[index] = addresses[index];
    }
    return 0;
}

int count_launch(const Operator& of) {
    const State& state = *of.launches->state;
    PyObject* before = PyDict_GetItemWithError(state.counts, of.name);
    if (before == nullptr && PyErr_Occurred()) return -1;
    Ref now(PyLong_FromLongLong(before == nullptr ? 1 : PyLong_AsLongLong(before) + 1));
    if (!now || PyDict_SetItem(state.counts, of.name, now.get()) < 0) return -1;
    Ref done(into_python<PyObject_CallOneArg>(state.append, of.name));
    return done ? 0 : -1;
}

int enqueue(const Operator& of, const Planned& planned, uint64_t workspace, uint64_t stream) {
    auto *room = reinterpret_cast<void*>(workspace), *on = reinterpret_cast<void*>(stream);
    if (!of.launches->state->unlocked) return of.state->run(room, planned.size, planned.executor, on);
    Unlocked unlocked;
    return of.state->run(room, planned.size, planned.executor, on);
}

class Busy {
public:
    explicit Busy(Planned& planned) : planned_(planned) { planned_.busy = true; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() { planned_.busy = false; }

private:
    Planned& planned_;
};

// Take plans out of the cache until no more than `most` are left.
void shrink(State& state, size_t most) {
    while (state.turns.size() > most) {
        Planned* oldest = state.turns.front();
        state.turns.pop_front();
        const auto found = oldest->of->state->planned.find(*oldest->key);
        const std::shared_ptr<Planned> last = found->second;
        oldest->of->state->planned.erase(found);
        last->of = nullptr;
    }
}

}  // namespace

Planned::~Planned() {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (kept != nullptr) {
        Ref done(into_python<PyObject_CallOneArg>(release, kept));
        if (!done) PyErr_WriteUnraisable(release);
    }
    Py_XDECREF(kept);
    Py_XDECREF(release);
    PyErr_Restore(type, value, traceback);
}

int launch_planned(Operator& of, PyObject* const* arguments, Py_ssize_t count, Reading& reading) {
    State& state = *of.launches->state;
    const int done = read_arguments(of, arguments, count, reading);
    if (done != 1) return done;
    const auto found = of.state->planned.find(reading.key);
    if (found == of.state->planned.end() || found->second->busy) return 0;
    const std::shared_ptr<Planned> planned = found->second;
    Busy busy(*planned);
    state.turns.splice(state.turns.end(), state.turns, planned->turn);
    uint64_t stream = 0;
    if (!ready(state, reading.device, stream)) return -1;
    Workspace workspace(state, reading.device, stream, planned->size);
    int code = update_addresses(of, *planned, reading.addresses);
    const char* phase = "aclSetTensorAddr";
    if (code == 0) {
        phase = "";
        code = enqueue(of, *planned, workspace.address, stream);
    }
    if (workspace.give() < 0) return -1;
    if (code != 0) return refuse(of, phase, code);
    return count_launch(of) < 0 ? -1 : 1;
}

// -- operators
// ----------------------------------------------------------------------------------------------------------

namespace {

Operator* operator_of(PyObject* self) { return reinterpret_cast<Operator*>(self); }

// operator(arguments): True where they were launched, False where a plan of them would be kept, None elsewhere.
PyObject* operator_call(PyObject* self, PyObject* given, PyObject* names) {
    PyObject* arguments = nullptr;
    if (!PyArg_ParseTuple(given, "O", &arguments)) return nullptr;
    Ref fast(PySequence_Fast(arguments, "the arguments of a launch are a sequence"));
    if (!fast) return nullptr;
    Operator& of = *operator_of(self);
    Reading reading;
    const int done =
        launch_planned(of, PySequence_Fast_ITEMS(fast.get()), PySequence_Fast_GET_SIZE(fast.get()), reading);
    if (done < 0) return nullptr;
    if (done == 1) Py_RETURN_TRUE;
    if (!reading.complete || of.state->planned.count(reading.key) != 0) Py_RETURN_NONE;
    // What comes once, as a number that changes at every step, is not worth keeping.
    const size_t hash = WordsHash()(reading.key);
    if (of.state->seen.count(hash) != 0) Py_RETURN_FALSE;
    if (of.state->seen.size() >= MOST_SEEN) of.state->seen.clear();
    of.state->seen.insert(hash);
    Py_RETURN_NONE;
}

bool read_place(PyObject* row, Planned& to) {
    unsigned long long place = 0, handle = 0;
    long long inside = -1;
    if (!PyArg_ParseTuple(row, "KLK", &place, &inside, &handle)) return false;
    to.places.push_back(place);
    to.inside.push_back(inside);
    to.handles.push_back(reinterpret_cast<void*>(handle));
    return true;
}

// keep(arguments, executor, size, tensors, kept): `tensors` are (place, element or -1, descriptor) of each in order.
PyObject* operator_keep(PyObject* self, PyObject* const* given, Py_ssize_t count) {
    Operator& of = *operator_of(self);
    State& state = *of.launches->state;
    if (count != 5 || !PyList_CheckExact(given[3])) {
        PyErr_SetString(PyExc_TypeError, "keep(arguments, executor, size, tensors, kept)");
        return nullptr;
    }
    Ref fast(PySequence_Fast(given[0], "the arguments of a launch are a sequence"));
    if (!fast) return nullptr;
    Reading reading;
    const int done =
        read_arguments(of, PySequence_Fast_ITEMS(fast.get()), PySequence_Fast_GET_SIZE(fast.get()), reading);
    if (done < 0) return nullptr;
    auto made = std::make_shared<Planned>();
    made->executor = reinterpret_cast<void*>(PyLong_AsUnsignedLongLong(given[1]));
    made->size = PyLong_AsUnsignedLongLong(given[2]);
    if (PyErr_Occurred()) return nullptr;
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(given[3]); index++)
        if (!read_place(PyList_GET_ITEM(given[3], index), *made)) return nullptr;
    if (done == 0 || made->places.size() != reading.addresses.size() || of.state->planned.count(reading.key) != 0)
        Py_RETURN_FALSE;
    made->addresses = reading.addresses;
    made->kept = Py_NewRef(given[4]);
    made->release = Py_NewRef(state.release);
    made->of = &of;
    const auto [place, fresh] = of.state->planned.emplace(reading.key, made);
    made->key = &place->first;
    made->turn = state.turns.insert(state.turns.end(), made.get());
    shrink(state, state.most);
    Py_RETURN_TRUE;
}

void operator_dealloc(PyObject* self) {
    Operator* of = operator_of(self);
    if (of->state != nullptr)
        for (auto& [key, planned] : of->state->planned) of->launches->state->turns.erase(planned->turn);
    delete of->state;
    Py_XDECREF(reinterpret_cast<PyObject*>(of->launches));
    Py_XDECREF(of->name);
    Py_TYPE(self)->tp_free(self);
}

PyMethodDef operator_methods[] = {
    method<operator_keep>(
        "keep",
        "keep(arguments, executor, size, tensors, kept): launch the executor again for arguments that "
        "differ in nothing but addresses."),
    {nullptr, nullptr, 0, nullptr},
};

PyTypeObject make_operator_type() {
    PyTypeObject type = object_type<Operator>("mindtorch_runtime._native.Operator",
                                              "One of a vendor's operators, and what was planned of it.",
                                              operator_dealloc, operator_methods);
    type.tp_call = entry<operator_call>;
    return type;
}

// -- launches
// -----------------------------------------------------------------------------------------------------------

State& state_of(PyObject* self) { return *reinterpret_cast<Launches*>(self)->state; }

// operator(name, kinds, needs, run, set_address, set_element)
PyObject* launches_operator(PyObject* self, PyObject* given) {
    PyObject* name = nullptr;
    const char *kinds = nullptr, *needs = nullptr;
    unsigned long long run = 0, set_address = 0, set_element = 0;
    if (!PyArg_ParseTuple(given, "UssKKK", &name, &kinds, &needs, &run, &set_address, &set_element)) return nullptr;
    auto* made = PyObject_New(Operator, &OperatorType);
    if (made == nullptr) return nullptr;
    made->launches = reinterpret_cast<Launches*>(Py_NewRef(self));
    made->name = Py_NewRef(name);
    made->state = nullptr;
    Ref held(reinterpret_cast<PyObject*>(made));
    made->state = new OperatorState();
    made->state->kinds = kinds;
    made->state->needs = needs;
    made->state->run = reinterpret_cast<decltype(made->state->run)>(run);
    made->state->set_address = reinterpret_cast<decltype(made->state->set_address)>(set_address);
    made->state->set_element = reinterpret_cast<decltype(made->state->set_element)>(set_element);
    if (made->state->kinds.size() != made->state->needs.size()) {
        PyErr_SetString(PyExc_ValueError, "a letter of kinds and of needs stands for every argument");
        return nullptr;
    }
    return held.release();
}

PyObject* launches_changed(PyObject* self, PyObject* nothing) {
    state_of(self).current++;
    Py_RETURN_NONE;
}

PyObject* launches_forget(PyObject* self, PyObject* nothing) {
    State& state = state_of(self);
    state.current++;
    state.generation++;
    shrink(state, 0);
    Py_RETURN_NONE;
}

PyObject* launches_kept(PyObject* self, PyObject* nothing) { return PyLong_FromSize_t(state_of(self).turns.size()); }

PyMethodDef launches_methods[] = {
    method<launches_operator>(
        "operator", METH_VARARGS,
        "operator(name, kinds, needs, run, set_address, set_element): an operator by the addresses "
        "of its second phase and of what replaces addresses of tensors, and of elements of lists."),
    method<launches_changed>("changed", METH_NOARGS, "changed(): another device or stream is current in some thread."),
    method<launches_forget>("forget", METH_NOARGS, "forget(): give every executor back."),
    method<launches_kept>("kept", METH_NOARGS, "kept(): how many executors are kept."),
    {nullptr, nullptr, 0, nullptr},
};

Py_ssize_t slot_offset(PyObject* cls, const char* name) {
    Ref descriptor(PyObject_GetAttrString(cls, name));
    if (!descriptor) throw PythonError();
    if (Py_TYPE(descriptor.get()) != &PyMemberDescr_Type) {
        PyErr_Format(PyExc_TypeError, "%s of %R is no slot", name, cls);
        throw PythonError();
    }
    return reinterpret_cast<PyMemberDescrObject*>(descriptor.get())->d_member->offset;
}

void read_classes(State& to, PyObject* array, PyObject* allocation) {
    if (!PyType_Check(array) || !PyType_Check(allocation)) {
        PyErr_SetString(PyExc_TypeError, "launches(classes, ...) takes classes");
        throw PythonError();
    }
    to.array = {slot_offset(array, "storage"), slot_offset(array, "dtype"), slot_offset(array, "shape"),
                slot_offset(array, "steps"), slot_offset(array, "offset")};
    to.allocation = {slot_offset(allocation, "address"), slot_offset(allocation, "device"),
                     slot_offset(allocation, "nbytes")};
    to.array_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(array));
    to.allocation_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(allocation));
}

PyObject* launches_new(PyTypeObject* type, PyObject* given, PyObject* names) {
    static const char* const words[] = {"array",   "allocation", "code_of", "stream_of", "take",     "give", "refused",
                                        "release", "append",     "counts",  "most",      "unlocked", nullptr};
    PyObject *array, *allocation;
    PyObject* parts[8];
    unsigned long long most = 0;
    int unlocked = 0;
    if (!PyArg_ParseTupleAndKeywords(given, names, "OOOOOOOOOO!Kp", const_cast<char**>(words), &array, &allocation,
                                     &parts[0], &parts[1], &parts[2], &parts[3], &parts[4], &parts[5], &parts[6],
                                     &PyDict_Type, &parts[7], &most, &unlocked))
        return nullptr;
    Ref made(type->tp_alloc(type, 0));
    if (!made) return nullptr;
    auto* state = new State();
    reinterpret_cast<Launches*>(made.get())->state = state;
    read_classes(*state, array, allocation);
    PyObject** const to[] = {&state->code_of, &state->stream_of, &state->take,   &state->give,
                             &state->refused, &state->release,   &state->append, &state->counts};
    for (size_t index = 0; index < 8; index++) *to[index] = Py_NewRef(parts[index]);
    state->most = most;
    state->unlocked = unlocked != 0;
    return made.release();
}

void launches_dealloc(PyObject* self) {
    State* state = reinterpret_cast<Launches*>(self)->state;
    if (state != nullptr) {
        for (PyObject* one : {state->code_of, state->stream_of, state->take, state->give, state->refused,
                              state->release, state->append, state->counts})
            Py_XDECREF(one);
        for (const auto& [dtype, code] : state->codes) Py_DECREF(dtype);
        Py_XDECREF(reinterpret_cast<PyObject*>(state->array_type));
        Py_XDECREF(reinterpret_cast<PyObject*>(state->allocation_type));
        delete state;
    }
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject make_launches_type() {
    PyTypeObject type = object_type<Launches>("mindtorch_runtime._native.Launches",
                                              "The launches of a backend whose vendor computes in two phases.",
                                              launches_dealloc, launches_methods);
    type.tp_new = entry<launches_new>;
    return type;
}

}  // namespace

PyTypeObject OperatorType = make_operator_type();
PyTypeObject LaunchesType = make_launches_type();

}  // namespace mindtorch
