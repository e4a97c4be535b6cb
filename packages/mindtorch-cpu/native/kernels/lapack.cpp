// Where scipy's LAPACK is, and results of batches.
#include "kernels/lapack.h"

#include <string.h>

namespace mindtorch {

namespace {

constexpr char PREFIXES[] = "sdcz";

// scipy.linalg.cython_lapack's capsules by name; null with an error set.
PyObject* capsules() {
    static PyObject* kept = nullptr;
    if (kept != nullptr) return kept;
    Ref module(into_python<PyImport_ImportModule>("mindtorch_cpu.lapack"));
    if (!module) return nullptr;
    Ref function(PyObject_GetAttrString(module.get(), "capsules"));
    if (!function) return nullptr;
    return kept = into_python<PyObject_CallNoArgs>(function.get());
}

// True where a signature's integers are C's: those of 64 bits have a type of their own.
bool takes_ints(const char* signature) { return strstr(signature, "int *") != nullptr; }

bool is_batch_of(PyArrayObject* out, const Matrices& a, int item) {
    if (PyArray_NDIM(out) != a.dims() + item) return false;
    return std::equal(PyArray_DIMS(out), PyArray_DIMS(out) + a.dims(), PyArray_DIMS(a.array));
}

}  // namespace

void* lapack_routine(const char* name, FactorKind kind) {
    PyObject* all = capsules();
    char full[16] = {PREFIXES[kind]};
    strncat(full, name, sizeof full - 2);
    PyObject* capsule = all == nullptr ? nullptr : PyDict_GetItemString(all, full);
    const char* signature = capsule == nullptr ? nullptr : PyCapsule_GetName(capsule);
    void* found = signature == nullptr || !takes_ints(signature) ? nullptr : PyCapsule_GetPointer(capsule, signature);
    PyErr_Clear();  // numpy's kernel says what is wrong with scipy
    return found;
}

bool take_matrices(Batch& result, const Matrices& a, PyObject* given, int type, size_t rows, size_t columns) {
    PyArrayObject* out = apart_output(given, type, {a.array});
    return out != nullptr && is_batch_of(out, a, 2) && result.take(out, 2, PyArray_DIMS(a.array), a.dims()) &&
           result.rows == rows && result.columns == columns;
}

bool take_vectors(Batch& result, const Matrices& a, PyObject* given, int type, size_t count) {
    PyArrayObject* out = apart_output(given, type, {a.array});
    return out != nullptr && is_batch_of(out, a, 1) && result.take(out, 1, PyArray_DIMS(a.array), a.dims()) &&
           result.rows == count;
}

}  // namespace mindtorch
