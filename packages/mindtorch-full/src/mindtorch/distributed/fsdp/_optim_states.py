"""`FullyShardedDataParallel`'s functions for the states of optimizers."""

from __future__ import annotations

from typing import Any

from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch.distributed.fsdp import _state_dicts as forms
from mindtorch.distributed.fsdp.api import StateDictType
from mindtorch.optim import SGD
from mindtorch.optim.optimizer import Optimizer


class OptimStates:
    """States of optimizers: whole, in parts, and as an optimizer takes them."""

    @staticmethod
    def optim_state_dict(
        model: nn.Module, optim: Optimizer, optim_state_dict: dict[str, Any] | None = None, group: Any = None
    ) -> dict[str, Any]:
        """Return an optimizer's state by names of parameters, in the chosen form."""
        whole = forms.settings(StateDictType.FULL_STATE_DICT, None, None)
        return forms.optimizer_state(model, optim, forms.chosen(model) or whole)

    @staticmethod
    def optim_state_dict_to_load(
        model: nn.Module,
        optim: Optimizer,
        optim_state_dict: dict[str, Any],
        is_named_optimizer: bool = False,
        load_directly: bool = False,
        group: Any = None,
    ) -> dict[str, Any]:
        """Return what an optimizer's `load_state_dict` takes from a state by names."""
        result = forms.numbered(model, optim, optim_state_dict)
        if load_directly:
            optim.load_state_dict(result)
        return result

    @staticmethod
    def full_optim_state_dict(
        model: nn.Module, optim: Optimizer, optim_input: Any = None, rank0_only: bool = True, group: Any = None
    ) -> dict[str, Any]:
        """Return an optimizer's whole state by names."""
        config = forms.FullOptimStateDictConfig(rank0_only=rank0_only)
        return forms.optimizer_state(model, optim, forms.settings(StateDictType.FULL_STATE_DICT, None, config))

    @staticmethod
    def sharded_optim_state_dict(model: nn.Module, optim: Optimizer, group: Any = None) -> dict[str, Any]:
        """Return an optimizer's state by names, in parts."""
        return forms.optimizer_state(model, optim, forms.settings(StateDictType.SHARDED_STATE_DICT, None, None))

    @staticmethod
    def shard_full_optim_state_dict(
        full_optim_state_dict: dict[str, Any],
        model: nn.Module,
        optim_input: Any = None,
        optim: Optimizer | None = None,
    ) -> dict[str, Any]:
        """Return what an optimizer of this process's parts takes from a whole state by names."""
        return forms.numbered(model, optim or SGD(optim_input or model.parameters()), full_optim_state_dict)

    @staticmethod
    def scatter_full_optim_state_dict(
        full_optim_state_dict: dict[str, Any] | None,
        model: nn.Module,
        optim_input: Any = None,
        optim: Optimizer | None = None,
        group: Any = None,
    ) -> dict[str, Any]:
        """`shard_full_optim_state_dict` of a state that only rank 0 has."""
        sent = [full_optim_state_dict if dist.get_rank(group) == 0 else None]
        dist.broadcast_object_list(sent, group=group, group_src=0)
        return OptimStates.shard_full_optim_state_dict(sent[0] or {}, model, optim_input, optim)

    @staticmethod
    def flatten_sharded_optim_state_dict(
        sharded_optim_state_dict: dict[str, Any], model: nn.Module, optim: Optimizer
    ) -> dict[str, Any]:
        """Return what an optimizer's `load_state_dict` takes from a state by names, in parts."""
        return forms.numbered(model, optim, sharded_optim_state_dict)
