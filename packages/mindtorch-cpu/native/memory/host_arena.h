// One range of addresses for large arrays. What is freed joins its free adjacent ranges, and the smallest free range
// that is large enough is given out again, from its beginning.
//
// Memory is asked for and given back in chunks, each of them one huge page. No function here is safe to be called by
// two threads at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace mindtorch {

class HostArena {
public:
    static constexpr size_t PAGE = 4096, CHUNK = size_t{2} << 20;

    // A block of `bytes`, a multiple of PAGE, at a multiple of PAGE; null when there is no memory. All of it that is
    // not in `used_from`..`used_to` is zero.
    char* take(size_t bytes, char*& used_from, char*& used_to);
    void give_back(char* block, size_t bytes);
    // Give chunks that no block lies in back to the system until `most` bytes of them are left.
    void trim(size_t most);

    bool holds(const void* address) const {
        const char* at = static_cast<const char*>(address);
        return at >= base_ && at < base_ + size_;
    }
    size_t kept() const { return kept_ * CHUNK; }          // memory in which no block lies
    size_t resident() const { return resident_ * CHUNK; }  // memory that the process has

private:
    struct Chunk {
        uint32_t blocks = 0;  // that lie in it, at least with a part
        bool resident = false;
    };
    using Ranges = std::map<char*, size_t>;

    bool reserve();
    bool grow(size_t bytes);
    void add_range(char* from, size_t bytes);
    void remove_range(Ranges::iterator range);
    size_t chunk_of(const char* address) const { return static_cast<size_t>(address - base_) / CHUNK; }

    char *base_ = nullptr, *end_ = nullptr;  // what may be used of what is reserved
    size_t size_ = 0;
    bool tried_ = false;
    std::vector<Chunk> chunks_;
    size_t kept_ = 0, resident_ = 0;  // chunks
    Ranges free_;
    std::set<std::pair<size_t, char*>> by_size_;
};

}  // namespace mindtorch
