// The loop over dense float32 elements of a function of vectors, which is made of the call's numbers.
#pragma once

#include "kernels/map.h"
#include "simd/vector.h"

namespace mindtorch {
namespace {

struct NoNumbers {
    explicit NoNumbers(const double*) {}
};

template <typename Op, int arity>
void vector_map(void* out, const void* const* in, size_t count, const double* numbers) {
    auto* to = static_cast<float*>(out);
    const auto* a = static_cast<const float*>(in[0]);
    const auto* b = static_cast<const float*>(in[arity > 1 ? 1 : 0]);
    const auto* c = static_cast<const float*>(in[arity > 2 ? 2 : 0]);
    const Op op(numbers);
    auto value = [&op](const Floats& x, const Floats& y, const Floats& z) {
        if constexpr (arity == 1) {
            return op(x);
        } else if constexpr (arity == 2) {
            return op(x, y);
        } else {
            return op(x, y, z);
        }
    };
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) store(to + i, value(load(a + i), load(b + i), load(c + i)));
    if (i < count) {
        const size_t n = count - i;
        store_part(to + i, value(load_part(a + i, n, 0), load_part(b + i, n, 0), load_part(c + i, n, 0)), n);
    }
}

}  // namespace
}  // namespace mindtorch
