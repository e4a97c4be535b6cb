#include "elementwise.h"

#include "operand.h"
#include "parallel.h"

#include <string.h>

namespace mindtorch {

namespace {

constexpr size_t BLOCK = 1024;  // elements that are computed at a time where operands must be made dense
constexpr size_t FEW = 1024;
constexpr size_t SHORT = 32;  // rows shorter than this are made dense several at a time

constexpr size_t item_size(Kind kind) { return kind == SINGLE ? 4 : kind == TRUTH ? 1 : 8; }
constexpr ptrdiff_t stored_size(Stored stored) { return ptrdiff_t{1} << stored; }

}  // namespace

Kind kind_of_elements(PyArrayObject* array) {
    switch (PyArray_TYPE(array)) {
        case NPY_FLOAT: return SINGLE;
        case NPY_DOUBLE: return WIDE;
        case NPY_INT64: return WHOLE;
        case NPY_BOOL: return TRUTH;
        default: return PyArray_TYPE(array) == configuration.bfloat16 ? SINGLE : KINDS;
    }
}

bool exact_number(PyObject* value, double& number) {
    if (PyFloat_CheckExact(value)) {
        number = PyFloat_AS_DOUBLE(value);
        return true;
    }
    if (PyBool_Check(value)) {
        number = value == Py_True;
        return true;
    }
    long long whole;
    if (PyLong_CheckExact(value)) {
        int overflow;
        whole = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow != 0) return false;
    } else if (PyArray_IsScalar(value, Int64)) {
        whole = PyArrayScalar_VAL(value, Int64);
    } else {
        return false;
    }
    number = static_cast<double>(whole);
    return whole <= (1LL << 53) && whole >= -(1LL << 53);
}

bool Elementwise::take(PyArrayObject* array, Operand& operand) {
    operand.kind = kind_of_elements(array);
    if (operand.kind == KINDS || !PyArray_ISBEHAVED_RO(array)) return false;
    static const Stored stored[] = {WORD, LONG_WORD, LONG_WORD, BYTE};
    operand.stored = PyArray_ITEMSIZE(array) == 2 ? BRAIN : stored[operand.kind];
    operand.array = array;
    operand.data = PyArray_BYTES(array);
    return true;
}

bool Elementwise::output(PyObject* given) {
    if (!PyArray_CheckExact(given)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    if (!PyArray_ISWRITEABLE(array) || !take(array, to_)) return false;
    ndim_ = PyArray_NDIM(array);
    for (int dim = 0; dim < ndim_; dim++) {
        extents_[dim] = static_cast<size_t>(PyArray_DIM(array, dim));
        to_.steps[dim] = PyArray_STRIDE(array, dim);
        if (to_.steps[dim] == 0 && extents_[dim] > 1) return false;
        total_ *= extents_[dim];
    }
    return true;
}

bool Elementwise::number(PyObject* value, Operand& operand) {
    double exact;
    if (!exact_number(value, exact)) return false;
    switch (operand.kind) {
        case SINGLE: operand.number.single = static_cast<float>(exact); break;
        case WIDE: operand.number.wide = exact; break;
        case WHOLE:
            if (PyFloat_CheckExact(value)) return false;
            operand.number.whole = static_cast<long long>(exact);
            break;
        default:
            if (!PyBool_Check(value)) return false;
            operand.number.truth = value == Py_True;
    }
    operand.data = reinterpret_cast<char*>(&operand.number);
    static const Stored stored[] = {WORD, LONG_WORD, LONG_WORD, BYTE};
    operand.stored = stored[operand.kind];
    for (int dim = 0; dim < ndim_; dim++) operand.steps[dim] = 0;
    return true;
}

bool Elementwise::source(PyObject* value, Kind kind) {
    Operand& operand = from_[sources_];
    if (PyArray_CheckExact(value)) {
        auto* array = reinterpret_cast<PyArrayObject*>(value);
        const int ndim = PyArray_NDIM(array), more = ndim_ - ndim;
        if (!take(array, operand) || operand.kind != kind || more < 0) return false;
        for (int dim = 0; dim < more; dim++) operand.steps[dim] = 0;
        for (int dim = 0; dim < ndim; dim++) {
            const auto extent = static_cast<size_t>(PyArray_DIM(array, dim));
            if (extent != extents_[dim + more] && extent != 1) return false;
            operand.steps[dim + more] = extent == 1 ? 0 : PyArray_STRIDE(array, dim);
        }
    } else {
        operand.kind = kind;
        if (!number(value, operand)) return false;
    }
    sources_++;
    return true;
}

// True when no operand's memory is written before it is read.
bool Elementwise::apart() const {
    auto range = [this](const Operand& operand, const char*& low, const char*& high) {
        low = operand.data;
        high = operand.data + stored_size(operand.stored);
        for (int dim = 0; dim < ndim_; dim++) {
            const ptrdiff_t reach = operand.steps[dim] * static_cast<ptrdiff_t>(extents_[dim] - 1);
            (reach < 0 ? low : high) += reach;
        }
    };
    const char *low, *high, *first, *last;
    range(to_, low, high);
    for (int each = 0; each < sources_; each++) {
        const Operand& operand = from_[each];
        range(operand, first, last);
        if (last <= low || high <= first) continue;
        if (operand.data != to_.data || operand.stored != to_.stored) return false;
        for (int dim = 0; dim < ndim_; dim++)
            if (extents_[dim] > 1 && operand.steps[dim] != to_.steps[dim]) return false;
    }
    return true;
}

// True when every operand is a number or dense and of the output's shape, so that dimensions need not be looked at.
bool Elementwise::same_order() const {
    if (!PyArray_IS_C_CONTIGUOUS(to_.array)) return false;
    for (int each = 0; each < sources_; each++) {
        const Operand& operand = from_[each];
        if (operand.array == nullptr) continue;
        if (!PyArray_IS_C_CONTIGUOUS(operand.array) || static_cast<size_t>(PyArray_SIZE(operand.array)) != total_)
            return false;
    }
    return true;
}

// Put the dimensions into the order of the output's memory.
void Elementwise::sort() {
    auto size = [this](int dim) { return to_.steps[dim] < 0 ? -to_.steps[dim] : to_.steps[dim]; };
    auto swap = [](auto& a, auto& b) {
        const auto kept = a;
        a = b;
        b = kept;
    };
    for (int last = 1; last < ndim_; last++)
        for (int dim = last; dim > 0 && size(dim - 1) < size(dim); dim--) {
            swap(extents_[dim], extents_[dim - 1]);
            swap(to_.steps[dim], to_.steps[dim - 1]);
            for (int each = 0; each < sources_; each++) swap(from_[each].steps[dim], from_[each].steps[dim - 1]);
        }
}

// Leave out dimensions of one element and join those that lie one after the other in every operand.
void Elementwise::collapse() {
    int kept = 0;
    auto follows = [this](const Operand& operand, int outer, int inner) {
        return operand.steps[outer] == operand.steps[inner] * static_cast<ptrdiff_t>(extents_[inner]);
    };
    auto move = [this](int to, int from) {
        to_.steps[to] = to_.steps[from];
        for (int each = 0; each < sources_; each++) from_[each].steps[to] = from_[each].steps[from];
    };
    for (int dim = 0; dim < ndim_; dim++) {
        if (extents_[dim] == 1) continue;
        bool joined = kept > 0 && follows(to_, kept - 1, dim);
        for (int each = 0; joined && each < sources_; each++) joined = follows(from_[each], kept - 1, dim);
        if (joined) {
            extents_[kept - 1] *= extents_[dim];
            move(kept - 1, dim);
        } else {
            extents_[kept] = extents_[dim];
            move(kept++, dim);
        }
    }
    ndim_ = kept;
    if (ndim_ == 0) {
        ndim_ = 1;
        extents_[0] = 1;
        to_.steps[0] = 0;
        for (int each = 0; each < sources_; each++) from_[each].steps[0] = 0;
    }
}

void Elementwise::arrange() {
    if (same_order()) {
        ndim_ = 1;
        extents_[0] = total_;
        to_.steps[0] = stored_size(to_.stored);
        for (int each = 0; each < sources_; each++)
            from_[each].steps[0] = from_[each].array == nullptr ? 0 : stored_size(from_[each].stored);
    } else {
        sort();
        collapse();
    }
}

// Find out how an operand lies; bfloat16 is dense only for loops that take it.
void Elementwise::describe(Operand& operand, bool brains) const {
    const int inner = ndim_ - 1;
    operand.repeated = operand.flat = true;
    for (int dim = 0; dim < inner; dim++) {
        operand.repeated &= operand.steps[dim] == 0;
        operand.flat &= operand.steps[dim] == operand.steps[dim + 1] * static_cast<ptrdiff_t>(extents_[dim + 1]);
    }
    operand.dense = (operand.stored != BRAIN || brains) &&
                    (operand.steps[inner] == stored_size(operand.stored) || extents_[inner] == 1);
    operand.flat &= operand.dense;
}

// The loop for rows of dense bfloat16, null where there is none for these operands.
Map Elementwise::brain_loop(const BrainMaps& brains) const {
    const int inner = ndim_ - 1;
    auto fits = [inner](const Operand& operand) { return operand.stored == BRAIN && operand.steps[inner] == 2; };
    if (!fits(to_) || extents_[inner] < (ndim_ == 1 ? 2 : SHORT)) return nullptr;
    int form = 0;
    for (int each = 0; each < sources_; each++) {
        if (fits(from_[each])) continue;
        if (from_[each].steps[inner] != 0) return nullptr;
        form |= 1 << each;
    }
    return form < BRAIN_FORMS ? brains.form[form] : nullptr;
}

struct Elementwise::Buffers {
    alignas(64) char out[BLOCK * 8];
    alignas(64) char in[MOST_SOURCES][BLOCK * 8];
};

// Where the element `index`, counted along the dimensions, lies; `left` is how many follow it in its row, itself too.
ptrdiff_t Elementwise::place(const Operand& operand, size_t index, size_t& left) const {
    int dim = ndim_ - 1;
    const size_t row = extents_[dim];
    left = index < row ? row - index : row - index % row;
    ptrdiff_t offset = 0;
    for (; dim > 0 && index >= extents_[dim]; dim--) {
        offset += operand.steps[dim] * static_cast<ptrdiff_t>(index % extents_[dim]);
        index /= extents_[dim];
    }
    return offset + operand.steps[dim] * static_cast<ptrdiff_t>(index);
}

// The elements from..from + count, dense: where they are, or in the buffer.
const char* Elementwise::gather(const Operand& operand, char* buffer, size_t from, size_t count) const {
    size_t left;
    const char* first = operand.data + place(operand, from, left);
    if (operand.flat || (operand.dense && count <= left)) return first;
    const Transfer load = transfer_loops().load[operand.stored];
    const int inner = ndim_ - 1;
    const ptrdiff_t step = operand.steps[inner];
    const size_t size = item_size(operand.kind), row = extents_[inner], rows = inner > 0 ? extents_[inner - 1] : 1;
    size_t above = from / row % rows;
    first -= step * static_cast<ptrdiff_t>(row - left);  // the row's start
    for (char* to = buffer;;) {
        const size_t taken = count < left ? count : left;
        load(to, first + step * static_cast<ptrdiff_t>(row - left), step, taken);
        to += taken * size;
        count -= taken;
        from += taken;
        if (count == 0) return buffer;
        left = row;
        if (++above < rows) {
            first += operand.steps[inner - 1];
        } else {
            above = 0;
            first = operand.data + place(operand, from, left);
        }
    }
}

void Elementwise::scatter(const char* buffer, size_t from, size_t count) const {
    const Transfer store = transfer_loops().store[to_.stored];
    const size_t size = item_size(to_.kind);
    while (count > 0) {
        size_t left;
        char* to = to_.data + place(to_, from, left);
        const size_t row = count < left ? count : left;
        store(to, buffer, to_.steps[ndim_ - 1], row);
        buffer += row * size;
        count -= row;
        from += row;
    }
}

// One row, or part of one: operands are dense or repeat one element, which is in the buffer where every row has it.
void Elementwise::run_row(Map map, const double* numbers, Buffers& buffers, char* to, char* const* in,
                          size_t count) const {
    const void* from[MOST_SOURCES];
    const int inner = ndim_ - 1;
    for (int each = 0; each < sources_; each++) {
        const Operand& operand = from_[each];
        from[each] = operand.dense ? in[each] : buffers.in[each];
        if (!operand.dense && !operand.repeated)
            transfer_loops().load[operand.stored](buffers.in[each], in[each], operand.steps[inner], count);
    }
    map(to, from, count, numbers);
}

void Elementwise::run_rows(Map map, const double* numbers, Buffers& buffers, size_t from, size_t to) const {
    const int inner = ndim_ - 1;
    const size_t row = extents_[inner], rows = inner > 0 ? extents_[inner - 1] : 1;
    bool buffered = false;
    for (int each = 0; each < sources_; each++) {
        if (from_[each].dense) continue;
        buffered = true;
        if (from_[each].repeated)
            transfer_loops().load[from_[each].stored](buffers.in[each], from_[each].data, 0, row < BLOCK ? row : BLOCK);
    }
    const size_t most = buffered ? BLOCK : row;
    char *out = nullptr, *in[MOST_SOURCES];
    size_t above = rows, left = 0;
    while (from < to) {
        if (left == 0 && ++above < rows) {
            left = row;
            out += to_.steps[inner - 1];
            for (int each = 0; each < sources_; each++) in[each] += from_[each].steps[inner - 1];
        } else {
            above = from / row % rows;
            out = to_.data + place(to_, from, left);
            for (int each = 0; each < sources_; each++) in[each] = from_[each].data + place(from_[each], from, left);
        }
        const ptrdiff_t start = static_cast<ptrdiff_t>(row - left);
        char *part = out, *parts[MOST_SOURCES];
        for (int each = 0; each < sources_; each++) parts[each] = in[each];
        while (left > 0 && from < to) {
            size_t count = left < most ? left : most;
            if (to - from < count) count = to - from;
            run_row(map, numbers, buffers, part, parts, count);
            part += to_.steps[inner] * static_cast<ptrdiff_t>(count);
            for (int each = 0; each < sources_; each++)
                parts[each] += from_[each].steps[inner] * static_cast<ptrdiff_t>(count);
            left -= count;
            from += count;
        }
        out -= start * to_.steps[inner];
        for (int each = 0; each < sources_; each++) in[each] -= start * from_[each].steps[inner];
    }
}

// Put rows that are all the same into the buffers, for blocks of whole rows from `from` on; how long blocks are.
size_t Elementwise::repeat(Buffers& buffers, size_t from, size_t count) const {
    const size_t row = extents_[ndim_ - 1], most = row <= BLOCK ? BLOCK / row * row : BLOCK;
    for (int each = 0; each < sources_; each++) {
        const Operand& operand = from_[each];
        if (!operand.repeated || (row > BLOCK && operand.steps[ndim_ - 1] != 0)) continue;
        const Transfer load = transfer_loops().load[operand.stored];
        if (operand.steps[ndim_ - 1] == 0) {
            load(buffers.in[each], operand.data, 0, count < most ? count : most);
        } else if (!operand.flat) {
            gather(operand, buffers.in[each], from, count < most ? count : most);
        }
    }
    return most;
}

void Elementwise::run_blocks(Map map, const double* numbers, Buffers& buffers, size_t from, size_t to) const {
    const size_t most = repeat(buffers, from, to - from), row = extents_[ndim_ - 1];
    while (from < to) {
        const size_t count = to - from < most ? to - from : most;
        const void* in[MOST_SOURCES];
        for (int each = 0; each < sources_; each++) {
            const Operand& operand = from_[each];
            const bool there = operand.repeated && !operand.flat && (row <= BLOCK || operand.steps[ndim_ - 1] == 0);
            in[each] = there ? buffers.in[each] : gather(operand, buffers.in[each], from, count);
        }
        size_t left;
        char* out = to_.data + place(to_, from, left);
        if (to_.flat || (to_.dense && count <= left)) {
            map(out, in, count, numbers);
        } else {
            map(buffers.out, in, count, numbers);
            scatter(buffers.out, from, count);
        }
        from += count;
    }
}

// True when rows can be worked on one by one where they are.
bool Elementwise::by_rows() const {
    bool rows = to_.dense && (ndim_ == 1 || extents_[ndim_ - 1] >= SHORT);
    for (int each = 0; each < sources_; each++) rows &= from_[each].dense || from_[each].steps[ndim_ - 1] == 0;
    return rows;
}

void Elementwise::work(Map map, const double* numbers, size_t from, size_t to) const {
    Buffers buffers;
    if (by_rows()) {
        run_rows(map, numbers, buffers, from, to);
    } else {
        run_blocks(map, numbers, buffers, from, to);
    }
}

int Elementwise::run(Map map, const double* numbers, const BrainMaps* brains) {
    if (map == nullptr) return 0;
    if (total_ == 0) return 1;
    if (!apart()) return 0;
    arrange();
    const Map brain = brains == nullptr ? nullptr : brain_loop(*brains);
    if (brain != nullptr) map = brain;
    describe(to_, brain != nullptr);
    for (int each = 0; each < sources_; each++) describe(from_[each], brain != nullptr);
    parallel(total_, GRAIN, [&](size_t from, size_t to) { work(map, numbers, from, to); });
    return 1;
}

// A few elements that are dense, of one kind and one shape in all operands: what most calls on tiny tensors are.
// False when the driver has to look closer; nothing is done then.
static bool run_few(const Map* by_kind, PyObject* out, PyObject* const* values, int count, const double* numbers) {
    if (!PyArray_CheckExact(out)) return false;
    auto* to = reinterpret_cast<PyArrayObject*>(out);
    const Kind kind = kind_of_elements(to);
    if (kind == KINDS || by_kind[kind] == nullptr || !PyArray_ISCARRAY(to) ||
        PyArray_TYPE(to) == configuration.bfloat16)
        return false;
    const int ndim = PyArray_NDIM(to);
    size_t total = 1;
    for (int dim = 0; dim < ndim; dim++) {
        total *= static_cast<size_t>(PyArray_DIM(to, dim));
        if (total > FEW) return false;
    }
    const size_t bytes = total * item_size(kind);
    const void* in[MOST_SOURCES];
    for (int each = 0; each < count; each++) {
        if (!PyArray_CheckExact(values[each])) return false;
        auto* from = reinterpret_cast<PyArrayObject*>(values[each]);
        if (PyArray_TYPE(from) != PyArray_TYPE(to) || PyArray_NDIM(from) != ndim || !PyArray_ISCARRAY_RO(from))
            return false;
        for (int dim = 0; dim < ndim; dim++)
            if (PyArray_DIM(from, dim) != PyArray_DIM(to, dim)) return false;
        const char* data = PyArray_BYTES(from);
        if (data != PyArray_BYTES(to) && data < PyArray_BYTES(to) + bytes && PyArray_BYTES(to) < data + bytes)
            return false;
        in[each] = data;
    }
    if (total > 0) by_kind[kind](PyArray_DATA(to), in, total, numbers);
    return true;
}

int run_map(const Map* by_kind, PyObject* out, PyObject* const* values, int count, const double* numbers,
            const BrainMaps* brains) {
    if (run_few(by_kind, out, values, count, numbers)) return 1;
    Elementwise operation;
    if (!operation.output(out)) return 0;
    for (int each = 0; each < count; each++)
        if (!operation.source(values[each], operation.kind())) return 0;
    return operation.run(by_kind[operation.kind()], numbers, brains);
}

}  // namespace mindtorch
