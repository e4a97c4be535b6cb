// Where a generator's words are: in the memory of numpy's bit generator, so that Python and native code share them.
#include "random/generator.h"

#include <string.h>

namespace mindtorch {

namespace {

struct {
    PyObject* generator = nullptr;  // the process's default one
    Rounding rounding = {false, false};
    PyObject *engine, *lock, *source, *fresh, *spare, *acquire, *release;  // names
} settings;

// numpy's description of a bit generator; all of it that is needed here.
struct BitGenerator {
    void* state;
};

Twister* twister_of(PyObject* engine) {
    Ref capsule(PyObject_GetAttr(engine, settings.source));
    if (!capsule) return nullptr;
    auto* bits = static_cast<BitGenerator*>(PyCapsule_GetPointer(capsule.get(), "BitGenerator"));
    return bits == nullptr ? nullptr : static_cast<Twister*>(bits->state);
}

// True when numpy's state has the layout that is read here.
bool is_known_layout(PyObject* engine) {
    Ref bits(PyObject_GetAttrString(engine, "_bits"));
    Ref all(bits ? PyObject_GetAttrString(bits.get(), "state") : nullptr);
    Ref state(all ? PyObject_GetItem(all.get(), Ref(PyUnicode_FromString("state")).get()) : nullptr);
    Ref position(state ? PyObject_GetItem(state.get(), Ref(PyUnicode_FromString("pos")).get()) : nullptr);
    Ref key(position ? PyObject_GetItem(state.get(), Ref(PyUnicode_FromString("key")).get()) : nullptr);
    const Twister* twister = key ? twister_of(engine) : nullptr;
    if (twister == nullptr || !PyArray_Check(key.get())) return false;
    auto* words = reinterpret_cast<PyArrayObject*>(key.get());
    return PyArray_TYPE(words) == NPY_UINT32 && PyArray_SIZE(words) == 624 && PyArray_IS_C_CONTIGUOUS(words) &&
           PyLong_AsLong(position.get()) == twister->position &&
           memcmp(PyArray_DATA(words), twister->words, sizeof twister->words) == 0;
}

}  // namespace

const Rounding& rounding() { return settings.rounding; }

Draw::Draw(PyObject* generator) {
    if (settings.generator == nullptr) return;
    if (generator == Py_None) generator = settings.generator;
    if (Py_TYPE(generator) != Py_TYPE(settings.generator)) return;
    taken = -1;
    lock_.reset(PyObject_GetAttr(generator, settings.lock));
    engine_.reset(lock_ ? PyObject_GetAttr(generator, settings.engine) : nullptr);
    if (!engine_) return;
    twister_ = twister_of(engine_.get());
    if (twister_ == nullptr) return;
    Ref done(into_python<PyObject_CallMethodNoArgs>(lock_.get(), settings.acquire));
    if (done) taken = 1;
}

Draw::~Draw() {
    if (taken != 1) return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Ref done(into_python<PyObject_CallMethodNoArgs>(lock_.get(), settings.release));
    if (!done) PyErr_WriteUnraisable(lock_.get());
    PyErr_Restore(type, value, traceback);
}

bool Draw::mark_drawn() { return PyObject_SetAttr(engine_.get(), settings.fresh, Py_False) == 0; }

bool Draw::take_spare(double& value, bool& there) {
    Ref spare(PyObject_GetAttr(engine_.get(), settings.spare));
    if (!spare) return false;
    there = spare.get() != Py_None;
    if (!there) return true;
    value = PyFloat_AsDouble(spare.get());
    if (value == -1.0 && PyErr_Occurred()) return false;
    return PyObject_SetAttr(engine_.get(), settings.spare, Py_None) == 0;
}

bool Draw::leave_spare(double value) {
    Ref spare(PyFloat_FromDouble(value));
    return spare && PyObject_SetAttr(engine_.get(), settings.spare, spare.get()) == 0;
}

// draw_from(generator, fused, vector_normal)
PyObject* draw_from(PyObject*, PyObject* arguments) {
    PyObject* generator;
    int fused, vector_normal;
    if (!PyArg_ParseTuple(arguments, "Opp", &generator, &fused, &vector_normal)) return nullptr;
    settings.engine = PyUnicode_InternFromString("engine");
    settings.lock = PyUnicode_InternFromString("lock");
    settings.source = PyUnicode_InternFromString("source");
    settings.fresh = PyUnicode_InternFromString("_fresh");
    settings.spare = PyUnicode_InternFromString("normal_cache");
    settings.acquire = PyUnicode_InternFromString("acquire");
    settings.release = PyUnicode_InternFromString("release");
    if (PyErr_Occurred()) return nullptr;
    settings.rounding = {fused != 0, vector_normal != 0};
    Ref engine(PyObject_GetAttr(generator, settings.engine));
    const bool known = engine && is_known_layout(engine.get());
    if (PyErr_Occurred()) return nullptr;
    settings.generator = known ? Py_NewRef(generator) : nullptr;
    return PyBool_FromLong(known);
}

}  // namespace mindtorch
