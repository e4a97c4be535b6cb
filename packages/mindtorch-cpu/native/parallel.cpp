// The pool is OpenMP's: other libraries that were built with it use the same threads.
#include "parallel.h"

#include "denormals.h"
#include "mindtorch/unlocked.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef _WIN32
#include <pthread.h>
#endif

namespace mindtorch {

namespace {

int threads = 1;
thread_local bool within = false;  // a body is running: what it starts stays in its thread

bool started = false;   // the pool has threads
bool orphaned = false;  // its threads were a parent process's: waiting for them would be for ever

void forget_pool() {
    orphaned = started;
    threads = 1;
}

int available() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

const bool prepared = [] {
    threads = available();
#ifndef _WIN32
    pthread_atfork(nullptr, nullptr, forget_pool);
#endif
    return true;
}();

}  // namespace

int thread_count() { return threads; }

void set_thread_count(int count) { threads = count < 1 || orphaned ? 1 : count; }

void run_parallel(size_t count, size_t grain, ParallelBody body, void* context) {
    if (within) return body(context, 0, count);
    const Unlocked unlocked;
    const size_t most = grain > 0 ? (count + grain - 1) / grain : count;
    const size_t parts = most < static_cast<size_t>(threads) ? most : static_cast<size_t>(threads);
    if (parts <= 1) return body(context, 0, count);
#ifdef _OPENMP
    started = true;
    const FloatControl control = float_control();
#pragma omp parallel for num_threads(static_cast<int>(parts)) schedule(static, 1)
    for (size_t part = 0; part < parts; part++) {
        within = true;
        const SameFloatControl same(control);
        body(context, count * part / parts, count * (part + 1) / parts);
        within = false;
    }
#else
    body(context, 0, count);
#endif
}

}  // namespace mindtorch
