"""Runs op_db's entries in one dtype each: values, strides and gradients."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.testing._internal.opinfo.core import OpInfo

from mindtorch_testing.sweep.entry import EntryRunner
from mindtorch_testing.sweep.outcome import EntryResult


class DtypeRunner(EntryRunner):
    """Runs the entries that torch has in `dtype`; a subclass names it."""

    dtype: ClassVar[torch.dtype]

    def _run(self, info: OpInfo, result: EntryResult) -> None:
        if self.dtype in info.dtypes:
            self._values_and_gradients(info, self.dtype, result)


class Float64Runner(DtypeRunner):
    """Double precision."""

    dtype = torch.float64


class BFloat16Runner(DtypeRunner):
    """Half the bytes, computed in single precision."""

    dtype = torch.bfloat16


class Int32Runner(DtypeRunner):
    """Integers, which wrap."""

    dtype = torch.int32


class Complex64Runner(DtypeRunner):
    """Complex numbers."""

    dtype = torch.complex64
