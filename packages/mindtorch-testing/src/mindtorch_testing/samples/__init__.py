"""Our own op samples, beyond torch's op_db: 0-d, empty, non-contiguous, extreme values, arguments off default, errors.

A sample function is registered for the ops it exercises and yields calls. It gets a `Maker`, so the same function
makes its inputs for torch, for MindTorch, and for any device:

    @sample("mul.Tensor", "add.Tensor", dtypes=ARITHMETIC)
    def binary(make):
        yield Call(make(3, 1), make(4))
        yield Wrong(make(3), make(4))      # must raise, and exactly what torch raises
"""

from importlib import import_module

from mindtorch_testing.samples.maker import Maker
from mindtorch_testing.samples.registry import Call, Sample, Wrong, registered, resolve_op, sample

FAMILIES = ("factory", "index", "loss", "matmul", "norm", "pointwise", "reduce", "sort", "view")
"""The files of this package; each import registers its samples."""

for _family in FAMILIES:
    import_module(f"{__name__}.{_family}")

__all__ = ["FAMILIES", "Call", "Maker", "Sample", "Wrong", "registered", "resolve_op", "sample"]
