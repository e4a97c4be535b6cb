// Memory for large arrays, kept when it is freed: the pages of a fresh mapping cost more than most kernels do with
// them.
//
// numpy asks its handler of memory; this one answers for large blocks and passes the others on to numpy's own. What is
// kept is bounded by the limit, and with what is used it stays within what arrays alone once took, and an eighth more
// for the ranges between blocks that no other fits in.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <mutex>
#if defined(__linux__)
#include <sys/mman.h>
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // of Linux 5.14, which headers may be older than
#endif
#endif

#include "memory/host_arena.h"
#include "kernels/kernel.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes)
#endif

namespace mindtorch {

namespace {

constexpr size_t LARGE = size_t{1} << 17;
constexpr size_t OFFSET = 64;  // of the array within its block, after the block's size

size_t& size_of(char* array) { return *reinterpret_cast<size_t*>(array - OFFSET); }

class Cache {
public:
    // Memory for an array of `bytes`, null when there is none; all of it that is not in `used_from`..`used_to` is zero.
    char* take(size_t bytes, char*& used_from, char*& used_to) {
        const size_t size = (bytes + OFFSET + HostArena::PAGE - 1) / HostArena::PAGE * HostArena::PAGE;
        const std::lock_guard<std::mutex> locked(mutex_);
        const size_t before = arena_.resident();
        char* block = arena_.take(size, used_from, used_to);
        if (block == nullptr) return nullptr;
        ASAN_UNPOISON_MEMORY_REGION(block, size);
        used_ += size;
        most_used_ = std::max(most_used_, used_);
        if (arena_.resident() > before) {
            const size_t most = most_used_ + most_used_ / 8,
                         excess = arena_.resident() - std::min(most, arena_.resident());
            if (excess > 0) arena_.trim(arena_.kept() - std::min(arena_.kept(), excess));
        }
        used_from = std::max(used_from, block + OFFSET);
        size_of(block + OFFSET) = size;
        return block + OFFSET;
    }

    void give_back(char* array) {
        const std::lock_guard<std::mutex> locked(mutex_);
        const size_t size = size_of(array);
        used_ -= size;
        ASAN_POISON_MEMORY_REGION(array - OFFSET, size);
        arena_.give_back(array - OFFSET, size);
        arena_.trim(limit_);
    }

    void limit_to(size_t bytes) {
        const std::lock_guard<std::mutex> locked(mutex_);
        limit_ = bytes;
        arena_.trim(limit_);
    }

    void drop_all() {
        const std::lock_guard<std::mutex> locked(mutex_);
        arena_.trim(0);
        most_used_ = used_;
    }

    bool holds(const void* array) const { return arena_.holds(array); }
    size_t limit() const { return limit_; }
    size_t used() const { return used_; }
    size_t kept() const { return arena_.kept(); }
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    std::mutex mutex_;
    HostArena arena_;
    size_t limit_ = 0, used_ = 0, most_used_ = 0;
};

// Never destroyed: arrays may outlive what C++ tears down at the end.
Cache& cache() {
    static Cache* const one = new Cache;
    return *one;
}

// Tell the sanitizer where an array ends within its block.
void* seal(void* array, [[maybe_unused]] size_t bytes) {
    ASAN_POISON_MEMORY_REGION(static_cast<char*>(array) + bytes, size_of(static_cast<char*>(array)) - OFFSET - bytes);
    return array;
}

#if defined(__SANITIZE_ADDRESS__)
// numpy's own handler keeps small blocks, unknown to the sanitizer.
const PyDataMem_Handler plain = {"malloc",
                                 1,
                                 {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
                                  [](void*, size_t count, size_t size) { return calloc(count, size); },
                                  [](void*, void* array, size_t bytes) { return realloc(array, bytes); },
                                  [](void*, void* array, size_t) { free(array); }}};

const PyDataMem_Handler& numpys() { return plain; }
#else
const PyDataMem_Handler& numpys() {
    static const auto* const handler =
        static_cast<const PyDataMem_Handler*>(PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler"));
    return *handler;
}
#endif

void* allocate(void*, size_t bytes) {
    char *used_from, *used_to;
    if (bytes >= LARGE && bytes <= SIZE_MAX / 2)
        if (void* array = cache().take(bytes, used_from, used_to)) return seal(array, bytes);
    return numpys().allocator.malloc(numpys().allocator.ctx, bytes);
}

void* allocate_zeros(void*, size_t count, size_t size) {
    char *used_from, *used_to;
    if (size != 0 && count >= LARGE / size && count <= SIZE_MAX / 2 / size) {
        if (char* array = cache().take(count * size, used_from, used_to)) {
            if (used_to > used_from) memset(used_from, 0, static_cast<size_t>(used_to - used_from));
            return seal(array, count * size);
        }
    }
    return numpys().allocator.calloc(numpys().allocator.ctx, count, size);
}

void release(void*, void* array, size_t bytes) {
    if (array == nullptr) return;
    if (cache().holds(array)) return cache().give_back(static_cast<char*>(array));
    numpys().allocator.free(numpys().allocator.ctx, array, bytes);
}

void* resize(void* context, void* array, size_t bytes) {
    if (array == nullptr || !cache().holds(array))
        return numpys().allocator.realloc(numpys().allocator.ctx, array, bytes);
    const size_t room = size_of(static_cast<char*>(array)) - OFFSET;
    ASAN_UNPOISON_MEMORY_REGION(array, room);
    if (bytes <= room && bytes >= LARGE && bytes >= room / 2) return seal(array, bytes);
    void* moved = allocate(context, bytes);
    if (moved == nullptr) return nullptr;
    memcpy(moved, array, std::min(bytes, room));
    cache().give_back(static_cast<char*>(array));
    return moved;
}

PyDataMem_Handler handler = {
    "mindtorch_cpu",
    1,
    {nullptr, quiet_entry<allocate>, quiet_entry<allocate_zeros>, quiet_entry<resize>, quiet_entry<release>}};

PyObject* capsule() {
    static PyObject* const one = PyCapsule_New(&handler, "mem_handler", nullptr);
    return one;
}

}  // namespace

// Let numpy take this thread's large arrays from here; -1 with an error set.
int use_host_cache() {
    static thread_local bool done = false;
    if (done || cache().limit() == 0 || capsule() == nullptr) return capsule() == nullptr ? -1 : 0;
    Ref before(PyDataMem_SetHandler(capsule()));
    done = static_cast<bool>(before);
    return done ? 0 : -1;
}

PyObject* host_cache_capsule() {
    return PyCapsule_New(reinterpret_cast<void*>(entry<use_host_cache>), MINDTORCH_MEMORY_CAPSULE, nullptr);
}

PyObject* limit_host_cache(PyObject*, PyObject* bytes) {
    const size_t wanted = PyLong_AsSize_t(bytes);
    if (wanted == static_cast<size_t>(-1) && PyErr_Occurred()) return nullptr;
#if defined(__linux__)
    static const int prepared =
        pthread_atfork([] { cache().lock(); }, [] { cache().unlock(); }, [] { cache().unlock(); });
    if (prepared != 0) return PyErr_NoMemory();
    cache().limit_to(wanted);
#endif
    if (use_host_cache() < 0) return nullptr;
    Py_RETURN_NONE;
}

#if defined(__linux__)
namespace {

// Tell the system something of the whole pages of a range of the cache's. A hint: what the system does not know of it
// is as it was.
void advise(char* from, size_t bytes, int advice) {
    if (!cache().holds(from)) return;
    const auto page = static_cast<uintptr_t>(HostArena::PAGE);
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(from) + page - 1) / page * page,
                    end = (reinterpret_cast<uintptr_t>(from) + bytes) / page * page;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace
#endif

// (array, wanted): whether memory of the array that was never touched comes in huge pages, when it is touched.
PyObject* use_huge_pages(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2 || !PyArray_Check(arguments[0]) || !PyBool_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "use_huge_pages takes an array and a bool");
        return nullptr;
    }
#if defined(__linux__)
    auto* array = reinterpret_cast<PyArrayObject*>(arguments[0]);
    if (PyArray_IS_C_CONTIGUOUS(array))
        advise(PyArray_BYTES(array), static_cast<size_t>(PyArray_NBYTES(array)),
               arguments[1] == Py_True ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
    Py_RETURN_NONE;
}

// (buffer): take the memory under a buffer that is about to be written, its pages in one call of the system.
PyObject* populate(PyObject*, PyObject* given) {
    Py_buffer bytes;
    if (PyObject_GetBuffer(given, &bytes, PyBUF_WRITABLE) < 0) return nullptr;
#if defined(__linux__)
    advise(static_cast<char*>(bytes.buf), static_cast<size_t>(bytes.len), MADV_POPULATE_WRITE);
#endif
    PyBuffer_Release(&bytes);
    Py_RETURN_NONE;
}

PyObject* empty_host_cache(PyObject*, PyObject*) {
    cache().drop_all();
    Py_RETURN_NONE;
}

PyObject* host_cache(PyObject*, PyObject*) {
    return Py_BuildValue("{s:n,s:n,s:n}", "used", static_cast<Py_ssize_t>(cache().used()), "kept",
                         static_cast<Py_ssize_t>(cache().kept()), "limit", static_cast<Py_ssize_t>(cache().limit()));
}

}  // namespace mindtorch
