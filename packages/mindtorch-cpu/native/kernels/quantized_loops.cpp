// Loops over integers that stand for numbers; they are rounded where torch's are.
#include "kernels/quantized.h"

#include "simd/fmadd.h"
#include "simd/loop.h"

namespace mindtorch {

namespace {

INLINE uint8_t byte_of(float level, float least, float most) {
    const float below = level < most ? level : most;
    return (uint8_t)(int)(below > least ? below : least);
}

void levels(uint8_t* out, const float* in, size_t count, float inverse_scale, int zero_point, Range range) {
    const float least = (float)range.least, most = (float)range.most, zero = (float)zero_point;
    for (size_t i = 0; i < count; i++)
        out[i] = byte_of(__builtin_rintf(fused(in[i], inverse_scale, zero)), least, most);
}

void wide_levels(int32_t* out, const float* in, size_t count, float inverse_scale, int zero_point, Range range) {
    const float zero = (float)zero_point;
    for (size_t i = 0; i < count; i++) {
        const double level = __builtin_rintf(in[i] * inverse_scale + zero);
        const double above = level > range.least ? level : range.least;
        out[i] = (int32_t)(above < range.most ? above : range.most);
    }
}

template <typename T>
void numbers(float* out, const void* from, size_t count, float scale, int zero_point) {
    const auto* in = static_cast<const T*>(from);
    for (size_t i = 0; i < count; i++) out[i] = (float)(in[i] - zero_point) * scale;  // wraps, as torch's does
}

template <typename T>
void clamp(void* out, const void* from, size_t count, int least, int most) {
    auto* to = static_cast<T*>(out);
    const auto* in = static_cast<const T*>(from);
    const T low = (T)least, high = (T)most;
    for (size_t i = 0; i < count; i++) {
        const T above = in[i] > low ? in[i] : low;
        to[i] = above < high ? above : high;
    }
}

template <typename T>
void add(uint8_t* out, const void* first, const void* second, size_t whole, size_t count, const BinaryScales& p,
         Range range) {
    const auto *a = static_cast<const T*>(first), *b = static_cast<const T*>(second);
    const float least = (float)range.least, most = (float)range.most, zero = (float)p.zero_point;
    const float inverse = 1.0f / p.scale, floor = p.relu ? 0.0f : -__builtin_inff();
    const float by_a = p.scales[0], by_b = p.scales[1];
    const float from_a = by_a * -(float)p.zero_points[0], from_b = by_b * -(float)p.zero_points[1];
    for (size_t i = 0; i < whole; i++) {
        const float sum = fused((float)a[i], by_a, from_a) + fused((float)b[i], by_b, from_b);
        out[i] = byte_of(__builtin_rintf((sum > floor ? sum : floor) * inverse) + zero, least, most);
    }
    for (size_t i = whole; i < count; i++) {
        const float sum = (float)(a[i] - p.zero_points[0]) * by_a + (float)(b[i] - p.zero_points[1]) * by_b;
        out[i] = byte_of(__builtin_rintf((sum > floor ? sum : floor) * inverse + zero), least, most);
    }
}

template <typename T>
void mul(uint8_t* out, const void* first, const void* second, size_t count, const BinaryScales& p, Range range) {
    const auto *a = static_cast<const T*>(first), *b = static_cast<const T*>(second);
    const float zero = (float)p.zero_point, floor = (float)range.least, most = (float)range.most;
    const float least = p.relu && zero > floor ? zero : floor;
    for (size_t i = 0; i < count; i++) {
        const int product = (a[i] - p.zero_points[0]) * (b[i] - p.zero_points[1]);
        out[i] = byte_of(__builtin_rintf((float)product * p.factor) + zero, least, most);
    }
}

void requantize(uint8_t* out, const float* sums, size_t columns, const Requantization& r, Range range) {
    const float zero = (float)r.zero_point, floor = (float)range.least, most = (float)range.most;
    if (r.scaled_bias) {
        const float least = r.relu && zero > floor ? zero : floor;
        for (size_t j = 0; j < columns; j++)
            out[j] = byte_of(__builtin_rintf((sums[j] + r.bias[j]) * r.factors[j]) + zero, least, most);
        return;
    }
    const float nothing = r.relu ? 0.0f : -__builtin_inff();
    for (size_t j = 0; j < columns; j++) {
        const float found = sums[j] * r.factors[j] + r.bias[j];
        out[j] = byte_of(__builtin_rintf((found > nothing ? found : nothing) * r.inverse_scale + zero), floor, most);
    }
}

}  // namespace

extern const QuantizedLoops MINDTORCH_LOOPS(quantized_loops) = {levels,
                                                                wide_levels,
                                                                {numbers<uint8_t>, numbers<int8_t>, numbers<int32_t>},
                                                                {clamp<uint8_t>, clamp<int8_t>, clamp<int32_t>},
                                                                {add<uint8_t>, add<int8_t>},
                                                                {mul<uint8_t>, mul<int8_t>},
                                                                requantize};

}  // namespace mindtorch
