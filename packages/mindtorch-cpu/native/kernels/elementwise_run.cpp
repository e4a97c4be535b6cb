// How elementwise loops run over operands of any strides: where they lie, by rows, by blocks that are made dense, or by
// tiles that are turned.
#include "kernels/elementwise.h"
#include "parallel.h"

#include <string.h>

namespace mindtorch {

namespace {

constexpr size_t BLOCK = 1024;  // elements that are computed at a time where operands must be made dense
constexpr size_t SHORT = 32;    // rows shorter than this are made dense several at a time
constexpr size_t TILE = 16;     // rows of a tile

size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Rows of so many bytes, dense and `step` apart, as one piece of memory; null for what is no short row's size.
using CopyRows = void (*)(char* to, const char* from, ptrdiff_t step, size_t rows);

template <size_t BYTES>
void copy_rows(char* to, const char* from, ptrdiff_t step, size_t rows) {
    for (size_t i = 0; i < rows; i++) memcpy(to + i * BYTES, from + step * static_cast<ptrdiff_t>(i), BYTES);
}

CopyRows copy_of_rows(size_t bytes) {
    switch (bytes) {
        case 8: return copy_rows<8>;
        case 12: return copy_rows<12>;
        case 16: return copy_rows<16>;
        case 24: return copy_rows<24>;
        case 32: return copy_rows<32>;
        default: return nullptr;
    }
}

}  // namespace

// The loop for rows of dense elements of two bytes, null where there is none for these operands.
Map Elementwise::short_loop(const MapOf& maps, int& form) const {
    const int inner = ndim_ - 1;
    auto fits = [this, inner](const Operand& operand) {
        return operand.stored == to_.stored && operand.steps[inner] == 2;
    };
    if (is_plain(to_.stored) || !fits(to_) || extents_[inner] < (ndim_ == 1 ? 2 : SHORT)) return nullptr;
    const Forms* forms = maps.reduced[to_.stored == BFLOAT16 ? BFLOAT16_FORMAT : FLOAT16_FORMAT];
    if (forms == nullptr) return nullptr;
    form = 0;
    for (int each = 0; each < sources_; each++) {
        if (fits(from_[each])) continue;
        if (from_[each].steps[inner] != 0) return nullptr;
        form |= 1 << each;
    }
    return form < FORM_COUNT ? forms->form[form] : nullptr;
}

// The loop that takes as many as there is one for of the operands that are one element all along a row, which `form`
// then names.
Map Elementwise::fitting_loop(const Forms& forms, int& form) const {
    int single = 0;
    for (int each = 0; each < sources_; each++)
        if (from_[each].steps[ndim_ - 1] == 0 && is_plain(from_[each].stored)) single |= 1 << each;
    for (form = single & (FORM_COUNT - 1); forms.form[form] == nullptr;) form = (form - 1) & single;
    return forms.form[form];
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
    const bool is_dense = is_plain(operand.stored) && step == static_cast<ptrdiff_t>(size);
    const CopyRows copy = is_dense && inner > 0 ? copy_of_rows(row * size) : nullptr;
    size_t above = from / row % rows;
    first -= step * static_cast<ptrdiff_t>(row - left);  // the row's start
    for (char* to = buffer;;) {
        size_t taken = count < left ? count : left, passed = 1;
        if (copy != nullptr && left == row && count >= row) {
            passed = least(rows - above, count / row);
            taken = passed * row;
            copy(to, first, operand.steps[inner - 1], passed);
        } else {
            load(to, first + step * static_cast<ptrdiff_t>(row - left), step, taken);
        }
        to += taken * size;
        count -= taken;
        from += taken;
        if (count == 0) return buffer;
        left = row;
        above += passed;
        if (above < rows) {
            first += operand.steps[inner - 1] * static_cast<ptrdiff_t>(passed);
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
// Operands that `form` names are looked up where they are, as floats where they are stored in two bytes.
void Elementwise::run_row(Map map, int form, const double* numbers, Buffers& buffers, char* to, char* const* in,
                          size_t count) const {
    const void* from[MOST_SOURCES];
    const int inner = ndim_ - 1;
    for (int each = 0; each < sources_; each++) {
        const Operand& operand = from_[each];
        const bool single = (form >> each & 1) != 0, there = operand.dense || (single && is_plain(operand.stored));
        from[each] = there ? in[each] : buffers.in[each];
        if (!there && !operand.repeated)
            transfer_loops().load[operand.stored](buffers.in[each], in[each], operand.steps[inner], single ? 1 : count);
    }
    map(to, from, count, numbers);
}

// Whole rows, one below the other, of operands that are read where they are.
void Elementwise::run_whole_rows(Map map, const double* numbers, char* to, char* const* in, size_t rows) const {
    const int inner = ndim_ - 1, outer = inner > 0 ? inner - 1 : 0;
    const size_t row = extents_[inner];
    const void* from[MOST_SOURCES];
    ptrdiff_t steps[MOST_SOURCES];
    for (int each = 0; each < sources_; each++) from[each] = in[each], steps[each] = from_[each].steps[outer];
    for (;; to += to_.steps[outer]) {
        map(to, from, row, numbers);
        if (--rows == 0) return;
        for (int each = 0; each < sources_; each++) from[each] = static_cast<const char*>(from[each]) + steps[each];
    }
}

void Elementwise::run_rows(Map map, int form, const double* numbers, Buffers& buffers, size_t from, size_t to) const {
    const int inner = ndim_ - 1;
    const size_t row = extents_[inner], rows = inner > 0 ? extents_[inner - 1] : 1;
    bool buffered = false, there = true;
    for (int each = 0; each < sources_; each++) {
        const bool single = (form >> each & 1) != 0;
        if (from_[each].dense || (single && is_plain(from_[each].stored))) continue;
        there = false;
        buffered |= !single;
        if (from_[each].repeated)
            transfer_loops().load[from_[each].stored](buffers.in[each], from_[each].data, 0,
                                                      single        ? 1
                                                      : row < BLOCK ? row
                                                                    : BLOCK);
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
        const size_t whole = !there || left < row ? 0 : least(rows - above, (to - from) / row);
        if (whole > 0) {
            run_whole_rows(map, numbers, out, in, whole);
            const auto passed = static_cast<ptrdiff_t>(whole - 1);
            if (inner > 0) out += passed * to_.steps[inner - 1];
            for (int each = 0; each < sources_ && inner > 0; each++) in[each] += passed * from_[each].steps[inner - 1];
            above += whole - 1;
            from += whole * row;
            left = 0;
            continue;
        }
        const ptrdiff_t start = static_cast<ptrdiff_t>(row - left);
        char *part = out, *parts[MOST_SOURCES];
        for (int each = 0; each < sources_; each++) parts[each] = in[each];
        while (left > 0 && from < to) {
            size_t count = left < most ? left : most;
            if (to - from < count) count = to - from;
            run_row(map, form, numbers, buffers, part, parts, count);
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
            const size_t taken = count < most ? count : most;
            const char* found = gather(operand, buffers.in[each], from, taken);  // one dense row is found where it is
            if (found != buffers.in[each]) memcpy(buffers.in[each], found, taken * item_size(operand.kind));
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

// Rows first..last of the tiles of the last two dimensions, tiles counted along all dimensions: the operands that lie
// together along the last but one are turned in the buffers.
void Elementwise::run_tiles(Map map, const double* numbers, size_t first, size_t last) const {
    Buffers buffers;
    const int inner = ndim_ - 1, outer = ndim_ - 2;
    const size_t width = extents_[inner], height = extents_[outer], tiles = (height + TILE - 1) / TILE;
    for (size_t number = first; number < last; number++) {
        const size_t above = number % tiles * TILE, rows = height - above < TILE ? height - above : TILE;
        size_t left;
        const size_t from = (number / tiles * height + above) * width;
        for (size_t start = 0; start < width; start += BLOCK / TILE) {
            const size_t columns = width - start < BLOCK / TILE ? width - start : BLOCK / TILE;
            const char* in[MOST_SOURCES];
            ptrdiff_t next[MOST_SOURCES];
            for (int each = 0; each < sources_; each++) {
                const Operand& operand = from_[each];
                in[each] = operand.data + place(operand, from + start, left);
                next[each] = operand.steps[outer];
                if (operand.dense) continue;
                const size_t size = item_size(operand.kind);
                if (is_plain(operand.stored) && operand.steps[outer] == static_cast<ptrdiff_t>(size)) {
                    turn_plane(buffers.in[each], in[each], rows, columns, operand.steps[inner], size);
                } else {
                    for (size_t row = 0; row < rows; row++)
                        transfer_loops().load[operand.stored](buffers.in[each] + row * columns * size,
                                                              in[each] + static_cast<ptrdiff_t>(row) * next[each],
                                                              operand.steps[inner], columns);
                }
                in[each] = buffers.in[each];
                next[each] = static_cast<ptrdiff_t>(columns * size);
            }
            char* out = to_.data + place(to_, from + start, left);
            for (size_t row = 0; row < rows; row++, out += to_.steps[outer]) {
                const void* parts[MOST_SOURCES];
                for (int each = 0; each < sources_; each++)
                    parts[each] = in[each] + static_cast<ptrdiff_t>(row) * next[each];
                map(out, parts, columns, numbers);
            }
        }
    }
}

void Elementwise::work(const MapOf& maps, Map short_map, int form, const double* numbers, size_t from,
                       size_t to) const {
    Buffers buffers;
    if (short_map != nullptr) {
        run_rows(short_map, form, numbers, buffers, from, to);
    } else if (by_rows()) {
        const Map map = fitting_loop(*maps.plain, form);
        run_rows(map, form, numbers, buffers, from, to);
    } else {
        run_blocks(maps.plain->form[0], numbers, buffers, from, to);
    }
}

int Elementwise::run(const MapOf& maps, const double* numbers) {
    const Map general = maps.plain->form[0];
    if (general == nullptr && maps.reduced[0] == nullptr) return 0;
    if (total_ == 0) return 1;
    if (!apart()) return 0;
    arrange();
    int form = 0;
    const Map short_map = short_loop(maps, form);
    if (general == nullptr && short_map == nullptr) return 0;
    describe(to_, short_map != nullptr);
    for (int each = 0; each < sources_; each++) describe(from_[each], short_map != nullptr);
    if (turned_) {
        const size_t tiles = (extents_[ndim_ - 2] + TILE - 1) / TILE, width = extents_[ndim_ - 1];
        const size_t all = total_ / (extents_[ndim_ - 2] * width) * tiles, grain = GRAIN / (TILE * width) + 1;
        parallel(all, grain, [&](size_t from, size_t to) { run_tiles(general, numbers, from, to); });
    } else {
        parallel(total_, GRAIN, [&](size_t from, size_t to) { work(maps, short_map, form, numbers, from, to); });
    }
    return 1;
}

}  // namespace mindtorch
