// The form for C of rows that one of the vendor's operators computes: `mindtorch/kernel.h`.
#include "launch/launches.h"

namespace mindtorch {

namespace {

constexpr Py_ssize_t MOST_ARGUMENTS = 40;
constexpr long INPUT = -1, DTYPE = -2;

// How the operator's arguments are made of a kernel's: per argument the number of an output, INPUT for the next
// operand, DTYPE for the code of the output's type, or what is always the same.
struct Source {
    long kind;
    PyObject* fixed;    // a value; borrowed from the form's tuple
    PyObject* setting;  // a key of the dictionary `fixed`, null where `fixed` is the value
};

// `Form(launches, row, name, sources, resolve)`: resolve(name) is the operator of the libraries in use, or None.
struct Form {
    PyObject_HEAD mindtorch_kernel kernel;
    Launches* launches;
    PyObject *row, *name, *given, *resolve;
    PyObject* found;  // the operator
    uint64_t generation;
    std::vector<Source>* sources;
    PyObject* other;  // the form for those calls, null where there is none
};

Form* form_from(const mindtorch_kernel* kernel) {
    return reinterpret_cast<Form*>(reinterpret_cast<char*>(const_cast<mindtorch_kernel*>(kernel)) -
                                   offsetof(Form, kernel));
}

// The operator, borrowed; null without an error where there is none.
Operator* resolved(Form& form) {
    const uint64_t now = form.launches->state->generation;
    if (form.generation != now) {
        PyObject* found = into_python<PyObject_CallOneArg>(form.resolve, form.name);
        if (found == nullptr) return nullptr;
        Py_XSETREF(form.found, found);
        form.generation = now;
    }
    return Py_TYPE(form.found) == &OperatorType ? reinterpret_cast<Operator*>(form.found) : nullptr;
}

// The argument of one source, borrowed or kept alive by `made`; null where the fallback has to run.
class Arguments {
public:
    Arguments(const Form& form, PyObject* out, PyObject* const* values, Py_ssize_t count)
        : form_(form), out_(out), values_(values), count_(count) {}

    bool fill();
    PyObject* all[MOST_ARGUMENTS];
    Py_ssize_t size = 0;

private:
    PyObject* output(long number) const;
    PyObject* of(const Source& source);

    const Form& form_;
    PyObject* out_;
    PyObject* const* values_;
    Py_ssize_t count_, next_ = 0;
    Ref code_;
};

PyObject* Arguments::output(long number) const {
    const State& state = *form_.launches->state;
    PyObject* out = out_;
    if (PyTuple_CheckExact(out_))
        out = number < PyTuple_GET_SIZE(out_) ? PyTuple_GET_ITEM(out_, number) : nullptr;
    else if (number != 0)
        out = nullptr;
    return out != nullptr && is_array_of(state, out) && !is_empty_array(state, out) ? out : nullptr;
}

PyObject* Arguments::of(const Source& source) {
    if (source.kind >= 0) return output(source.kind);
    if (source.kind == INPUT) return next_ < count_ ? values_[next_++] : nullptr;
    if (source.kind == DTYPE) {
        PyObject* like = output(0);
        if (like == nullptr) return nullptr;
        const State& state = *form_.launches->state;
        code_.reset(into_python<PyObject_CallOneArg>(state.code_of, slot(like, state.array.dtype)));
        return code_.get();
    }
    return source.setting == nullptr ? source.fixed : PyDict_GetItemWithError(source.fixed, source.setting);
}

bool Arguments::fill() {
    for (const Source& source : *form_.sources) {
        PyObject* made = of(source);
        if (made == nullptr) return false;
        all[size++] = made;
    }
    return true;
}

bool is_number(PyObject* value) {
    return PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) || PyComplex_CheckExact(value);
}

int run_form(const mindtorch_kernel* self, PyObject* out, PyObject* const* values, Py_ssize_t count) {
    Form* chosen = form_from(self);
    if (chosen->other != nullptr && count > 1 && is_number(values[1])) chosen = reinterpret_cast<Form*>(chosen->other);
    Form& form = *chosen;
    Operator* of = resolved(form);
    if (of == nullptr) return PyErr_Occurred() ? -1 : 0;
    Arguments arguments(form, out, values, count);
    if (!arguments.fill()) return PyErr_Occurred() ? -1 : 0;
    Reading reading;
    Ref held(Py_NewRef(reinterpret_cast<PyObject*>(of)));
    return launch_planned(*of, arguments.all, arguments.size, reading);
}

// One source of `sources`: an int, or a tuple of a value, or of a dictionary and a key.
bool read_source(PyObject* item, Source& to) {
    to = {0, nullptr, nullptr};
    if (PyLong_CheckExact(item)) {
        to.kind = PyLong_AsLong(item);
        return to.kind >= DTYPE && to.kind < MOST_ARGUMENTS;
    }
    if (!PyTuple_CheckExact(item) || PyTuple_GET_SIZE(item) < 1 || PyTuple_GET_SIZE(item) > 2) return false;
    to.kind = DTYPE - 1;
    to.fixed = PyTuple_GET_ITEM(item, 0);
    if (PyTuple_GET_SIZE(item) == 2) to.setting = PyTuple_GET_ITEM(item, 1);
    return to.setting == nullptr || PyDict_CheckExact(to.fixed);
}

bool read_sources(Form& to) {
    if (!PyTuple_CheckExact(to.given) || PyTuple_GET_SIZE(to.given) > MOST_ARGUMENTS) return false;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(to.given); index++) {
        Source source;
        if (!read_source(PyTuple_GET_ITEM(to.given, index), source)) return false;
        to.sources->push_back(source);
    }
    return true;
}

PyObject* form_new(PyTypeObject* type, PyObject* given, PyObject* names) {
    PyObject *launches, *row, *name, *sources, *resolve;
    if (!PyArg_ParseTuple(given, "O!UUO!O", &LaunchesType, &launches, &row, &name, &PyTuple_Type, &sources, &resolve))
        return nullptr;
    const char* text = PyUnicode_AsUTF8(row);
    Ref made(text == nullptr ? nullptr : type->tp_alloc(type, 0));
    if (!made) return nullptr;
    auto& form = *reinterpret_cast<Form*>(made.get());
    form.kernel = {MINDTORCH_KERNEL_ABI, MINDTORCH_KERNEL_HALVES, text, entry<run_form>, nullptr};
    form.launches = reinterpret_cast<Launches*>(Py_NewRef(launches));
    form.row = Py_NewRef(row);
    form.name = Py_NewRef(name);
    form.given = Py_NewRef(sources);
    form.resolve = Py_NewRef(resolve);
    form.sources = new std::vector<Source>();
    if (!read_sources(form)) {
        PyErr_SetString(PyExc_ValueError, "the sources of an operator's arguments are numbers and tuples");
        return nullptr;
    }
    return made.release();
}

void form_dealloc(PyObject* self) {
    auto& form = *reinterpret_cast<Form*>(self);
    delete form.sources;
    Py_XDECREF(reinterpret_cast<PyObject*>(form.launches));
    for (PyObject* one : {form.row, form.name, form.given, form.resolve, form.found, form.other}) Py_XDECREF(one);
    Py_TYPE(self)->tp_free(self);
}

void free_capsule(PyObject* capsule) { Py_XDECREF(static_cast<PyObject*>(PyCapsule_GetContext(capsule))); }

// The capsule, which keeps the form, and that for numbers.
PyObject* form_capsule(PyObject* self, PyObject* const* given, Py_ssize_t count) {
    auto& form = *reinterpret_cast<Form*>(self);
    if (count > 1 || (count == 1 && Py_TYPE(given[0]) != &FormType)) {
        PyErr_SetString(PyExc_TypeError, "capsule() or capsule(form)");
        return nullptr;
    }
    if (count == 1) Py_XSETREF(form.other, Py_NewRef(given[0]));
    Ref made(PyCapsule_New(&form.kernel, MINDTORCH_KERNEL_CAPSULE, nullptr));
    if (!made || PyCapsule_SetContext(made.get(), self) < 0) return nullptr;
    Py_INCREF(self);
    if (PyCapsule_SetDestructor(made.get(), free_capsule) < 0) return nullptr;
    return made.release();
}

PyMethodDef form_methods[] = {
    method<form_capsule>(
        "capsule",
        "capsule(): what `__mindtorch_kernel__` of a kernel is; capsule(form): with another form for calls "
        "whose second operand is a number."),
    {nullptr, nullptr, 0, nullptr},
};

PyTypeObject make_form_type() {
    PyTypeObject type = object_type<Form>(
        "mindtorch_runtime._native.Form",
        "Form(launches, row, name, sources, resolve): a row's kernel for C, one of the vendor's operators.",
        form_dealloc, form_methods);
    type.tp_new = entry<form_new>;
    return type;
}

}  // namespace

PyTypeObject FormType = make_form_type();

}  // namespace mindtorch
