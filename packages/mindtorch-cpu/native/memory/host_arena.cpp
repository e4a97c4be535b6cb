#include "memory/host_arena.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <iterator>

namespace mindtorch {

namespace {

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

#if defined(__linux__)

// Addresses alone, at a multiple of `unit`: no memory. Null where there are none, or where the process is told how many
// it may have: others need them more.
char* reserve_addresses(size_t bytes, size_t unit) {
    rlimit most;
    if (getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY) return nullptr;
    void* mapped = mmap(nullptr, bytes + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    return reinterpret_cast<char*>(round_up(reinterpret_cast<uintptr_t>(mapped), unit));
}

size_t memory_of_machine() {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : size_t{1} << 30;
}

bool open_addresses(char* from, size_t bytes) {
    if (mprotect(from, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    madvise(from, bytes, MADV_HUGEPAGE);
    return true;
}

void drop_memory(char* from, size_t bytes) { madvise(from, bytes, MADV_DONTNEED); }

#else

char* reserve_addresses(size_t, size_t) { return nullptr; }
size_t memory_of_machine() { return 0; }
bool open_addresses(char*, size_t) { return false; }
void drop_memory(char*, size_t) {}

#endif

}  // namespace

// Addresses are free: as many as arrays of all the machine's memory need with every second byte between them unused.
bool HostArena::reserve() {
    if (tried_) return size_ > 0;
    tried_ = true;
    const size_t wanted = round_up(2 * memory_of_machine(), CHUNK);
    base_ = end_ = reserve_addresses(wanted, CHUNK);
    if (base_ != nullptr) size_ = wanted;
    return base_ != nullptr;
}

void HostArena::remove_range(Ranges::iterator range) {
    by_size_.erase({range->second, range->first});
    free_.erase(range);
}

void HostArena::add_range(char* from, size_t bytes) {
    auto next = free_.lower_bound(from);
    if (next != free_.end() && next->first == from + bytes) {
        bytes += next->second;
        remove_range(next++);
    }
    if (next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == from) {
            from = before->first;
            bytes += before->second;
            remove_range(before);
        }
    }
    free_.emplace(from, bytes);
    by_size_.emplace(bytes, from);
}

// Make room for a block at the end, where the last range may have some already.
bool HostArena::grow(size_t bytes) {
    if (!reserve() || bytes > size_) return false;
    size_t missing = bytes;
    if (!free_.empty()) {
        const auto last = std::prev(free_.end());
        if (last->first + last->second == end_) missing -= std::min(missing, last->second);
    }
    missing = round_up(missing, CHUNK);
    if (missing > static_cast<size_t>(base_ + size_ - end_) || !open_addresses(end_, missing)) return false;
    chunks_.resize(chunks_.size() + missing / CHUNK);
    add_range(end_, missing);
    end_ += missing;
    return true;
}

char* HostArena::take(size_t bytes, char*& used_from, char*& used_to) {
    auto found = by_size_.lower_bound({bytes, nullptr});
    if (found == by_size_.end()) {
        if (!grow(bytes)) return nullptr;
        found = by_size_.lower_bound({bytes, nullptr});
    }
    char* block = found->second;
    const size_t room = found->first;
    remove_range(free_.find(block));
    if (room > bytes) add_range(block + bytes, room - bytes);
    used_from = used_to = block;
    for (size_t index = chunk_of(block); index <= chunk_of(block + bytes - 1); index++) {
        Chunk& chunk = chunks_[index];
        if (chunk.resident) {
            if (used_to == block) used_from = std::max(block, base_ + index * CHUNK);
            used_to = std::min(block + bytes, base_ + (index + 1) * CHUNK);
            kept_ -= chunk.blocks == 0;
        }
        resident_ += !chunk.resident;
        chunk.resident = true;
        chunk.blocks++;
    }
    return block;
}

void HostArena::give_back(char* block, size_t bytes) {
    for (size_t index = chunk_of(block); index <= chunk_of(block + bytes - 1); index++)
        kept_ += --chunks_[index].blocks == 0;
    add_range(block, bytes);
}

void HostArena::trim(size_t most) {
    const size_t wanted = most / CHUNK;
    for (size_t index = chunks_.size(); kept_ > wanted && index > 0;) {
        const size_t end = index;
        while (index > 0 && kept_ > wanted && chunks_[index - 1].resident && chunks_[index - 1].blocks == 0) {
            chunks_[--index].resident = false;
            kept_--;
            resident_--;
        }
        if (index < end) drop_memory(base_ + index * CHUNK, (end - index) * CHUNK);
        if (index == end) index--;
    }
}

}  // namespace mindtorch
