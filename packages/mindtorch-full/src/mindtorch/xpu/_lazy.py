"""Initialisation, which always refuses, and whether there is anything to initialise."""

from mindtorch._absent import SeedQueue, own_copies
from mindtorch._absent.initialization import (  # noqa: F401 - they become functions of this module
    _is_compiled,
    _is_in_bad_fork,
    _lazy_call,
    _lazy_init,
    device_count,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    is_tf32_supported,
    refuse,
)

queue = SeedQueue()

default_generators: tuple[()] = ()

own_copies(globals(), "xpu")
