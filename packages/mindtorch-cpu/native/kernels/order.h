// Elements as whole numbers of the same order: equal ones are equal, and a nan is larger than every number.
#pragma once

#include "kernels/operand.h"

#include <stdint.h>
#include <string.h>

#include <algorithm>

namespace mindtorch {

inline uint64_t order_of(float value) {
    uint32_t bits;
    value += 0.0f;  // zeros of either sign are equal
    memcpy(&bits, &value, sizeof bits);
    return value != value ? UINT32_MAX : bits ^ ((bits >> 31) != 0 ? UINT32_MAX : uint32_t{1} << 31);
}

inline uint64_t order_of(double value) {
    uint64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? UINT64_MAX : bits ^ ((bits >> 63) != 0 ? UINT64_MAX : uint64_t{1} << 63);
}

template <typename Whole>
inline uint64_t order_of(Whole value) {
    return static_cast<uint64_t>(static_cast<int64_t>(value)) ^ uint64_t { 1 } << 63;
}

inline int bits_of(uint64_t number) {
    int bits = 0;
    for (; number != 0; number >>= 1) bits++;
    return bits;
}

// What is sorted where an element's order and its place do not fit into one number.
struct Placed {
    uint64_t order, place;

    bool operator<(const Placed& other) const {
        return order != other.order ? order < other.order : place < other.place;
    }
};

// The orders of a line's elements above the lowest of them. With its place each is one number where both fit into that:
// the order and `shift` bits for the place; elsewhere it is an item behind the orders.
struct Orders {
    uint64_t *all, low;
    size_t count, missing;  // elements, and those that are no numbers
    int bits, shift;

    bool fits() const { return bits + shift <= 64; }
    uint64_t* packed() const {
        for (size_t i = 0; i < count; i++) all[i] = (shift < 64 ? (all[i] - low) << shift : 0) | i;
        return all;
    }
    uint64_t place(uint64_t item) const { return item & ((uint64_t{1} << shift) - 1); }
    Placed* placed() const {
        auto* items = reinterpret_cast<Placed*>(all + count);
        for (size_t i = 0; i < count; i++) items[i] = {all[i] - low, i};
        return items;
    }
};

// Of elements `step` bytes apart, in reverse where `flip` has all bits.
template <typename Item>
inline Orders read_orders(const char* from, ptrdiff_t step, size_t count, uint64_t* buffer, uint64_t flip = 0) {
    uint64_t low = UINT64_MAX, high = 0;
    size_t missing = 0;
    for (size_t i = 0; i < count; i++) {
        Item item;
        memcpy(&item, from + static_cast<ptrdiff_t>(i) * step, sizeof item);
        buffer[i] = order_of(item) ^ flip;
        low = std::min(low, buffer[i]);
        high = std::max(high, buffer[i]);
        missing += item != item ? 1 : 0;
    }
    return {buffer, low, count, missing, bits_of(high - low), bits_of(count - 1)};
}

// Where line `number` of the array begins, counted along all dimensions but `axis`.
inline char* start_of(PyArrayObject* array, size_t number, int axis) {
    char* start = PyArray_BYTES(array);
    for (int dim = PyArray_NDIM(array) - 1; dim >= 0; dim--) {
        if (dim == axis) continue;
        const auto extent = static_cast<size_t>(PyArray_DIM(array, dim));
        start += static_cast<npy_intp>(number % extent) * PyArray_STRIDE(array, dim);
        number /= extent;
    }
    return start;
}

}  // namespace mindtorch
