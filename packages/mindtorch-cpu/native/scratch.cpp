// A block is kept from call to call, because fresh pages cost more than what most kernels do with them.
#include "scratch.h"

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

    void* get(size_t bytes) {
        if (bytes > size_ || size_ > KEPT) {
            free(data_);
            const size_t wanted = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            data_ = aligned_alloc(ALIGNMENT, wanted > 0 ? wanted : ALIGNMENT);
            size_ = data_ != nullptr ? wanted : 0;
        }
        return data_;
    }

private:
    void* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace

void* scratch(size_t bytes) {
    static thread_local Block block;
    return block.get(bytes);
}

}  // namespace mindtorch
