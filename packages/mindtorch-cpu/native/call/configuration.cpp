// What the Python packages tell the executor: where the slots of their classes lie, and the objects it works with.
#include "call/interface.h"

namespace mindtorch {

namespace {

// The offset of the slot `name` of a Python class; -1 with an error set when it has no such slot.
Py_ssize_t offset_of(PyObject* cls, const char* name) {
    Ref descriptor(PyObject_GetAttrString(cls, name));
    if (!descriptor) return -1;
    if (Py_TYPE(descriptor.get()) != &PyMemberDescr_Type) {
        PyErr_Format(PyExc_TypeError, "%R has no slot %s", cls, name);
        return -1;
    }
    const PyMemberDef* member = reinterpret_cast<PyMemberDescrObject*>(descriptor.get())->d_member;
    if (member->type != T_OBJECT_EX) {
        PyErr_Format(PyExc_TypeError, "the slot %s of %R holds no object", name, cls);
        return -1;
    }
    return member->offset;
}

struct SlotName {
    const char* name;
    Py_ssize_t* offset;
};

struct ObjectName {
    const char* name;
    PyObject** object;
};

struct TypeName {
    const char* name;
    PyTypeObject** type;
};

PyObject* item(PyObject* settings, const char* name) {
    PyObject* found = PyDict_GetItemString(settings, name);
    if (found == nullptr) PyErr_Format(PyExc_KeyError, "%s", name);
    return found;
}

template <size_t count>
int find_slots(PyObject* settings, const char* class_name, const SlotName (&slots)[count]) {
    PyObject* cls = item(settings, class_name);
    if (cls == nullptr) return -1;
    for (const SlotName& one : slots) {
        *one.offset = offset_of(cls, one.name);
        if (*one.offset < 0) return -1;
    }
    return 0;
}

template <size_t count>
int find_objects(PyObject* settings, const ObjectName (&objects)[count]) {
    for (const ObjectName& one : objects) {
        PyObject* found = item(settings, one.name);
        if (found == nullptr) return -1;
        *one.object = Py_NewRef(found);
    }
    return 0;
}

template <size_t count>
int find_types(PyObject* settings, const TypeName (&types)[count]) {
    for (const TypeName& one : types) {
        PyObject* found = item(settings, one.name);
        if (found == nullptr) return -1;
        if (!PyType_Check(found)) {
            PyErr_Format(PyExc_TypeError, "%s is no class", one.name);
            return -1;
        }
        *one.type = reinterpret_cast<PyTypeObject*>(Py_NewRef(found));
    }
    return 0;
}

template <size_t count>
int make_names(const ObjectName (&names)[count]) {
    for (const ObjectName& one : names) {
        *one.object = PyUnicode_InternFromString(one.name);
        if (*one.object == nullptr) return -1;
    }
    return 0;
}

// What recording needs, where there is autograd.
int install_recording(PyObject* settings) {
    Configuration& to = configuration;
    const SlotName recorder_slots[] = {
        {"cls", &to.recorder.cls},
        {"plain", &to.recorder.plain},
        {"single", &to.recorder.single},
        {"edges", &to.recorder.edges},
        {"outputs", &to.recorder.outputs},
        {"saves", &to.recorder.saves},
        {"saves_tensors", &to.recorder.saves_tensors},
        {"formulas", &to.recorder.formulas},
        {"environment", &to.recorder.environment},
        {"native", &to.recorder.native},
    };
    const SlotName node_slots[] = {
        {"_recorder", &to.node.recorder}, {"_hooks", &to.node.hooks}, {"_seq", &to.node.seq},
        {"_outputs", &to.node.outputs},   {"_edges", &to.node.edges}, {"_saved", &to.node.saved},
    };
    const SlotName meta_slots[] = {
        {"accumulator", &to.meta.accumulator},
        {"grad", &to.meta.grad},
        {"hooks", &to.meta.hooks},
        {"post_accumulate_hooks", &to.meta.post_hooks},
    };
    const SlotName task_slots[] = {
        {"node", &to.task.node},
        {"needed", &to.task.needed},
        {"captures", &to.task.captures},
        {"keep_graph", &to.task.keep_graph},
    };
    const SlotName leaf_slots[] = {{"_hooks", &to.leaf.hooks}, {"variable", &to.leaf.variable}};
    const TypeName types[] = {
        {"AccumulateGrad", &to.leaf_type},
        {"OpNode", &to.node_type},
        {"Recorder", &to.recorder_type},
        {"SavedResult", &to.result_type},
    };
    const SlotName result_slots[] = {
        {"alias", &to.result.alias}, {"number", &to.result.number}, {"owner", &to.result.owner}};
    if (find_slots(settings, "Recorder", recorder_slots) < 0 || find_slots(settings, "OpNode", node_slots) < 0 ||
        find_slots(settings, "AutogradMeta", meta_slots) < 0 || find_slots(settings, "GraphTask", task_slots) < 0 ||
        find_slots(settings, "SavedResult", result_slots) < 0 ||
        find_slots(settings, "AccumulateGrad", leaf_slots) < 0 || find_types(settings, types) < 0)
        return -1;
    const ObjectName objects[] = {
        {"sequence", &to.sequence}, {"anomaly", &to.anomaly}, {"gradient_edge", &to.gradient_edge},
        {"nowhere", &to.nowhere},   {"add", &to.add},         {"add_in_place", &to.add_in_place},
        {"fit", &to.fit},           {"unpack", &to.unpack},
    };
    if (find_objects(settings, objects) < 0) return -1;
    to.after = PyObject_GetAttrString(item(settings, "Recorder"), "after");
    return to.after == nullptr ? -1 : 0;
}

int install_slots(PyObject* settings) {
    Configuration& to = configuration;
    const SlotName tensor_slots[] = {
        {"_sig", &to.tensor.sig},
        {"_array", &to.tensor.array},
        {"_storage", &to.tensor.storage},
        {"_offset", &to.tensor.offset},
        {"_counter", &to.tensor.counter},
        {"_grad_fn", &to.tensor.grad_fn},
        {"_output_nr", &to.tensor.output_nr},
        {"_view", &to.tensor.view},
        {"_meta", &to.tensor.meta},
        {"_pipe", &to.tensor.pipe},
    };
    const SlotName plan_slots[] = {
        {"run", &to.plan.run},           {"alloc", &to.plan.alloc},     {"kernel", &to.plan.kernel},
        {"before", &to.plan.before},     {"prepare", &to.plan.prepare}, {"record", &to.plan.record},
        {"tensors", &to.plan.tensors},   {"values", &to.plan.values},   {"cls", &to.plan.cls},
        {"sig", &to.plan.sig},           {"source", &to.plan.source},   {"scalars", &to.plan.scalars},
        {"lists", &to.plan.lists},       {"casts", &to.plan.casts},     {"wraps", &to.plan.wraps},
        {"outputs", &to.plan.outputs},   {"pack", &to.plan.pack},       {"offset", &to.plan.offset},
        {"creation", &to.plan.creation}, {"follows", &to.plan.follows}, {"native", &to.plan.native},
    };
    const SlotName signature_slots[] = {{"spec", &to.signature.spec},
                                        {"requires_grad", &to.signature.requires_grad},
                                        {"inference", &to.signature.inference}};
    const SlotName spec_slots[] = {
        {"shape", &to.spec.shape},
        {"np_dtype", &to.spec.np_dtype},
        {"np_strides", &to.spec.np_strides},
        {"plain", &to.spec.plain},
    };
    const SlotName view_slots[] = {
        {"attr_version", &to.view.version},
        {"base", &to.view.base},
        {"creation", &to.view.creation},
        {"leaf", &to.view.leaf},
    };
    const SlotName start_slots[] = {
        {"place", &to.start.place},
        {"extent", &to.start.extent},
        {"step", &to.start.step},
        {"clamped", &to.start.clamped},
    };
    const SlotName mode_slots[] = {
        {"grad", &to.mode.grad},
        {"function_modes", &to.mode.function_modes},
        {"dispatch_modes", &to.mode.dispatch_modes},
        {"inference", &to.mode.inference},
        {"overriding", &to.mode.overriding},
        {"include", &to.mode.include},
        {"exclude", &to.mode.exclude},
        {"forward_ad", &to.mode.forward_ad},
        {"profiling", &to.mode.profiling},
    };
    const SlotName pipeline_slots[] = {{"records", &to.pipeline.records}, {"limit", &to.pipeline.limit}};
    const SlotName packet_slots[] = {{"plans", &to.packet_plans}};
    const SlotName overlap_slots[] = {{"before", &to.overlap_before}};
    const SlotName storage_slots[] = {
        {"device", &to.storage.device}, {"_allocation", &to.storage.allocation}, {"buffer", &to.storage.buffer}};
    const SlotName allocation_slots[] = {
        {"buffer", &to.allocation.buffer}, {"nbytes", &to.allocation.nbytes}, {"resizable", &to.allocation.resizable},
        {"lent", &to.allocation.lent},     {"shared", &to.allocation.shared}, {"filename", &to.allocation.filename},
    };
    const bool found =
        find_slots(settings, "TensorBase", tensor_slots) == 0 && find_slots(settings, "Plan", plan_slots) == 0 &&
        find_slots(settings, "Signature", signature_slots) == 0 && find_slots(settings, "Spec", spec_slots) == 0 &&
        find_slots(settings, "ViewInfo", view_slots) == 0 && find_slots(settings, "Start", start_slots) == 0 &&
        find_slots(settings, "Mode", mode_slots) == 0 && find_slots(settings, "Packet", packet_slots) == 0 &&
        find_slots(settings, "OverlapCheck", overlap_slots) == 0 &&
        find_slots(settings, "HostAllocation", allocation_slots) == 0 &&
        find_slots(settings, "Pipeline", pipeline_slots) == 0 &&
        find_slots(settings, "UntypedStorage", storage_slots) == 0;
    return found ? 0 : -1;
}

int install_objects(PyObject* settings) {
    Configuration& to = configuration;
    const ObjectName objects[] = {
        {"state", &to.state},
        {"default_mode", &to.default_mode},
        {"plain_types", &to.plain_types},
        {"fingerprint", &to.fingerprint},
        {"Unplannable", &to.unplannable},
        {"run_again", &to.run_again},
        {"relate", &to.relate},
        {"run_kernel", &to.runs.kernel},
        {"run_kernel_outputs", &to.runs.outputs},
        {"run_inplace", &to.runs.inplace},
        {"run_view", &to.runs.view},
        {"run_views", &to.runs.views},
        {"run_composite", &to.runs.composite},
        {"record_kernel", &to.runs.record_kernel},
        {"record_inplace", &to.runs.record_inplace},
        {"record_view", &to.runs.record_view},
        {"fill_kernel", &to.fills.kernel},
        {"fill_inplace", &to.fills.inplace},
        {"fill_view", &to.fills.view},
        {"deferred", &to.deferred},
        {"library", &to.library},
        {"empty", &to.empty},
        {"enter", &to.enter},
        {"leave", &to.leave},
        {"silent", &to.silent},
        {"error_state", &to.error_state},
        {"array_types", &to.array_types},
        {"tensor_class", &to.tensor_class},
        {"cpu", &to.cpu},
    };
    const TypeName types[] = {
        {"Spec", &to.spec_type},
        {"ViewInfo", &to.view_type},
        {"Start", &to.start_type},
        {"OverlapCheck", &to.overlap_type},
        {"UntypedStorage", &to.storage_type},
        {"HostAllocation", &to.allocation_type},
        {"Pipeline", &to.pipeline_type},
        {"dtype", &to.dtype_type},
        {"Signature", &to.signature_type},
        {"AutogradMeta", &to.meta_type},
        {"TensorBase", &to.tensor_type},
    };
    const ObjectName names[] = {
        {"mode", &to.mode_name},
        {"free", &to.free_name},
        {"key", &to.key_name},
        {"__dict__", &to.dict_name},
        {"enabled", &to.enabled_name},
        {"_materialized_storage", &to.materialize_name},
        {"default", &to.default_creation},
        {"_unpack", &to.unpack_name},
        {"_outputs", &to.outputs_name},
        {"_edges", &to.edges_name},
        {"_seq", &to.seq_name},
        {"_evaluate", &to.evaluate_name},
        {"pipe", &to.pipe_name},
        {"flush", &to.flush_name},
        {"__name__", &to.module_name},
        {"transforms", &to.transforms_name},
    };
    if (find_objects(settings, objects) < 0 || find_types(settings, types) < 0 || make_names(names) < 0) return -1;
    PyObject* bfloat16 = item(settings, "bfloat16");
    if (bfloat16 == nullptr || !PyArray_DescrCheck(bfloat16)) return -1;
    to.bfloat16 = reinterpret_cast<PyArray_Descr*>(bfloat16)->type_num;
    to.zero = PyLong_FromLong(0);
    to.one = PyLong_FromLong(1);
    return to.zero == nullptr || to.one == nullptr ? -1 : 0;
}

}  // namespace

PyObject* install(PyObject*, PyObject* settings) {
    if (!PyDict_Check(settings)) {
        PyErr_SetString(PyExc_TypeError, "install() takes a dict");
        return nullptr;
    }
    if (install_slots(settings) < 0 || install_objects(settings) < 0) return nullptr;
    if (PyDict_GetItemString(settings, "Recorder") != nullptr && install_recording(settings) < 0) return nullptr;
    configuration.ready = true;
    Py_RETURN_NONE;
}

}  // namespace mindtorch
