// Eigenvalues of Hermitian matrices and singular values, with their vectors.
#include "kernels/lapack.h"

#include <cmath>

namespace mindtorch {

namespace {

template <typename Real>
bool is_finite(const void* numbers, size_t bytes) {
    const auto* at = static_cast<const Real*>(numbers);
    Real difference = 0;
    for (size_t i = 0; i < bytes / sizeof(Real); i++) difference += at[i] - at[i];
    return difference == 0;
}

// Divide and conquer of one Hermitian matrix, by columns, whose vectors are left in its place.
template <typename T>
struct HermitianSolver {
    using Real = typename RealOf<T>::Type;
    using OfReal = void (*)(char*, char*, int*, T*, int*, Real*, T*, int*, int*, int*, int*);
    using OfComplex = void (*)(char*, char*, int*, T*, int*, Real*, T*, int*, Real*, int*, int*, int*, int*);

    void* routine;
    char job, uplo;
    int n, work_size = -1, real_size = -1, whole_size = -1;
    T* work = nullptr;
    Real* real_work = nullptr;
    int* whole_work = nullptr;

    int run(T* matrix, Real* values) {
        int status = 0;
        if constexpr (IS_COMPLEX<T>)
            reinterpret_cast<OfComplex>(routine)(&job, &uplo, &n, matrix, &n, values, work, &work_size, real_work,
                                                 &real_size, whole_work, &whole_size, &status);
        else
            reinterpret_cast<OfReal>(routine)(&job, &uplo, &n, matrix, &n, values, work, &work_size, whole_work,
                                              &whole_size, &status);
        return status;
    }

    // Ask for the sizes of memory.
    bool plan() {
        T first{};
        Real real{};
        int whole = 0;
        work = &first;
        real_work = &real;
        whole_work = &whole;
        if (run(nullptr, nullptr) != 0) return false;
        work_size = wanted_size(first);
        real_size = IS_COMPLEX<T> ? static_cast<int>(real) : 0;
        whole_size = whole;
        return true;
    }

    void take(Parts& parts) {
        work = parts.take<T>(static_cast<size_t>(work_size));
        real_work = parts.take<Real>(static_cast<size_t>(real_size));
        whole_work = parts.take<int>(static_cast<size_t>(whole_size));
    }
};

template <typename T>
int eigh_of(const Matrices& a, Batch& values, const Batch* vectors, void* routine, char uplo) {
    using Real = typename RealOf<T>::Type;
    HermitianSolver<T> solver{routine, vectors != nullptr ? 'V' : 'N', uplo, static_cast<int>(a.size())};
    if (!solver.plan()) return 0;
    Parts sizes;
    sizes.take<T>(a.size() * a.size());
    sizes.take<Real>(a.size());
    HermitianSolver<T>(solver).take(sizes);
    std::atomic<bool> failed{false};
    const FactorLoops& reals = a.loops_of_reals();
    const int done = each_matrix(a.count, 8 * a.operations(), sizes.size(), [&](size_t number, char* buffer) {
        Parts parts(buffer);
        T* matrix = parts.take<T>(a.size() * a.size());
        Real* found = parts.take<Real>(a.size());
        HermitianSolver<T> own = solver;
        own.take(parts);
        a.batch.transposed().read(*a.loops, number, matrix);
        if (own.run(matrix, found) != 0 || !is_finite<Real>(found, a.size() * sizeof(Real))) failed = true;
        values.write(reals, number, found);
        if (vectors != nullptr) vectors->transposed().write(*a.loops, number, matrix);
    });
    return done < 0 || !failed ? done : 0;
}

// Outputs are (values, vectors); values (A, UPLO, compute_v). What fails is numpy's, which says how.
}  // namespace

int linalg_eigh(PyObject* given, PyObject* const* operands, Py_ssize_t count) {
    Matrices a;
    Batch values, vectors;
    PyObject* const* outs = outputs(given, 2);
    if (count != 3 || outs == nullptr || !PyUnicode_Check(operands[1]) || !a.take(operands[0], MOST_OF_A_BATCH) ||
        !a.square() || !take_vectors(values, a, outs[0], a.real_type(), a.size()))
        return 0;
    const bool wants = operands[2] == Py_True;
    if (wants && !take_matrices(vectors, a, outs[1], PyArray_TYPE(a.array), a.size(), a.size())) return 0;
    const Py_UCS4 letter = PyUnicode_GET_LENGTH(operands[1]) > 0 ? PyUnicode_READ_CHAR(operands[1], 0) : 'U';
    const char uplo = letter == 'L' || letter == 'l' ? 'L' : 'U';
    void* routine = lapack_routine(a.complex() ? "heevd" : "syevd", a.kind());
    if (routine == nullptr) return 0;
    const Batch* wanted_vectors = wants ? &vectors : nullptr;
    return by_kind(a.kind(),
                   [&](auto zero) { return eigh_of<decltype(zero)>(a, values, wanted_vectors, routine, uplo); });
}

namespace {

// Divide and conquer of one matrix by columns, which is overwritten.
template <typename T>
struct SingularSolver {
    using Real = typename RealOf<T>::Type;
    using OfReal = void (*)(char*, int*, int*, T*, int*, Real*, T*, int*, T*, int*, T*, int*, int*, int*);
    using OfComplex = void (*)(char*, int*, int*, T*, int*, Real*, T*, int*, T*, int*, T*, int*, Real*, int*, int*);

    void* routine;
    char job;
    int rows, columns, left_columns, right_rows, work_size = -1;
    T* work = nullptr;
    Real* real_work = nullptr;
    int* whole_work = nullptr;

    size_t inner() const { return static_cast<size_t>(rows < columns ? rows : columns); }
    size_t outer() const { return static_cast<size_t>(rows < columns ? columns : rows); }

    int run(T* matrix, Real* values, T* left, T* right) {
        int status = 0, left_step = rows, right_step = right_rows > 0 ? right_rows : 1;
        if constexpr (IS_COMPLEX<T>)
            reinterpret_cast<OfComplex>(routine)(&job, &rows, &columns, matrix, &rows, values, left, &left_step, right,
                                                 &right_step, work, &work_size, real_work, whole_work, &status);
        else
            reinterpret_cast<OfReal>(routine)(&job, &rows, &columns, matrix, &rows, values, left, &left_step, right,
                                              &right_step, work, &work_size, whole_work, &status);
        return status;
    }

    bool plan() {
        T first{};
        work = &first;
        if (run(nullptr, nullptr, nullptr, nullptr) != 0) return false;
        work_size = wanted_size(first);
        return true;
    }

    void take(Parts& parts) {
        work = parts.take<T>(static_cast<size_t>(work_size));
        // As LAPACK's documentation has it: of vectors, the larger of two terms.
        const size_t k = inner(), of_vectors = k * (5 * k + 7), of_both = k * (2 * outer() + 2 * k + 1);
        real_work = parts.take<Real>(!IS_COMPLEX<T> ? 0 : job == 'N' ? 7 * k : std::max(of_vectors, of_both));
        whole_work = parts.take<int>(8 * k);
    }
};

struct SingularResults {
    Batch left, values, right;
    bool vectors;
};

template <typename T>
int svd_of(const Matrices& a, const SingularResults& to, void* routine) {
    using Real = typename RealOf<T>::Type;
    const size_t rows = a.batch.rows, columns = a.batch.columns, inner = std::min(rows, columns);
    const size_t left_columns = to.vectors ? to.left.columns : 0, right_rows = to.vectors ? to.right.rows : 0;
    const char job = !to.vectors ? 'N' : left_columns == rows && right_rows == columns ? 'A' : 'S';
    SingularSolver<T> solver{routine,
                             job,
                             static_cast<int>(rows),
                             static_cast<int>(columns),
                             static_cast<int>(left_columns),
                             static_cast<int>(right_rows)};
    if (!solver.plan()) return 0;
    const auto lay_out = [&](Parts& parts, SingularSolver<T>& own, T*& matrix, Real*& found, T*& left, T*& right) {
        matrix = parts.take<T>(rows * columns);
        found = parts.take<Real>(inner);
        left = parts.take<T>(rows * left_columns);
        right = parts.take<T>(right_rows * columns);
        own.take(parts);
    };
    Parts sizes;
    T *matrix, *left, *right;
    Real* found;
    SingularSolver<T> sized = solver;
    lay_out(sizes, sized, matrix, found, left, right);
    std::atomic<bool> failed{false};
    const FactorLoops& reals = a.loops_of_reals();
    const int done = each_matrix(a.count, 16 * a.operations(), sizes.size(), [&](size_t number, char* buffer) {
        Parts parts(buffer);
        SingularSolver<T> own = solver;
        T *given, *own_left, *own_right;
        Real* values;
        lay_out(parts, own, given, values, own_left, own_right);
        a.batch.transposed().read(*a.loops, number, given);
        if (!is_finite<Real>(given, a.bytes()) || own.run(given, values, own_left, own_right) != 0) {
            failed = true;
            return;
        }
        to.values.write(reals, number, values);
        if (!to.vectors) return;
        to.left.transposed().write(*a.loops, number, own_left);
        to.right.transposed().write(*a.loops, number, own_right);
    });
    return done < 0 || !failed ? done : 0;
}

// Outputs are (U, S, Vh); values (A, full_matrices, compute_uv, driver). What fails is numpy's, which says how.
}  // namespace

int linalg_svd(PyObject* given, PyObject* const* operands, Py_ssize_t count) {
    Matrices a;
    SingularResults to;
    PyObject* const* outs = outputs(given, 3);
    if (count != 4 || outs == nullptr || !a.take(operands[0], MOST_OF_A_BATCH) ||
        !take_vectors(to.values, a, outs[1], a.real_type(), a.pivots()))
        return 0;
    to.vectors = operands[2] == Py_True;
    const bool full = operands[1] == Py_True;
    const size_t rows = a.batch.rows, columns = a.batch.columns;
    const int type = PyArray_TYPE(a.array);
    if (to.vectors && (!take_matrices(to.left, a, outs[0], type, rows, full ? rows : a.pivots()) ||
                       !take_matrices(to.right, a, outs[2], type, full ? columns : a.pivots(), columns)))
        return 0;
    void* routine = lapack_routine("gesdd", a.kind());
    if (routine == nullptr) return 0;
    return by_kind(a.kind(), [&](auto zero) { return svd_of<decltype(zero)>(a, to, routine); });
}

}  // namespace mindtorch
