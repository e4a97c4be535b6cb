// One pool of threads for all kernels.
#pragma once

#include <stddef.h>

namespace mindtorch {

// How many threads a kernel may use; at least 1. In a child of fork() it is 1 until set again, and 1
// for good where the parent's pool was in use: its threads are not the child's.
int thread_count();
void set_thread_count(int count);

using ParallelBody = void (*)(void* context, size_t from, size_t to);

// Run body(context, from, to) over parts of 0..count; see `parallel`.
void run_parallel(size_t count, size_t grain, ParallelBody body, void* context);

// Call body(from, to) for consecutive parts of 0..count, at the same time on the pool's threads; the parts depend on
// `count` and the number of threads alone. Up to `grain` elements it is one call in this thread; above, Python's lock
// is released, so a body must not touch Python. Returns when all parts are done. A body may not throw; within one,
// `parallel` runs in its thread.
template <typename Body>
void parallel(size_t count, size_t grain, const Body& body) {
    if (count <= grain) {
        if (count > 0) body(size_t{0}, count);
        return;
    }
    run_parallel(
        count, grain, [](void* context, size_t from, size_t to) { (*static_cast<const Body*>(context))(from, to); },
        const_cast<void*>(static_cast<const void*>(&body)));
}

// Elements of pointwise work that are not worth a second thread.
constexpr size_t GRAIN = 16384;

}  // namespace mindtorch
