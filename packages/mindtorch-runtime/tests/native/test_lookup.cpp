// The look-up of plans, without the dispatcher: a packet, tensors and modes of a few lines of Python, keys as the
// planner makes them, and a program that is only recognised by its address.
#define MINDTORCH_NUMPY_IMPORT
#include "call/lookup.h"

#include <stdio.h>

#include <map>
#include <string>
#include <vector>

namespace mindtorch {

Configuration configuration;

namespace {

std::map<PyObject*, Program> programs;

}  // namespace

// Of the plan's slots nothing is read here.
Program* program_of(PyObject* plan) { return &programs[plan]; }

namespace {

constexpr const char* WORLD = R"(
import threading

class Tensor:
    __slots__ = ("_sig",)
    def __init__(self, sig): self._sig = sig

class Signature:
    __slots__ = ("kind",)
    def __init__(self, kind): self.kind = kind

class Spec: __slots__ = ()
class Mode: __slots__ = ()
class Dtype: __slots__ = ()

class Packet:
    __slots__ = ("plans", "free", "key")
    def __init__(self, free=(), key=None): self.plans, self.free, self.key = {}, frozenset(free), key

class Unplannable(Exception): pass

class State(threading.local): pass

def fingerprint(value):
    if isinstance(value, slice): raise Unplannable
    return type(value), value

class Plan: pass

default_mode, other_mode, state = Mode(), Mode(), State()
vars(state)  # a thread's values live as long as the thread
small, large = Signature("small"), Signature("large")
x, y, z = Tensor(small), Tensor(small), Tensor(large)
packet, free, keyed = Packet(), Packet({2, "scale"}), Packet(key=lambda self, *values: ("moved", values[0] % 2))
row, other_row = object(), object()
)";

int failures = 0;
PyObject* world = nullptr;

void expect(bool holds, const std::string& what) {
    if (PyErr_Occurred()) {
        PyErr_Print();
        holds = false;
    }
    if (holds) return;
    failures++;
    fprintf(stderr, "FAILED: %s\n", what.c_str());
}

// The value of an expression, which the world keeps alive.
PyObject* value_of(const std::string& expression) {
    Ref value(PyRun_String(expression.c_str(), Py_eval_input, world, world));
    Ref kept(Py_NewRef(PyDict_GetItemString(world, "kept")));
    if (!value || PyList_Append(kept.get(), value.get()) < 0) {
        fprintf(stderr, "in %s\n", expression.c_str());
        PyErr_Print();
        abort();
    }
    return value.get();
}

void run(const std::string& statement) {
    Ref done(PyRun_String(statement.c_str(), Py_file_input, world, world));
    expect(static_cast<bool>(done), statement);
}

// A plan for calls of a packet that have this key.
PyObject* plan(const std::string& packet, const std::string& key) {
    PyObject* made = value_of("Plan()");
    if (PyObject_SetItem(value_of(packet + ".plans"), value_of(key), made) < 0) PyErr_Print();
    return made;
}

// What a call finds, borrowed: `arguments` are a tuple, of which `names` are those of the last.
PyObject* found(Lookup& lookup, const std::string& packet, const std::string& arguments, const char* names = nullptr) {
    PyObject* values = value_of(arguments);
    PyObject* given_names = names == nullptr ? nullptr : value_of(names);
    const Py_ssize_t named = given_names == nullptr ? 0 : PyTuple_GET_SIZE(given_names);
    const Given given = {PySequence_Fast_ITEMS(values), PyTuple_GET_SIZE(values) - named, given_names};
    Program* program = nullptr;
    Ref plan(lookup.find(value_of(packet), given, program));
    expect(!PyErr_Occurred(), arguments);
    if (plan) expect(program == &programs[plan.get()], "the program is the plan's: " + arguments);
    return plan.get();  // the packet has it too
}

Py_ssize_t offset_of(const char* cls, const char* name) {
    const Ref member(PyObject_GetAttrString(value_of(cls), name));
    return reinterpret_cast<PyMemberDescrObject*>(member.get())->d_member->offset;
}

PyTypeObject* type_of(const char* name) { return reinterpret_cast<PyTypeObject*>(value_of(name)); }

void configure() {
    world = PyDict_New();
    PyDict_SetItemString(world, "__builtins__", PyEval_GetBuiltins());
    Ref kept(PyList_New(0));
    PyDict_SetItemString(world, "kept", kept.get());
    run(WORLD);
    Configuration& to = configuration;
    to.tensor.sig = offset_of("Tensor", "_sig");
    to.packet.plans = offset_of("Packet", "plans");
    to.signature.kind = offset_of("Signature", "kind");
    to.tensor_type = type_of("Tensor");
    to.signature_type = type_of("Signature");
    to.spec_type = type_of("Spec");
    to.dtype_type = type_of("Dtype");
    to.plain_types = value_of("{Tensor}");
    to.array_types = value_of("{'cpu': None}");
    to.state = value_of("state");
    to.deferred = value_of("State()");
    to.default_mode = value_of("default_mode");
    to.fingerprint = value_of("fingerprint");
    to.unplannable = value_of("Unplannable");
    to.mode_name = value_of("'mode'");
    to.free_name = value_of("'free'");
    to.key_name = value_of("'key'");
    to.dict_name = value_of("'__dict__'");
    to.kind_name = value_of("'kind'");
    to.family_name = value_of("'family'");
    to.zero = value_of("0");
}

// Twice each: out of the packet's dict, and out of the small table.
void expect_found(Lookup& lookup, const std::string& packet, const std::string& arguments, PyObject* wanted,
                  const char* names = nullptr) {
    expect(found(lookup, packet, arguments, names) == wanted, arguments + " is found");
    expect(found(lookup, packet, arguments, names) == wanted, arguments + " is found again");
}

void test_tensors_are_told_apart_by_their_signature() {
    Lookup lookup;
    expect(found(lookup, "packet", "(x, y)") == nullptr, "what nobody planned is not found");
    PyObject* both = plan("packet", "(default_mode, small, small)");
    PyObject* mixed = plan("packet", "(default_mode, small, large)");
    expect_found(lookup, "packet", "(x, y)", both);
    expect_found(lookup, "packet", "(y, x)", both);
    expect_found(lookup, "packet", "(x, z)", mixed);
    expect(found(lookup, "packet", "(z, x)") == nullptr, "the order counts");
    expect(found(lookup, "packet", "(x,)") == nullptr, "the number counts");
}

void test_the_table_lasts_as_long_as_the_plans_of_the_packet() {
    Lookup lookup;
    run("packet.plans = {}");
    PyObject* first = plan("packet", "(default_mode, small)");
    expect_found(lookup, "packet", "(x,)", first);
    run("packet.plans.clear()");
    expect(found(lookup, "packet", "(x,)") == first, "a plan found lately needs no look into the dict");
    run("packet.plans = {}");
    expect(found(lookup, "packet", "(x,)") == nullptr, "plans that were forgotten are not found");
    PyObject* second = plan("packet", "(default_mode, small)");
    expect_found(lookup, "packet", "(x,)", second);
}

void test_a_mode_has_plans_of_its_own() {
    Lookup lookup;
    run("packet.plans = {}");
    PyObject* usual = plan("packet", "(default_mode, small)");
    PyObject* other = plan("packet", "(other_mode, small)");
    expect_found(lookup, "packet", "(x,)", usual);
    run("state.mode = other_mode");
    expect_found(lookup, "packet", "(x,)", other);
    run("del state.mode");
    expect_found(lookup, "packet", "(x,)", usual);
}

void test_numbers_that_equal_each_other_are_different_keys() {
    Lookup lookup;
    run("packet.plans = {}");
    PyObject* integer = plan("packet", "(default_mode, 1)");
    PyObject* truth = plan("packet", "(default_mode, (bool, True))");
    PyObject* real = plan("packet", "(default_mode, (float, 1.0))");
    expect_found(lookup, "packet", "(1,)", integer);
    expect_found(lookup, "packet", "(True,)", truth);
    expect_found(lookup, "packet", "(1.0,)", real);
    expect(found(lookup, "packet", "(2,)") == nullptr, "another int");
    expect(found(lookup, "packet", "(False,)") == nullptr, "another bool");
}

void test_a_free_number_counts_by_its_type() {
    Lookup lookup;
    PyObject* integer = plan("free", "(default_mode, small, int)");
    PyObject* real = plan("free", "(default_mode, small, float)");
    PyObject* named = plan("free", "(default_mode, small, int, ('scale',))");
    for (const char* arguments : {"(x, 3)", "(x, -4)", "(x, 2**63 - 1)"})
        expect_found(lookup, "free", arguments, integer);
    expect(found(lookup, "free", "(x, 2**63)") == nullptr, "no plan is for ints beyond 64 bits");
    expect(found(lookup, "free", "(x, True)") == nullptr, "a bool is no int");
    expect_found(lookup, "free", "(x, 0.5)", real);
    expect_found(lookup, "free", "(x, float('nan'))", real);
    expect_found(lookup, "free", "(x, 7)", named, "('scale',)");
    expect(found(lookup, "free", "(x, 7)", "('other',)") == nullptr, "the name counts");
    expect(found(lookup, "free", "(3, x)") == nullptr, "the place counts");
}

void test_sequences_and_text() {
    Lookup lookup;
    run("packet.plans = {}");
    PyObject* list = plan("packet", "(default_mode, (list, 1, 2))");
    PyObject* tuple = plan("packet", "(default_mode, (tuple, 1, 2))");
    PyObject* deep = plan("packet", "(default_mode, (list, (list, small), None))");
    PyObject* text = plan("packet", "(default_mode, 'mean')");
    expect_found(lookup, "packet", "([1, 2],)", list);
    expect_found(lookup, "packet", "((1, 2),)", tuple);
    expect_found(lookup, "packet", "([[x], None],)", deep);
    expect_found(lookup, "packet", "(''.join(['me', 'an']),)", text);
    expect(found(lookup, "packet", "([1, 2, 3],)") == nullptr, "a longer list");
    expect(found(lookup, "packet", "([1, True],)") == nullptr, "a list of other numbers");
    expect(found(lookup, "packet", "('sum',)") == nullptr, "another word");
    expect(found(lookup, "packet", "(slice(1),)") == nullptr, "what has no key is not found, and is no error");
}

void test_the_packets_own_key_function() {
    Lookup lookup;
    PyObject* even = plan("keyed", "(default_mode, small, 2, ('moved', 0))");
    PyObject* odd = plan("keyed", "(default_mode, small, 2, ('moved', 1))");
    expect_found(lookup, "keyed", "(x, 4)", even);
    expect_found(lookup, "keyed", "(x, 6)", even);
    expect_found(lookup, "keyed", "(x, 5)", odd);
}

void test_an_overloads_keys_begin_with_its_row() {
    Lookup lookup(value_of("row")), other(value_of("other_row"));
    run("packet.plans = {}");
    PyObject* one = plan("packet", "(row, default_mode, (), small)");
    PyObject* named = plan("packet", "(row, default_mode, ('dim',), small, 1)");
    expect_found(lookup, "packet", "(x,)", one);
    expect_found(lookup, "packet", "(x, 1)", named, "('dim',)");
    expect(found(lookup, "packet", "(x, 1)") == nullptr, "a positional value is no named one");
    expect(found(other, "packet", "(x,)") == nullptr, "another overload");
}

// More calls than the table has places: some are found in the dict again, none under a wrong key.
void test_many_calls() {
    Lookup lookup;
    run("packet.plans = {}");
    std::vector<PyObject*> plans;
    for (int number = 0; number < 2000; number++)
        plans.push_back(plan("packet", "(default_mode, small, " + std::to_string(number) + ")"));
    for (int round = 0; round < 2; round++)
        for (int number = 0; number < 2000; number++)
            expect(found(lookup, "packet", "(x, " + std::to_string(number) + ")") == plans[static_cast<size_t>(number)],
                   "call " + std::to_string(number));
}

// A table that is gone holds on to nothing.
void test_references() {
    run("packet.plans = {}");
    PyObject* one = plan("packet", "(default_mode, small, 7)");
    const Py_ssize_t before = Py_REFCNT(one);
    {
        Lookup lookup;
        expect(found(lookup, "packet", "(x, 7)") == one && Py_REFCNT(one) == before + 1, "the table holds the plan");
        expect(found(lookup, "packet", "(x, 7)") == one && Py_REFCNT(one) == before + 1, "once");
    }
    expect(Py_REFCNT(one) == before, "and lets it go");
}

PyObject* run_tests(PyObject*, PyObject*) {
    configure();
    test_tensors_are_told_apart_by_their_signature();
    test_the_table_lasts_as_long_as_the_plans_of_the_packet();
    test_a_mode_has_plans_of_its_own();
    test_numbers_that_equal_each_other_are_different_keys();
    test_a_free_number_counts_by_its_type();
    test_sequences_and_text();
    test_the_packets_own_key_function();
    test_an_overloads_keys_begin_with_its_row();
    test_many_calls();
    test_references();
    printf("%d failures\n", failures);
    return PyLong_FromLong(failures);
}

PyMethodDef methods[] = {{"run", run_tests, METH_NOARGS, "run(): the number of failures."},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "lookup_tests", "", -1, methods, nullptr, nullptr, nullptr, nullptr};

PyObject* make_module() {
    import_array();
    return PyModule_Create(&definition);
}

}  // namespace
}  // namespace mindtorch

PyMODINIT_FUNC PyInit_lookup_tests() { return mindtorch::make_module(); }
