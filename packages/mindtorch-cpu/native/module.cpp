// The module `mindtorch_cpu._native`.
#define MINDTORCH_NUMPY_IMPORT
#include <stdlib.h>

#include "simd/cpu_capability.h"
#include "kernels/kernel.h"
#include "memory/checksum.h"
#include "denormals.h"
#include "mindtorch/unlocked.h"
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

static PyObject* flush_denormals(PyObject*, PyObject* flush) {
    const int wanted = PyObject_IsTrue(flush);
    if (wanted < 0) return nullptr;
    set_float_control(wanted ? float_control() | FLUSHING : float_control() & ~FLUSHING);
    return PyBool_FromLong(CAN_FLUSH_DENORMALS);
}

static PyObject* checksum(PyObject*, PyObject* arguments) {
    Py_buffer bytes;
    unsigned int before;
    if (!PyArg_ParseTuple(arguments, "y*I", &bytes, &before)) return nullptr;
    uint32_t sum;
    {
        const Unlocked unlocked;
        sum = crc32(before, static_cast<const uint8_t*>(bytes.buf), static_cast<size_t>(bytes.len));
    }
    PyBuffer_Release(&bytes);
    return PyLong_FromUnsignedLong(sum);
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
    method<draw_from>("draw_from", METH_VARARGS,
                      "draw_from(generator, fused, vector_normal): let random kernels draw, from `generator` where a "
                      "call names none; "
                      "False when numpy's state is not as they know it."),
    method<get_thread_count>("thread_count", METH_NOARGS,
                             "How many threads a kernel may use; 1 in a fresh child of fork()."),
    method<put_thread_count>("set_thread_count", METH_O, "set_thread_count(count): let kernels use that many threads."),
    method<flush_denormals>("flush_denormals", METH_O,
                            "flush_denormals(flush): whether this thread, and the pool on its behalf, takes denormal "
                            "numbers for zeros; False where the processor has no such switch."),
    method<chain>("chain",
                  "chain(steps, lists, numbers): run the steps on the arrays of the lists, item by item; False, with "
                  "nothing done,\n"
                  "where they are not dense floats of one dtype and, in an item, one geometry."),
    method<kernel>("kernel", "kernel(row, numpy_kernel): the native kernel of a row; KeyError when there is none."),
    method<kernels>("kernels", METH_NOARGS,
                    "Of every native kernel its rows, apart by spaces, and whether it reads and writes bfloat16 and "
                    "float16 itself."),
    method<use_bfloat16>("use_bfloat16", METH_O, "use_bfloat16(dtype): numpy's dtype of bfloat16."),
    method<limit_host_cache>("limit_host_cache", METH_O,
                             "limit_host_cache(bytes): keep that much freed memory of large arrays."),
    method<populate>("populate", METH_O,
                     "populate(buffer): take the memory of a large array's part that is about to be written."),
    method<use_huge_pages>("use_huge_pages",
                           "use_huge_pages(array, wanted): whether untouched memory of a large array comes in huge "
                           "pages."),
    method<empty_host_cache>("empty_host_cache", METH_NOARGS, "Give freed memory that is kept back to the system."),
    method<checksum>("crc32", METH_VARARGS,
                     "crc32(data, before): the CRC-32 of what has the checksum `before` and these bytes after it."),
    method<host_cache>("host_cache", METH_NOARGS,
                       "Bytes used by large arrays, kept, and the limit of what is kept, by name."),
#if defined(__SANITIZE_ADDRESS__)
    method<overstep>("overstep", METH_O,
                     "overstep(count): shift by `count`, and read the byte behind a block of `count` bytes."),
#endif
    {nullptr, nullptr, 0, nullptr},
};

static PyModuleDef definition =
    module_definition("mindtorch_cpu._native", "Native kernels of the CPU backend.", methods);

static PyObject* make_module() {
    import_array();
    Ref module(PyModule_Create(&definition));
    if (!module || PyModule_AddType(module.get(), &KernelType) < 0 ||
        PyModule_AddStringConstant(module.get(), "DECLARATION", MINDTORCH_DECLARATION) < 0 ||
        PyModule_AddStringConstant(module.get(), "INSTRUCTIONS", instruction_set_name()) < 0)
        return nullptr;
    Ref operations(chain_operations());
    if (!operations || PyModule_AddObjectRef(module.get(), "CHAIN_OPERATIONS", operations.get()) < 0) return nullptr;
    Ref memory(host_cache_capsule());
    if (!memory || PyModule_AddObjectRef(module.get(), "MEMORY", memory.get()) < 0) return nullptr;
    return module.release();
}

}  // namespace mindtorch

PyMODINIT_FUNC PyInit__native() { return mindtorch::make_module(); }
