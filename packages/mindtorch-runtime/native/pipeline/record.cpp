// The type of a pipeline's records: a sequence, so that Python takes it apart as it does a tuple.
#include "pipeline/record.h"

#include "mindtorch/entry.h"

namespace mindtorch {

namespace {

constexpr Py_ssize_t FIELDS = 6;

// Records come and go by the hundred: those with room for a few values are kept for the next pipeline.
constexpr Py_ssize_t ROOM = 4;
constexpr int MOST_SPARE = 256;
Record* spare[MOST_SPARE];
int spare_count = 0;

Record* allocate_record(Py_ssize_t count) {
    if (count <= ROOM && spare_count > 0) {
        Record* made = spare[--spare_count];
        PyObject_InitVar(reinterpret_cast<PyVarObject*>(made), &RecordType, count);
        return made;
    }
    auto* made = PyObject_GC_NewVar(Record, &RecordType, count < ROOM ? ROOM : count);
    if (made != nullptr) Py_SET_SIZE(made, count);
    return made;
}

Record* as_record(PyObject* object) { return reinterpret_cast<Record*>(object); }

// The values as a tuple, borrowed; null with an error set.
PyObject* flat_of(Record* self) {
    if (self->flat != nullptr) return self->flat;
    PyObject* made = PyTuple_New(Py_SIZE(self));
    if (made == nullptr) return nullptr;
    for (Py_ssize_t place = 0; place < Py_SIZE(self); place++) {
        PyTuple_SET_ITEM(made, place, self->own[place]);
        self->own[place] = nullptr;
    }
    return self->flat = made;
}

Py_ssize_t length(PyObject*) { return FIELDS; }

PyObject* item(PyObject* object, Py_ssize_t index) {
    Record* self = as_record(object);
    switch (index) {
        case 0: return Py_NewRef(self->fill);
        case 1: return Py_NewRef(self->plan);
        case 2: return Py_XNewRef(flat_of(self));
        case 3: return Py_NewRef(self->result == nullptr ? Py_None : self->result);
        case 4: return Py_NewRef(self->code == nullptr ? Py_None : self->code);
        case 5: return PyLong_FromLong(self->instruction);
    }
    PyErr_SetString(PyExc_IndexError, "a record has six items");
    return nullptr;
}

PyObject* subscript_record(PyObject* object, PyObject* key) {
    Ref items(PySequence_Tuple(object));
    return items ? PyObject_GetItem(items.get(), key) : nullptr;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    Record* self = as_record(object);
    Py_VISIT(self->plan);
    Py_VISIT(self->result);
    Py_VISIT(self->code);
    Py_VISIT(self->flat);
    for (Py_ssize_t place = 0; place < Py_SIZE(self); place++) Py_VISIT(self->own[place]);
    return 0;
}

void dealloc(PyObject* object) {
    PyObject_GC_UnTrack(object);
    Record* self = as_record(object);
    for (Py_ssize_t place = 0; place < Py_SIZE(self); place++) Py_XDECREF(self->own[place]);
    Py_XDECREF(self->flat);
    Py_XDECREF(self->result);
    Py_XDECREF(self->code);
    Py_XDECREF(self->plan);
    Py_XDECREF(self->fill);
    if (Py_SIZE(self) <= ROOM && spare_count < MOST_SPARE) {
        spare[spare_count++] = self;
    } else {
        PyObject_GC_Del(object);
    }
}

PySequenceMethods* sequence() {
    static PySequenceMethods methods = {entry<length>, nullptr, nullptr, entry<item>};
    return &methods;
}

PyMappingMethods* mapping() {
    static PyMappingMethods methods = {entry<length>, entry<subscript_record>, nullptr};
    return &methods;
}

}  // namespace

PyTypeObject RecordType = [] {
    PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
    type.tp_name = "mindtorch_runtime._native.Record";
    type.tp_doc = "A call that a pipeline has put down: (fill, plan, values, result, code, instruction).";
    type.tp_basicsize = offsetof(Record, own);
    type.tp_itemsize = sizeof(PyObject*);
    type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_SEQUENCE;
    type.tp_traverse = traverse;
    type.tp_dealloc = dealloc;
    type.tp_as_sequence = sequence();
    type.tp_as_mapping = mapping();
    return type;
}();

Record* new_record(PyObject* fill, const Program& program, PyObject* const* values, Py_ssize_t count) {
    Record* made = allocate_record(count);
    if (made == nullptr) return nullptr;
    made->fill = Py_NewRef(fill);
    made->plan = Py_NewRef(program.plan);
    made->program = const_cast<Program*>(&program);
    made->result = made->code = made->flat = nullptr;
    made->instruction = 0;
    const bool lists = !program.lists.empty();
    bool whole = true;
    for (Py_ssize_t place = 0; place < count; place++) {
        const bool copied = lists && PyList_CheckExact(values[place]);
        made->own[place] =
            copied ? PyList_GetSlice(values[place], 0, PyList_GET_SIZE(values[place])) : Py_NewRef(values[place]);
        whole = whole && made->own[place] != nullptr;
    }
    if (!whole) {
        Py_DECREF(made);
        return nullptr;
    }
    PyObject_GC_Track(reinterpret_cast<PyObject*>(made));
    return made;
}

}  // namespace mindtorch
