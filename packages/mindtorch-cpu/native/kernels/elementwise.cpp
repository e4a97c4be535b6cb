// Operands of elementwise kernels: what they are, and the order of their dimensions.
#include "kernels/elementwise.h"

#include "kernels/operand.h"

namespace mindtorch {

namespace {

constexpr size_t FEW = 1024;

}  // namespace

Kind kind_of_elements(PyArrayObject* array) {
    switch (PyArray_TYPE(array)) {
        case NPY_FLOAT: return FLOAT_KIND;
        case NPY_DOUBLE: return DOUBLE_KIND;
        case NPY_INT64: return LONG_KIND;
        case NPY_BOOL: return BOOL_KIND;
        default: return PyArray_TYPE(array) == bfloat16_type ? FLOAT_KIND : KINDS;
    }
}

Kind kind_of_operand(PyArrayObject* array) {
    return PyArray_TYPE(array) == NPY_HALF ? FLOAT_KIND : kind_of_elements(array);
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
    operand.kind = kind_of_operand(array);
    if (operand.kind == KINDS || !PyArray_ISBEHAVED_RO(array)) return false;
    static const Stored stored[] = {WORD, LONG_WORD, LONG_WORD, BYTE};
    const bool is_reduced = PyArray_ITEMSIZE(array) == 2;
    operand.stored = !is_reduced ? stored[operand.kind] : PyArray_TYPE(array) == NPY_HALF ? FLOAT16 : BFLOAT16;
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
        case FLOAT_KIND: operand.number.single = static_cast<float>(exact); break;
        case DOUBLE_KIND: operand.number.wide = exact; break;
        case LONG_KIND:
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

void Elementwise::table(const void* values) {
    Operand& operand = from_[sources_++];
    operand.kind = to_.kind;
    operand.stored = WORD;
    operand.data = static_cast<char*>(const_cast<void*>(values));
    for (int dim = 0; dim < ndim_; dim++) operand.steps[dim] = 0;
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

// The dimension along which the elements of an operand lie together that is not the innermost; -1 where there is none.
int Elementwise::turned_dim() const {
    const int inner = ndim_ - 1;
    if (to_.steps[inner] != stored_size(to_.stored) || !is_plain(to_.stored)) return -1;
    for (int each = 0; each < sources_; each++) {
        const Operand& operand = from_[each];
        const ptrdiff_t item = stored_size(operand.stored);
        if (!is_plain(operand.stored) || operand.steps[inner] == 0 || operand.steps[inner] == item) continue;
        for (int dim = 0; dim < inner; dim++)
            if (operand.steps[dim] == item && extents_[dim] >= 8 && extents_[inner] >= 8) return dim;
    }
    return -1;
}

// Put the dimension `dim` next to the innermost, others keep their order.
void Elementwise::bring_near(int dim) {
    auto turn = [this, dim](auto* list) {
        const auto kept = list[dim];
        for (int at = dim; at + 2 < ndim_; at++) list[at] = list[at + 1];
        list[ndim_ - 2] = kept;
    };
    turn(extents_);
    turn(to_.steps);
    for (int each = 0; each < sources_; each++) turn(from_[each].steps);
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
        const int turned = turned_dim();
        if (turned >= 0) {
            bring_near(turned);
            turned_ = true;
        }
    }
}

// Find out how an operand lies; elements of two bytes are dense only for loops that take them.
void Elementwise::describe(Operand& operand, bool reduced) const {
    const int inner = ndim_ - 1;
    operand.repeated = operand.flat = true;
    for (int dim = 0; dim < inner; dim++) {
        operand.repeated &= operand.steps[dim] == 0;
        operand.flat &= operand.steps[dim] == operand.steps[dim + 1] * static_cast<ptrdiff_t>(extents_[dim + 1]);
    }
    operand.dense = (is_plain(operand.stored) || reduced) &&
                    (operand.steps[inner] == stored_size(operand.stored) || extents_[inner] == 1);
    operand.flat &= operand.dense;
}

// A few elements that are dense, of one kind and one shape in all operands, of which the second may be a number: what
// most calls on tiny tensors are. False when the driver has to look closer; nothing is done then.
static bool run_skinny(const Maps& maps, PyObject* out, PyObject* const* values, int count, const double* numbers) {
    if (!PyArray_CheckExact(out)) return false;
    auto* to = reinterpret_cast<PyArrayObject*>(out);
    const Kind kind = kind_of_elements(to);
    if (kind == KINDS || maps.by_kind[kind].form[0] == nullptr || !PyArray_ISCARRAY(to) ||
        PyArray_TYPE(to) == bfloat16_type)
        return false;
    const int ndim = PyArray_NDIM(to);
    size_t total = 1;
    for (int dim = 0; dim < ndim; dim++) {
        total *= static_cast<size_t>(PyArray_DIM(to, dim));
        if (total > FEW) return false;
    }
    const size_t bytes = total * item_size(kind);
    const void* in[MOST_SOURCES];
    Map map = maps.by_kind[kind].form[0];
    double wide;
    float single;
    for (int each = 0; each < count; each++) {
        if (each == 1 && PyFloat_CheckExact(values[1]) && kind <= DOUBLE_KIND && count == 2 &&
            maps.by_kind[kind].form[2] != nullptr) {
            wide = PyFloat_AS_DOUBLE(values[1]);
            single = static_cast<float>(wide);
            in[1] = kind == FLOAT_KIND ? static_cast<const void*>(&single) : &wide;
            map = maps.by_kind[kind].form[2];
            continue;
        }
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
    if (total > 0) map(PyArray_DATA(to), in, total, numbers);
    return true;
}

int run_map(const Maps& maps, PyObject* out, PyObject* const* values, int count, const double* numbers) {
    if (run_skinny(maps, out, values, count, numbers)) return 1;
    Elementwise operation;
    if (!operation.output(out)) return 0;
    for (int each = 0; each < count; each++)
        if (!operation.source(values[each], operation.kind())) return 0;
    return operation.run(maps.of(operation.kind()), numbers);
}

}  // namespace mindtorch
