// Strided regions of memory and the copies between them.
#pragma once

#include "kernels/copy.h"
#include "kernels/operand.h"

#include <stdexcept>

namespace mindtorch {

// Two blocks of memory of one shape; steps are in bytes and may be zero, in `from`, or negative.
struct Region {
    static constexpr int MOST = 2 * MOST_DIMENSIONS;  // repeating takes two of each
    char* to;
    const char* from;
    int ndim = 0;
    npy_intp extents[MOST], to_steps[MOST], from_steps[MOST];

    void add(npy_intp extent, npy_intp to_step, npy_intp from_step) {
        if (ndim == MOST) throw std::length_error("a region has too many dimensions");
        extents[ndim] = extent;
        to_steps[ndim] = to_step;
        from_steps[ndim++] = from_step;
    }
};

// 1 << n bytes to an element; -1 for other sizes, and for what is more than bytes.
int size_class(PyArrayObject* array);

// The array `given` is, aligned and in native order; null for all else. `writable`: where it may be written too.
PyArrayObject* plain_array(PyObject* given, bool writable = false);

// False where the arrays' memory surely has no byte in common.
bool may_overlap(PyArrayObject* a, PyArrayObject* b);

// Copy elements of 1 << size bytes.
void copy_region(Region& region, int size);

// Copy and convert; false where no loop does it.
bool convert_region(Region& region, int to_kind, int from_kind);

// -1 for what no loop converts.
int kind_of_element(PyArrayObject* array);

// The region of `out` and of `from`, which broadcasts to it; false where it does not.
bool region_of(Region& region, PyArrayObject* out, PyArrayObject* from);

// One element, as `array` holds it; false for numbers that need more than C's conversion, and for other objects.
bool element_from(PyArrayObject* array, PyObject* number, void* element);

// Fill the region's `to` with the element.
void fill_region(Region& region, int size, const void* element);

// All of `out` with zeros.
void fill_array(PyArrayObject* out, int size, const void* element);

// Copy with conversion where the types differ; 0 for arrays that overlap, do not broadcast or have other types.
int copy_array(PyArrayObject* out, PyArrayObject* from);

}  // namespace mindtorch
