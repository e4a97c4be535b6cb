// Kernels that order the elements of lines: the loop for a type, and all lines in parallel.
#pragma once

#include "kernels/order.h"
#include "memory/scratch.h"
#include "mindtorch/entry.h"
#include "parallel.h"

#include <atomic>

namespace mindtorch {

// `Loop<Item>::run` for the array's elements; null where they have no order.
template <template <typename> class Loop>
auto ordered_loop(PyArrayObject* array) -> decltype(&Loop<float>::run) {
    switch (PyArray_TYPE(array)) {
        case NPY_BOOL:
        case NPY_UINT8: return Loop<uint8_t>::run;
        case NPY_INT8: return Loop<int8_t>::run;
        case NPY_INT16: return Loop<int16_t>::run;
        case NPY_INT32: return Loop<int32_t>::run;
        case NPY_INT64: return Loop<int64_t>::run;
        case NPY_FLOAT: return Loop<float>::run;
        case NPY_DOUBLE: return Loop<double>::run;
        default: return nullptr;
    }
}

// `work(line, buffer)` for every line of `extent` elements, with `room` bytes of the buffer for each; 1, or -1 and a
// MemoryError.
template <typename Work>
int each_line(size_t lines, size_t extent, size_t room, const Work& work) {
    std::atomic<bool> failed{false};
    parallel(lines, extent >= GRAIN ? 1 : GRAIN / extent, [&](size_t from, size_t to) {
        auto* buffer = static_cast<uint64_t*>(scratch(extent * room));
        if (buffer == nullptr) {
            failed = true;
            return;
        }
        for (size_t line = from; line < to; line++) work(line, buffer);
    });
    return failed ? no_memory(extent * room) : 1;
}

}  // namespace mindtorch
