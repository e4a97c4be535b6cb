// The module `mindtorch_cpu._native`.
#define MINDTORCH_NUMPY_IMPORT
#include <stdlib.h>

#include "simd/cpu_capability.h"
#include "call/entry.h"
#include "call/interface.h"
#include "parallel.h"

namespace mindtorch {

static PyObject* get_thread_count(PyObject*, PyObject*) { return PyLong_FromLong(thread_count()); }

static PyObject* put_thread_count(PyObject*, PyObject* count) {
    const long wanted = PyLong_AsLong(count);
    if (wanted == -1 && PyErr_Occurred()) return nullptr;
    if (wanted < 1 || wanted > 4096) {
        PyErr_SetString(PyExc_ValueError, "a number of threads is between 1 and 4096");
        return nullptr;
    }
    set_thread_count(static_cast<int>(wanted));
    Py_RETURN_NONE;
}

#if defined(__SANITIZE_ADDRESS__)
// What sanitizers must report, to see that they do: a shift, too far from 32 on, and the byte behind a block.
static PyObject* overstep(PyObject*, PyObject* count) {
    const int wanted = static_cast<int>(PyLong_AsLong(count));
    const volatile int shifted = 1 << wanted;
    auto* block = static_cast<volatile char*>(malloc(static_cast<size_t>(wanted)));
    const char beyond = block[wanted];
    free(const_cast<char*>(block));
    return PyLong_FromLong(shifted + beyond);
}
#endif

static PyMethodDef methods[] = {
    method<install>("install", "install(classes, objects): take those of storage and dispatch, as layout.py has them."),
    method<install_autograd>("install_autograd", "install_autograd(classes, objects): the same of autograd."),
    method<caller>("caller",
                   "caller(packet, fallback, method): a function, or method, that runs planned calls and leaves others "
                   "to fallback.\n"
                   "caller(packet, fallback, method, row): of the calls of one overload."),
    method<draw_from>("draw_from", METH_VARARGS,
                      "draw_from(generator, fused, vector_normal): let random kernels draw, from `generator` where a "
                      "call names none; "
                      "False when numpy's state is not as they know it."),
    method<get_thread_count>("thread_count", METH_NOARGS,
                             "How many threads a kernel may use; 1 in a fresh child of fork()."),
    method<put_thread_count>("set_thread_count", METH_O, "set_thread_count(count): let kernels use that many threads."),
    method<propagate>(
        "propagate",
        "propagate(task, starts, roots): run a backward pass from the nodes `starts`; `roots` is emptied."),
    method<shortcut>("shortcut",
                     "shortcut(caller, type, constants, fallback): a method that is caller(self, *constants, argument) "
                     "where that is "
                     "planned for an argument of the type, and fallback(self, argument) elsewhere."),
    method<guarded>(
        "guarded",
        "guarded(function, asking, name): the method `name` of tensors: function(self, ...) of a plain tensor where no "
        "mode "
        "asks for calls, and asking(self, ...) elsewhere."),
    method<subscript_by>("subscript_by",
                         "subscript_by(select, slice, unsqueeze, end): let tuples of indices be read here, with these "
                         "methods of tensors."),
    method<view_of>("view_of",
                    "view_of(tensor, items): the view that a tuple of ints, slices, None and ... selects; None where "
                    "there is another "
                    "index or one that is wrong, and for tensors that are not plain."),
    method<fill>("fill", METH_O,
                 "fill(records): run what a pipeline has put down, from the end of the list on, and take it off; what "
                 "is Python's "
                 "to\n"
                 "run, or fails, stays and is not passed."),
    method<chain>("chain",
                  "chain(steps, lists, numbers): run the steps on the arrays of the lists, item by item; False, with "
                  "nothing done,\n"
                  "where they are not dense floats of one dtype and, in an item, one geometry.\n"
                  "chain(steps, lists, numbers, writes): on tensors, noting a write for every slot in `writes`; False "
                  "also where a\n"
                  "tensor is not plain."),
    method<limit_host_cache>("limit_host_cache", METH_O,
                             "limit_host_cache(bytes): keep that much freed memory of large arrays."),
    method<empty_host_cache>("empty_host_cache", METH_NOARGS, "Give freed memory that is kept back to the system."),
    method<host_cache>("host_cache", METH_NOARGS,
                       "Bytes used by large arrays, kept, and the limit of what is kept, by name."),
#if defined(__SANITIZE_ADDRESS__)
    method<overstep>("overstep", METH_O,
                     "overstep(count): shift by `count`, and read the byte behind a block of `count` bytes."),
#endif
    {nullptr, nullptr, 0, nullptr},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "mindtorch_cpu._native",
    "Native executor and kernels of the CPU backend.",
    -1,
    methods,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

static PyObject* make_module() {
    import_array();
    Ref module(PyModule_Create(&definition));
    if (!module || add_types(module.get()) < 0 || PyModule_AddStringConstant(module.get(), "LAYOUT", LAYOUT_HASH) < 0 ||
        PyModule_AddStringConstant(module.get(), "INSTRUCTIONS", instruction_set_name()) < 0)
        return nullptr;
    Ref operations(chain_operations());
    if (!operations || PyModule_AddObjectRef(module.get(), "CHAIN_OPERATIONS", operations.get()) < 0) return nullptr;
    return module.release();
}

}  // namespace mindtorch

PyMODINIT_FUNC PyInit__native() { return mindtorch::make_module(); }
