"""Methods of `Tensor` that call Python for every element, compare tensors as objects, or stem from older versions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

from mindtorch.functions import removed
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.frames import frames_to_caller
from mindtorch_storage.tensor_base import TensorBase, math_bits


def _values_of(name: str, *tensors: Any) -> Iterator[Any]:
    for tensor in tensors:
        if tensor.requires_grad:
            raise RuntimeError(
                f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
            )
    return zip(*[aten.reshape(tensor, [-1]).tolist() for tensor in tensors], strict=True)


def _checked(name: str, self: Any, others: dict[str, Any]) -> list[Any]:
    expanded = []
    for place, (argument, other) in enumerate(others.items(), 1):
        if not isinstance(other, TensorBase):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {place}) must be Tensor, not {type(other).__name__}"
            )
        if other.dtype is not self.dtype:
            raise TypeError(f"{name}: expected {_type_name(self)} for '{argument}' (got {_type_name(other)})")
        expanded.append(aten.expand(other, list(self.shape)))
    return expanded


def _type_name(tensor: Any) -> str:
    return f"torch.{tensor.dtype.scalar_name}Tensor"


def _number(self: Any, value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex)):
        return value if self.dtype.is_floating_point or self.dtype.is_complex else int(value)  # type: ignore[arg-type]
    raise TypeError(f"must be real number, not {type(value).__name__}")


class MappingMixin(TensorBase):
    """`apply_`, `map_` and methods of older versions."""

    __slots__ = ()

    @property
    def volatile(self) -> bool:
        """Always False: `torch.no_grad()` took its place."""
        warnings.warn(
            "volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=frames_to_caller()
        )
        return False

    @volatile.setter
    def volatile(self, value: object) -> None:
        warnings.warn(
            "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
            UserWarning,
            stacklevel=frames_to_caller(),
        )

    def _filled_by(self: Any, name: str, function: Callable[..., Any], *others: Any) -> Any:
        if self.device.type == "meta":
            return self
        found = [_number(self, function(*values)) for values in _values_of(name, self, *others)]
        with_values = aten.scalar_tensor(0, dtype=self.dtype).new_tensor(found)
        return self.copy_(aten.reshape(with_values, list(self.shape)))

    def apply_(self: Any, callable: Callable[[Any], Any]) -> Any:
        """Replace every element by what the function returns for it. Slow; CPU tensors only.

        >>> torch.tensor([1.0, 2.0]).apply_(lambda value: value + 1)
        tensor([2., 3.])
        """
        return self._filled_by("apply_", callable)

    def map_(self: Any, other: Any, callable: Callable[[Any, Any], Any]) -> Any:
        """Replace every element by what the function returns for it and the one of `other`, which may broadcast.

        >>> torch.tensor([1.0, 2.0]).map_(torch.tensor([3.0, 4.0]), lambda a, b: a * b)
        tensor([3., 8.])
        """
        return self._filled_by("map_", callable, *_checked("map_", self, {"other": other}))

    def map2_(self: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
        """As `map_` with two other tensors.

        >>> torch.tensor([1.0]).map2_(torch.tensor([3.0]), torch.tensor([4.0]), lambda a, b, c: a + b + c)
        tensor([8.])
        """
        return self._filled_by("map2_", callable, *_checked("map2_", self, {"x": x, "y": y}))

    def is_same_size(self: Any, other: Any) -> bool:
        """Return whether both have the same shape.

        >>> torch.ones(2).is_same_size(torch.zeros(2))
        True
        """
        if other.is_nested:
            raise RuntimeError(
                "Expected both self and other to be nested tensors. Self is not nested. While Other is nested."
            )
        same: bool = self.shape == other.shape
        return same

    def is_set_to(self: Any, tensor: Any) -> bool:
        """Return whether both are the same elements of one storage in the same geometry.

        >>> x = torch.ones(4)
        >>> x.view(4).is_set_to(x)
        True
        """
        same: bool = (
            self._sig.spec.same_geometry(tensor._sig.spec)
            and math_bits(self) is math_bits(tensor)
            and (self._offset == tensor._offset and self.untyped_storage()._cdata == tensor.untyped_storage()._cdata)
        )
        return same

    def is_distributed(self) -> bool:
        """False: no tensor is spread over processes.

        >>> torch.ones(1).is_distributed()
        False
        """
        return False

    def const_data_ptr(self: Any) -> int:
        """Return `data_ptr()`.

        >>> x = torch.ones(2)
        >>> x.const_data_ptr() == x.data_ptr()
        True
        """
        address: int = self.data_ptr()
        return address

    def resize(self: Any, *sizes: Any) -> Any:
        """Return the elements in another shape; `reshape` took its place.

        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> torch.arange(4).resize(2, 2)
        tensor([[0, 1],
                [2, 3]])
        """
        warnings.warn("non-inplace resize is deprecated", UserWarning, stacklevel=frames_to_caller())
        return aten.view(
            self.contiguous(), list(sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)
        )

    def resize_as(self: Any, tensor: Any) -> Any:
        """Return the elements in the shape of another tensor; `reshape` took its place.

        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> torch.arange(4).resize_as(torch.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
        """
        warnings.warn("non-inplace resize_as is deprecated", UserWarning, stacklevel=frames_to_caller())
        return aten.view(self.contiguous(), list(tensor.shape))

    def module_load(self: Any, other: Any, assign: bool = False) -> Any:
        """Return what `Module.load_state_dict` puts in this tensor's place, for subclasses to override.

        >>> x = torch.zeros(2)
        >>> x.module_load(torch.ones(2))
        tensor([1., 1.])
        """
        return other.detach() if assign else self.copy_(other).detach()

    def __reversed__(self: Any) -> Any:
        return self if self.dim() == 0 else self.flip(0)

    def __delitem__(self, index: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    def __idiv__(self: Any, other: Any) -> Any:
        return self.div_(other)

    def __nonzero__(self: Any) -> bool:
        return bool(self)

    def ndimension(self: Any) -> int:
        """Return the number of dimensions.

        >>> torch.ones(2, 3).ndimension()
        2
        """
        return self._sig.spec.ndim

    def nelement(self: Any) -> int:
        """Return the number of elements.

        >>> torch.ones(2, 3).nelement()
        6
        """
        return self._sig.spec.numel

    def _clear_non_serializable_cached_data(self: object) -> None:
        """Drop what a subclass keeps in its attributes and cannot be pickled; a tensor itself keeps nothing there."""

    def __long__(self: Any) -> int:
        return int(self)

    def solve(self: Any, other: Any) -> Any:
        """Raise RuntimeError: use `torch.linalg.solve`."""
        return removed.solve(self, other)

    def eig(self: Any, eigenvectors: bool = False) -> Any:
        """Raise RuntimeError: use `torch.linalg.eig`."""
        return removed.eig(self, eigenvectors)

    def symeig(self: Any, eigenvectors: bool = False) -> Any:
        """Raise RuntimeError: use `torch.linalg.eigh`."""
        return removed.symeig(self, eigenvectors)

    def lstsq(self: Any, other: Any) -> Any:
        """Raise RuntimeError: use `torch.linalg.lstsq`."""
        return removed.lstsq(self, other)

    reinforce = removed.reinforce
