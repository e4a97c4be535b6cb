"""`torch.backends`: what computes, and how it may. Settings of absent backends are kept and have no effect.

`is_available()` of each tells the truth about this library, so MKL, oneDNN and their like, which torch's own builds
contain, are not available here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from mindtorch._naming import adopt
from mindtorch.backends import (
    cpu,
    cuda,
    cudnn,
    cusparselt,
    kleidiai,
    mha,
    mkl,
    mkldnn,
    mps,
    nnpack,
    openmp,
    opt_einsum,
    python_native,
    quantized,
    xnnpack,
)
from mindtorch.backends._flags import allow_mutation, disable_global_flags, flags_frozen, flags_set, give_class
from mindtorch.backends._precision import get as _get_precision
from mindtorch.backends._precision import precision_flag
from mindtorch.backends._precision import put as _put_precision

__all__ = [
    "cpu",
    "cuda",
    "cudnn",
    "cusparselt",
    "disable_global_flags",
    "flags",
    "flags_frozen",
    "kleidiai",
    "mha",
    "mkl",
    "mkldnn",
    "mps",
    "nnpack",
    "openmp",
    "opt_einsum",
    "python_native",
    "quantized",
    "set_flags",
    "xnnpack",
]


class GenericModule(ModuleType):
    """The type of this module; `fp32_precision` is the setting for all backends."""

    fp32_precision = precision_flag("generic")


def set_flags(_fp32_precision: str = "none") -> tuple[str]:
    """Set the precision for all backends and return what it was.

    >>> before = torch.backends.set_flags("ieee")
    >>> torch.backends.fp32_precision
    'ieee'
    >>> _ = torch.backends.set_flags(*before)
    """
    before = _get_precision("generic", "all")
    if _fp32_precision is not None:
        _put_precision("generic", "all", _fp32_precision)
    return (before,)


@contextmanager
def flags(fp32_precision: str = "none") -> Iterator[None]:
    """Context manager that sets the precision for all backends.

    >>> with torch.backends.flags(fp32_precision="ieee"):
    ...     print(torch.backends.fp32_precision)
    ieee
    """
    with flags_set(set_flags, fp32_precision):
        yield


__allow_nonbracketed_mutation = allow_mutation  # other libraries name it


adopt(globals())
give_class(__name__, GenericModule)
