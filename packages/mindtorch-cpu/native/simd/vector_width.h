// How wide the registers are that a set of instructions has.
#pragma once

#include <stddef.h>

namespace mindtorch {
namespace {

#if defined(__AVX512F__)
constexpr size_t VECTOR_BYTES = 64;
#elif defined(__AVX__)
constexpr size_t VECTOR_BYTES = 32;
#else
constexpr size_t VECTOR_BYTES = 16;
#endif

}  // namespace
}  // namespace mindtorch
