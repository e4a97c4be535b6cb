"""Changing every parameter and buffer of a module: device, dtype, gradients, sharing."""

import warnings
from collections.abc import Callable
from typing import Any, Self

import mindtorch
from mindtorch import __future__ as future
from mindtorch._C._nn import _parse_to
from mindtorch._tensor import Tensor
from mindtorch.nn._gradients import reset_gradient
from mindtorch.nn.parameter import Parameter


class _ConvertMixin:
    """``apply``, ``to`` and its short forms, ``zero_grad``, ``requires_grad_``, ``share_memory``."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Replace every parameter, gradient and buffer ``t`` by ``fn(t)``."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is not None:
                _apply_to_parameter(self, name, param, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def apply(self, fn: Callable[[Any], None]) -> Self:
        """Call ``fn`` on every descendant, children first, then on this module; return the module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def cuda(self, device: Any = None) -> Self:
        """Move all parameters and buffers to the GPU."""
        return self._apply(lambda t: t.cuda(device))

    def ipu(self, device: Any = None) -> Any:
        """Move all parameters and buffers to the IPU."""
        return self._apply(lambda t: t.ipu(device))

    def xpu(self, device: Any = None) -> Any:
        """Move all parameters and buffers to the XPU."""
        return self._apply(lambda t: t.xpu(device))

    def mtia(self, device: Any = None) -> Any:
        """Move all parameters and buffers to the MTIA."""
        return self._apply(lambda t: t.mtia(device))

    def npu(self, device: Any = None) -> Any:
        """Move all parameters and buffers to the NPU."""
        return self._apply(lambda t: t.npu(device))

    def cpu(self) -> Self:
        """Move all parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type: Any) -> Self:
        """Cast all parameters and buffers to ``dst_type``."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Cast floating point parameters and buffers to float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Cast floating point parameters and buffers to float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Cast floating point parameters and buffers to float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Self:
        """Cast floating point parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move to ``device`` without copying: the new storage is uninitialized."""
        return self._apply(lambda t: mindtorch.empty_like(t, device=device), recurse=recurse)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move and cast: ``to(device, dtype, non_blocking)``, ``to(dtype)``, ``to(tensor)``, ``memory_format=``.

        Only floating point and complex entries are cast. Returns the module.
        """
        device, dtype, non_blocking, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(
                    "Complex modules are a new feature under active development whose design may change, and some "
                    "modules might not work as expected when using complex tensors as parameters or buffers. Please "
                    "file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a "
                    "complex module does not work as expected.",
                    stacklevel=2,
                )

        def convert(t: Tensor) -> Tensor:
            target = dtype if t.is_floating_point() or t.is_complex() else None
            try:
                if memory_format is not None and t.dim() in (4, 5):
                    return t.to(device, target, non_blocking, memory_format=memory_format)
                return t.to(device, target, non_blocking)
            except NotImplementedError as error:
                if str(error) != "Cannot copy out of meta tensor; no data!":
                    raise
                raise NotImplementedError(
                    f"{error} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving "
                    "module from meta to a different device."
                ) from None

        return self._apply(convert)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set ``requires_grad`` of every parameter; return the module."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters, to None or (``set_to_none=False``) to zeros."""
        if getattr(self, "_is_replica", False):
            warnings.warn(
                "Calling .zero_grad() from a module created with nn.DataParallel() has no effect. The parameters are "
                "copied (in a differentiable manner) from the original module. This means they are not leaf nodes in "
                "autograd and so don't accumulate gradients. If you need gradients in your forward method, consider "
                "using autograd.grad instead.",
                stacklevel=2,
            )
        for param in self.parameters():
            reset_gradient(param, set_to_none)

    def share_memory(self) -> Self:
        """Move all parameters and buffers to shared memory; return the module."""
        return self._apply(lambda t: t.share_memory_())


def _apply_to_parameter(module: Any, name: str, param: Parameter, fn: Callable[[Tensor], Tensor]) -> None:
    with mindtorch.no_grad():
        applied = fn(param)
    grad = param.grad
    target = _replace_parameter(module, name, param, applied)
    if grad is None:
        return
    with mindtorch.no_grad():
        grad_applied = fn(grad)
    if target.grad is grad and _keeps_identity(grad, grad_applied):
        grad.data = grad_applied
    else:
        if not grad.is_leaf:
            raise AssertionError("param_grad must be a leaf tensor")
        target.grad = grad_applied.requires_grad_(grad.requires_grad)


def _replace_parameter(module: Any, name: str, param: Parameter, applied: Tensor) -> Parameter:
    """Give the parameter the new data, in place where that is possible; return the parameter now registered.

    A tensor that consists of others has no data of its own to be given: it changes places.
    """
    if future.get_swap_module_params_on_conversion() or hasattr(applied, "__tensor_flatten__"):
        new = Parameter(applied, requires_grad=param.requires_grad)
        if param.grad is not None:
            param.grad = None
        mindtorch.utils.swap_tensors(param, new)
        return param
    if _keeps_identity(param, applied):
        param.data = applied
        return param
    if not param.is_leaf:
        raise AssertionError("param must be a leaf tensor")
    new = Parameter(applied, requires_grad=param.requires_grad)
    module._parameters[name] = new
    return new


def _keeps_identity(old: Tensor, new: Tensor) -> bool:
    """Whether ``old.data = new`` is possible: tensors with and without data cannot take each other's place."""
    return old.is_meta == new.is_meta and not future.get_overwrite_module_params_on_conversion()
