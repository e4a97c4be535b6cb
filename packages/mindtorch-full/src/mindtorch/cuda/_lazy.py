"""Initialisation, which always refuses, and the errors of this module."""

from typing import NoReturn

from mindtorch._absent import SeedQueue, device_index, own_copies
from mindtorch._absent.initialization import *  # noqa: F403 - they become functions of this module
from mindtorch._absent.initialization import refuse
from mindtorch._errors import AcceleratorError, OutOfMemoryError

__all__ = ["AcceleratorError", "OutOfMemoryError"]

queue = SeedQueue()

has_magma = False
has_half = True
default_generators: tuple[()] = ()


class DeferredCudaCallError(Exception):
    """A call that was queued before the initialisation failed during it.

    >>> issubclass(torch.cuda.DeferredCudaCallError, Exception)
    True
    """


class CudaError(RuntimeError):
    """An error code of the CUDA runtime.

    >>> torch.cuda.CudaError(2)
    Traceback (most recent call last):
        ...
    AttributeError: 'NoneType' object has no attribute 'cudaGetErrorString'
    """

    def __init__(self, code: int) -> None:
        raise AttributeError("'NoneType' object has no attribute 'cudaGetErrorString'")


class cudaStatus:
    """Status codes of the CUDA runtime.

    >>> torch.cuda.cudaStatus.SUCCESS, torch.cuda.cudaStatus.ERROR_NOT_READY
    (0, 34)
    """

    SUCCESS = 0
    ERROR_NOT_READY = 34


def check_error(res: int) -> None:
    """Raise the error of a CUDA status; there is no CUDA runtime to know it.

    >>> torch.cuda.check_error(2)
    Traceback (most recent call last):
        ...
    AttributeError: 'NoneType' object has no attribute 'cudaError'
    """
    raise AttributeError("'NoneType' object has no attribute 'cudaError'")


def cudart() -> NoReturn:
    """Return the CUDA runtime module; raises, there is none.

    >>> torch.cuda.cudart()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def _nvml_based_avail() -> bool:
    return False


def _get_device_index(device: object, optional: bool = False, allow_cpu: bool = False) -> int | None:
    return device_index("cuda", device, optional, allow_cpu)


own_copies(globals(), "cuda")
