// The module `mindtorch_cpu._native`.
#define MINDTORCH_NUMPY_IMPORT
#include "interface.h"

namespace mindtorch {

// As in src/mindtorch_cpu/native.py, which says when it changes.
constexpr long INTERFACE = 3;

static PyMethodDef methods[] = {
    {"install", install, METH_O, "Take the classes and functions of the dispatcher, by name."},
    {"caller", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(caller)), METH_FASTCALL,
     "caller(packet, fallback): return run(args), which executes a planned call, or calls fallback(*args)."},
    {nullptr, nullptr, 0, nullptr},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "mindtorch_cpu._native", "Native executor and kernels of the CPU backend.",
    -1, methods, nullptr, nullptr, nullptr, nullptr,
};

static PyObject* make_module() {
    import_array();
    Ref module(PyModule_Create(&definition));
    if (!module || add_types(module.get()) < 0 ||
        PyModule_AddIntConstant(module.get(), "INTERFACE", INTERFACE) < 0)
        return nullptr;
    return module.release();
}

}  // namespace mindtorch

PyMODINIT_FUNC PyInit__native() { return mindtorch::make_module(); }
