/* What a kernel of one's own has to be, to be run by MindTorch's native call path: plain C, and nothing to link
 * against.
 *
 * A kernel is any Python object that is registered for rows of the op table and called as fn(out, *values). Where it
 * has an attribute `__mindtorch_kernel__`, a capsule with a pointer to a `mindtorch_kernel`, the call path calls `run`
 * in its place, without Python. `mindtorch_runtime.include()` is the folder for the compiler.
 */
#ifndef MINDTORCH_KERNEL_H
#define MINDTORCH_KERNEL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MINDTORCH_KERNEL_ATTRIBUTE "__mindtorch_kernel__"
#define MINDTORCH_KERNEL_CAPSULE "mindtorch.kernel"
#define MINDTORCH_KERNEL_ABI 1

/* What `needs` is made of. Without it operands of reduced precision come as float32, and results are rounded after. */
#define MINDTORCH_KERNEL_HALVES 1u /* bfloat16 and float16 as they are */

typedef struct mindtorch_kernel mindtorch_kernel;

struct mindtorch_kernel {
    unsigned abi;    /* MINDTORCH_KERNEL_ABI */
    unsigned needs;  /* MINDTORCH_KERNEL_... */
    const char* row; /* of the op table; null where the kernel is none of a row's */

    /* Fill `out`, an array or a tuple of them, from `values`, which are borrowed. 1: done; 0: these operands are not
     * for it, nothing was written, and `fallback` runs; -1: a Python error is set. Python's lock is held. Nothing but a
     * return leaves it: no C++ exception. Null where all is `fallback`'s to do. */
    int (*run)(const mindtorch_kernel* self, PyObject* out, PyObject* const* values, Py_ssize_t count);

    PyObject* fallback; /* fn(out, *values), borrowed; null for the object that has the attribute */
};
/* The struct lives as long as the object that has the attribute. */

/* A capsule of this name and type, given to `native_path.use_memory` of mindtorch_dispatch.interface.native: called by
 * every thread before numpy allocates a large array for a result, so that the thread can be given a handler of numpy's
 * memory. -1 with an error set. */
#define MINDTORCH_MEMORY_CAPSULE "mindtorch.memory"
typedef int (*mindtorch_memory)(void);

#ifdef __cplusplus
}
#endif

#endif
