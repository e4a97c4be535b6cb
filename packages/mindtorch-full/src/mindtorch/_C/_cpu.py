"""`torch._C._cpu`: what the processor can do."""

from mindtorch.cpu._capabilities import capabilities, request_tiles

_get_cpu_capability = capabilities
_init_amx = request_tiles
