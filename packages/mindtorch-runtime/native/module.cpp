// The module `mindtorch_runtime._native`.
#define MINDTORCH_NUMPY_IMPORT
#include "mindtorch/entry.h"
#include "call/interface.h"
#include "launch/launches.h"
#include "pipeline/record.h"

namespace mindtorch {

static PyMethodDef methods[] = {
    method<install>("install", "install(classes, objects): take those of storage and dispatch, as layout.py has them."),
    method<install_autograd>("install_autograd", "install_autograd(classes, objects): the same of autograd."),
    method<caller>("caller",
                   "caller(packet, fallback, method): a function, or method, that runs planned calls and leaves others "
                   "to fallback.\n"
                   "caller(packet, fallback, method, row): of the calls of one overload."),
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
    method<tensor_over>(
        "tensor_over",
        "tensor_over(array, specs): a tensor over the memory of an array whose spec is known; None where it "
        "is not, or the array is laid out in another way."),
    method<copied>("copied", "copied(object, names): an object of the same class with the same in the slots `names`."),
    method<fill>("fill", METH_O,
                 "fill(records): run what a pipeline has put down, from the end of the list on, and take it off; what "
                 "is Python's "
                 "to\n"
                 "run, or fails, stays and is not passed."),
    method<use_memory>("use_memory", METH_O,
                       "use_memory(capsule): call this before large arrays are allocated; see mindtorch/kernel.h."),
    method<plain_arrays>("plain_arrays", METH_O,
                         "plain_arrays(lists): the arrays of lists of tensors, as lists; None where one is not plain."),
    method<note_writes>("note_writes",
                        "note_writes(lists, writes): note a write to every tensor of each list that `writes` numbers."),
    {nullptr, nullptr, 0, nullptr},
};

static PyModuleDef definition = module_definition("mindtorch_runtime._native", "The native call path.", methods);

static PyObject* make_module() {
    import_array();
    Ref module(PyModule_Create(&definition));
    if (!module || PyModule_AddStringConstant(module.get(), "LAYOUT", LAYOUT_HASH) < 0) return nullptr;
    for (PyTypeObject* type :
         {&CallerType, &MethodType, &ShortcutType, &GuardedType, &RecordType, &LaunchesType, &OperatorType, &FormType})
        if (PyModule_AddType(module.get(), type) < 0) return nullptr;
    return module.release();
}

}  // namespace mindtorch

PyMODINIT_FUNC PyInit__native() { return mindtorch::make_module(); }
