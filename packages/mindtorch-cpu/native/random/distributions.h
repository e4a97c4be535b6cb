// Loops that draw from the Mersenne Twister.
#pragma once

#include "simd/cpu_capability.h"

#include <stdint.h>

namespace mindtorch {

// numpy's state of the generator, which is drawn from in place: `position` words of the block are used up.
struct Twister {
    uint32_t words[624];
    int position;
};

enum Element { FLOAT_ELEMENT, DOUBLE_ELEMENT, BYTE_ELEMENT, INT_ELEMENT, LONG_ELEMENT, ELEMENT_COUNT };

// Uniforms in [low, high); `fused`: multiply-adds round once.
struct Interval {
    double low, high;
    bool fused;
};

struct RandomLoops {
    void (*words)(Twister& from, uint32_t* out, size_t count);
    void (*uniform_float)(Twister& from, float* out, size_t count, const Interval& within);
    void (*uniform_double)(Twister& from, double* out, size_t count, const Interval& within);
    // Ones where a 53-bit number is below the threshold.
    void (*below[ELEMENT_COUNT])(Twister& from, void* out, size_t count, int64_t threshold);
    // Ones where a uniform of 24 bits is below its probability.
    void (*below_each)(Twister& from, float* out, const float* probabilities, size_t count);
    // At least 16 normals, in the vector polynomials of torch's AVX2 build.
    void (*normal)(Twister& from, float* out, size_t count, float mean, float std);
    // base + a number below span, which is drawn from 32 bits up to 2**28 and from 64 bits above; a span of zero means
    // all 64 bits. Sums wrap.
    void (*integers[ELEMENT_COUNT])(Twister& from, void* out, size_t count, uint64_t base, uint64_t span);
    void (*permutation)(Twister& from, int64_t* out, size_t count);
};

MINDTORCH_DECLARE_LOOPS(RandomLoops, random_loops)

}  // namespace mindtorch
