"""Pairs of tensors, or of values that can be made into tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch as torch

from ._messages import ErrorMeta, Identifier, make_scalar_mismatch_msg, make_tensor_mismatch_msg
from ._pairs import Pair
from ._tolerances import get_tolerances

_LAYOUTS = (
    torch.strided,
    torch.jagged,
    torch.sparse_coo,
    torch.sparse_csr,
    torch.sparse_csc,
    torch.sparse_bsr,
    torch.sparse_bsc,
)


_UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)


class TensorLikePair(Pair):
    """Two tensor-likes of related types: attributes first, then values."""

    def __init__(
        self,
        actual: Any,
        expected: Any,
        *,
        id: tuple[Any, ...] = (),
        allow_subclasses: bool = True,
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        check_device: bool = True,
        check_dtype: bool = True,
        check_layout: bool = True,
        check_stride: bool = False,
        **other_parameters: Any,
    ) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id, allow_subclasses=allow_subclasses)
        super().__init__(actual, expected, id=id, **other_parameters)
        self.rtol, self.atol = get_tolerances(actual, expected, rtol=rtol, atol=atol, id=self.id)
        self.equal_nan = equal_nan
        self.check_device = check_device
        self.check_dtype = check_dtype
        self.check_layout = check_layout
        self.check_stride = check_stride

    def _process_inputs(
        self, actual: Any, expected: Any, *, id: tuple[Any, ...], allow_subclasses: bool
    ) -> tuple[Any, Any]:
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if not related or (not allow_subclasses and type(actual) is not type(expected)):
            self._inputs_not_supported()
        actual, expected = self._to_tensor(actual), self._to_tensor(expected)
        for tensor in (actual, expected):
            self._check_supported(tensor, id=id)
        return actual, expected

    def _check_supported(self, tensor: Any, *, id: tuple[Any, ...]) -> None:
        if tensor.layout not in _LAYOUTS:
            raise ErrorMeta(ValueError, f"Unsupported tensor layout {tensor.layout}", id=id)

    def _to_tensor(self, tensor_like: Any) -> Any:
        if isinstance(tensor_like, torch.Tensor):
            return tensor_like
        try:
            return torch.as_tensor(tensor_like)
        except (TypeError, ValueError, RuntimeError):  # not a tensor-like: another pair may do
            self._inputs_not_supported()

    def compare(self) -> None:
        """Raise if attributes differ, or values by more than the tolerance."""
        self._compare_attributes(self.actual, self.expected)
        if any(value.device.type == "meta" for value in (self.actual, self.expected)):
            return
        actual, expected = self._equalize_attributes(self.actual, self.expected)
        self._compare_values(actual, expected)

    def _compare_attributes(self, actual: Any, expected: Any) -> None:
        def differ(name: str, a: Any, e: Any) -> None:
            self._fail(AssertionError, f"The values for attribute '{name}' do not match: {a} != {e}.")

        if actual.shape != expected.shape:
            differ("shape", actual.shape, expected.shape)
        if actual.layout != expected.layout:
            if self.check_layout:
                differ("layout", actual.layout, expected.layout)
        elif actual.layout == torch.strided and self.check_stride and actual.stride() != expected.stride():
            differ("stride()", actual.stride(), expected.stride())
        if self.check_device and actual.device != expected.device:
            differ("device", actual.device, expected.device)
        if self.check_dtype and actual.dtype != expected.dtype:
            differ("dtype", actual.dtype, expected.dtype)

    def _equalize_attributes(self, actual: Any, expected: Any) -> tuple[Any, Any]:
        """The same values with one device, dtype and layout, so they can be compared."""
        if actual.device != expected.device:
            actual, expected = actual.cpu(), expected.cpu()
        if actual.dtype != expected.dtype:
            # Unsigned numbers meet no other dtype elsewhere; in a comparison they count as signed ones.
            dtypes = [torch.int64 if one.dtype in _UNSIGNED else one.dtype for one in (actual, expected)]
            dtype = torch.promote_types(*dtypes)
            actual, expected = actual.to(dtype), expected.to(dtype)
        if actual.layout != expected.layout:
            actual = actual.to_dense() if actual.layout != torch.strided else actual
            expected = expected.to_dense() if expected.layout != torch.strided else expected
        return actual, expected

    def _compare_values(self, actual: Any, expected: Any) -> None:
        options: dict[str, Any] = {"rtol": self.rtol, "atol": self.atol, "equal_nan": self.equal_nan}
        if actual.layout == torch.strided:
            self._compare_regular_values_close(actual, expected, **options)
        elif actual.layout == torch.sparse_coo:
            self._compare_sparse_coo_values(actual, expected, **options)
        else:
            self._compare_sparse_compressed_values(actual, expected, **options)

    def _compare_sparse_coo_values(
        self, actual: Any, expected: Any, *, rtol: float, atol: float, equal_nan: bool
    ) -> None:
        if actual.sparse_dim() != expected.sparse_dim():
            self._fail(
                AssertionError,
                "The number of sparse dimensions in sparse COO tensors does not match: "
                f"{actual.sparse_dim()} != {expected.sparse_dim()}",
            )
        self._require_as_many(actual, expected, "COO")
        self._compare_regular_values_close(
            actual._indices(), expected._indices(), rtol=0, atol=0, equal_nan=False, identifier="Sparse COO indices"
        )
        self._compare_regular_values_close(
            actual._values(),
            expected._values(),
            rtol=rtol,
            atol=atol,
            equal_nan=equal_nan,
            identifier="Sparse COO values",
        )

    def _require_as_many(self, actual: Any, expected: Any, format_name: str) -> None:
        if actual._nnz() != expected._nnz():
            self._fail(
                AssertionError,
                f"The number of specified values in sparse {format_name} tensors does not match: "
                f"{actual._nnz()} != {expected._nnz()}",
            )

    def _compare_sparse_compressed_values(
        self, actual: Any, expected: Any, *, rtol: float, atol: float, equal_nan: bool
    ) -> None:
        format_name = str(actual.layout).removeprefix("torch.sparse_").upper()
        by_rows = actual.layout in (torch.sparse_csr, torch.sparse_bsr)
        compressed, plain = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
        self._require_as_many(actual, expected, format_name)
        for name in (compressed, plain):
            ours, theirs = getattr(actual, name)(), getattr(expected, name)()
            dtype = torch.promote_types(ours.dtype, theirs.dtype)  # the indices of two tensors may differ in dtype
            self._compare_regular_values_close(
                ours.to(dtype),
                theirs.to(dtype),
                rtol=0,
                atol=0,
                equal_nan=False,
                identifier=f"Sparse {format_name} {name}",
            )
        self._compare_regular_values_close(
            actual.values(),
            expected.values(),
            rtol=rtol,
            atol=atol,
            equal_nan=equal_nan,
            identifier=f"Sparse {format_name} values",
        )

    def _compare_regular_values_close(
        self,
        actual: Any,
        expected: Any,
        *,
        rtol: float,
        atol: float,
        equal_nan: bool,
        identifier: Identifier = None,
    ) -> None:
        matches = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if torch.all(matches):
            return
        if actual.shape == torch.Size([]):
            text = make_scalar_mismatch_msg(actual.item(), expected.item(), rtol=rtol, atol=atol, identifier=identifier)
        else:
            text = make_tensor_mismatch_msg(actual, expected, matches, rtol=rtol, atol=atol, identifier=identifier)
        self._fail(AssertionError, text)

    def extra_repr(self) -> Sequence[str]:
        """The settings."""
        return ("rtol", "atol", "equal_nan", "check_device", "check_dtype", "check_layout", "check_stride")
