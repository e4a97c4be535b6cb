// Elements of two vectors as one: what GCC and Clang share of their vector extensions.
#pragma once

namespace mindtorch {
namespace {

// Places count on through `b` after those of `a`.
template <int... places, typename V>
inline __attribute__((always_inline)) V shuffle(const V& a, const V& b) {
    return __builtin_shufflevector(a, b, places...);
}

}  // namespace
}  // namespace mindtorch
