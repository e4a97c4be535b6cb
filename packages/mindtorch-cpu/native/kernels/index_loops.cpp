// Loops over positions. Positions are checked before any of these runs.
#include "simd/element.h"
#include "kernels/index.h"

namespace mindtorch {

namespace {

bool within(const char* positions, size_t count, ptrdiff_t step, int64_t low, int64_t high) {
    const uint64_t span = static_cast<uint64_t>(high - low);
    uint64_t outside = 0;
    if (step == sizeof(int64_t)) {
        for (size_t i = 0; i < count; i++)
            outside |= static_cast<uint64_t>(load<int64_t>(positions + 8 * i) - low) >= span ? 1 : 0;
    } else {
        for (size_t i = 0; i < count; i++, positions += step)
            outside |= static_cast<uint64_t>(load<int64_t>(positions) - low) >= span ? 1 : 0;
    }
    return outside == 0;
}

template <bool adds>
INLINE void offsets_of(int64_t* to, const char* positions, size_t count, ptrdiff_t positions_step, int64_t extent,
                       int64_t step) {
    for (size_t i = 0; i < count; i++) {
        const int64_t position = load<int64_t>(positions + static_cast<ptrdiff_t>(i) * positions_step);
        const int64_t offset = (position < 0 ? position + extent : position) * step;
        to[i] = adds ? to[i] + offset : offset;
    }
}

void offsets(int64_t* to, const char* positions, size_t count, ptrdiff_t positions_step, int64_t extent, int64_t step,
             bool adds) {
    if (adds) {
        offsets_of<true>(to, positions, count, positions_step, extent, step);
    } else if (positions_step == 8) {
        offsets_of<false>(to, positions, count, 8, extent, step);
    } else {
        offsets_of<false>(to, positions, count, positions_step, extent, step);
    }
}

INLINE void copy_row(char* to, const char* from, size_t bytes) {
    if (bytes < 64 || bytes > 32768) {
        memcpy(to, from, bytes);
        return;
    }
    for (size_t i = 0; i + 64 < bytes; i += 64) store(to + i, load<Line>(from + i));
    store(to + bytes - 64, load<Line>(from + bytes - 64));
}

// Keeps the compiler from making one instruction of several loads: many processors take longer for it than for those.
INLINE void one_by_one() { asm volatile("" : : : "memory"); }

template <typename Item>
INLINE void pick_items(const PickedRows& rows) {
    char* __restrict to = rows.to;
    const char* __restrict from = rows.from;
    const int64_t* __restrict offsets = rows.offsets;
    const size_t count = rows.count;
    const ptrdiff_t step = rows.step;
    if (step == sizeof(Item)) {
        for (size_t i = 0; i < count; i++) {
            store(to + i * sizeof(Item), load<Item>(from + offsets[i]));
            one_by_one();
        }
    } else {
        for (size_t i = 0; i < count; i++) store(to + static_cast<ptrdiff_t>(i) * step, load<Item>(from + offsets[i]));
    }
}

void pick_rows(const PickedRows& rows) {
    switch (rows.bytes) {
        case 1: return pick_items<uint8_t>(rows);
        case 2: return pick_items<uint16_t>(rows);
        case 4: return pick_items<uint32_t>(rows);
        case 8: return pick_items<uint64_t>(rows);
        case 16: return pick_items<Pair>(rows);
    }
    for (size_t i = 0; i < rows.count; i++)
        copy_row(rows.to + static_cast<ptrdiff_t>(i) * rows.step, rows.from + rows.offsets[i], rows.bytes);
}

template <typename Item>
INLINE void place_items(const PickedRows& rows) {
    char* __restrict to = rows.to;
    const char* __restrict from = rows.from;
    const int64_t* __restrict offsets = rows.offsets;
    const size_t count = rows.count;
    const ptrdiff_t step = rows.step;
    for (size_t i = 0; i < count; i++) store(to + offsets[i], load<Item>(from + static_cast<ptrdiff_t>(i) * step));
}

void place_rows(const PickedRows& rows) {
    switch (rows.bytes) {
        case 1: return place_items<uint8_t>(rows);
        case 2: return place_items<uint16_t>(rows);
        case 4: return place_items<uint32_t>(rows);
        case 8: return place_items<uint64_t>(rows);
        case 16: return place_items<Pair>(rows);
    }
    for (size_t i = 0; i < rows.count; i++)
        copy_row(rows.to + rows.offsets[i], rows.from + static_cast<ptrdiff_t>(i) * rows.step, rows.bytes);
}

template <typename Number>
INLINE Number scaled(Number number, double factor) {
    return number * static_cast<Number>(factor);
}

template <typename Number>
void add_rows(const PickedRows& rows, double factor) {
    const size_t width = rows.bytes / sizeof(Number);
    for (size_t row = 0; row < rows.count; row++) {
        char* to = rows.to + rows.offsets[row];
        const char* from = rows.from + static_cast<ptrdiff_t>(row) * rows.step;
        if (factor == 1.0) {
            for (size_t i = 0; i < width; i++)
                store(to + i * sizeof(Number),
                      load<Number>(to + i * sizeof(Number)) + load<Number>(from + i * sizeof(Number)));
        } else {
            for (size_t i = 0; i < width; i++)
                store(to + i * sizeof(Number),
                      load<Number>(to + i * sizeof(Number)) + scaled(load<Number>(from + i * sizeof(Number)), factor));
        }
    }
}

// So many vectors of each row, whose sums stay in registers; rows are asked for before they are needed.
template <typename Number, size_t parts, bool weighted>
INLINE void sum_parts(char* to, const char* table, const int64_t* numbers, size_t count, size_t bytes,
                      const Number* factors) {
    typedef Number Part __attribute__((vector_size(64)));
    constexpr size_t AHEAD = 12;
    Part sums[parts] = {};
    for (size_t row = 0; row < count; row++) {
        const char* from = table + static_cast<size_t>(numbers[row]) * bytes;
        const char* next = table + static_cast<size_t>(numbers[row + AHEAD < count ? row + AHEAD : row]) * bytes;
        for (size_t k = 0; k < parts; k++) __builtin_prefetch(next + k * sizeof(Part));
        for (size_t k = 0; k < parts; k++) {
            const Part part = load<Part>(from + k * sizeof(Part));
            sums[k] += weighted ? part * factors[row] : part;
        }
    }
    for (size_t k = 0; k < parts; k++) store(to + k * sizeof(Part), sums[k]);
}

template <typename Number, bool weighted>
INLINE void sum_columns(char* to, const char* table, const int64_t* numbers, size_t count, size_t bytes,
                        const Number* factors) {
    constexpr size_t PART = 64;
    size_t start = 0;
    for (; start + 4 * PART <= bytes; start += 4 * PART)
        sum_parts<Number, 4, weighted>(to + start, table + start, numbers, count, bytes, factors);
    for (; start + 2 * PART <= bytes; start += 2 * PART)
        sum_parts<Number, 2, weighted>(to + start, table + start, numbers, count, bytes, factors);
    for (; start + PART <= bytes; start += PART)
        sum_parts<Number, 1, weighted>(to + start, table + start, numbers, count, bytes, factors);
    for (; start < bytes; start += sizeof(Number)) {
        Number sum = 0;
        for (size_t row = 0; row < count; row++) {
            const Number item = load<Number>(table + static_cast<size_t>(numbers[row]) * bytes + start);
            sum += weighted ? item * factors[row] : item;
        }
        store(to + start, sum);
    }
}

template <typename Number>
void sum_rows(char* to, const char* table, const int64_t* numbers, size_t count, size_t bytes, const void* given) {
    const auto* factors = static_cast<const Number*>(given);
    if (factors != nullptr) return sum_columns<Number, true>(to, table, numbers, count, bytes, factors);
    sum_columns<Number, false>(to, table, numbers, count, bytes, factors);
}

// `one_step`: positions and the other side lie together. `in_line`: the indexed dimension is the line's own.
template <typename Item, bool one_step, bool in_line>
INLINE void gather_line(const PickedLine& line) {
    char* __restrict to = line.to;
    const char* __restrict from = line.from;
    const char* __restrict positions = line.positions;
    const size_t count = line.count;
    const ptrdiff_t positions_step = one_step ? 8 : line.positions_step, step = one_step ? sizeof(Item) : line.step;
    const ptrdiff_t lane = in_line ? 0 : line.lane, reach = in_line ? sizeof(Item) : line.reach;
    for (size_t i = 0; i < count; i++) {
        const ptrdiff_t at = static_cast<ptrdiff_t>(i);
        store(to + at * step, load<Item>(from + load<int64_t>(positions + at * positions_step) * reach + at * lane));
        one_by_one();
    }
}

template <typename Item>
void gather(const PickedLine& line) {
    const bool one_step = line.positions_step == 8 && line.step == sizeof(Item);
    const bool in_line = line.lane == 0 && line.reach == sizeof(Item);
    if (one_step && in_line) return gather_line<Item, true, true>(line);
    if (one_step) return gather_line<Item, true, false>(line);
    gather_line<Item, false, false>(line);
}

struct Written {
    template <typename Item>
    static INLINE Item of(Item, Item item) {
        return item;
    }
};
struct Added {
    template <typename Item>
    static INLINE Item of(Item before, Item item) {
        return before + item;
    }
};
struct Multiplied {
    template <typename Item>
    static INLINE Item of(Item before, Item item) {
        return before * item;
    }
};
template <typename Item>
struct Bits {
    using Of = uint64_t;
};
template <>
struct Bits<float> {
    using Of = uint32_t;
};

// Without a branch, which random numbers would mislead.
template <typename Item>
INLINE Item select(bool one, bool other, Item chosen, Item rest) {
    typename Bits<Item>::Of bits, others;
    memcpy(&bits, &rest, sizeof rest);
    memcpy(&others, &chosen, sizeof chosen);
    bits ^= (bits ^ others) & -static_cast<typename Bits<Item>::Of>(one | other);
    memcpy(&rest, &bits, sizeof rest);
    return rest;
}
struct Greater {
    template <typename Item>
    static INLINE Item of(Item before, Item item) {
        return select(item > before, item != item, item, before);
    }
};
struct Lesser {
    template <typename Item>
    static INLINE Item of(Item before, Item item) {
        return select(item < before, item != item, item, before);
    }
};

// One position for all elements, which lie together on both sides.
template <typename Item, typename How>
void scatter_row(const PickedLine& line) {
    char* __restrict to = line.to + load<int64_t>(line.positions) * line.reach;
    const char* __restrict from = line.from;
    const size_t count = line.count;
    for (size_t i = 0; i < count; i++) {
        char* place = to + i * sizeof(Item);
        store(place, How::of(load<Item>(place), load<Item>(from + i * sizeof(Item))));
    }
}

// Written in order, because positions may repeat.
template <typename Item, typename How, bool one_step>
INLINE void scatter_line(const PickedLine& line) {
    char* to = line.to;
    const char* __restrict from = line.from;
    const char* __restrict positions = line.positions;
    const size_t count = line.count;
    const ptrdiff_t positions_step = one_step ? 8 : line.positions_step, step = one_step ? sizeof(Item) : line.step;
    const ptrdiff_t lane = line.lane, reach = line.reach;
    for (size_t i = 0; i < count; i++) {
        const ptrdiff_t at = static_cast<ptrdiff_t>(i);
        char* place = to + load<int64_t>(positions + at * positions_step) * reach + at * lane;
        store(place, How::of(load<Item>(place), load<Item>(from + at * step)));
    }
}

template <typename Item, typename How = Written>
void scatter(const PickedLine& line) {
    if (line.positions_step == 0 && line.lane == sizeof(Item) && line.step == sizeof(Item) && line.count > 0) {
        scatter_row<Item, How>(line);
    } else if (line.positions_step == 8 && line.step == sizeof(Item)) {
        scatter_line<Item, How, true>(line);
    } else {
        scatter_line<Item, How, false>(line);
    }
}

INLINE float quotient(float number, int64_t count) { return number / static_cast<float>(count); }
INLINE double quotient(double number, int64_t count) { return number / static_cast<double>(count); }
INLINE int64_t quotient(int64_t number, int64_t count) { return number / count - (number % count < 0 ? 1 : 0); }

template <typename Number>
void divide(char* to, const int64_t* counts, size_t count, int64_t first) {
    for (size_t i = 0; i < count; i++) {
        const int64_t many = counts[i] + first;
        char* place = to + i * sizeof(Number);
        store(place, quotient(load<Number>(place), many > 1 ? many : 1));
    }
}

template <typename Item>
void fill_rows(const PickedRows& rows) {
    const Item item = load<Item>(rows.from);
    const size_t width = rows.bytes / sizeof(Item);
    char* __restrict start = rows.to;
    const int64_t* __restrict offsets = rows.offsets;
    const size_t count = rows.count;
    if (width == 1) {
        for (size_t row = 0; row < count; row++) store(start + offsets[row], item);
        return;
    }
    for (size_t row = 0; row < count; row++) {
        char* to = start + offsets[row];
        for (size_t i = 0; i < width; i++) store(to + i * sizeof(Item), item);
    }
}

// Floats as integers of the same order: zeros are equal, and a not-a-number is above infinity.
INLINE int32_t key_of(float value, int32_t flip) {
    int32_t bits;
    value += 0.0f;
    memcpy(&bits, &value, sizeof bits);
    bits ^= (bits >> 31) & 0x7fffffff;
    return (value != value ? 0x7fffffff : bits) ^ flip;
}

constexpr size_t GROUP = 64;

void best(float* values, int64_t* places, int32_t* keys, const float* from, size_t count, size_t many, bool largest) {
    const int32_t flip = largest ? 0 : -1;
    size_t have = 0;
    int32_t least = 0;
    for (size_t start = 0; start < count; start += GROUP) {
        const size_t part = count - start < GROUP ? count - start : GROUP;
        if (have == many) {
            int32_t above = 0;
            if (part == GROUP) {
                for (size_t i = 0; i < GROUP; i++) above |= key_of(from[start + i], flip) > least ? 1 : 0;
            } else {
                for (size_t i = 0; i < part; i++) above |= key_of(from[start + i], flip) > least ? 1 : 0;
            }
            if (above == 0) continue;
        }
        for (size_t i = start; i < start + part; i++) {
            const int32_t key = key_of(from[i], flip);
            if (have == many && key <= least) continue;
            size_t at = have < many ? have++ : many - 1;
            for (; at > 0 && keys[at - 1] < key; at--) {
                keys[at] = keys[at - 1];
                places[at] = places[at - 1];
            }
            keys[at] = key;
            places[at] = static_cast<int64_t>(i);
            least = keys[have - 1];
        }
    }
    for (size_t i = 0; i < many; i++) values[i] = from[places[i]];
}

template <typename Item>
void fill_under(char* to, const uint8_t* mask, const char* number, size_t count) {
    const Item item = load<Item>(number);
    for (size_t i = 0; i < count; i++)
        store(to + i * sizeof(Item), mask[i] != 0 ? item : load<Item>(to + i * sizeof(Item)));
}

size_t count_set(const uint8_t* mask, size_t count) {
    size_t total = 0;
    while (count > 0) {
        const size_t part = count < 255 * 16 ? count : 255 * 16;
        uint32_t few = 0;
        for (size_t i = 0; i < part; i++) few += mask[i] != 0;
        total += few;
        mask += part;
        count -= part;
    }
    return total;
}

}  // namespace

#define COMBINED(How) {scatter<float, How>, scatter<double, How>, scatter<int64_t, How>}

extern const IndexLoops MINDTORCH_LOOPS(index_loops) = {
    within,
    offsets,
    pick_rows,
    place_rows,
    {fill_rows<uint8_t>, fill_rows<uint16_t>, fill_rows<uint32_t>, fill_rows<uint64_t>, fill_rows<Pair>},
    {add_rows<float>, add_rows<double>, add_rows<int64_t>},
    {sum_rows<float>, sum_rows<double>, sum_rows<int64_t>},
    {gather<uint8_t>, gather<uint16_t>, gather<uint32_t>, gather<uint64_t>, gather<Pair>},
    {scatter<uint8_t>, scatter<uint16_t>, scatter<uint32_t>, scatter<uint64_t>, scatter<Pair>},
    {COMBINED(Added), COMBINED(Multiplied), COMBINED(Greater), COMBINED(Lesser)},
    {divide<float>, divide<double>, divide<int64_t>},
    best,
    {fill_under<uint8_t>, fill_under<uint16_t>, fill_under<uint32_t>, fill_under<uint64_t>, fill_under<Pair>},
    count_set,
};

}  // namespace mindtorch
