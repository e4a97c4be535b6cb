"""`MaskedTensor`: data and a mask of the same geometry, of which operators use the elements that the mask leaves."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.autograd import Function
from mindtorch.masked._sparse import where as _where
from mindtorch_storage.lazy_import import LazyModule

__all__ = ["MaskedTensor", "is_masked_tensor"]

_tables = LazyModule("mindtorch.masked.maskedtensor._ops_refs", "its functions make tensors of this class")

_PROTOTYPE = (
    "The PyTorch API of MaskedTensors is in prototype stage and will change in the near future. Please open a Github "
    "issue for features requests and see our documentation on the torch.masked module for further information about "
    "the project."
)
_HISTORY = (
    "It is not recommended to create a MaskedTensor with a tensor that requires_grad. To avoid this, you can use "
    "data.detach().clone()"
)
_LAYOUTS = (torch.strided, torch.sparse_coo, torch.sparse_csr)
_DTYPES = (
    torch.float16,
    torch.float32,
    torch.float64,
    torch.bool,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
)


def unsupported(what: str) -> str:
    """Return what torch says of something that tensors with a mask do not do."""
    return (
        f"{what}\n"
        "If you would like this operator to be supported, please file an issue for a feature request at "
        "https://github.com/pytorch/maskedtensor/issues with a minimal reproducible code snippet.\n"
        "In the case that the semantics for the operator are not trivial, it would be appreciated to also include a "
        "proposal for the semantics."
    )


def is_masked_tensor(obj: Any, /) -> bool:
    """Return whether a value is a tensor that carries its mask.

    >>> is_masked_tensor = torch.masked.is_masked_tensor
    >>> is_masked_tensor(torch.ones(2)), is_masked_tensor(torch.masked.masked_tensor(torch.ones(2), torch.ones(2) > 0))
    (False, True)
    """
    return isinstance(obj, MaskedTensor)


def _parts(tensor: Any) -> tuple[Any, ...]:
    """Return the strided tensors that a tensor is made of."""
    if tensor.layout is torch.sparse_coo:
        return tensor.values(), tensor.indices()
    if tensor.layout is torch.sparse_csr:
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    return (tensor,)


def _tensors_match(a: Any, b: Any, exact: bool = True, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Return whether two tensors of one layout hold the same, in the dtype of the first; ValueError for others."""
    if is_masked_tensor(a) or is_masked_tensor(b):
        raise ValueError("Neither `a` nor `b` can be a MaskedTensor.")
    if a.layout is not b.layout:
        raise ValueError(f"`a` and `b` must have the same layout. Got {a.layout} and {b.layout}")
    if a.dtype is not b.dtype:
        b = b.type(a.dtype)
    if a.layout is not torch.strided:
        return all(_tensors_match(one, other, exact) for one, other in zip(_parts(a), _parts(b), strict=True))
    if a.dim() != b.dim():
        return False
    return bool(torch.eq(a, b).all()) if exact else bool(torch.allclose(a, b, rtol=rtol, atol=atol))


def _masks_match(a: Any, b: Any) -> bool:
    """Return whether the masks of two tensors are the same; true where one of them has none."""
    if not (is_masked_tensor(a) and is_masked_tensor(b)):
        return True
    return _tensors_match(a.get_mask(), b.get_mask())


def _map_mt_args_kwargs(args: Any, kwargs: Any, map_fn: Callable[[Any], Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments with what `map_fn` makes of the tensors with masks in them."""

    def mapped(value: Any) -> Any:
        if is_masked_tensor(value):
            return map_fn(value)
        if isinstance(value, list | tuple):
            return type(value)(mapped(one) for one in value)
        return value

    return [mapped(value) for value in args], {name: mapped(value) for name, value in (kwargs or {}).items()}


def _wrap_result(result_data: Any, result_mask: Any) -> Any:
    """Return the tensors of data and masks: of a pair, or of each pair of two lists or tuples."""
    if isinstance(result_data, list | tuple):
        pairs = zip(result_data, result_mask, strict=False)
        return type(result_data)(_wrap_result(data, mask) for data, mask in pairs)
    if torch.is_tensor(result_data):
        return MaskedTensor(result_data, result_mask)
    return NotImplemented


def _get_data(a: Any) -> Any:
    """Return the data of a tensor with a mask, and what else it is given as it is."""
    return a._masked_data if is_masked_tensor(a) else a


def _maybe_get_mask(a: Any) -> Any:
    """Return the mask of a tensor that has one, None otherwise."""
    return a.get_mask() if is_masked_tensor(a) else None


def _number_text(number: Any) -> str:
    return f"{number:8.4f}" if isinstance(number, float) else str(number)


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.split("\n"))


def _rows_text(data: Any, mask: Any) -> str:
    """Return the elements, `--` for those the mask hides, with a pair of brackets for each dimension."""
    if data.layout is not torch.strided:
        data, mask = data.to_dense(), mask.to_dense()
    if data.dim() > 1:
        rows = [_indented(_rows_text(row, left)) for row, left in zip(data, mask, strict=True)]
        return "[\n" + ",\n".join(rows) + "\n]"
    shown = [(_number_text(number), left) for number, left in zip(data.tolist(), mask.tolist(), strict=True)]
    width = max(len(text) if left else 8 for text, left in shown)
    return "[" + ", ".join(text if left else "--".rjust(width) for text, left in shown) + "]"


class MaskedTensor(torch.Tensor):
    """A tensor of some elements: `data`, and a `mask` of booleans that is true where they count.

    >>> x = torch.masked.MaskedTensor(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([True, False, True]))
    >>> x.sum()
    MaskedTensor(  4.0000, True)
    >>> x + 1
    MaskedTensor(
      [  2.0000,       --,   4.0000]
    )
    """

    _masked_data: Any
    _masked_mask: Any

    @staticmethod
    def __new__(cls: Any, data: Any, mask: Any, requires_grad: bool = False) -> Any:
        """Return the tensor; TypeError for what is no tensor, or has a mask."""
        if is_masked_tensor(data) or not torch.is_tensor(data):
            raise TypeError("data must be a Tensor")
        if is_masked_tensor(mask) or not torch.is_tensor(mask):
            raise TypeError("mask must be a Tensor")
        warnings.warn(_PROTOTYPE, UserWarning, stacklevel=2)
        if data.requires_grad:
            warnings.warn(_HISTORY, UserWarning, stacklevel=2)
        return torch.Tensor._make_wrapper_subclass(
            cls,
            data.size(),
            device=data.device,
            dtype=data.dtype,
            layout=data.layout,
            requires_grad=requires_grad,
            dispatch_sizes_strides_policy="strides",
            dispatch_layout=True,
        )

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        """Keep copies of both; TypeError or ValueError when they do not fit."""
        if data.layout is not mask.layout:
            raise TypeError("data and mask must have the same layout.")
        if data.layout is torch.sparse_coo:
            data, mask = data.coalesce(), mask.coalesce()
        if data.layout in (torch.sparse_coo, torch.sparse_csr) and data._nnz() != mask._nnz():
            data = _where(mask, data, torch.tensor(0))
        self._set_data_mask(data.clone(), mask.clone())

    def _set_data_mask(self, data: Any, mask: Any) -> None:
        """Take data and a mask, and check them."""
        self._masked_data, self._masked_mask = data, mask
        self._validate_members()

    def _validate_members(self) -> None:
        """Raise the error of data and a mask that do not fit."""
        data, mask = self._masked_data, self._masked_mask
        if type(data) is not type(mask):
            raise TypeError(f"data and mask must have the same type. Got {type(data)} and {type(mask)}")
        if data.layout not in _LAYOUTS:
            raise TypeError(f"data layout of {data.layout} is not supported.")
        if data.layout is torch.sparse_coo and not _tensors_match(data.indices(), mask.indices()):
            raise ValueError("data and mask are both sparse COO tensors but do not have the same indices.")
        if data.layout is torch.sparse_csr and not (
            _tensors_match(data.crow_indices(), mask.crow_indices())
            and _tensors_match(data.col_indices(), mask.col_indices())
        ):
            raise ValueError("data and mask are both sparse CSR tensors but do not share either crow or col indices.")
        if mask.dtype is not torch.bool:
            raise TypeError("mask must have dtype bool.")
        if data.dtype not in _DTYPES:
            raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
        if data.dim() != mask.dim():
            raise ValueError("data.dim() must equal mask.dim()")
        if data.size() != mask.size():
            raise ValueError("data.size() must equal mask.size()")

    @staticmethod
    def _from_values(data: Any, mask: Any) -> Any:
        """Return the tensor of data, through which gradients flow to it."""
        return Constructor.apply(data, mask)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        """Return the elements, `--` for those the mask hides."""
        data, mask = self._masked_data, self._masked_mask
        if self.dim() == 0:
            left = bool(mask)
            return f"MaskedTensor({_number_text(data.item()) if left else '--'}, {left})"
        return f"MaskedTensor(\n{_indented(_rows_text(data, mask))}\n)"

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Take a function of the table, or the function itself with the result as this class."""
        own = _tables._MASKEDTENSOR_FUNCTION_TABLE.get(func)
        if own is not None:
            return own(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)

    @classmethod
    def unary(cls, fn: Any, data: Any, mask: Any) -> Any:
        """Return `fn` of the data, with the mask."""
        return MaskedTensor(fn(data), mask)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        """Take an operator of the table; of others a warning, and the error that nobody implements them."""
        packet = func.overloadpacket
        own = _tables._MASKEDTENSOR_DISPATCH_TABLE.get(packet)
        if own is not None:
            return own(*args, **(kwargs or {}))
        said = unsupported(f"{packet.__name__} is not implemented in __torch_dispatch__ for MaskedTensor.")
        warnings.warn(said, stacklevel=2)
        return NotImplemented

    def __lt__(self, other: Any) -> Any:
        """Compare data, and keep the mask of this tensor."""
        other = other.get_data() if is_masked_tensor(other) else other
        return MaskedTensor(self.get_data() < other, self.get_mask())

    def to_tensor(self, value: Any) -> Any:
        """Return a tensor without mask, with `value` where it hid elements."""
        return self.get_data().masked_fill(~self.get_mask(), value)

    def get_data(self) -> Any:
        """Return the data; gradients flow through it."""
        return GetData.apply(self)

    def get_mask(self) -> Any:
        """Return the mask."""
        return self._masked_mask

    def is_sparse_coo(self) -> bool:
        """Return whether data and mask have the layout `torch.sparse_coo`."""
        return self.layout is torch.sparse_coo

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Return whether data and mask have the layout `torch.sparse_csr`."""
        return self.layout is torch.sparse_csr

    is_sparse = property(
        lambda self: self.is_sparse_coo() or self.is_sparse_csr(), doc="Whether data and mask are sparse."
    )


class Constructor(Function):
    """A tensor of data and a mask, whose gradient is that of the data."""

    @staticmethod
    def forward(ctx: Any, data: Any, mask: Any) -> Any:
        return MaskedTensor(data, mask)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output, None


class GetData(Function):
    """The data of a tensor, to which gradients return with its mask."""

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        ctx.mask = tensor.get_mask()
        return tensor._masked_data.detach()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output if is_masked_tensor(grad_output) else MaskedTensor(grad_output, ctx.mask)


adopt(globals())
