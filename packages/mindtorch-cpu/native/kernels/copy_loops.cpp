// Moving and converting the elements of a plane. Conversions are those of C; floats round to nearest even.
#include "kernels/copy.h"
#include "simd/half.h"
#include "simd/shuffle.h"

#include <string.h>

namespace mindtorch {

namespace {

// Up to some pages a plain loop is faster than the C library's.
INLINE void copy_bytes(char* to, const char* from, size_t count) {
    if (count < 64 || count > 32768) {
        memcpy(to, from, count);
        return;
    }
    const Line last = load<Line>(from + count - 64);
    for (size_t i = 0; i + 64 < count; i += 64) store(to + i, load<Line>(from + i));
    store(to + count - 64, last);
}

template <typename Item>
void move_line(char* to, const char* from, size_t count, ptrdiff_t to_step, ptrdiff_t from_step) {
    constexpr ptrdiff_t SIZE = sizeof(Item);
    if (to_step == SIZE && from_step == SIZE) {
        copy_bytes(to, from, count * sizeof(Item));
    } else if (to_step == SIZE && from_step == 0) {
        const Item item = load<Item>(from);
        for (size_t i = 0; i < count; i++) store(to + i * SIZE, item);
    } else if (to_step == SIZE && from_step == 2 * SIZE) {
        for (size_t i = 0; i < count; i++) store(to + i * SIZE, load<Item>(from + i * 2 * SIZE));
    } else if (to_step == SIZE && from_step == -SIZE) {
        for (size_t i = 0; i < count; i++) store(to + i * SIZE, load<Item>(from - static_cast<ptrdiff_t>(i) * SIZE));
    } else {
        for (size_t i = 0; i < count; i++, to += to_step, from += from_step) store(to, load<Item>(from));
    }
}

template <typename Item>
void move(const Plane& plane) {
    for (size_t row = 0; row < plane.rows; row++)
        move_line<Item>(plane.to + static_cast<ptrdiff_t>(row) * plane.to_row,
                        plane.from + static_cast<ptrdiff_t>(row) * plane.from_row, plane.columns, plane.to_column,
                        plane.from_column);
}

// The lower halves, or the upper ones, of two vectors, element by element.
template <int SIDE>
struct Interleaved;
template <>
struct Interleaved<2> {
    template <typename Row>
    static INLINE Row low(const Row& a, const Row& b) {
        return shuffle<0, 2>(a, b);
    }
    template <typename Row>
    static INLINE Row high(const Row& a, const Row& b) {
        return shuffle<1, 3>(a, b);
    }
};
template <>
struct Interleaved<4> {
    template <typename Row>
    static INLINE Row low(const Row& a, const Row& b) {
        return shuffle<0, 4, 1, 5>(a, b);
    }
    template <typename Row>
    static INLINE Row high(const Row& a, const Row& b) {
        return shuffle<2, 6, 3, 7>(a, b);
    }
};
template <>
struct Interleaved<8> {
    template <typename Row>
    static INLINE Row low(const Row& a, const Row& b) {
        return shuffle<0, 8, 1, 9, 2, 10, 3, 11>(a, b);
    }
    template <typename Row>
    static INLINE Row high(const Row& a, const Row& b) {
        return shuffle<4, 12, 5, 13, 6, 14, 7, 15>(a, b);
    }
};
template <>
struct Interleaved<16> {
    template <typename Row>
    static INLINE Row low(const Row& a, const Row& b) {
        return shuffle<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b);
    }
    template <typename Row>
    static INLINE Row high(const Row& a, const Row& b) {
        return shuffle<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b);
    }
};

// A square of elements that fills vectors of 16 bytes: interleaved again and again, rows become columns.
template <typename Item>
struct Square {
    static constexpr int SIDE = 16 / sizeof(Item);
    typedef Item Row __attribute__((vector_size(16)));

    static INLINE void turn(char* to, ptrdiff_t to_step, const char* from, ptrdiff_t from_step) {
        Row rows[SIDE], next[SIDE];
#pragma GCC unroll 16
        for (int i = 0; i < SIDE; i++) rows[i] = load<Row>(from + i * from_step);
#pragma GCC unroll 4
        for (int stage = 1; stage < SIDE; stage *= 2) {
#pragma GCC unroll 8
            for (int i = 0; i < SIDE / 2; i++) {
                next[2 * i] = Interleaved<SIDE>::low(rows[i], rows[i + SIDE / 2]);
                next[2 * i + 1] = Interleaved<SIDE>::high(rows[i], rows[i + SIDE / 2]);
            }
#pragma GCC unroll 16
            for (int i = 0; i < SIDE; i++) rows[i] = next[i];
        }
#pragma GCC unroll 16
        for (int i = 0; i < SIDE; i++) store(to + i * to_step, rows[i]);
    }
};

// Tiles are as wide as a cache line on both sides, so that each line is read and written once.
template <typename Item>
void transpose(const Plane& plane) {
    constexpr size_t SIDE = Square<Item>::SIDE, TILE = 64 / sizeof(Item);
    constexpr ptrdiff_t SIZE = sizeof(Item);
    const size_t rows = plane.rows - plane.rows % TILE, columns = plane.columns - plane.columns % TILE;
    alignas(64) char tile[TILE * TILE * sizeof(Item)];
    for (size_t row = 0; row < rows; row += TILE) {
        for (size_t column = 0; column < columns; column += TILE) {
            const char* from =
                plane.from + static_cast<ptrdiff_t>(row) * SIZE + static_cast<ptrdiff_t>(column) * plane.from_column;
            char* to = plane.to + static_cast<ptrdiff_t>(row) * plane.to_row + static_cast<ptrdiff_t>(column) * SIZE;
            for (size_t j = 0; j < TILE; j += SIDE)
                for (size_t i = 0; i < TILE; i += SIDE)
                    Square<Item>::turn(tile + i * 64 + j * sizeof(Item), 64,
                                       from + i * sizeof(Item) + static_cast<ptrdiff_t>(j) * plane.from_column,
                                       plane.from_column);
            for (size_t i = 0; i < TILE; i++) memcpy(to + static_cast<ptrdiff_t>(i) * plane.to_row, tile + i * 64, 64);
        }
    }
    Plane right = plane, bottom = plane;
    right.rows = rows;
    right.columns -= columns;
    right.to += static_cast<ptrdiff_t>(columns) * SIZE;
    right.from += static_cast<ptrdiff_t>(columns) * plane.from_column;
    move<Item>(right);
    bottom.rows -= rows;
    bottom.to += static_cast<ptrdiff_t>(rows) * plane.to_row;
    bottom.from += static_cast<ptrdiff_t>(rows) * SIZE;
    move<Item>(bottom);
}

// Conversions.

struct Bool {
    uint8_t value;
};
struct BFloat16 {
    uint16_t bits;
};

INLINE float widened(BFloat16 bfloat16) { return from_bits(static_cast<uint32_t>(bfloat16.bits) << 16); }
INLINE uint8_t widened(Bool flag) { return flag.value != 0; }  // bytes seen as bool may be any
template <typename Number>
INLINE Number widened(Number number) {
    return number;
}

INLINE BFloat16 bfloat16_from(float value) {
    const uint32_t bits = to_bits(value), rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return {static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? ((bits >> 16) & 0x8000) | 0x7fc0 : rounded)};
}

template <typename Number>
constexpr bool IS_REAL = false;
template <>
constexpr bool IS_REAL<float> = true;
template <>
constexpr bool IS_REAL<double> = true;

// Bytes are made of floats through whole numbers of 64 bits: what does not fit wraps.
template <typename To>
struct Converted {
    template <typename From>
    static INLINE To of(From from) {
        if constexpr (IS_REAL<From> && !IS_REAL<To> && sizeof(To) == 1) {
            return static_cast<To>(static_cast<int64_t>(from));
        } else {
            return static_cast<To>(from);
        }
    }
};
template <>
struct Converted<Bool> {
    template <typename From>
    static INLINE Bool of(From from) {
        return {static_cast<uint8_t>(from != 0)};
    }
};
template <>
struct Converted<Half> {
    template <typename From>
    static INLINE Half of(From from) {
        return half_of(static_cast<float>(from));
    }
};
template <>
struct Converted<BFloat16> {
    template <typename From>
    static INLINE BFloat16 of(From from) {
        return bfloat16_from(static_cast<float>(from));
    }
};

template <typename To, typename From>
INLINE void convert_dense(char* to, const char* from, size_t count) {
    for (size_t i = 0; i < count; i++)
        store(to + i * sizeof(To), Converted<To>::of(widened(load<From>(from + i * sizeof(From)))));
}

template <>
INLINE void convert_dense<Half, float>(char* to, const char* from, size_t count) {
    halves_of(to, from, count);
}

template <>
INLINE void convert_dense<float, Half>(char* to, const char* from, size_t count) {
    floats_of(to, from, count);
}

template <typename To, typename From>
void convert(const Plane& plane) {
    char* to = plane.to;
    const char* from = plane.from;
    for (size_t row = 0; row < plane.rows; row++, to += plane.to_row, from += plane.from_row) {
        if (plane.to_column == sizeof(To) && plane.from_column == sizeof(From)) {
            convert_dense<To, From>(to, from, plane.columns);
        } else {
            for (size_t i = 0; i < plane.columns; i++)
                store(to + static_cast<ptrdiff_t>(i) * plane.to_column,
                      Converted<To>::of(widened(load<From>(from + static_cast<ptrdiff_t>(i) * plane.from_column))));
        }
    }
}

#define MINDTORCH_FROM_ALL(To)                                                             \
    {convert<To, Bool>, convert<To, uint8_t>,  convert<To, int32_t>, convert<To, int64_t>, \
     convert<To, Half>, convert<To, BFloat16>, convert<To, float>,   convert<To, double>}
// numpy rounds float64 to float16 at once, and these would do it twice.
#define MINDTORCH_FROM_FEW(To)                                                             \
    {convert<To, Bool>, convert<To, uint8_t>,  convert<To, int32_t>, convert<To, int64_t>, \
     convert<To, Half>, convert<To, BFloat16>, convert<To, float>,   nullptr}

}  // namespace

extern const CopyLoops MINDTORCH_LOOPS(copy_loops) = {
    {move<uint8_t>, move<uint16_t>, move<uint32_t>, move<uint64_t>, move<Pair>},
    {transpose<uint8_t>, transpose<uint16_t>, transpose<uint32_t>, transpose<uint64_t>, move<Pair>},
    {MINDTORCH_FROM_ALL(Bool), MINDTORCH_FROM_ALL(uint8_t), MINDTORCH_FROM_ALL(int32_t), MINDTORCH_FROM_ALL(int64_t),
     MINDTORCH_FROM_FEW(Half), MINDTORCH_FROM_FEW(BFloat16), MINDTORCH_FROM_ALL(float), MINDTORCH_FROM_ALL(double)},
};

}  // namespace mindtorch
