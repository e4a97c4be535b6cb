"""Pruning: parameters with entries or channels that are kept at zero."""

from collections.abc import Iterable
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.modules.module import Module
from mindtorch.nn.utils._pre_hooks import undone
from mindtorch.nn.utils._pruning_base import (
    BasePruningMethod,
    PruningContainer,
    _compute_norm,
    _compute_nparams_toprune,
    _validate_pruning_amount,
    _validate_pruning_amount_init,
    _validate_pruning_dim,
    _validate_structured_pruning,
)


class Identity(BasePruningMethod):
    """Prunes nothing, but sets up the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return ``default_mask``."""
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> Any:  # type: ignore[override]
        """Prune ``name`` of ``module`` and return the hook."""
        return super().apply(module, name)


class _Amount(BasePruningMethod):
    """Prunes some fraction or number of entries."""

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        _validate_pruning_amount(self.amount, size)
        return _compute_nparams_toprune(self.amount, size)


class _Unstructured(_Amount):
    """Prunes single entries: those that come first by their scores."""

    PRUNING_TYPE = "unstructured"
    _largest: bool

    def _scores(self, t: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return ``default_mask`` with zeros where this method prunes."""
        count = self._count(t.nelement())
        mask = default_mask.clone(memory_format=mindtorch.contiguous_format)
        if count != 0:
            first = mindtorch.topk(self._scores(t).view(-1), k=count, largest=self._largest)
            mask.view(-1)[first.indices] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes entries at random."""

    _largest = True

    def _scores(self, t: Tensor) -> Tensor:
        return mindtorch.rand_like(t)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any) -> Any:  # type: ignore[override]
        """Prune ``name`` of ``module`` and return the hook."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Prunes the entries of the smallest absolute values."""

    _largest = False

    def _scores(self, t: Tensor) -> Tensor:
        return mindtorch.abs(t)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, importance_scores: Tensor | None = None) -> Any:  # type: ignore[override]
        """Prune ``name`` of ``module`` and return the hook."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _channel_mask(t: Tensor, dim: int, kept: Any) -> Tensor:
    """Return zeros as ``t`` with ones in the channels ``kept`` of ``dim``."""
    mask = mindtorch.zeros_like(t)
    index: list[Any] = [slice(None)] * t.dim()
    index[dim] = kept
    mask[tuple(index)] = 1
    return mask


class _Structured(_Amount):
    """Prunes channels of one dimension."""

    PRUNING_TYPE = "structured"
    dim: int

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return ``default_mask`` with zeros in the channels that are pruned."""
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        count = self._count(t.shape[self.dim])
        if count == 0:
            return default_mask
        return _channel_mask(t, self.dim, self._kept(t, count)) * default_mask.to(dtype=t.dtype)

    def _kept(self, t: Tensor, count: int) -> Tensor:
        """Return which channels of ``t`` stay, as a mask or as indices, where ``count`` are pruned."""
        raise NotImplementedError


class RandomStructured(_Structured):
    """Prunes channels at random."""

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _kept(self, t: Tensor, count: int) -> Tensor:
        chances = mindtorch.rand(t.shape[self.dim])
        return chances > mindtorch.kthvalue(chances, k=count).values

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, dim: int = -1) -> Any:  # type: ignore[override]
        """Prune ``name`` of ``module`` and return the hook."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the channels of the smallest norm."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def _kept(self, t: Tensor, count: int) -> Tensor:
        norms = _compute_norm(t, self.n, self.dim)
        return mindtorch.topk(norms, k=t.shape[self.dim] - count, largest=True).indices

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
    ) -> Any:
        """Prune ``name`` of ``module`` and return the hook."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask has zeros for."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return ``default_mask`` times the mask."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Any:  # type: ignore[override]
        """Prune ``name`` of ``module`` and return the hook."""
        return super().apply(module, name, mask=mask)


def identity(module: Module, name: str) -> Module:
    """Set up the mask of ``name`` without pruning; return ``module``."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Any) -> Module:
    """Prune random entries of ``name``; return ``module``."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: Any, importance_scores: Tensor | None = None) -> Module:
    """Prune the smallest entries of ``name``; return ``module``."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Any, dim: int) -> Module:
    """Prune random channels of ``name``; return ``module``."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the channels of ``name`` of the smallest ``n``-norm; return ``module``."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune the entries of ``name`` that ``mask`` has zeros for; return ``module``."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: dict[Any, Tensor] | None = None, **kwargs: Any
) -> None:
    """Prune ``parameters``, pairs of a module and a name, as if they were one tensor."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    values = [scores.get((module, name), getattr(module, name)) for module, name in parameters]
    masks = [getattr(module, name + "_mask", None) for module, name in parameters]
    known = [mindtorch.ones_like(v) if mask is None else mask for mask, v in zip(masks, values, strict=True)]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    joined = mindtorch.nn.utils.parameters_to_vector(values)
    mask = container.compute_mask(joined, mindtorch.nn.utils.parameters_to_vector(known))
    start = 0
    for module, name in parameters:
        shape = getattr(module, name)
        size = shape.numel()
        custom_from_mask(module, name, mask=mask[start : start + size].view_as(shape))
        start += size


def remove(module: Module, name: str) -> Module:
    """Make the pruned values of ``name`` its own and take the hook away; return ``module``."""
    if undone(module, lambda hook: isinstance(hook, BasePruningMethod) and hook._tensor_name == name):
        return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Return whether a submodule has a pruned parameter."""
    return any(
        isinstance(hook, BasePruningMethod) for sub in module.modules() for hook in sub._forward_pre_hooks.values()
    )


adopt(globals())
