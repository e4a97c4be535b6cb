// How the parts of a convolution are shared among threads, each of which has memory of its own.
#pragma once

#include "kernels/conv.h"
#include "parallel.h"

namespace mindtorch {

constexpr double CONV_WORTH_A_THREAD = 4e5;  // multiplications

inline double work_of(const Convolution& c) {
    return static_cast<double>(c.batch * c.groups * c.features * c.channels) *
           static_cast<double>(c.out_depth * c.out_height * c.out_width) *
           static_cast<double>(c.deep_kernel * c.kernel[0] * c.kernel[1]);
}

inline size_t workers_for(size_t count, double work) {
    const size_t threads = static_cast<size_t>(thread_count());
    return work < CONV_WORTH_A_THREAD ? 1 : count < threads ? count : threads;
}

// Run body(from, to, memory) for consecutive parts of 0..count; each thread has `each` floats of what begins at
// `memory`.
template <typename Body>
void share_parts(size_t count, double work, float* memory, size_t each, const Body& body) {
    const size_t workers = workers_for(count, work);
    parallel(count, work < CONV_WORTH_A_THREAD ? count : 0,
             [&](size_t from, size_t to) { body(from, to, memory + (from * workers + count - 1) / count * each); });
}

// The same, body(index, memory) for each of them.
template <typename Body>
void share(size_t count, double work, float* memory, size_t each, const Body& body) {
    share_parts(count, work, memory, each, [&](size_t from, size_t to, float* own) {
        for (size_t at = from; at < to; at++) body(at, own);
    });
}

}  // namespace mindtorch
