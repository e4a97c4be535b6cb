// Loads and stores of elements at any address, and the larger units that many of them are moved in.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace mindtorch {
namespace {

#define INLINE inline __attribute__((always_inline))

template <typename Item>
INLINE Item load(const char* from) {
    Item item;
    memcpy(&item, from, sizeof item);
    return item;
}

template <typename Item>
INLINE void store(char* to, Item item) {
    memcpy(to, &item, sizeof item);
}

struct Pair {
    uint64_t low, high;
};
typedef uint64_t Line __attribute__((vector_size(64)));

}  // namespace
}  // namespace mindtorch
