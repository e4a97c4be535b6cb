// LU factors of batches of small matrices, and determinants, inverses and solutions from them.
#include "kernels/lapack.h"

namespace mindtorch {

namespace {

// Factor all of them: factors and pivots are written, and `with(number, factors, pivots, status, buffer)` is called.
template <typename With>
int factor(const Matrices& a, const Batch& factors, int* pivots, size_t room, const With& with) {
    return each_matrix(a.count, a.operations(), a.bytes() + room, [&](size_t number, char* buffer) {
        int* own = pivots + number * a.pivots();
        a.batch.read(*a.loops, number, buffer);
        const int status = a.loops->lu(buffer, a.batch.rows, a.batch.columns, own);
        factors.write(*a.loops, number, buffer);
        with(number, buffer, own, status, buffer + a.bytes());
    });
}

// Outputs are (factors, pivots, statuses); values (A, pivot, check_errors).
int linalg_lu_factor_ex(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Matrices a;
    Batch factors;
    PyObject* const* outs = outputs(given, 3);
    if (count != 3 || outs == nullptr || values[2] != Py_False || !a.take(values[0]) ||
        !a.take_result(factors, outs[0], 2))
        return 0;
    int *pivots = numbers_output(outs[1], a.count * a.pivots()), *statuses = numbers_output(outs[2], a.count);
    if (pivots == nullptr || statuses == nullptr) return 0;
    return factor(a, factors, pivots, 0,
                  [&](size_t number, void*, int*, int status, void*) { statuses[number] = status; });
}

// Outputs are (result, factors, pivots); values (A).
int linalg_det(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Matrices a;
    Batch result, factors;
    PyObject* const* outs = outputs(given, 3);
    if (count != 1 || outs == nullptr || !a.take(values[0]) || !a.square() || !a.take_result(result, outs[0], 0) ||
        !a.take_result(factors, outs[1], 2))
        return 0;
    int* pivots = numbers_output(outs[2], a.count * a.pivots());
    if (pivots == nullptr) return 0;
    return factor(a, factors, pivots, 0, [&](size_t number, void* lu, int* own, int, void*) {
        a.loops->determinant(result.at(number), lu, own, a.size());
    });
}

// Outputs are (sign, logabsdet, factors, pivots); values (A).
int linalg_slogdet(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Matrices a;
    Batch sign, size, factors;
    PyObject* const* outs = outputs(given, 4);
    if (count != 1 || outs == nullptr || !a.take(values[0]) || !a.square() || !a.take_result(sign, outs[0], 0) ||
        !a.take_result(factors, outs[2], 2))
        return 0;
    const bool single = PyArray_TYPE(a.array) == NPY_FLOAT || PyArray_TYPE(a.array) == NPY_CFLOAT;
    PyArrayObject* sizes = apart_output(outs[1], single ? NPY_FLOAT : NPY_DOUBLE, {a.array});
    int* pivots = numbers_output(outs[3], a.count * a.pivots());
    if (pivots == nullptr || sizes == nullptr || PyArray_NDIM(sizes) != a.dims() ||
        !size.take(sizes, 0, PyArray_DIMS(a.array), a.dims()))
        return 0;
    return factor(a, factors, pivots, 0, [&](size_t number, void* lu, int* own, int, void*) {
        a.loops->log_determinant(sign.at(number), size.at(number), lu, own, a.size());
    });
}

// Outputs are (inverse, statuses); values (A, check_errors). Zeros where there is no inverse.
int linalg_inv_ex(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Matrices a;
    Batch result;
    PyObject* const* outs = outputs(given, 2);
    if (count != 2 || outs == nullptr || values[1] != Py_False || !a.take(values[0]) || !a.square() ||
        !a.take_result(result, outs[0], 2))
        return 0;
    int* statuses = numbers_output(outs[1], a.count);
    if (statuses == nullptr) return 0;
    const size_t size = a.size();
    return each_matrix(a.count, 4 * a.operations(), 2 * a.bytes(), [&](size_t number, char* buffer) {
        int pivots[MOST_SMALL];
        char* inverse = buffer + a.bytes();
        a.batch.read(*a.loops, number, buffer);
        statuses[number] = a.loops->lu(buffer, size, size, pivots);
        if (statuses[number] != 0) {
            memset(inverse, 0, a.bytes());
        } else {
            a.loops->identity(inverse, size);
            a.loops->exchange(inverse, size, pivots, size, false);
            a.loops->solve(inverse, size, buffer, size, false, true);
            a.loops->solve(inverse, size, buffer, size, true, false);
        }
        result.write(*a.loops, number, inverse);
    });
}

// Systems whose matrices are factored already: what is given and what is solved, spread to one batch.
struct Systems {
    Batch factors, right, result;
    size_t count = 1;

    // `vectors`: the right-hand sides are batches of vectors.
    bool take(PyArrayObject* factored, PyArrayObject* given, PyArrayObject* out, bool vectors) {
        const int item = vectors ? 1 : 2, ndim = PyArray_NDIM(out) - item;
        if (ndim < 0 || PyArray_SIZE(out) == 0) return false;
        const npy_intp* batch = PyArray_DIMS(out);
        if (!factors.take(factored, 2, batch, ndim) || !right.take(given, item, batch, ndim) ||
            !result.take(out, item, batch, ndim))
            return false;
        for (int dim = 0; dim < ndim; dim++) count *= static_cast<size_t>(batch[dim]);
        return right.rows == result.rows && right.columns == result.columns;
    }

    // X A = B, of which the transposes are solved.
    void transpose() {
        right = right.transposed();
        result = result.transposed();
    }

    // Solve them with the factors of A, or of its transpose, conjugated or not.
    int solve(const FactorLoops& loops, size_t item, const Batch& pivots, bool transposed, bool conjugated) const {
        const size_t size = factors.rows, columns = right.columns, factor_bytes = size * size * item;
        if (right.rows != size) return 0;
        const Batch read = transposed ? factors.transposed() : factors;
        return each_matrix(count, size * size * (columns + 1), factor_bytes + size * columns * item,
                           [&](size_t number, char* buffer) {
                               const int* own = reinterpret_cast<const int*>(pivots.at(number));
                               char* x = buffer + factor_bytes;
                               read.read(loops, number, buffer, conjugated);
                               right.read(loops, number, x);
                               if (!transposed) loops.exchange(x, columns, own, size, false);
                               loops.solve(x, columns, buffer, size, false, !transposed);
                               loops.solve(x, columns, buffer, size, true, transposed);
                               if (transposed) loops.exchange(x, columns, own, size, true);
                               result.write(loops, number, x);
                           });
    }
};

// True where `linalg.solve` takes the right-hand side for vectors.
bool is_vectors(PyArrayObject* a, PyArrayObject* b) {
    const int ndim = PyArray_NDIM(b);
    if (ndim == 1) return true;
    if (ndim != PyArray_NDIM(a) - 1) return false;
    return std::equal(PyArray_DIMS(b), PyArray_DIMS(b) + ndim, PyArray_DIMS(a));
}

// Outputs are (result, factors, pivots, statuses); values (A, B, left, check_errors). Singular matrices are LAPACK's.
int linalg_solve_ex(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Matrices a;
    Batch factors, pivot_batch;
    Systems systems;
    PyObject* const* outs = outputs(given, 4);
    if (count != 4 || outs == nullptr || values[3] != Py_False || !a.take(values[0]) || !a.square() ||
        !a.take_result(factors, outs[1], 2))
        return 0;
    PyArrayObject *b = plain_array(values[1]), *factored = plain_array(outs[1], true),
                  *exchanges = plain_array(outs[2], true);
    const int type = PyArray_TYPE(a.array);
    if (b == nullptr || exchanges == nullptr || PyArray_TYPE(b) != type || may_overlap(factored, b)) return 0;
    PyArrayObject* out = apart_output(outs[0], type, {a.array, b, factored});
    int *pivots = numbers_output(outs[2], a.count * a.size()), *statuses = numbers_output(outs[3], a.count);
    if (out == nullptr || pivots == nullptr || statuses == nullptr) return 0;
    const bool vectors = is_vectors(a.array, b), left = values[2] == Py_True;
    const int ndim = PyArray_NDIM(out) - (vectors ? 1 : 2);
    if (!systems.take(factored, b, out, vectors) || !pivot_batch.take(exchanges, 1, PyArray_DIMS(out), ndim)) return 0;
    if (!left) systems.transpose();
    std::atomic<bool> singular{false};
    const int done = factor(a, factors, pivots, 0, [&](size_t number, void*, int*, int status, void*) {
        statuses[number] = status;
        if (status != 0) singular = true;
    });
    if (done < 0 || singular) return done < 0 ? done : 0;
    return systems.solve(*a.loops, a.item, pivot_batch, !left, false);
}

template <typename Real>
bool is_zero(const char* element, size_t parts) {
    Real values[2] = {};
    memcpy(values, element, parts * sizeof(Real));
    return values[0] == 0 && values[1] == 0;
}

// True where a diagonal has a zero: what division by it leaves is LAPACK's.
bool is_singular(const Matrices& a) {
    const FactorKind kind = factor_kind(a.array);
    const size_t parts = kind == FACTOR_COMPLEX_FLOAT || kind == FACTOR_COMPLEX_DOUBLE ? 2 : 1;
    const auto zero = kind == FACTOR_FLOAT || kind == FACTOR_COMPLEX_FLOAT ? is_zero<float> : is_zero<double>;
    for (size_t number = 0; number < a.count; number++) {
        const char* element = a.batch.at(number);
        for (size_t i = 0; i < a.size(); i++, element += a.batch.row_step + a.batch.column_step)
            if (zero(element, parts)) return true;
    }
    return false;
}

// Values are (factors, pivots, B, left, adjoint).
int linalg_lu_solve(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Matrices a;
    Batch pivot_batch;
    Systems systems;
    if (count != 5 || !a.take(values[0]) || !a.square()) return 0;
    PyArrayObject *exchanges = plain_array(values[1]), *b = plain_array(values[2]);
    if (exchanges == nullptr || b == nullptr || PyArray_TYPE(b) != PyArray_TYPE(a.array) ||
        PyArray_TYPE(exchanges) != NPY_INT || !PyArray_IS_C_CONTIGUOUS(exchanges) || PyArray_NDIM(b) < 2)
        return 0;
    PyArrayObject* out = apart_output(given, PyArray_TYPE(a.array), {a.array, b, exchanges});
    if (out == nullptr || !systems.take(a.array, b, out, false) ||
        !pivot_batch.take(exchanges, 1, PyArray_DIMS(out), PyArray_NDIM(out) - 2))
        return 0;
    const auto* pivots = static_cast<const int*>(PyArray_DATA(exchanges));
    for (npy_intp i = 0; i < PyArray_SIZE(exchanges); i++)
        if (pivots[i] < 1 || pivots[i] > static_cast<int>(a.size())) return 0;
    if (is_singular(a)) return 0;
    const bool left = values[3] == Py_True, adjoint = values[4] == Py_True;
    if (!left) systems.transpose();
    return systems.solve(*a.loops, a.item, pivot_batch, left == adjoint, adjoint);
}

}  // namespace

const NamedKernel lu_kernels[] = {
    {"linalg_lu_factor_ex", linalg_lu_factor_ex},
    {"_linalg_det", linalg_det},
    {"_linalg_slogdet", linalg_slogdet},
    {"linalg_inv_ex", linalg_inv_ex},
    {"_linalg_solve_ex", linalg_solve_ex},
    {"linalg_lu_solve", linalg_lu_solve},
    {"_linalg_eigh", linalg_eigh},
    {"_linalg_svd", linalg_svd},
    {"linalg_qr", linalg_qr},
    {"geqrf", geqrf},
    {nullptr, nullptr},
};

}  // namespace mindtorch
