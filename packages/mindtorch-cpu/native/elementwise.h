// The driver of elementwise kernels: broadcasting, strides, bfloat16, numbers in an array's place, and threads, for any
// loop over dense elements.
#pragma once

#include "interface.h"
#include "map.h"
#include "transfer.h"

namespace mindtorch {

// The kind a loop computes `array`'s elements with; KINDS when none does.
Kind kind_of_elements(PyArrayObject* array);

// True for a Python number that a double holds exactly, which is then in `number`.
bool exact_number(PyObject* value, double& number);

// An operation on operands that are taken one by one; everything is looked at before anything is written.
class Elementwise {
public:
    // Take the output; false when no loop fits.
    bool output(PyObject* given);
    // Take an operand that is computed with as `kind`: an array whose shape broadcasts to the output's, or a number.
    bool source(PyObject* value, Kind kind);
    Kind kind() const { return to_.kind; }
    // Run the loop, or where they fit one of the loops of bfloat16; 1 when done, 0 when the operands' memory overlaps
    // in a way that no loop takes.
    int run(Map map, const double* numbers = nullptr, const BrainMaps* brains = nullptr);

private:
    struct Operand {
        char* data = nullptr;
        ptrdiff_t steps[NPY_MAXDIMS];
        Kind kind = KINDS;
        Stored stored = STORED_COUNT;
        bool repeated = false;  // every row has the same elements
        bool dense = false;     // no buffer is needed along the innermost dimension
        bool flat = false;      // nor across rows
        PyArrayObject* array = nullptr;
        union {
            float single;
            double wide;
            long long whole;
            unsigned char truth;
        } number;
    };
    struct Buffers;

    bool take(PyArrayObject* array, Operand& operand);
    bool number(PyObject* value, Operand& operand);
    bool apart() const;
    bool same_order() const;
    void arrange();
    Map brain_loop(const BrainMaps& brains) const;
    void describe(Operand& operand, bool brains) const;
    void sort();
    void collapse();
    void work(Map map, const double* numbers, size_t from, size_t to) const;
    void run_rows(Map map, const double* numbers, Buffers& buffers, size_t from, size_t to) const;
    void run_row(Map map, const double* numbers, Buffers& buffers, char* to, char* const* in, size_t count) const;
    void run_blocks(Map map, const double* numbers, Buffers& buffers, size_t from, size_t to) const;
    size_t repeat(Buffers& buffers, size_t from, size_t count) const;
    const char* gather(const Operand& operand, char* buffer, size_t from, size_t count) const;
    void scatter(const char* buffer, size_t from, size_t count) const;
    bool by_rows() const;
    ptrdiff_t place(const Operand& operand, size_t index, size_t& left) const;

    int ndim_ = 0, sources_ = 0;
    size_t total_ = 1;
    size_t extents_[NPY_MAXDIMS];
    Operand to_, from_[MOST_SOURCES];
};

// Run `op` where the output and all of `count` operands are of the output's kind.
int run_map(const Map* by_kind, PyObject* out, PyObject* const* values, int count, const double* numbers = nullptr,
            const BrainMaps* brains = nullptr);

}  // namespace mindtorch
