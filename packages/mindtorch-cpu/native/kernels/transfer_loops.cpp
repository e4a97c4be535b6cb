// Strided elements to dense ones and back; bfloat16 and float16 to float and back, rounded to the nearest even.
#include "simd/reduced_float.h"
#include "kernels/transfer.h"

namespace mindtorch {

namespace {

template <typename T>
void load_items(void* to, const void* from, ptrdiff_t step, size_t count) {
    auto* out = static_cast<T*>(to);
    const auto* in = static_cast<const char*>(from);
    if (step == 0) {
        const T value = *reinterpret_cast<const T*>(in);
        for (size_t i = 0; i < count; i++) out[i] = value;
    } else if (step == (ptrdiff_t)sizeof(T)) {
        memcpy(to, from, count * sizeof(T));
    } else if (step == 2 * (ptrdiff_t)sizeof(T)) {
        for (size_t i = 0; i < count; i++) out[i] = reinterpret_cast<const T*>(in)[2 * i];
    } else {
        for (size_t i = 0; i < count; i++) out[i] = *reinterpret_cast<const T*>(in + (ptrdiff_t)i * step);
    }
}

template <typename T>
void store_items(void* to, const void* from, ptrdiff_t step, size_t count) {
    auto* out = static_cast<char*>(to);
    const auto* in = static_cast<const T*>(from);
    if (step == (ptrdiff_t)sizeof(T)) {
        memcpy(to, from, count * sizeof(T));
    } else {
        for (size_t i = 0; i < count; i++) *reinterpret_cast<T*>(out + (ptrdiff_t)i * step) = in[i];
    }
}

void load_bfloat16(void* to, const void* from, ptrdiff_t step, size_t count) {
    auto* out = static_cast<uint32_t*>(to);
    const auto* in = static_cast<const char*>(from);
    if (step == 2) {
        const auto* dense = static_cast<const uint16_t*>(from);
        for (size_t i = 0; i < count; i++) out[i] = (uint32_t)dense[i] << 16;
    } else {
        for (size_t i = 0; i < count; i++)
            out[i] = (uint32_t)*reinterpret_cast<const uint16_t*>(in + (ptrdiff_t)i * step) << 16;
    }
}

void store_bfloat16(void* to, const void* from, ptrdiff_t step, size_t count) {
    auto* out = static_cast<char*>(to);
    const auto* in = static_cast<const uint32_t*>(from);
    if (step == 2) {
        auto* dense = static_cast<uint16_t*>(to);
        for (size_t i = 0; i < count; i++) dense[i] = bfloat16_of(in[i]);
    } else {
        for (size_t i = 0; i < count; i++) *reinterpret_cast<uint16_t*>(out + (ptrdiff_t)i * step) = bfloat16_of(in[i]);
    }
}

void load_half(void* to, const void* from, ptrdiff_t step, size_t count) {
    auto* out = static_cast<char*>(to);
    const auto* in = static_cast<const char*>(from);
    if (step == 2) return floats_of(out, in, count);
    for (size_t i = 0; i < count; i++) store(out + 4 * i, widened(load<Half>(in + (ptrdiff_t)i * step)));
}

void store_half(void* to, const void* from, ptrdiff_t step, size_t count) {
    auto* out = static_cast<char*>(to);
    const auto* in = static_cast<const char*>(from);
    if (step == 2) return halves_of(out, in, count);
    for (size_t i = 0; i < count; i++) store(out + (ptrdiff_t)i * step, half_of(load<float>(in + 4 * i)));
}

}  // namespace

extern const TransferLoops MINDTORCH_LOOPS(transfer_loops) = {
    {load_items<uint8_t>, load_bfloat16, load_items<uint32_t>, load_items<uint64_t>, load_half},
    {store_items<uint8_t>, store_bfloat16, store_items<uint32_t>, store_items<uint64_t>, store_half},
};

}  // namespace mindtorch
