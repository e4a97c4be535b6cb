// Memory for large arrays, kept when it is freed: the pages of a fresh mapping cost more than most kernels do with
// them.
//
// numpy asks its handler of memory; this one answers for large blocks and passes the others on to numpy's own. What is
// kept never makes the process larger than the arrays alone once made it, and is bounded by the limit.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <mutex>

#include "interface.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace mindtorch {

namespace {

constexpr size_t LARGE = size_t{1} << 20, GRANULE = size_t{1} << 16, HUGE = size_t{2} << 20, PAGE = 4096;
constexpr size_t OFFSET = 64;  // of the array within its block, after the header
constexpr uintptr_t MARK = 0x6d696e64746f7263;

struct Header {
    uintptr_t mark;  // MARK by the array's address: no other memory can have it
    size_t bytes;    // of the block
};

#if defined(__linux__)

// A mapping of `bytes`, at an address that is a multiple of HUGE where that is worth it; null when there is none.
char* map_block(size_t bytes) {
    const size_t extra = bytes >= HUGE ? HUGE : 0;
    void* mapped = mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    char* from = static_cast<char*>(mapped);
    if (extra == 0) return from;
    char* block = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(from) + HUGE - 1) / HUGE * HUGE);
    if (block > from) munmap(from, static_cast<size_t>(block - from));
    if (block < from + extra) munmap(block + bytes, static_cast<size_t>(from + extra - block));
    // Whole huge pages only, so that the last one takes no memory nobody asked for.
    madvise(block, bytes / HUGE * HUGE, MADV_HUGEPAGE);
    return block;
}

void unmap_block(char* block, size_t bytes) { munmap(block, bytes); }

#else

char* map_block(size_t) { return nullptr; }
void unmap_block(char*, size_t) {}

#endif

class Cache {
public:
    // A block of at least `bytes`, of which `fresh` says that it holds zeros; null when there is no memory.
    char* take(size_t bytes, bool& fresh) {
        const size_t wanted = (bytes + OFFSET + GRANULE - 1) / GRANULE * GRANULE;
        const std::lock_guard<std::mutex> locked(mutex_);
        const auto found = kept_.lower_bound(wanted);
        fresh = found == kept_.end() || found->first > wanted + wanted / 8;
        size_t size = wanted;
        char* block;
        if (fresh) {
            // Together with what is kept the process must not be larger than it was with arrays alone.
            while (!kept_.empty() && used_ + kept_bytes_ + wanted > most_used_) drop_largest();
            block = map_block(wanted);
            if (block == nullptr) return nullptr;
        } else {
            size = found->first;
            block = found->second;
            kept_.erase(found);
            kept_bytes_ -= size;
        }
        used_ += size;
        if (used_ > most_used_) most_used_ = used_;
        char* array = block + OFFSET;
        *reinterpret_cast<Header*>(block) = {MARK ^ reinterpret_cast<uintptr_t>(array), size};
        return array;
    }

    void give_back(char* array) {
        char* block = array - OFFSET;
        auto* header = reinterpret_cast<Header*>(block);
        const size_t size = header->bytes;
        header->mark = 0;
        const std::lock_guard<std::mutex> locked(mutex_);
        used_ -= size;
        if (size > limit_) return unmap_block(block, size);
        while (kept_bytes_ + size > limit_) drop_largest();
        // Before those of its size: the one given back last is taken first, while the processor's caches still hold it.
        kept_.emplace_hint(kept_.lower_bound(size), size, block);
        kept_bytes_ += size;
    }

    void limit_to(size_t bytes) {
        const std::lock_guard<std::mutex> locked(mutex_);
        limit_ = bytes;
        while (kept_bytes_ > limit_) drop_largest();
    }

    void drop_all() {
        const std::lock_guard<std::mutex> locked(mutex_);
        while (!kept_.empty()) drop_largest();
        most_used_ = used_;
    }

    size_t limit() const { return limit_; }
    size_t used() const { return used_; }
    size_t kept() const { return kept_bytes_; }
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    void drop_largest() {
        const auto last = --kept_.end();
        unmap_block(last->second, last->first);
        kept_bytes_ -= last->first;
        kept_.erase(last);
    }

    std::mutex mutex_;
    std::multimap<size_t, char*> kept_;
    size_t limit_ = 0, used_ = 0, most_used_ = 0, kept_bytes_ = 0;
};

// Never destroyed: arrays may outlive what C++ tears down at the end.
Cache& cache() {
    static Cache* const one = new Cache;
    return *one;
}

const PyDataMem_Handler& numpys() {
    static const auto* const handler =
        static_cast<const PyDataMem_Handler*>(PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler"));
    return *handler;
}

// The header of an array of ours, null for numpy's. The header lies in the array's page, so that it can always be read.
Header* header_of(void* array) {
    const auto address = reinterpret_cast<uintptr_t>(array);
    if (address % PAGE != OFFSET) return nullptr;
    auto* header = reinterpret_cast<Header*>(address - OFFSET);
    return header->mark == (MARK ^ address) ? header : nullptr;
}

void* allocate(void*, size_t bytes) {
    bool fresh;
    if (bytes >= LARGE)
        if (void* array = cache().take(bytes, fresh)) return array;
    return numpys().allocator.malloc(numpys().allocator.ctx, bytes);
}

void* allocate_zeros(void*, size_t count, size_t size) {
    bool fresh;
    if (size != 0 && count >= LARGE / size && count <= SIZE_MAX / 2 / size)
        if (void* array = cache().take(count * size, fresh)) return fresh ? array : memset(array, 0, count * size);
    return numpys().allocator.calloc(numpys().allocator.ctx, count, size);
}

void release(void*, void* array, size_t bytes) {
    if (array == nullptr) return;
    if (header_of(array) != nullptr) return cache().give_back(static_cast<char*>(array));
    numpys().allocator.free(numpys().allocator.ctx, array, bytes);
}

void* resize(void* context, void* array, size_t bytes) {
    Header* header = array != nullptr ? header_of(array) : nullptr;
    if (header == nullptr) return numpys().allocator.realloc(numpys().allocator.ctx, array, bytes);
    const size_t room = header->bytes - OFFSET;
    if (bytes <= room && bytes >= LARGE && bytes >= room / 2) return array;
    void* moved = allocate(context, bytes);
    if (moved == nullptr) return nullptr;
    memcpy(moved, array, bytes < room ? bytes : room);
    cache().give_back(static_cast<char*>(array));
    return moved;
}

PyDataMem_Handler handler = {"mindtorch_cpu", 1, {nullptr, allocate, allocate_zeros, resize, release}};

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

PyObject* empty_host_cache(PyObject*, PyObject*) {
    cache().drop_all();
    Py_RETURN_NONE;
}

PyObject* host_cache(PyObject*, PyObject*) {
    return Py_BuildValue("{s:n,s:n,s:n}", "used", static_cast<Py_ssize_t>(cache().used()), "kept",
                         static_cast<Py_ssize_t>(cache().kept()), "limit", static_cast<Py_ssize_t>(cache().limit()));
}

}  // namespace mindtorch
