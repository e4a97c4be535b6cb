// Loops and what they are made of, without Python: conversions of halves, packing, reductions.
#include "gemm/pack.h"
#include "kernels/reduce.h"
#include "simd/half.h"
#include "simd/reduced_float.h"

#include <math.h>
#include <stdio.h>

#include <vector>

namespace mindtorch {
namespace {

int failures = 0;

void expect(bool holds, const char* what, long long at) {
    if (holds) return;
    failures++;
    fprintf(stderr, "FAILED: %s at %lld\n", what, at);
}

// The value of a float16 by its definition.
float half_by_definition(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float sign = bits >> 15 != 0 ? -1.0f : 1.0f;
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? ldexpf(static_cast<float>(fraction), -24)
                                 : ldexpf(static_cast<float>(fraction + 1024), exponent - 25));
}

void test_float16() {
    for (unsigned bits = 0; bits < 65536; bits++) {
        const Half half = {static_cast<uint16_t>(bits)};
        const float value = widened(half), wanted = half_by_definition(half.bits);
        if (wanted != wanted) {
            expect(value != value && (half_of(value).bits & 0x7fff) > 0x7c00, "a nan of float16 stays one", bits);
            continue;
        }
        expect(to_bits(value) == to_bits(wanted), "float16 to float", bits);
        expect(half_of(value).bits == bits, "float16 to float and back", bits);
    }
    // Between two numbers the nearer one, of two as near the even one.
    for (unsigned bits = 0; bits < 0x7bff; bits++) {
        const double low = half_by_definition(static_cast<uint16_t>(bits)),
                     high = half_by_definition(static_cast<uint16_t>(bits + 1));
        const auto middle = static_cast<float>((low + high) / 2);
        expect(half_of(middle).bits == (bits + 1) / 2 * 2, "the middle of two of float16", bits);
        expect(half_of(nextafterf(middle, 0.0f)).bits == bits, "below the middle of two of float16", bits);
        expect(half_of(nextafterf(middle, INFINITY)).bits == bits + 1, "above the middle of two of float16", bits);
    }
    expect(half_of(65519.0f).bits == 0x7bff, "the largest of float16", 0);
    expect(half_of(65520.0f).bits == 0x7c00, "what is too large for float16", 0);
    float floats[21];
    uint16_t halves[21], back[21];
    for (uint16_t i = 0; i < 21; i++) halves[i] = static_cast<uint16_t>(i * 3119 % 0x7c00);
    for (size_t count = 0; count <= 21; count++) {  // whole vectors and what is left
        floats_of(reinterpret_cast<char*>(floats), reinterpret_cast<const char*>(halves), count);
        halves_of(reinterpret_cast<char*>(back), reinterpret_cast<const char*>(floats), count);
        expect(memcmp(back, halves, count * sizeof back[0]) == 0, "many of float16 and back",
               static_cast<long long>(count));
    }
}

void test_bfloat16() {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const float value = float_of_bfloat16(static_cast<uint16_t>(bits));
        if (value != value) {
            expect((bfloat16_of(to_bits(value)) & 0x7fff) > 0x7f80, "a nan of bfloat16 stays one", bits);
            continue;
        }
        expect(bfloat16_of(to_bits(value)) == bits, "bfloat16 to float and back", bits);
        if ((bits & 0x7fff) >= 0x7f80) continue;
        expect(bfloat16_of(bits << 16 | 0x7fff) == bits, "below the middle of two of bfloat16", bits);
        expect(bfloat16_of(bits << 16 | 0x8000) == (bits + 1) / 2 * 2, "the middle of two of bfloat16", bits);
        expect(bfloat16_of(bits << 16 | 0x8001) == bits + 1, "above the middle of two of bfloat16", bits);
    }
}

// A panel has WIDTH lines side by side, element by element of the depth, and zeros for the lines that are missing.
template <size_t WIDTH, typename Real>
void test_packing(const char* what) {
    for (size_t count = 1; count <= 2 * WIDTH + 1; count++)
        for (size_t depth = 1; depth <= 37; depth += depth < 6 ? 1 : 10)
            for (const bool across : {true, false}) {
                const ptrdiff_t line = across ? static_cast<ptrdiff_t>(depth) + 3 : 1;
                const ptrdiff_t along = across ? 1 : static_cast<ptrdiff_t>(count) + 3;
                std::vector<Real> from((count + 3) * (depth + 3));
                for (size_t i = 0; i < from.size(); i++) from[i] = static_cast<Real>(i + 1);
                const size_t panels = (count + WIDTH - 1) / WIDTH;
                std::vector<Real> packed(panels * WIDTH * depth, Real(-1));
                pack<WIDTH>(packed.data(), from.data(), line, along, count, depth);
                bool same = true;
                for (size_t i = 0; i < panels * WIDTH; i++)
                    for (size_t k = 0; k < depth; k++) {
                        const Real wanted =
                            i < count ? from[i * static_cast<size_t>(line) + k * static_cast<size_t>(along)] : Real(0);
                        same &= packed[(i / WIDTH * depth + k) * WIDTH + i % WIDTH] == wanted;
                    }
                expect(same, what, static_cast<long long>(count * 1000 + depth));
            }
}

void test_reductions() {
    const auto& loops = MINDTORCH_LOOPS(reduce_loops);
    for (size_t count = 1; count < 300; count += count < 70 ? 1 : 37) {
        std::vector<float> in(count);
        double sum = 0, most = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            in[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 8;  // every sum is exact
            sum += in[i];
            most = in[i] > most ? in[i] : most;
        }
        const auto row = [&](Reduction reduction) {
            Accumulator into = loops.reducer[reduction][FLOAT_KIND].identity;
            loops.reducer[reduction][FLOAT_KIND].row(in.data(), count, &into);
            return into.real;
        };
        expect(row(SUM) == sum, "the sum of a row", static_cast<long long>(count));
        expect(row(AMAX) == most, "the largest of a row", static_cast<long long>(count));
        in[count / 2] = NAN;
        expect(row(AMAX) != row(AMAX), "nan is the largest", static_cast<long long>(count));
        expect(row(SUM) != row(SUM), "a sum with nan", static_cast<long long>(count));
        expect(row(NANSUM) == row(NANSUM), "a sum without nan", static_cast<long long>(count));
    }
}

}  // namespace
}  // namespace mindtorch

int main() {
    mindtorch::test_float16();
    mindtorch::test_bfloat16();
    mindtorch::test_packing<mindtorch::MR, float>("a packed panel of rows");
    mindtorch::test_packing<mindtorch::Simd<float>::NR, float>("a packed panel of columns");
    mindtorch::test_packing<mindtorch::Simd<double>::NR, double>("a packed panel of doubles");
    mindtorch::test_reductions();
    printf("%d failures\n", mindtorch::failures);
    return mindtorch::failures == 0 ? 0 : 1;
}
