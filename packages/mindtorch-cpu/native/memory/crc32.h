// The checksum of zip archives.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace mindtorch {

// CRC-32 of `count` bytes after those whose checksum is `before` (0 for none).
uint32_t crc32(uint32_t before, const unsigned char* data, size_t count);

}  // namespace mindtorch
