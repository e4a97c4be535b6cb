// Fourier transforms of several lines at once: each line has a lane of its own.
#pragma once

#include <stddef.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// One pass of a transform: butterflies of `radix` elements, after which lines have `done` * radix elements in order.
struct FftPass {
    size_t radix, done, rest;  // done * radix * rest elements
    size_t twiddles;           // where its (radix - 1) * rest factors begin, pairs of real and imaginary parts
};

constexpr size_t MOST_FFT_PASSES = 16, MOST_FFT_LANES = 16;

// What lines of `count` complex numbers are transformed by.
template <typename Real>
struct FftPlan {
    size_t count, passes;
    FftPass pass[MOST_FFT_PASSES];
    const Real* twiddles;
    const Real* first;   // the first pass's factors where its radix is 8: for each but the first element of a butterfly
                         // the real parts of all butterflies, then the imaginary ones
    const Real* halves;  // count + 1 factors of a real line of twice as many elements, their imaginary parts behind
};

// What kinds of numbers a line has before and after. Lines of reals have twice the plan's count.
enum FftKind { FFT_COMPLEX, FFT_TO_COMPLEX, FFT_TO_ALL, FFT_TO_REAL };

template <typename Real>
struct FftLines {
    const FftPlan<Real>* plan;
    FftKind kind;
    bool inverse;  // of FFT_COMPLEX
    Real scale;
    ptrdiff_t from_step, to_step;  // bytes from one element of a line to the next
};

template <typename Real>
struct FftLoops {
    size_t lanes;
    // Transform up to `lanes` lines; `memory` has 4 * (2 * count + 1) * lanes elements, aligned to a vector.
    void (*wide)(const FftLines<Real>& lines, const char* const* from, char* const* to, size_t many, Real* memory);
    void (*single)(const FftLines<Real>& lines, const char* from, char* to, Real* memory);
    // The same for one line whose elements lie side by side before and after, by a plan that begins with radix 8;
    // `memory` has 4 * (count + 16) elements.
    void (*dense)(const FftLines<Real>& lines, const char* from, char* to, Real* memory);
};

MINDTORCH_DECLARE_LOOPS(FftLoops<float>, fft_loops)
MINDTORCH_DECLARE_LOOPS(FftLoops<double>, fft_double_loops)

}  // namespace mindtorch
