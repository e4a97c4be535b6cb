"""What pruning methods share: a hook that multiplies a parameter by a mask before each call of its module."""

import abc
import numbers
from collections.abc import Iterable, Iterator
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter


class BasePruningMethod(abc.ABC):
    """A rule that chooses which entries of a parameter stay; as a forward pre-hook it applies the mask.

    The parameter ``name`` becomes ``name_orig``, and the module gets the buffer ``name_mask``. A subclass has
    ``PRUNING_TYPE`` ("unstructured", "structured" or "global") and :meth:`compute_mask`.
    """

    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        """Set the pruned tensor on ``module``, computed anew from the parameter and the mask."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abc.abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask for importances ``t``: zeros for what goes, besides the zeros of ``default_mask``."""

    def apply_mask(self, module: Module) -> Tensor:
        """Return the parameter times its mask. Raises AssertionError if the module is not pruned."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> "BasePruningMethod":
        """Prune the parameter ``name`` of ``module`` and return the hook; earlier prunings stay in effect."""
        method, pruned_before = _with_earlier(cls(*args, **kwargs), module, name)
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{importance_scores.shape} vs {original.shape}"
            )
        if pruned_before:
            default_mask = getattr(module, name + "_mask").detach().clone(memory_format=mindtorch.contiguous_format)
        else:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default_mask = mindtorch.ones_like(original)
        try:
            mask = method.compute_mask(importance_scores, default_mask=default_mask)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not pruned_before:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """Return ``t`` with zeros where the rule puts them; ``importance_scores`` decide in place of ``t``."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {importance_scores.shape} vs {t.shape}"
            )
        if default_mask is None:
            default_mask = mindtorch.ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module: Module) -> None:
        """Make the pruned values the parameter's own; the mask and the original go."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        values = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original: Parameter = module._parameters[name + "_orig"]
        original.data = values.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _with_earlier(method: BasePruningMethod, module: Module, name: str) -> tuple[BasePruningMethod, bool]:
    """Return ``method``, in a container behind the pruning that ``name`` has already, and whether it has one.

    The hook of the earlier pruning is taken off the module.
    """
    method._tensor_name = name
    hooks = {
        key: hook
        for key, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    }
    if len(hooks) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer."
        )
    if not hooks:
        return method, False
    [(key, earlier)] = hooks.items()
    del module._forward_pre_hooks[key]
    container = earlier if isinstance(earlier, PruningContainer) else PruningContainer(earlier)
    container.add_pruning_method(method)
    return container, True


class PruningContainer(BasePruningMethod):
    """Pruning methods of one tensor, applied one after the other."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if isinstance(args[0] if len(args) == 1 else None, Iterable):
            args = tuple(args[0])
        for method in args:
            if not self._pruning_methods:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method of the same tensor. Raises TypeError for other objects, ValueError for another tensor."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of the newest method within what the earlier ones left, and theirs."""
        method: Any = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            kept: Any = mask == 1
        elif kind == "structured":
            kept = _kept_channels(mask, method)
        elif kind == "global":
            kept = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        combined = mask.clone()
        combined[kept] = method.compute_mask(t[kept], default_mask=mask[kept]).to(combined.dtype)
        return combined


def _kept_channels(mask: Tensor, method: Any) -> tuple[Any, ...]:
    """Return the index of the channels of the method's dimension that are not zero everywhere."""
    if not hasattr(method, "dim"):
        raise AttributeError(
            f"Pruning methods of PRUNING_TYPE 'structured' need to have the attribute `dim` defined. {method} has none."
        )
    dim = method.dim + mask.dim() if method.dim < 0 else method.dim
    present = mask.sum(dim=[d for d in range(mask.dim()) if d != dim]) != 0
    return (*(slice(None),) * dim, present)


def _validate_pruning_amount_init(amount: Any) -> None:
    """Raise unless ``amount`` is a fraction (float of [0, 1]) or a number of entries (int)."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and int(amount) < 0) or (
        not isinstance(amount, numbers.Integral) and not 0 <= float(amount) <= 1
    ):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """Raise ValueError if a number of entries is more than there are."""
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _validate_structured_pruning(t: Tensor) -> None:
    """Raise ValueError if ``t`` has no channels."""
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.dim()} dims"
        )


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> Any:
    """Return the number of entries that ``amount`` means."""
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    """Raise IndexError if ``t`` has no dimension ``dim``."""
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    """Return the ``n``-norm of each channel of dimension ``dim``."""
    others = list(range(t.dim()))
    del others[dim]
    return mindtorch.norm(t, p=n, dim=others)
