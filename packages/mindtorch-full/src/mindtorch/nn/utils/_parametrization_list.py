"""The chain of parametrizations of one tensor; public through ``nn.utils.parametrize``."""

from collections.abc import Sequence
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn.modules.container import ModuleList
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter


def _register_parameter_or_buffer(module: Module, name: str, value: Tensor) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _set(target: Tensor, source: Tensor) -> None:
    """Make ``target`` the same data as ``source``."""
    if target.shape == source.shape and target.stride() == source.stride():
        target.data = source.detach()
    else:
        target.set_(source)


class ParametrizationList(ModuleList):
    """Parametrizations applied one after the other, and what the first is applied to.

    That is ``original``, or ``original0``, ``original1``, ... where ``right_inverse`` returns several tensors.

    >>> import torch.nn.utils.parametrize as parametrize
    >>> class Positive(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.abs()
    >>> layer = parametrize.register_parametrization(torch.nn.Linear(1, 1), "weight", Positive())
    >>> type(layer.parametrizations.weight).__name__, len(layer.parametrizations.weight)
    ('ParametrizationList', 1)
    >>> layer.parametrizations.weight.original.shape
    torch.Size([1, 1])
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with mindtorch.no_grad():
            new: Any = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        continue  # as one without an inverse: the original stays as it is
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            self._keep_one(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            self._check_result(shape, dtype)

    def _keep_one(self, original: Tensor, new: Tensor) -> None:
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        if original.device != new.device:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the device.\n"
                f"original.device: {original.device}\nright_inverse(original).device: {new.device}"
            )
        # The parameter keeps its identity: an optimizer may know it already.
        with mindtorch.no_grad():
            if new is not original:
                _set(original, new)
        _register_parameter_or_buffer(self, "original", original)

    def _keep_several(self, original: Tensor, new: Sequence[Tensor]) -> None:
        for i, each in enumerate(new):
            if not isinstance(each, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                    f"{i} of the sequence with type {type(each).__name__}."
                )
            if isinstance(original, Parameter):
                each = Parameter(each, original.requires_grad)
            each.requires_grad_(original.requires_grad)
            _register_parameter_or_buffer(self, f"original{i}", each)

    def _check_result(self, shape: Any, dtype: Any) -> None:
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for what, expected in (("dtype", dtype), ("shape", shape)):
            if getattr(result, what) != expected:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {expected}\nparametrized {what}: {getattr(result, what)}"
                )

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the chain computes ``value``; every parametrization must have an inverse."""
        with mindtorch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                if value.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                        f"{self.original.dtype}"
                    )
                _set(self.original, value)
            else:
                self._set_several(value)

    def _set_several(self, value: Any) -> None:
        if not isinstance(value, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
        if len(value) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return a sequence of tensors of length "
                f"{self.ntensors}. Got a sequence of length {len(value)}."
            )
        for i, tensor in enumerate(value):
            original = getattr(self, f"original{i}")
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    f"`right_inverse` must return a sequence of tensors. Got element {i} of type "
                    f"{type(tensor).__name__}"
                )
            if original.dtype != tensor.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {tensor.dtype} while `original{i}` has dtype "
                    f"{original.dtype}"
                )
            _set(original, tensor)

    def forward(self) -> Tensor:
        """Return the parametrized tensor."""
        first, *rest = self
        if self.is_tensor:
            x = first(self.original)
        else:
            x = first(*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        for module in rest:
            x = module(x)
        return x
