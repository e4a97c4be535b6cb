"""`torch.autograd.forward_ad`: dual numbers, one level of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from mindtorch_autograd import forward_mode
from mindtorch_autograd.mode import ModeContext
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import mode_set
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.tensor_base import TensorBase

from .._naming import adopt

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

_NO_LEVEL = "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns: the value without tangent, and the tangent or None.

    >>> import torch.autograd.forward_ad as forward
    >>> with forward.dual_level():
    ...     print(type(forward.unpack_dual(torch.ones(1))).__name__)
    UnpackedDualTensor
    """

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Open a level of dual numbers and return its number; RuntimeError when one is open.

    >>> import torch.autograd.forward_ad as forward
    >>> level = forward.enter_dual_level()
    >>> forward.exit_dual_level(level=level)
    """
    return forward_mode.enter_level()


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level; its tangents are gone.

    >>> import torch.autograd.forward_ad as forward
    >>> level = forward.enter_dual_level()
    >>> forward.exit_dual_level()
    """
    if level is None:
        level = len(forward_mode.levels) - 1
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    forward_mode.exit_level(level)


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """Return a view of `tensor` that carries `tangent`; torch's errors for other dtypes, sizes and for no open level.

    >>> import torch.autograd.forward_ad as forward
    >>> with forward.dual_level():
    ...     x = forward.make_dual(torch.tensor(3.0), torch.tensor(1.0))
    ...     print(forward.unpack_dual(x * x).tangent)
    tensor(6.)
    """
    if not forward_mode.levels:
        raise RuntimeError(_NO_LEVEL)
    for name, one in (("primal", tensor), ("tangent", tangent)):
        if not (one.is_floating_point() or one.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {one.dtype}")
    if forward_mode.tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level "
            f"{forward_mode.levels[-1].number} is not supported."
        )
    forward_mode.check_tangent(tensor, tangent)
    with mode_set(forward_ad=False):
        dual = aten.alias(tensor)
        if not _same_geometry(tensor, tangent):
            tangent = aten._new_zeros_with_same_feature_meta(tangent, tensor).copy_(tangent)
        forward_mode.attach(dual, tangent)
    return dual


def _same_geometry(one: Tensor, other: Tensor) -> bool:
    """Return whether every view of `one` has its counterpart among those of `other`."""
    if not one.numel():
        return True
    if not bool(aten._has_same_storage_numel(one, other)) or one._offset != other._offset:
        return False
    steps = zip(one.shape, one.stride(), other.stride(), strict=True)
    return all(extent <= 1 or step == other_step for extent, step, other_step in steps)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the value and the tangent of a dual tensor; a tensor without tangent, or outside of a level, gives None.

    >>> import torch.autograd.forward_ad as forward
    >>> with forward.dual_level():
    ...     print(forward.unpack_dual(torch.tensor(3.0)).tangent)
    None
    """
    if not forward_mode.levels:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}")
    with mode_set(forward_ad=False):
        primal = aten.alias(tensor)
    return UnpackedDualTensor(primal, forward_mode.tangent_of(tensor))


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return len(forward_mode.levels) - 1
    raise AttributeError(f"module 'torch.autograd.forward_ad' has no attribute {name!r}")


class dual_level:
    """In the block, a level of dual numbers is open.

    >>> import torch.autograd.forward_ad as forward
    >>> with forward.dual_level():
    ...     x = forward.make_dual(torch.tensor(3.0), torch.tensor(1.0))
    ...     print(forward.unpack_dual(x * x).tangent)
    tensor(6.)
    """

    def __enter__(self) -> int:
        self._level = enter_dual_level()
        return self._level

    def __exit__(self, *exc_info: object) -> None:
        exit_dual_level(level=self._level)


_is_fwd_grad_enabled = forward_mode.is_enabled


class _set_fwd_grad_enabled(ModeContext):
    """Switch the propagation of tangents on or off at once; back at the end of a `with` block."""

    def __init__(self, mode: bool) -> None:
        self.prev = _is_fwd_grad_enabled()
        forward_mode.set_enabled(mode)

    def __enter__(self) -> None:
        """The switch was made by the constructor."""

    def __exit__(self, *exc_info: object) -> None:
        forward_mode.set_enabled(self.prev)


adopt(globals())
