"""The autograd face of `Tensor`: requires_grad, grad, grad_fn, hooks, backward."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from typing import Any, Self

from mindtorch_autograd.backward import backward
from mindtorch_autograd.hooks import RemovableHandle, add_hook
from mindtorch_autograd.node import hooks_of, meta_of
from mindtorch_autograd.views import grad_fn, set_requires_grad
from mindtorch_dispatch.arguments.messages import type_name
from mindtorch_dispatch.frames import frames_to_caller
from mindtorch_dispatch.interface.batching import hooks as batching
from mindtorch_dispatch.meta.checks import c_type
from mindtorch_dispatch.state import state
from mindtorch_storage.dtype import dtype
from mindtorch_storage.tensor_base import TensorBase

_NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
    "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
    ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf "
    "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)


_TRANSFORMED = (
    "You are attempting to call Tensor.{}() {}inside of a function being transformed by a functorch transform. This is "
    "unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call {}() "
    "outside of a function being transformed instead."
)

_numbers = count(1)
"""What `_cdata` gives: an address would be another tensor's as soon as this one is gone."""


def _differentiable(kind: dtype) -> bool:
    return kind.is_floating_point or kind.is_complex


def _check_grad(have: Any, want: Any) -> None:
    """Raise torch's errors for a tensor that cannot be the gradient of another one."""
    if have.dtype is not want.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{c_type(have.dtype)}' to a tensor with grad_dtype "
            f"'{want.dtype.scalar_name}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). "
            "You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype "
            "with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they "
            "match."
        )
    if have.device.type != want.device.type:
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{have.device.type}' to a tensor with device type "
            f"'{want.device.type}'. Please ensure that the gradient and the tensor are on the same device"
        )
    if have.shape != want.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(have.shape)}' to a tensor of size '{list(want.shape)}'. Please "
            "ensure that the gradient and the tensor are the same size"
        )


class AutogradMixin(TensorBase):
    """Autograd state of a tensor."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are computed for this tensor."""
        return self._sig.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if value and not _differentiable(self._sig.spec.dtype):
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Turn recording on or off for this leaf and return it; torch's errors for non-leaves and integral dtypes.

        >>> torch.ones(2).requires_grad_()
        tensor([1., 1.], requires_grad=True)
        """
        if type(requires_grad) is not bool:
            raise TypeError(
                f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {type_name(requires_grad)}"
            )
        if requires_grad and self._sig.inference and not state.mode.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if state.transforms:
            also = "(or perhaps using torch.autograd.functional.* APIs) "
            raise RuntimeError(_TRANSFORMED.format("requires_grad_", also, "requires_grad_"))
        if requires_grad == self._sig.requires_grad:
            return self
        spec = self._sig.spec
        if grad_fn(self) is not None:
            suffix = (
                ""
                if requires_grad
                else " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
            raise RuntimeError("you can only change requires_grad flags of leaf variables." + suffix)
        if requires_grad and not _differentiable(spec.dtype):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if self._view is not None:
            self._view.leaf = requires_grad
            if self._view.base._sig.requires_grad and not requires_grad:
                return self  # a view requires grad for as long as its base does
        set_requires_grad(self, requires_grad)
        return self

    @property
    def grad(self) -> Any:
        """The accumulated gradient, or None."""
        meta = self._meta
        grad = None if meta is None else meta.grad
        if grad is None and self._grad_fn is not None and not (meta is not None and meta.retains_grad):
            warnings.warn(_NON_LEAF_GRAD, UserWarning, stacklevel=frames_to_caller())
        return grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is None:
            if self._meta is not None:
                self._meta.grad = None
            return
        if not isinstance(value, TensorBase):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
            )
        have, want = value._sig.spec, self._sig.spec
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        _check_grad(have, want)
        meta_of(self).grad = value

    @grad.deleter
    def grad(self) -> None:
        if self._meta is not None:
            self._meta.grad = None

    @property
    def _grad(self) -> Any:
        return self.grad

    @_grad.setter
    def _grad(self, value: Any) -> None:
        meta_of(self).grad = value

    @property
    def grad_fn(self) -> Any:
        """The node that made this tensor; None on leaves."""
        return grad_fn(self)

    @property
    def is_leaf(self) -> bool:
        """True for tensors that no recorded op made."""
        return not self._sig.requires_grad or grad_fn(self) is None

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` this tensor is."""
        return self._output_nr

    @property
    def _version(self) -> int:
        if self._sig.inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._counter[0]

    @property
    def _cdata(self) -> int:
        """A number that no other tensor has or had; `swap_tensors` moves it."""
        meta = meta_of(self)
        if meta.number is None:
            meta.number = next(_numbers)
        return meta.number

    @property
    def _post_accumulate_grad_hooks(self) -> Any:
        return None if self._meta is None else self._meta.post_accumulate_hooks

    @_post_accumulate_grad_hooks.setter
    def _post_accumulate_grad_hooks(self, hooks: OrderedDict[int, Callable[[TensorBase], None]] | None) -> None:
        meta_of(self).post_accumulate_hooks = hooks

    @property
    def grad_dtype(self) -> Any:
        """The dtype of the gradient that this leaf accumulates: its own."""
        if grad_fn(self) is not None:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        return self._sig.spec.dtype

    @grad_dtype.setter
    def grad_dtype(self, value: object) -> None:
        if grad_fn(self) is not None:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if value is not None and not isinstance(value, dtype):
            raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
        if value is not self._sig.spec.dtype:
            raise NotImplementedError(
                f"grad_dtype: gradients of another dtype than that of the tensor, {self._sig.spec.dtype}, are not offered"
            )

    @property
    def _base(self) -> Any:
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    def is_inference(self) -> bool:
        """True for tensors made in inference mode.

        >>> torch.ones(1).is_inference()
        False
        """
        return self._sig.inference

    def detach_(self) -> Self:
        """Cut this tensor from the graph, in place.

        >>> (torch.ones(2, requires_grad=True) * 2).detach_().requires_grad
        False
        """
        if self._view is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
                "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
                "detach_() cannot be called on these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
            )
        if self._sig.inference:
            return self  # which autograd does not see
        self._grad_fn = None
        self._output_nr = 0
        self._sig = self._sig.requiring(False)
        if self._meta is not None:
            self._meta.tangents = None
        return self

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the gradients of this tensor to the `.grad` of the leaves it depends on.

        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    @property
    def _backward_hooks(self) -> Any:
        return None if self._meta is None else self._meta.hooks

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: Any) -> None:
        if hooks is not None or self._meta is not None:
            meta_of(self).hooks = hooks

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call `hook(grad)` whenever this tensor's gradient is computed; what it returns replaces the gradient.

        >>> x = torch.tensor(1.0, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 2)
        >>> (3 * x).backward()
        >>> x.grad
        tensor(6.)
        """
        if not self._sig.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        meta = meta_of(self)
        if meta.hooks is None:
            node = grad_fn(self)  # a new one for a view whose base was written, which takes the hooks away
            meta.hooks = OrderedDict()
            if node is not None:
                hooks_of(node).tensor.append((self._output_nr, meta.hooks))
        return add_hook(meta.hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> RemovableHandle:
        """Call `hook(self)` after a gradient was accumulated into this leaf.

        >>> x = torch.tensor(1.0, requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda tensor: print("gradient", tensor.grad))
        >>> (3 * x).backward()
        gradient tensor(3.)
        """
        if not self._sig.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if grad_fn(self) is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        meta = meta_of(self)
        if meta.post_accumulate_hooks is None:
            meta.post_accumulate_hooks = OrderedDict()
        return add_hook(meta.post_accumulate_hooks, hook)

    def retain_grad(self) -> None:
        """Let `.grad` of this non-leaf be populated too.

        >>> x = torch.ones(1, requires_grad=True)
        >>> y = x * 2
        >>> y.retain_grad()
        >>> (y * 3).backward()
        >>> y.grad
        tensor([3.])
        """
        if not self._sig.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if state.transforms:
            raise RuntimeError(_TRANSFORMED.format("retain_grad", "", "retain_grad"))
        node = grad_fn(self)
        if node is None or (self._meta is not None and self._meta.retains_grad):
            return
        meta_of(self).retains_grad = True
        reference = weakref.ref(self)

        def keep(gradient: Any) -> None:
            tensor = reference()
            if tensor is not None:
                meta = meta_of(tensor)
                held = meta.grad
                meta.grad = gradient.clone() if held is None or batching.escaped(held) else held + gradient

        hooks_of(node).retain[self._output_nr] = keep

    @property
    def retains_grad(self) -> bool:
        """True when `.grad` of this non-leaf is populated."""
        return self._meta is not None and self._meta.retains_grad and grad_fn(self) is not None
