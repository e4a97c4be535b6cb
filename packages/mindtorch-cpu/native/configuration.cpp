// What the Python packages tell the executor: where the slots of their classes lie, and the objects it works with.
#include "interface.h"

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

// What recording needs, where there is autograd.
int install_recording(PyObject* settings) {
    Configuration& to = configuration;
    const SlotName recorder_slots[] = {
        {"cls", &to.recorder.cls}, {"written", &to.recorder.written}, {"single", &to.recorder.single},
        {"edges", &to.recorder.edges}, {"outputs", &to.recorder.outputs}, {"plain_saves", &to.recorder.plain_saves},
    };
    const SlotName node_slots[] = {
        {"_recorder", &to.node.recorder}, {"_hooks", &to.node.hooks}, {"_seq", &to.node.seq},
        {"_outputs", &to.node.outputs}, {"_edges", &to.node.edges}, {"_saved", &to.node.saved},
    };
    const SlotName meta_slots[] = {{"accumulator", &to.accumulator}};
    if (find_slots(settings, "Recorder", recorder_slots) < 0 || find_slots(settings, "OpNode", node_slots) < 0 ||
        find_slots(settings, "AutogradMeta", meta_slots) < 0)
        return -1;
    const ObjectName objects[] = {
        {"sequence", &to.sequence}, {"anomaly", &to.anomaly}, {"gradient_edge", &to.gradient_edge},
        {"nowhere", &to.nowhere},
    };
    if (find_objects(settings, objects) < 0) return -1;
    to.enabled_name = PyUnicode_InternFromString("enabled");
    to.after = PyObject_GetAttrString(item(settings, "Recorder"), "after");
    return to.enabled_name == nullptr || to.after == nullptr ? -1 : 0;
}

}  // namespace

PyObject* install(PyObject*, PyObject* settings) {
    if (!PyDict_Check(settings)) {
        PyErr_SetString(PyExc_TypeError, "install() takes a dict");
        return nullptr;
    }
    Configuration& to = configuration;
    const SlotName tensor_slots[] = {
        {"_sig", &to.tensor.sig}, {"_array", &to.tensor.array}, {"_storage", &to.tensor.storage},
        {"_offset", &to.tensor.offset}, {"_counter", &to.tensor.counter}, {"_grad_fn", &to.tensor.grad_fn},
        {"_output_nr", &to.tensor.output_nr}, {"_view", &to.tensor.view}, {"_meta", &to.tensor.meta},
    };
    const SlotName plan_slots[] = {
        {"run", &to.plan.run}, {"alloc", &to.plan.alloc}, {"kernel", &to.plan.kernel}, {"before", &to.plan.before},
        {"prepare", &to.plan.prepare}, {"record", &to.plan.record}, {"tensors", &to.plan.tensors},
        {"values", &to.plan.values}, {"cls", &to.plan.cls}, {"sig", &to.plan.sig}, {"shape", &to.plan.shape},
        {"np_dtype", &to.plan.np_dtype}, {"source", &to.plan.source},
        {"scalars", &to.plan.scalars}, {"lists", &to.plan.lists}, {"casts", &to.plan.casts},
    };
    const SlotName packet_slots[] = {{"plans", &to.packet_plans}};
    if (find_slots(settings, "TensorBase", tensor_slots) < 0 || find_slots(settings, "Plan", plan_slots) < 0 ||
        find_slots(settings, "Packet", packet_slots) < 0)
        return nullptr;
    const ObjectName objects[] = {
        {"state", &to.state}, {"plain_types", &to.plain_types}, {"fingerprint", &to.fingerprint},
        {"Unplannable", &to.unplannable}, {"run_again", &to.run_again}, {"run_kernel", &to.run_kernel},
        {"run_inplace", &to.run_inplace}, {"empty", &to.empty}, {"enter", &to.enter}, {"leave", &to.leave},
        {"silent", &to.silent}, {"error_state", &to.error_state},
    };
    if (find_objects(settings, objects) < 0) return nullptr;
    if (PyDict_GetItemString(settings, "Recorder") != nullptr && install_recording(settings) < 0) return nullptr;
    to.mode_name = PyUnicode_InternFromString("mode");
    to.free_name = PyUnicode_InternFromString("free");
    to.zero = PyLong_FromLong(0);
    if (to.mode_name == nullptr || to.free_name == nullptr || to.zero == nullptr) return nullptr;
    to.ready = true;
    Py_RETURN_NONE;
}

}  // namespace mindtorch
