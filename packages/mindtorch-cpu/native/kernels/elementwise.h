// The driver of elementwise kernels: broadcasting, strides, bfloat16, numbers in an array's place, and threads, for any
// loop over dense elements.
#pragma once

#include "kernels/kernel.h"
#include "kernels/map.h"
#include "kernels/transfer.h"

namespace mindtorch {

// The kind a loop computes `array`'s elements with; KINDS when none does.
Kind kind_of_elements(PyArrayObject* array);

constexpr size_t item_size(Kind kind) { return kind == FLOAT_KIND ? 4 : kind == BOOL_KIND ? 1 : 8; }
constexpr ptrdiff_t stored_size(Stored stored) { return stored == FLOAT16 ? 2 : ptrdiff_t{1} << stored; }
// True for what is computed with as it is stored.
constexpr bool is_plain(Stored stored) { return stored != BFLOAT16 && stored != FLOAT16; }

// The loops of an operation on elements of one kind, and those that read and write elements of two bytes.
struct MapOf {
    const Forms* plain;
    const Forms* reduced[REDUCED_FORMATS] = {};
};

// The same by kinds.
struct Maps {
    const Forms* by_kind;
    const Forms* reduced[REDUCED_FORMATS] = {};

    MapOf of(Kind kind) const { return {&by_kind[kind], {reduced[0], reduced[1]}}; }
};

// Copy elements of `size` bytes that lie together along columns, which are `step` bytes apart, to dense rows.
void turn_plane(char* to, const char* from, size_t rows, size_t columns, ptrdiff_t step, size_t size);

// The same for the operand of an elementwise kernel, which may be float16 too.
Kind kind_of_operand(PyArrayObject* array);

// True for a Python number that a double holds exactly, which is then in `number`.
bool exact_number(PyObject* value, double& number);

// An operation on operands that are taken one by one; everything is looked at before anything is written.
class Elementwise {
public:
    // Take the output; false when no loop fits.
    bool output(PyObject* given);
    // Take an operand that is computed with as `kind`: an array whose shape broadcasts to the output's, or a number.
    bool source(PyObject* value, Kind kind);
    // Take what a loop looks its results up in, as one more operand.
    void table(const void* values);
    Kind kind() const { return to_.kind; }
    // True for an output of two bytes, which is computed with as float.
    bool is_reduced() const { return !is_plain(to_.stored); }
    // Run the loop that fits how the operands lie; 1 when done, 0 when the operands' memory overlaps
    // in a way that no loop takes.
    int run(const MapOf& maps, const double* numbers = nullptr);

private:
    struct Operand {
        char* data = nullptr;
        ptrdiff_t steps[MOST_DIMENSIONS];
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
    Map short_loop(const MapOf& maps, int& form) const;
    void describe(Operand& operand, bool reduced) const;
    Map fitting_loop(const Forms& forms, int& form) const;
    void sort();
    void collapse();
    int turned_dim() const;
    void bring_near(int dim);
    void work(const MapOf& maps, Map short_map, int form, const double* numbers, size_t from, size_t to) const;
    void run_whole_rows(Map map, const double* numbers, char* to, char* const* in, size_t rows) const;
    void run_rows(Map map, int form, const double* numbers, Buffers& buffers, size_t from, size_t to) const;
    void run_row(Map map, int form, const double* numbers, Buffers& buffers, char* to, char* const* in,
                 size_t count) const;
    void run_tiles(Map map, const double* numbers, size_t first, size_t last) const;
    void run_blocks(Map map, const double* numbers, Buffers& buffers, size_t from, size_t to) const;
    size_t repeat(Buffers& buffers, size_t from, size_t count) const;
    const char* gather(const Operand& operand, char* buffer, size_t from, size_t count) const;
    void scatter(const char* buffer, size_t from, size_t count) const;
    bool by_rows() const;
    ptrdiff_t place(const Operand& operand, size_t index, size_t& left) const;

    bool turned_ = false;  // an operand lies together along the dimension next to the innermost
    int ndim_ = 0, sources_ = 0;
    size_t total_ = 1;
    size_t extents_[MOST_DIMENSIONS];
    Operand to_, from_[MOST_SOURCES];
};

// Run `op` where the output and all of `count` operands are of the output's kind.
int run_map(const Maps& maps, PyObject* out, PyObject* const* values, int count, const double* numbers = nullptr);

}  // namespace mindtorch
