// A block is kept from call to call, because fresh pages cost more than what most kernels do with them.
#include "memory/scratch.h"

#include <stdlib.h>

namespace mindtorch {

namespace {

constexpr size_t ALIGNMENT = 64;
constexpr size_t KEPT = size_t{32} << 20;  // what is larger is given back at the next call

class Block {
public:
    Block() = default;
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() { free(data_); }

#if defined(__SANITIZE_ADDRESS__)
    // Exactly what is asked for, so that the sanitizer knows its end.
    void* get(size_t bytes) {
        free(data_);
        if (posix_memalign(&data_, ALIGNMENT, bytes > 0 ? bytes : 1) != 0) data_ = nullptr;
        return data_;
    }
#else
    void* get(size_t bytes) {
        if (data_ == nullptr || bytes > size_ || size_ > KEPT) {
            free(data_);
            const size_t wanted = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            data_ = aligned_alloc(ALIGNMENT, wanted > 0 ? wanted : ALIGNMENT);
            size_ = data_ != nullptr ? wanted : 0;
        }
        return data_;
    }
#endif

private:
    void* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace

void* scratch(size_t bytes) {
    static thread_local Block block;
    return block.get(bytes);
}

void* outer_scratch(size_t bytes) {
    static thread_local Block block;
    return block.get(bytes);
}

}  // namespace mindtorch
