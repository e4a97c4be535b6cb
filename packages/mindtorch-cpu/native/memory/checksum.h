// The checksum of zip archives, CRC-32.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace mindtorch {

// The checksum of what had the checksum `before`, and these bytes after it; 0 is that of nothing.
uint32_t crc32(uint32_t before, const uint8_t* bytes, size_t count);

}  // namespace mindtorch
