"""Tensors that wait for the collective that writes them when they are used."""

from __future__ import annotations

from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch.autograd import Function
from mindtorch.distributed import _finished_collectives as finished
from mindtorch.utils._python_dispatch import _get_current_dispatch_mode_stack
from mindtorch.utils._pytree import tree_map_only
from mindtorch_autograd.function import recorder
from mindtorch_dispatch.extend.overloads import OpOverload


def _is_view_op(tgt: Any) -> bool:
    """Whether an operator returns a view of its first argument."""
    if not isinstance(tgt, OpOverload):
        raise AssertionError(f"Expected torch._ops.OpOverload, got {type(tgt)}")
    arguments = tgt._schema.arguments
    first = arguments[0].alias_info if arguments else None
    return first is not None and not first.is_write


class AsyncCollectiveTensor(mindtorch.Tensor):
    """The result of a collective that may go on. Views of it wait as well; every other use waits first."""

    elem: mindtorch.Tensor
    completed: bool

    __slots__ = ["completed", "elem"]

    @staticmethod
    def __new__(cls, elem: Any) -> Any:
        """A tensor around the one that a collective writes."""
        made = mindtorch.Tensor._make_wrapper_subclass(
            cls,
            elem.size(),
            strides=elem.stride(),
            storage_offset=elem.storage_offset(),
            dtype=elem.dtype,
            layout=elem.layout,
            device=elem.device,
            requires_grad=elem.requires_grad,
        )
        made.elem = elem
        made.completed = False
        return made

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["elem"], None

    @staticmethod
    def __tensor_unflatten__(inner_tensors: Any, meta: Any, outer_size: Any, outer_stride: Any) -> Any:
        if meta is not None:
            raise AssertionError("meta must be None for AsyncCollectiveTensor unflatten")
        return AsyncCollectiveTensor(inner_tensors["elem"])

    def __coerce_same_metadata_as_tangent__(self, expected_metadata: Any, expected_type: Any = None) -> Any:
        return self.trigger_wait() if expected_type is mindtorch.Tensor else None

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override] # torch asks nobody for it
        return f"AsyncCollectiveTensor({self.trigger_wait()})"

    def trigger_wait(self) -> Any:
        """The tensor, when it is written; later calls do not wait."""
        if self.completed:
            return self.elem
        result = wait_tensor(self.elem)
        self.completed = True
        return result

    def wait(self) -> Any:
        """The tensor, when it is written."""
        return wait_tensor(self.elem)

    def _get_acs_underlying_tensor(self) -> Any:
        return self.elem

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.trigger_wait()  # what is saved is written
        return super().__reduce_ex__(protocol)

    def tolist(self) -> Any:
        """The numbers, when they are written."""
        return self.trigger_wait().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """The numbers as an array, when they are written."""
        return self.wait().numpy(force=force)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        is_view = _is_view_op(func)

        def unwrap(tensor: Any) -> Any:
            return tensor.elem if is_view else tensor.trigger_wait()

        def wrap(tensor: Any) -> Any:
            if isinstance(tensor, AsyncCollectiveTensor):
                raise AssertionError("Cannot wrap an AsyncCollectiveTensor inside another AsyncCollectiveTensor")
            return AsyncCollectiveTensor(tensor)

        args, kwargs = tree_map_only(AsyncCollectiveTensor, unwrap, (args, kwargs or {}))
        result = func(*args, **kwargs)
        return tree_map_only(mindtorch.Tensor, wrap, result) if is_view else result


class _Wrapped(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        return AsyncCollectiveTensor(tensor)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


class _Waited(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        return tensor.trigger_wait().detach()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


def wait_tensor(tensor: Any) -> Any:
    """The tensor, when the collective that writes it is done."""
    if finished.is_seen():
        return mindtorch.ops._c10d_functional.wait_tensor(tensor)
    if isinstance(tensor, AsyncCollectiveTensor):
        return _Waited.apply(tensor) if tensor.requires_grad else tensor.trigger_wait()
    return finished.finish(tensor)


def _are_we_tracing() -> bool:
    """Whether a graph is made: its results wait at once."""
    if recorder.apply is not None:
        return True
    return any(getattr(mode, "_mode_key", None) is not None for mode in _get_current_dispatch_mode_stack())


def _maybe_wrap_tensor(self: Any) -> Any:
    """The tensor around a result, or the result itself, waited for, in a graph."""
    if _are_we_tracing():
        return mindtorch.ops._c10d_functional.wait_tensor(self)
    if self.is_meta:
        return self
    if finished.is_seen():
        return mindtorch.ops._c10d_functional._wrap_tensor_autograd(self)
    return _Wrapped.apply(self) if self.requires_grad else AsyncCollectiveTensor(self)


adopt(globals(), "torch.distributed._functional_collectives")
