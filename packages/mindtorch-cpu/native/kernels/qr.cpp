// Orthogonal factors through LAPACK's reflectors.
#include "kernels/lapack.h"

#include <string.h>

namespace mindtorch {

namespace {

// What has fewer columns LAPACK factors without blocks; its routines for that are called straight.
constexpr int LEAST_BLOCKED = 64;

// The routines for a matrix of so many columns and reflectors.
struct Routines {
    void *factor, *expand;
    bool blocked;

    Routines(const Matrices& a, size_t inner) : blocked(std::max(a.batch.columns, inner) >= LEAST_BLOCKED) {
        const bool complex = a.complex();
        factor = lapack_routine(blocked ? "geqrf" : "geqr2", a.kind());
        expand = lapack_routine(blocked ? (complex ? "ungqr" : "orgqr") : complex ? "ung2r" : "org2r", a.kind());
    }
    bool found() const { return factor != nullptr && expand != nullptr; }
};

// Reflectors of one matrix by columns, in its place, and the first columns of the orthogonal matrix that they make.
template <typename T>
struct Reflectors {
    using Factor = void (*)(int*, int*, T*, int*, T*, T*, int*, int*);
    using FactorUnblocked = void (*)(int*, int*, T*, int*, T*, T*, int*);
    using Expand = void (*)(int*, int*, int*, T*, int*, T*, T*, int*, int*);
    using ExpandUnblocked = void (*)(int*, int*, int*, T*, int*, T*, T*, int*);

    Routines routines;
    int rows, columns, inner, count, work_size = 0;  // `inner` columns of the orthogonal matrix, of `count` reflectors

    // Find how much memory they want.
    bool plan(bool expands) {
        work_size = std::max(std::max(columns, inner), 1);
        if (!routines.blocked) return true;
        int ask = -1, status = 0;
        T first{}, second{};
        std::swap(work_size, ask);
        status = make(nullptr, nullptr, &first);
        if (status == 0 && expands) status = orthogonal(nullptr, nullptr, &second);
        work_size = std::max(ask, std::max(wanted_size(first), wanted_size(second)));
        return status == 0;
    }

    int make(T* matrix, T* scales, T* work) {
        int status = 0;
        if (routines.blocked)
            reinterpret_cast<Factor>(routines.factor)(&rows, &columns, matrix, &rows, scales, work, &work_size,
                                                      &status);
        else
            reinterpret_cast<FactorUnblocked>(routines.factor)(&rows, &columns, matrix, &rows, scales, work, &status);
        return status;
    }
    int orthogonal(T* matrix, T* scales, T* work) {
        int status = 0;
        if (routines.blocked)
            reinterpret_cast<Expand>(routines.expand)(&rows, &inner, &count, matrix, &rows, scales, work, &work_size,
                                                      &status);
        else
            reinterpret_cast<ExpandUnblocked>(routines.expand)(&rows, &inner, &count, matrix, &rows, scales, work,
                                                               &status);
        return status;
    }
};

// Run `with(number, matrix, scales, work)` for each, of so many columns; `work` for what `plan` found.
template <typename T, typename With>
int each_factored(const Matrices& a, const Reflectors<T>& reflectors, size_t columns, const With& with) {
    Parts sizes;
    const auto scales = static_cast<size_t>(reflectors.count), work = static_cast<size_t>(reflectors.work_size);
    sizes.take<T>(a.batch.rows * columns);
    sizes.take<T>(scales);
    sizes.take<T>(work);
    std::atomic<bool> failed{false};
    const int done = each_matrix(a.count, 4 * a.operations(), sizes.size(), [&](size_t number, char* buffer) {
        Parts parts(buffer);
        T *matrix = parts.take<T>(a.batch.rows * columns), *own = parts.take<T>(scales);
        if (!with(number, matrix, own, parts.take<T>(work))) failed = true;
    });
    return done < 0 || !failed ? done : 0;
}

// The upper triangle of reflectors, zeros below.
template <typename T>
void write_upper(const Matrices& a, const Batch& upper, size_t number, const T* matrix) {
    const size_t item = sizeof(T);
    char* to = upper.at(number);
    for (size_t j = 0; j < upper.columns; j++)
        for (size_t i = 0; i < upper.rows; i++) {
            const T element = i <= j ? matrix[j * a.batch.rows + i] : T{};
            memcpy(to + static_cast<ptrdiff_t>(i) * upper.row_step + static_cast<ptrdiff_t>(j) * upper.column_step,
                   &element, item);
        }
}

template <typename T>
int qr_of(const Matrices& a, const Batch* orthogonal, const Batch& upper, const Routines& routines) {
    const size_t rows = a.batch.rows, columns = a.batch.columns, inner = upper.rows, k = a.pivots();
    Reflectors<T> reflectors{routines, static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(inner),
                             static_cast<int>(k)};
    if (!reflectors.plan(orthogonal != nullptr)) return 0;
    return each_factored<T>(a, reflectors, std::max(columns, inner), [&](size_t number, T* matrix, T* scales, T* work) {
        Reflectors<T> own = reflectors;
        a.batch.transposed().read(*a.loops, number, matrix);
        if (own.make(matrix, scales, work) != 0) return false;
        write_upper(a, upper, number, matrix);
        if (orthogonal == nullptr) return true;
        if (inner > columns)
            memset(static_cast<void*>(matrix + rows * columns), 0, rows * (inner - columns) * sizeof(T));
        if (own.orthogonal(matrix, scales, work) != 0) return false;
        orthogonal->transposed().write(*a.loops, number, matrix);
        return true;
    });
}

// Outputs are (Q, R); values (A, mode).
}  // namespace

int linalg_qr(PyObject* given, PyObject* const* operands, Py_ssize_t count) {
    Matrices a;
    Batch orthogonal, upper;
    PyObject* const* outs = outputs(given, 2);
    if (count != 2 || outs == nullptr || !PyUnicode_Check(operands[1]) || !a.take(operands[0], MOST_OF_A_BATCH))
        return 0;
    const int type = PyArray_TYPE(a.array);
    const bool whole = PyUnicode_CompareWithASCIIString(operands[1], "complete") == 0;
    const bool wants = PyUnicode_CompareWithASCIIString(operands[1], "r") != 0;
    const size_t inner = whole ? a.batch.rows : a.pivots();
    if (!take_matrices(upper, a, outs[1], type, inner, a.batch.columns) ||
        (wants && !take_matrices(orthogonal, a, outs[0], type, a.batch.rows, inner)))
        return 0;
    const Routines routines(a, inner);
    if (!routines.found()) return 0;
    const Batch* first = wants ? &orthogonal : nullptr;
    return by_kind(a.kind(), [&](auto zero) { return qr_of<decltype(zero)>(a, first, upper, routines); });
}

namespace {

template <typename T>
int geqrf_of(const Matrices& a, const Batch& factors, const Batch& scales, const Routines& routines) {
    Reflectors<T> reflectors{routines, static_cast<int>(a.batch.rows), static_cast<int>(a.batch.columns), 0,
                             static_cast<int>(a.pivots())};
    if (!reflectors.plan(false)) return 0;
    return each_factored<T>(a, reflectors, a.batch.columns, [&](size_t number, T* matrix, T* own_scales, T* work) {
        Reflectors<T> own = reflectors;
        a.batch.transposed().read(*a.loops, number, matrix);
        if (own.make(matrix, own_scales, work) != 0) return false;
        factors.transposed().write(*a.loops, number, matrix);
        scales.write(*a.loops, number, own_scales);
        return true;
    });
}

// Outputs are (a, tau); values (self).
}  // namespace

int geqrf(PyObject* given, PyObject* const* operands, Py_ssize_t count) {
    Matrices a;
    Batch factors, scales;
    PyObject* const* outs = outputs(given, 2);
    if (count != 1 || outs == nullptr || !a.take(operands[0], MOST_OF_A_BATCH)) return 0;
    const int type = PyArray_TYPE(a.array);
    if (!take_matrices(factors, a, outs[0], type, a.batch.rows, a.batch.columns) ||
        !take_vectors(scales, a, outs[1], type, a.pivots()))
        return 0;
    const Routines routines(a, 0);
    if (!routines.found()) return 0;
    return by_kind(a.kind(), [&](auto zero) { return geqrf_of<decltype(zero)>(a, factors, scales, routines); });
}

}  // namespace mindtorch
