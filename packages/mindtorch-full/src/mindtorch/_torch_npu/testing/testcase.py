"""`torch_npu.testing.testcase`: a test case that knows tensors."""

from __future__ import annotations

import os
import random
import re
import sys
import unittest
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Number
from time import perf_counter
from typing import cast

import numpy as np

import mindtorch as torch
from mindtorch._torch_npu.testing.common_utils import (
    PERF_TEST_ENABLE,
    PerfBaseline,
    is_iterable,
    iter_indices,
    set_npu_device,
)
from mindtorch.tensor.tensor import Tensor

__all__ = ["TestCase", "run_tests"]

SLACK = {np.dtype(np.float16): 6e-8}
"""What is added to the larger of two numbers before their difference is set against it; 1e-9 for every other dtype."""


def run_tests() -> None:
    """Run the tests of the program's own module."""
    unittest.main(argv=sys.argv)


class TestCase(unittest.TestCase):
    """A test on a device: comparisons take tensors, arrays, numbers and what holds them, within a precision."""

    _precision = 1e-5
    maxDiff = None
    exact_dtype = False
    npu_device: str

    def assertExpectedInline(self, actual: str, expect: str) -> None:
        """Compare text with what stands in the test; tests are not rewritten."""
        self.assertMultiLineEqual(expect, str(actual))

    @property
    def precision(self) -> float:
        """How far numbers may be apart."""
        return self._precision

    @precision.setter
    def precision(self, prec: float) -> None:
        self._precision = prec

    @classmethod
    def setUpClass(cls) -> None:
        """Choose the device."""
        cls.npu_device = set_npu_device()

    def setUp(self) -> None:
        """Begin the random streams anew."""
        seed = int(os.getenv("SEED", "666"))
        torch.manual_seed(seed)
        random.seed(seed)

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        """Run the test; with PERF_TEST_ENABLE its time is kept, and a much longer one than before fails."""
        started = perf_counter()
        found = super().run(result)
        if PERF_TEST_ENABLE and result is not None and result.wasSuccessful():
            taken, before = perf_counter() - started, PerfBaseline.get_baseline(self.id())
            if before is not None and taken > 1.3 * before:
                error = AssertionError(f"{taken:.3f} s, before it was {before:.3f} s")
                result.addFailure(self, (AssertionError, error, None))
            elif before is None or taken < before:
                PerfBaseline.set_baseline(self.id(), taken)
        return found

    def assertTensorsSlowEqual(self, x: Tensor, y: Tensor, prec: float | None = None, message: str = "") -> None:
        """Compare element by element."""
        self.assertEqual(tuple(x.shape), tuple(y.shape))
        self.assertEqual(x.dtype, y.dtype)
        worst = max([0.0, *(abs(float(x[place]) - float(y[place])) for place in iter_indices(x))])
        self.assertLessEqual(worst, self.precision if prec is None else prec, message)

    def genSparseTensor(
        self, size: Sequence[int], sparse_dim: int, nnz: int, is_uncoalesced: bool, device: str = "cpu"
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return a random sparse tensor, its indices and its values."""
        if nnz and not all(size[dim] > 0 for dim in range(sparse_dim)):
            raise RuntimeError("invalid arguments")
        values = torch.randn(nnz, *size[sparse_dim:], device=device)
        bounds = torch.tensor(list(size[:sparse_dim]), device=device).unsqueeze(1)
        indices = (torch.rand(sparse_dim, nnz, device=device) * bounds).long()
        if is_uncoalesced:
            values, indices = torch.cat([values, torch.randn_like(values)]), torch.cat([indices, indices], 1)
        made = torch.sparse_coo_tensor(indices, values, torch.Size(size))
        made = made.detach().clone() if is_uncoalesced else made.coalesce()
        return made, made._indices().clone(), made._values().clone()

    def safeCoalesce(self, t: Tensor) -> Tensor:
        """Return `t.coalesce()`, which must hold what `t` holds."""
        made = t.coalesce()
        self.assertTrue(made.is_coalesced())
        self.assertEqual(made.to_dense(), t.to_dense())
        return made

    def safeToDense(self, t: Tensor) -> Tensor:
        """Return a sparse tensor's elements, coalesced first."""
        return self.safeCoalesce(t).to_dense()

    def assertRtolEqual(
        self, x: object, y: object, prec: float = 1e-4, prec16: float = 1e-3, auto_trans_dtype: bool = False,
        message: str | None = None,
    ) -> None:  # fmt: skip
        """Compare: most differences must be small, or small beside the numbers. float16 and bfloat16 have `prec16`.

        As many may be larger as `prec` says of the elements.
        """
        if isinstance(x, Sequence) and isinstance(y, Sequence):
            for one, other in zip(x, y, strict=False):
                self.assertRtolEqual(one, other, prec, prec16, auto_trans_dtype, message)
            return
        if isinstance(x, Tensor) and isinstance(y, Tensor):
            if auto_trans_dtype:
                x = x.to(y.dtype)
            if x.dtype == y.dtype == torch.bfloat16:
                if x.shape != y.shape:
                    self.fail("shape error!")
                if not torch.allclose(x.cpu(), y.cpu(), rtol=prec16, atol=prec16):
                    self.fail("result error!")
                return
        first, second = (np.asarray(one.detach().cpu() if isinstance(one, Tensor) else one) for one in (x, y))
        if first.shape != second.shape:
            self.fail("shape error")
        if first.dtype != second.dtype:
            self.fail("dtype error")
        if first.dtype.kind not in "bifu":
            self.fail(f"{first.dtype} is not compared")
        if first.dtype.kind == "b":
            if not np.array_equal(first, second):
                self.fail("result error")
            return
        self._near(first, second, prec16 if first.dtype == np.float16 else prec, message)

    def _near(self, x: np.ndarray, y: np.ndarray, limit: float, message: str | None) -> None:
        nan = np.isnan(x)
        if not np.array_equal(nan, np.isnan(y)):
            self.fail(message)
        with np.errstate(all="ignore"):
            apart = np.abs(np.where(nan, 0, y - x))
            beside = apart / (np.maximum(np.abs(x), np.abs(y)) + SLACK.get(x.dtype, 1e-9))
        wide, far = int((~(apart <= limit)).sum()), int((~((beside <= limit) | nan)).sum())
        if wide > x.size * limit and far > x.size * limit:
            self.fail("result error")

    def _numbers_equal(self, x: object, y: object, prec: float, message: str, allow_inf: bool) -> None:
        first, second = (one.item() if isinstance(one, Tensor) else one for one in (x, y))
        number, other = cast("float", first), cast("float", second)
        infinite = float("inf") in (abs(number), abs(other))
        if infinite and not allow_inf:
            self.fail(f"Expected finite numeric values - x={x}, y={y}")
        if infinite:
            super().assertEqual(number, other, message)
        else:
            self.assertLessEqual(abs(number - other), prec, message)

    def _tensors_equal(self, x: Tensor, y: Tensor, prec: float, message: str, exact: bool) -> None:
        super().assertEqual(x.is_sparse, y.is_sparse, message)
        if x.is_sparse:
            x, y = self.safeCoalesce(x), self.safeCoalesce(y)
            self._tensors_equal(x._indices(), y._indices(), prec, message, exact)
            x, y = x._values(), y._values()
        super().assertEqual(tuple(x.shape), tuple(y.shape), message)
        if exact:
            super().assertEqual(x.dtype, y.dtype, message)
        if (x.dtype == torch.bool) != (y.dtype == torch.bool):
            raise TypeError("Was expecting both tensors to be bool type.")
        torch.testing.assert_close(
            x.detach().cpu(), y.detach().cpu(), rtol=0, atol=prec, check_dtype=False, equal_nan=True,
            msg=(lambda text: f"{message}\n{text}") if message else None,
        )  # fmt: skip

    def assertEqual(  # type: ignore[override]
        self, x: object, y: object, prec: float | str | None = None, message: str = "", allow_inf: bool = False,
        exact_dtype: bool | None = None,
    ) -> None:  # fmt: skip
        """Compare within `prec`, and what holds tensors and numbers part by part."""
        if isinstance(prec, str):
            prec, message = None, message or prec
        limit = self.precision if prec is None else prec
        exact = self.exact_dtype if exact_dtype is None else exact_dtype
        if isinstance(x, Tensor) and isinstance(y, Tensor):
            self._tensors_equal(x, y, limit, message, exact)
        elif isinstance(x, (bool, np.bool_)) or isinstance(y, (bool, np.bool_)):
            first, second = (one.item() if isinstance(one, Tensor) else one for one in (x, y))
            super().assertEqual(first, second, message)
        elif isinstance(x, Number) or isinstance(y, Number):
            if not all(isinstance(one, (Number, Tensor)) for one in (x, y)):
                super().assertEqual(x, y, message)
                return
            self._numbers_equal(x, y, limit, message, allow_inf)
        elif isinstance(x, Mapping) and isinstance(y, Mapping):
            super().assertEqual(set(x), set(y), message)
            for key in x:
                self.assertEqual(x[key], y[key], limit, message, allow_inf, exact)
        elif isinstance(x, (str, bytes, set)) or not (is_iterable(x) and is_iterable(y)):
            super().assertEqual(x, y, message)
        else:
            first_parts, second_parts = list(cast("Sequence[object]", x)), list(cast("Sequence[object]", y))
            super().assertEqual(len(first_parts), len(second_parts), message)
            for one, other in zip(first_parts, second_parts, strict=True):
                self.assertEqual(one, other, limit, message, allow_inf, exact)

    def assertAlmostEqual(  # type: ignore[override]
        self, x: object, y: object, places: int | None = None, msg: str | None = None, delta: float | None = None,
        allow_inf: bool = False,
    ) -> None:  # fmt: skip
        """Compare within `delta`, or as many decimals as `places` says."""
        self.assertEqual(x, y, 10.0**-places if places else delta, msg or "", allow_inf)

    def assertNotEqual(  # type: ignore[override]
        self, x: object, y: object, prec: float | str | None = None, message: str = ""
    ) -> None:
        """Compare: the two must be further apart than `prec`."""
        if isinstance(prec, str):
            prec, message = None, message or prec
        try:
            self.assertEqual(x, y, prec)
        except (AssertionError, TypeError):
            return
        self.fail(message or f"{x!r} and {y!r} are equal")

    def assertObjectIn(self, obj: object, iterable: Sequence[object]) -> None:
        """Look for the very object."""
        if not any(one is obj for one in iterable):
            raise AssertionError("object not found in iterable")

    def assertExpectedRaises(
        self, exc_type: type[BaseException], callable: Callable[..., object], *args: object, **kwargs: object
    ) -> None:
        """Call something that must raise."""
        with self.assertRaises(exc_type):
            callable(*args, **kwargs)

    def assertExpectedStripMangled(self, s: str, expected: str | None = None) -> None:
        """Compare a text without the marks of mangled names."""
        shown = re.sub(r"__torch__[^ ]+", "", s)
        self.assertEqual(shown, expected if expected is not None else shown)

    def assertNotWarn(self, callable: Callable[[], object], msg: str = "") -> None:
        """Call something that must not warn."""
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            callable()
        self.assertTrue(not seen, msg)

    def assertWarns(  # type: ignore[override]
        self, expected_warning: type[Warning] | Callable[[], object], msg: str = ""
    ) -> object:
        """Call something that must warn; with a class of warnings this is unittest's."""
        if isinstance(expected_warning, type):
            return super().assertWarns(expected_warning)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            expected_warning()
        self.assertTrue(seen, msg)
        return None

    @contextmanager
    def maybeWarnsRegex(self, category: type[Warning], regex: str = "") -> Iterator[None]:
        """Let only warnings of a category and text through the block."""
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            yield
        other = [one for one in seen if not (issubclass(one.category, category) and re.match(regex, str(one.message)))]
        if other:
            self.fail(f"unexpected warnings: {[str(one.message) for one in other]}")
