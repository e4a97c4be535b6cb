// Triangular systems and Cholesky factors of batches of small matrices.
#include "kernels/matrices.h"

namespace mindtorch {

namespace {

// A X = B, X A = B where `left` is false, with one triangle of A.
struct TriangularSystems {
    Matrices a;
    Batch factors, right, result;
    size_t count = 1;

    bool take(PyObject* matrices, PyObject* given, PyObject* to, bool left) {
        if (!a.take(matrices) || !a.square()) return false;
        PyArrayObject* b = plain_array(given);
        if (b == nullptr || PyArray_TYPE(b) != PyArray_TYPE(a.array) || PyArray_NDIM(b) < 2) return false;
        PyArrayObject* out = apart_output(to, PyArray_TYPE(b), {a.array, b});
        if (out == nullptr || PyArray_SIZE(out) == 0) return false;
        const npy_intp* batch = PyArray_DIMS(out);
        const int ndim = PyArray_NDIM(out) - 2;
        if (!factors.take(a.array, 2, batch, ndim) || !right.take(b, 2, batch, ndim) ||
            !result.take(out, 2, batch, ndim))
            return false;
        for (int dim = 0; dim < ndim; dim++) count *= static_cast<size_t>(batch[dim]);
        if (!left) {
            right = right.transposed();
            result = result.transposed();
        }
        return right.rows == a.size() && right.columns == result.columns && result.rows == a.size();
    }

    // Call solve(x, columns, buffer with the matrix) for each; `transposed`: of the matrix.
    template <typename Solve>
    int each(bool transposed, const Solve& solve) const {
        const size_t columns = right.columns;
        const Batch read = transposed ? factors.transposed() : factors;
        return each_matrix(count, a.size() * a.size() * (columns + 1), a.bytes() + a.size() * columns * a.item,
                           [&](size_t number, char* buffer) {
                               char* x = buffer + a.bytes();
                               read.read(*a.loops, number, buffer);
                               right.read(*a.loops, number, x);
                               solve(x, columns, buffer);
                               result.write(*a.loops, number, x);
                           });
    }
};

// Values are (A, B, upper, left, unitriangular).
int linalg_solve_triangular(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    TriangularSystems systems;
    if (count != 5) return 0;
    const bool left = values[3] == Py_True, upper = values[2] == Py_True, unit = values[4] == Py_True;
    if (!systems.take(values[0], values[1], out, left)) return 0;
    return systems.each(!left, [&](void* x, size_t columns, const void* matrix) {
        systems.a.loops->solve(x, columns, matrix, systems.a.size(), upper == left, unit);
    });
}

// Values are (B, A, upper): the matrix is known by one triangle of its factor.
int cholesky_solve(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    TriangularSystems systems;
    if (count != 3 || !systems.take(values[1], values[0], out, true)) return 0;
    const bool upper = values[2] == Py_True;
    const Matrices& a = systems.a;
    const size_t bytes = a.bytes();
    const Batch lower = upper ? systems.factors.transposed() : systems.factors;
    const Batch adjoint = lower.transposed();
    const size_t columns = systems.right.columns;
    return each_matrix(systems.count, 2 * a.size() * a.size() * (columns + 1), bytes + a.size() * columns * a.item,
                       [&](size_t number, char* buffer) {
                           char* x = buffer + bytes;
                           systems.right.read(*a.loops, number, x);
                           lower.read(*a.loops, number, buffer, upper);
                           a.loops->solve(x, columns, buffer, a.size(), false, false);
                           adjoint.read(*a.loops, number, buffer, !upper);
                           a.loops->solve(x, columns, buffer, a.size(), true, false);
                           systems.result.write(*a.loops, number, x);
                       });
}

// Outputs are (factor, statuses); values (A, upper, check_errors). What a failed factorization leaves is LAPACK's.
int linalg_cholesky_ex(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Matrices a;
    Batch result;
    PyObject* const* outs = outputs(given, 2);
    if (count != 3 || outs == nullptr || values[2] != Py_False || !a.take(values[0]) || !a.square() ||
        !a.take_result(result, outs[0], 2))
        return 0;
    int* statuses = numbers_output(outs[1], a.count);
    if (statuses == nullptr) return 0;
    // A lower factor is the adjoint of the upper one of the lower triangle's adjoint.
    const bool upper = values[1] == Py_True;
    const Batch read = upper ? a.batch : a.batch.transposed(), write = upper ? result : result.transposed();
    std::atomic<bool> stopped{false};
    const int done = each_matrix(a.count, a.operations() / 2, a.bytes(), [&](size_t number, char* buffer) {
        read.read(*a.loops, number, buffer, !upper);
        statuses[number] = a.loops->cholesky(buffer, a.size());
        if (statuses[number] != 0) stopped = true;
        write.write(*a.loops, number, buffer, !upper);
    });
    return done == 1 && stopped ? 0 : done;
}

}  // namespace

const NamedKernel triangular_kernels[] = {
    {"linalg_solve_triangular", linalg_solve_triangular},
    {"cholesky_solve", cholesky_solve},
    {"linalg_cholesky_ex", linalg_cholesky_ex},
    {nullptr, nullptr},
};

}  // namespace mindtorch
