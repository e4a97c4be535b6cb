"""Which class lets an optimizer step in a communication hook."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from mindtorch.distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks import (
    _hook_then_optimizer,
    _OptimizerHookState,
)
from mindtorch.distributed.optim import as_functional_optim
from mindtorch.optim import Optimizer
from mindtorch.tensor.tensor import Tensor

_registered_overlapped_optims: dict[type, type] = {}


def register_overlapped(optim_cls: type) -> Callable[[type], type]:
    """Return a decorator of the class that stands for an optimizer's class and its subclasses."""

    def decorator(target_overlapped_optim_cls: type) -> type:
        if target_overlapped_optim_cls in _registered_overlapped_optims:
            raise ValueError(
                f"{target_overlapped_optim_cls} already registered with optim_cls "
                f"{_registered_overlapped_optims[optim_cls]} {optim_cls}, trying to"
                f"re-register it for {optim_cls} is not supported."
            )
        _registered_overlapped_optims[optim_cls] = target_overlapped_optim_cls
        return target_overlapped_optim_cls

    return decorator


class OverlappedOptimizer(ABC):
    """Base of what registers an optimizer with a wrapper of modules."""

    def __init__(self, optim_cls: type) -> None:
        self.optim_cls = optim_cls

    @abstractmethod
    def register_ddp(self, ddp: Any) -> None:
        """Let the optimizer step in the reduction of data parallelism."""
        raise NotImplementedError(f"{self.__class__.__name__} does not support overlapped DDP.")

    @abstractmethod
    def register_fsdp(self, fsdp: Any) -> None:
        """Let the optimizer step in the reduction of sharded data parallelism."""
        raise NotImplementedError(f"{self.__class__.__name__} does not support overlapped FSDP.")


@register_overlapped(Optimizer)
class _OverlappedStandardOptimizer(OverlappedOptimizer):
    """Of optimizers with a functional form."""

    def __init__(self, optim_cls: type, params: Iterable[Tensor] | None, *optim_args: Any, **optim_kwargs: Any) -> None:
        super().__init__(optim_cls)
        functional = as_functional_optim(self.optim_cls, *optim_args, **optim_kwargs)
        self._opt_hook_state = _OptimizerHookState(functional, params)

    def register_ddp(self, ddp: Any) -> None:
        """Let the optimizer step once a bucket is averaged."""
        ddp.register_comm_hook(None, _hook_then_optimizer(allreduce_hook, self._opt_hook_state))

    def register_fsdp(self, fsdp: Any) -> None:
        """Raise: there is no such hook."""
        super().register_fsdp(fsdp)  # type: ignore[safe-super] # what it raises names this class


def _as_overlapped_optim(optim_cls: type, params: Iterable[Tensor] | None, *args: Any, **kwargs: Any) -> Any:
    """Return what registers an optimizer; that of the nearest of its classes which has one."""
    known = (_registered_overlapped_optims.get(base) for base in inspect.getmro(optim_cls))
    chosen = next((found for found in known if found is not None), _OverlappedStandardOptimizer)
    return chosen(optim_cls, params, *args, **kwargs)


adopt(globals())
