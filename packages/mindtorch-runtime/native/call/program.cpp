// Reading of plans: their slots as the executor wants them.
#include "call/program.h"

#include <algorithm>
#include <memory>

namespace mindtorch {

namespace {

constexpr const char* CAPSULE = "mindtorch_runtime._native.program";

void free_program(PyObject* capsule) { delete static_cast<Program*>(PyCapsule_GetPointer(capsule, CAPSULE)); }

// Pairs (index, place) as numbers; false when they are anything else.
bool read_routes(PyObject* pairs, std::vector<Routed>& routes, Py_ssize_t values) {
    if (!PyList_CheckExact(pairs) && !PyTuple_CheckExact(pairs)) return false;
    for (Py_ssize_t number = 0; number < PySequence_Fast_GET_SIZE(pairs); number++) {
        PyObject* pair = PySequence_Fast_GET_ITEM(pairs, number);
        if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyLong_CheckExact(PyTuple_GET_ITEM(pair, 1)))
            return false;
        const Routed route = {PyLong_AsSsize_t(PyTuple_GET_ITEM(pair, 0)), PyLong_AsSsize_t(PyTuple_GET_ITEM(pair, 1))};
        if (route.index < 0 || route.place < 0 || route.index >= values) return false;
        routes.push_back(route);
    }
    return true;
}

bool read_operands(PyObject* plan, Program& to) {
    const auto& at = configuration.plan;
    PyObject* values = slot(plan, at.values);
    if (values == nullptr || !PyList_CheckExact(values)) return false;
    const Py_ssize_t count = PyList_GET_SIZE(values);
    if (count > MOST_OPERANDS) return false;
    if (!read_routes(slot(plan, at.tensors), to.tensors, count)) return false;
    to.count = count;
    for (Py_ssize_t index = 0; index < count; index++) {
        const auto takes = [index](const Routed& one) { return one.index == index; };
        if (std::none_of(to.tensors.begin(), to.tensors.end(), takes))
            to.fixed.push_back({index, PyList_GET_ITEM(values, index)});
    }
    PyObject* casts = slot(plan, at.casts);
    const bool known =
        read_routes(slot(plan, at.scalars), to.scalars, count) && read_routes(slot(plan, at.lists), to.lists, count);
    to.prepares = slot(plan, at.prepare) != Py_None && (casts != Py_False || !known);
    to.wraps = slot(plan, at.wraps) != Py_False;
    return known || to.prepares;
}

constexpr npy_intp SMALL_BYTES = 1024;

// What an output is allocated as; `sig` is a signature, or None for one that is not made.
bool read_output(PyObject* sig, PyObject* alloc, Output& to) {
    to = {};
    if (sig == nullptr) return false;
    if (sig == Py_None) return true;
    PyObject* spec = slot(sig, configuration.signature.spec);
    if (Py_TYPE(spec) != configuration.spec_type) return false;
    PyObject* shape = slot(spec, configuration.spec.shape);
    PyObject* dtype = slot(spec, configuration.spec.np_dtype);
    if (shape == nullptr || dtype == nullptr || !PyTuple_Check(shape) || !PyArray_DescrCheck(dtype) ||
        PyTuple_GET_SIZE(shape) > MOST_DIMENSIONS)
        return false;
    to.sig = sig;
    to.shape = shape;
    to.dtype = reinterpret_cast<PyArray_Descr*>(dtype);
    to.alloc = alloc == configuration.empty ? nullptr : alloc;
    npy_intp bytes = PyDataType_ELSIZE(to.dtype);
    for (Py_ssize_t dim = 0; dim < PyTuple_GET_SIZE(shape); dim++) {
        to.extents.push_back(PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, dim)));
        if (bytes <= SMALL_BYTES) bytes *= to.extents.back();
    }
    const bool plain = !PyDataType_REFCHK(to.dtype) && bytes > 0 && bytes <= SMALL_BYTES;
    to.small_bytes = plain ? static_cast<size_t>(bytes) : 0;
    return !PyErr_Occurred();
}

bool read_outputs(PyObject* plan, Program& to, bool views) {
    PyObject* outputs = slot(plan, configuration.plan.outputs);
    if (outputs == nullptr || !PyList_CheckExact(outputs)) return false;
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(outputs); number++) {
        PyObject* pair = PyList_GET_ITEM(outputs, number);
        if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) return false;
        Output made;
        PyObject* second = PyTuple_GET_ITEM(pair, 1);
        if (!read_output(PyTuple_GET_ITEM(pair, 0), views ? nullptr : second, made)) return false;
        if (views) made.offset = second;
        to.outputs.push_back(made);
    }
    PyObject* pack = slot(plan, configuration.plan.pack);
    to.pack = pack == reinterpret_cast<PyObject*>(&PyTuple_Type) ? nullptr : pack;
    return pack != nullptr && pack != Py_None;
}

// The kernel's form for C, null where it has none or one of another version. It lives as long as the kernel.
const mindtorch_kernel* native_form(PyObject* kernel) {
    Ref capsule(PyObject_GetAttrString(kernel, MINDTORCH_KERNEL_ATTRIBUTE));
    const void* found = capsule ? PyCapsule_GetPointer(capsule.get(), MINDTORCH_KERNEL_CAPSULE) : nullptr;
    if (found == nullptr) PyErr_Clear();
    auto* form = static_cast<const mindtorch_kernel*>(found);
    return form != nullptr && form->abi == MINDTORCH_KERNEL_ABI ? form : nullptr;
}

bool read_callable(PyObject* plan, Program& to) {
    to.kernel = slot(plan, configuration.plan.kernel);
    return to.kernel != nullptr && to.kernel != Py_None;
}

bool read_kernel(PyObject* plan, Program& to) {
    if (!read_callable(plan, to)) return false;
    to.native = native_form(to.kernel);
    if (to.native != nullptr && to.native->fallback != nullptr) to.kernel = to.native->fallback;
    return true;
}

bool read_source(PyObject* plan, Program& to) {
    PyObject* source = slot(plan, configuration.plan.source);
    if (source == nullptr || !PyLong_CheckExact(source)) return false;
    to.source = PyLong_AsSsize_t(source);
    return to.source >= 0;
}

bool read_view(PyObject* plan, Program& to) {
    const auto& at = configuration.plan;
    PyObject *creation = slot(plan, at.creation), *follows = slot(plan, at.follows);
    if (creation == nullptr || follows == nullptr || !read_source(plan, to)) return false;
    to.creation = creation == Py_None ? nullptr : creation;
    to.follows = follows != Py_False;
    return true;
}

bool read_single_view(PyObject* plan, Program& to) {
    Output made;
    if (!read_view(plan, to) || !read_output(slot(plan, configuration.plan.sig), nullptr, made)) return false;
    made.offset = slot(plan, configuration.plan.offset);
    to.outputs.push_back(made);
    return made.offset != nullptr && made.sig != nullptr;
}

bool read_single(PyObject* plan, Program& to) {
    Output made;
    if (!read_kernel(plan, to)) return false;
    if (!read_output(slot(plan, configuration.plan.sig), slot(plan, configuration.plan.alloc), made)) return false;
    to.outputs.push_back(made);
    return made.sig != nullptr;
}

bool read_inplace(PyObject* plan, Program& to) {
    PyObject* before = slot(plan, configuration.plan.before);
    to.before = before == Py_None ? nullptr : before;
    if (before != nullptr && Py_TYPE(before) == configuration.overlap_type)
        to.looks_apart = slot(before, configuration.overlap.before) == Py_None;
    return before != nullptr && read_kernel(plan, to) && read_source(plan, to);
}

struct Reader {
    PyObject* run;
    Program::Way way;
    bool (*read)(PyObject* plan, Program& to);
};

Program::Way read_way(PyObject* plan, Program& to) {
    const auto& runs = configuration;
    const Reader readers[] = {
        {runs.run_kernel, Program::KERNEL, read_single},
        {runs.run_inplace, Program::INPLACE, read_inplace},
        {runs.run_view, Program::VIEW, read_single_view},
        {runs.run_composite, Program::COMPOSITE, read_callable},
        {runs.record_kernel, Program::RECORD_KERNEL, read_single},
        {runs.record_inplace, Program::RECORD_INPLACE, read_inplace},
        {runs.record_view, Program::RECORD_VIEW, read_single_view},
        {runs.run_kernel_outputs, Program::KERNEL_OUTPUTS,
         [](PyObject* from, Program& into) { return read_kernel(from, into) && read_outputs(from, into, false); }},
        {runs.run_views, Program::VIEWS,
         [](PyObject* from, Program& into) { return read_view(from, into) && read_outputs(from, into, true); }},
    };
    PyObject* run = slot(plan, configuration.plan.run);
    for (const Reader& one : readers)
        if (run == one.run) return read_operands(plan, to) && one.read(plan, to) ? one.way : Program::PYTHON;
    return Program::PYTHON;
}

std::unique_ptr<Program> make_program(PyObject* plan) {
    auto made = std::make_unique<Program>();
    made->plan = plan;
    made->cls = reinterpret_cast<PyTypeObject*>(slot(plan, configuration.plan.cls));
    PyObject* record = slot(plan, configuration.plan.record);
    made->record = record == Py_None ? nullptr : record;
    made->way = read_way(plan, *made);
    made->records = made->record != nullptr && made->way != Program::INPLACE && made->way != Program::RECORD_INPLACE &&
                    plan_recording(record, made->recording);
    return made;
}

}  // namespace

Program* program_of(PyObject* plan) {
    PyObject*& native = slot(plan, configuration.plan.native);
    if (native != nullptr && PyCapsule_CheckExact(native))
        return static_cast<Program*>(PyCapsule_GetPointer(native, CAPSULE));
    auto made = make_program(plan);
    PyObject* capsule = PyCapsule_New(made.get(), CAPSULE, free_program);
    if (capsule == nullptr) return nullptr;
    Py_XSETREF(native, capsule);
    return made.release();
}

}  // namespace mindtorch
