// LAPACK's routines for batches of matrices: scipy's, by the addresses that its module for Cython hands out.
#pragma once

#include "kernels/kernel.h"
#include "kernels/matrices.h"

#include <complex>

namespace mindtorch {

// Matrices with more rows or columns are the Python kernel's: their factors cost far more than a call.
constexpr size_t MOST_OF_A_BATCH = 512;

// The routine's address, such as that of "dgeqrf" for "geqrf"; null without an error where there is none, as with a
// LAPACK whose integers are not C's.
void* lapack_routine(const char* name, FactorKind kind);

template <typename T>
struct RealOf {
    using Type = T;
};
template <typename Real>
struct RealOf<std::complex<Real>> {
    using Type = Real;
};
template <typename T>
constexpr bool IS_COMPLEX = !std::is_same_v<T, typename RealOf<T>::Type>;

// The size of memory that LAPACK wants, which it writes in a number's place.
template <typename T>
int wanted_size(const T& number) {
    return static_cast<int>(std::real(number));
}

// Each part of a block of memory begins at a multiple of so many bytes.
constexpr size_t LAPACK_ALIGNMENT = 64;

// Parts of one block of memory.
class Parts {
public:
    explicit Parts(char* block = nullptr) : block_(block) {}
    template <typename T>
    T* take(size_t count) {
        auto* made = reinterpret_cast<T*>(block_ + size_);
        size_ += (count * sizeof(T) + LAPACK_ALIGNMENT - 1) / LAPACK_ALIGNMENT * LAPACK_ALIGNMENT;
        return made;
    }
    size_t size() const { return size_; }

private:
    char* block_;
    size_t size_ = 0;
};

// The matrices of a result that spread to no batch but the operand's own; `rows` by `columns` of them.
bool take_matrices(Batch& result, const Matrices& a, PyObject* given, int type, size_t rows, size_t columns);

// Its rows of numbers.
bool take_vectors(Batch& result, const Matrices& a, PyObject* given, int type, size_t count);

// Kernels of spectral.cpp and qr.cpp.
int linalg_eigh(PyObject* outs, PyObject* const* values, Py_ssize_t count);
int linalg_svd(PyObject* outs, PyObject* const* values, Py_ssize_t count);
int linalg_qr(PyObject* outs, PyObject* const* values, Py_ssize_t count);
int geqrf(PyObject* outs, PyObject* const* values, Py_ssize_t count);

}  // namespace mindtorch
