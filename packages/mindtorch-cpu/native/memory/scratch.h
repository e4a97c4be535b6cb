// Memory for what a kernel needs while it runs, kept by each thread that calls kernels.
#pragma once

#include <stddef.h>

namespace mindtorch {

// `bytes` of memory, aligned to 64, until this thread's next call; null when there is none.
void* scratch(size_t bytes);

// The same of another block, for a kernel that calls what uses the first.
void* outer_scratch(size_t bytes);

}  // namespace mindtorch
