"""`FullyShardedDataParallel`: FSDP1's class, over the engine of `fully_shard`."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from enum import Enum
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.fsdp import _state_dicts as forms
from mindtorch.distributed.fsdp import _wrapping as wrapping
from mindtorch.distributed.fsdp._fully_shard._fsdp_api import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy
from mindtorch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPParamGroup
from mindtorch.distributed.fsdp._fully_shard._fully_shard import shard_modules
from mindtorch.distributed.fsdp._optim_states import OptimStates
from mindtorch.distributed.fsdp.api import *  # noqa: F403 - the same names are here in torch
from mindtorch.distributed.fsdp.api import (
    BackwardPrefetch,
    CPUOffload,
    MixedPrecision,
    OptimStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)
from mindtorch.distributed.fsdp.wrap import ModuleWrapPolicy, wrap_children
from mindtorch.distributed.tensor import DTensor
from mindtorch.distributed.utils import _sync_module_states
from mindtorch.optim.optimizer import Optimizer
from mindtorch.tensor.tensor import Tensor

__all__ = ["FullyShardedDataParallel", "OptimStateKeyType"]

_FREED = (ShardingStrategy.FULL_SHARD, ShardingStrategy.HYBRID_SHARD)


class OptimStateKeyType(Enum):
    """How an optimizer's state dict names parameters."""

    PARAM_NAME = 1
    PARAM_ID = 2


class FullyShardedDataParallel(OptimStates, nn.Module):
    """A module whose parameters are spread over processes, and whole only while it runs.

    Parameters keep their names and shapes (`use_orig_params=True`); each is a `DTensor`.

        model = FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({Layer}))
    """

    def __init__(
        self,
        module: nn.Module,
        process_group: Any = None,
        sharding_strategy: ShardingStrategy | None = None,
        cpu_offload: CPUOffload | None = None,
        auto_wrap_policy: Callable[..., bool] | ModuleWrapPolicy | None = None,
        backward_prefetch: BackwardPrefetch | None = BackwardPrefetch.BACKWARD_PRE,
        mixed_precision: MixedPrecision | None = None,
        ignored_modules: Iterable[nn.Module] | None = None,
        param_init_fn: Callable[[nn.Module], None] | None = None,
        device_id: int | torch.device | None = None,
        sync_module_states: bool = False,
        forward_prefetch: bool = False,
        limit_all_gathers: bool = True,
        use_orig_params: bool = False,
        ignored_states: Iterable[nn.Parameter] | Iterable[nn.Module] | None = None,
        device_mesh: DeviceMesh | None = None,
    ) -> None:
        super().__init__()
        ignored = wrapping.ignored_parameters(ignored_modules, ignored_states, FullyShardedDataParallel)
        named = torch.device(device_id) if device_id is not None else None
        device = named or _device(module)
        kind = "cpu" if device.type == "meta" else device.type
        process_group = wrapping.groups_of_copies(
            process_group, sharding_strategy, device_mesh, kind, wraps_children=auto_wrap_policy is not None
        )
        given = locals()
        own = ("process_group", "sharding_strategy", "cpu_offload", "backward_prefetch", "mixed_precision",
               "param_init_fn", "device_id", "sync_module_states", "forward_prefetch", "limit_all_gathers",
               "use_orig_params", "ignored_states", "ignored_modules")  # fmt: skip
        if auto_wrap_policy is not None:
            options = {**{name: given[name] for name in own}, "device_mesh": device_mesh}
            wrap_children(module, auto_wrap_policy, FullyShardedDataParallel, options)
        info, strategy = wrapping.holding(process_group, sharding_strategy, device_mesh, kind)
        wrapping.materialize(module, param_init_fn, named)
        wrapping.check_uniform(module, ignored, use_orig_params)
        if sync_module_states:
            wrapping.check_synced(module, named)
            _sync_module_states(module, info.shard_group, 250 << 20, 0, ())
        self.sharding_strategy, self.mixed_precision = strategy, mixed_precision or MixedPrecision()
        self.cpu_offload, self.backward_prefetch = cpu_offload or CPUOffload(), backward_prefetch
        self.process_group, self.rank, self.world_size = info.shard_group, info.shard_rank, info.shard_size
        self._use_orig_params = use_orig_params
        self._settings = forms.settings(StateDictType.FULL_STATE_DICT, None, None)
        self._fsdp_wrapped_module = module
        offload: OffloadPolicy = CPUOffloadPolicy() if self.cpu_offload.offload_params else OffloadPolicy()
        self._state = shard_modules(
            [module], info, strategy in _FREED, None, _policy(self.mixed_precision), offload, ignored
        )
        self._state.may_change_root = True
        self._buffer_dtypes: dict[str, torch.dtype] = {}
        self._cast_buffers()
        self._register_state_dict_hook(FullyShardedDataParallel._after_state_dict)
        self.register_state_dict_pre_hook(FullyShardedDataParallel._before_state_dict)
        self.register_load_state_dict_pre_hook(FullyShardedDataParallel._before_load)

    def _cast_buffers(self) -> None:
        dtype = self.mixed_precision.buffer_dtype
        if dtype is None:
            return
        inner = {id(part) for one in self.fsdp_modules(self._fsdp_wrapped_module) for part in one.modules()}
        for prefix, part in self._fsdp_wrapped_module.named_modules():
            if id(part) in inner:
                continue
            for name, buffer in part.named_buffers(recurse=False):
                if buffer.is_floating_point():
                    self._buffer_dtypes[f"{prefix}.{name}" if prefix else name] = buffer.dtype
                    buffer.data = buffer.data.to(dtype)

    @property
    def module(self) -> nn.Module:
        """The module that is wrapped."""
        return self._fsdp_wrapped_module

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of ours, or of the wrapped module."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._fsdp_wrapped_module, name)

    def __getitem__(self, key: int) -> Any:
        """Return an element of the wrapped module."""
        return self._fsdp_wrapped_module[key]  # type: ignore[index] # a container, or the error is its

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the wrapped module."""
        return self._fsdp_wrapped_module(*args, **kwargs)

    @property
    def _is_root(self) -> bool | None:
        """Whether this is the outermost one; None before it is known."""
        return self._state.is_root

    @property
    def compute_device(self) -> torch.device:
        """Where it runs."""
        return self._state.device

    def check_is_root(self) -> bool:
        """Return whether this is the outermost one."""
        self._state.lazy_init()
        return bool(self._state.is_root)

    @staticmethod
    def fsdp_modules(module: nn.Module, root_only: bool = False) -> list[FullyShardedDataParallel]:
        """Return those in a module, or the outermost of them."""
        found = [part for part in module.modules() if isinstance(part, FullyShardedDataParallel)]
        if not root_only:
            return found
        inner = {id(part) for one in found for part in one.modules() if part is not one}
        return [one for one in found if id(one) not in inner]

    def _groups(self) -> Iterator[FSDPParamGroup]:
        for one in self.fsdp_modules(self):
            if one._state.group is not None:
                yield one._state.group

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        for group in self._groups():
            group.reshard()
        result = super()._apply(fn, recurse)
        with torch.no_grad():
            for group in self._groups():
                for param in group.fsdp_params:
                    param.reset_sharded_param()
        return result

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, nn.Parameter]]:
        """Yield parameters; within `summon_full_params` their names are the unwrapped module's."""
        plain = getattr(self, "_summoned", False)
        for name, param in super().named_parameters(*args, **kwargs):
            yield (name.replace(forms.PREFIX, "") if plain else name), param

    def named_buffers(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Tensor]]:
        """Yield buffers; within `summon_full_params` their names are the unwrapped module's."""
        plain = getattr(self, "_summoned", False)
        for name, buffer in super().named_buffers(*args, **kwargs):
            yield (name.replace(forms.PREFIX, "") if plain else name), buffer

    @contextlib.contextmanager
    def no_sync(self) -> Generator[None]:
        """Add gradients up in every process without reducing them."""
        self._state.lazy_init()
        if not self._state.is_root:
            raise RuntimeError(
                "`no_sync()` on inner FSDP instances is not supported. Please call `no_sync()` on root FSDP module."
            )
        groups = list(self._groups())
        before = [group.reduce_grads for group in groups]
        for group in groups:
            group.reduce_grads = False
        try:
            yield
        finally:
            for group, value in zip(groups, before, strict=True):
                group.reduce_grads = value

    def register_comm_hook(self, state: object, hook: Callable[..., Any]) -> None:
        """Reduce gradients by a function of the program's, in this module and all within.

        It is called with `state`, the gradients of a unit in one tensor, one process's part after the other, and a tensor
        for the part of this process; where every process holds all, without the last, and changes the gradients.
        """
        if not self.check_is_root():
            raise AssertionError("register_comm_hook can only be called on a root instance.")
        for one in self.fsdp_modules(self):
            wrapping.check_hook(one.sharding_strategy, hook)
            if one._state.group is not None:
                if one._state.group.comm_hook is not None:
                    raise AssertionError("A communication hook is already registered")
                whole = one.sharding_strategy is ShardingStrategy.NO_SHARD
                one._state.group.comm_hook = wrapping.by_hook(hook, state, one._state.group.info, whole)

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Tensor:
        """Scale all gradients so that their norm is at most `max_norm`; return the norm."""
        self._state.lazy_init()
        if not self._state.is_root:
            raise RuntimeError("`clip_grad_norm_()` should only be called on the root FSDP instance")
        grads = [param.grad.dtype for param in self.parameters() if param.grad is not None]
        if not grads:
            warnings.warn(
                f"Called FSDP.clip_grad_norm_() on rank {self.rank} with no gradients -- returning the total norm in the "
                "default dtype torch.float32",
                stacklevel=2,
            )
        norm = nn.utils.clip_grad_norm_(self.parameters(), max_norm, norm_type)
        return norm.full_tensor() if isinstance(norm, DTensor) else norm

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(
        module: nn.Module,
        recurse: bool = True,
        writeback: bool = True,
        rank0_only: bool = False,
        offload_to_cpu: bool = False,
        with_grads: bool = False,
    ) -> Generator[None]:
        """Have whole parameters in the block; what changed is kept, when `writeback` says so."""
        owners = FullyShardedDataParallel.fsdp_modules(module)
        owners = owners if recurse else [one for one in owners if one is module]
        for one in owners:
            if with_grads and (offload_to_cpu or not one._use_orig_params):
                raise NotImplementedError(f"with_grads={with_grads}, use_orig_params={one._use_orig_params}, "
                                          f"offload_to_cpu={offload_to_cpu} is not supported yet")  # fmt: skip
            if writeback and rank0_only:
                raise NotImplementedError("writeback=True and rank0_only=True is not supported yet")
        groups = [one._state.group for one in owners if one._state.group is not None]
        for group in groups:
            group.summon(with_grads)
        for one in owners:
            one.__dict__["_summoned"] = True
        try:
            yield
        finally:
            for one in owners:
                one.__dict__["_summoned"] = False
            for group in groups:
                group.dismiss(writeback, with_grads)

    @staticmethod
    def set_state_dict_type(
        module: nn.Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> StateDictSettings:
        """Choose the form of state dicts; return the former choice."""
        warnings.warn(forms.DEPRECATED, FutureWarning, stacklevel=2)
        chosen = forms.settings(state_dict_type, state_dict_config, optim_state_dict_config)
        before = forms.chosen(module)
        for one in FullyShardedDataParallel.fsdp_modules(module):
            one._settings = chosen
        return before or StateDictSettings(None, None, None)  # type: ignore[arg-type] # torch's where nothing is wrapped

    @staticmethod
    def get_state_dict_type(module: nn.Module) -> StateDictSettings | None:
        """Return the form of state dicts; None where nothing is wrapped."""
        return forms.chosen(module)

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(
        module: nn.Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> Generator[None]:
        """Have state dicts of a form in the block."""
        before = FullyShardedDataParallel.set_state_dict_type(
            module, state_dict_type, state_dict_config, optim_state_dict_config
        )
        try:
            yield
        finally:
            for one in FullyShardedDataParallel.fsdp_modules(module):
                one._settings = before
            warnings.warn(forms.DEPRECATED, FutureWarning, stacklevel=1)

    @staticmethod
    def _before_state_dict(module: Any, prefix: str, keep_vars: bool) -> None:
        if module._state.group is not None:
            module._state.group.reshard()

    @staticmethod
    def _after_state_dict(module: Any, state: dict[str, Any], prefix: str, local_metadata: object) -> dict[str, Any]:
        with torch.no_grad():
            forms.convert(state, prefix, module._settings)
            for name, dtype in module._buffer_dtypes.items():  # a checkpoint has what the model was made with
                if prefix + name in state:
                    state[prefix + name] = state[prefix + name].to(dtype)
        return state

    @staticmethod
    def _before_load(module: Any, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        forms.restore(state, prefix, module._fsdp_wrapped_module, module._settings)

    @staticmethod
    def rekey_optim_state_dict(
        optim_state_dict: dict[str, Any],
        optim_state_key_type: OptimStateKeyType,
        model: nn.Module,
        optim_input: Any = None,
        optim: Optimizer | None = None,
    ) -> dict[str, Any]:
        """Return an optimizer's state with parameters' names for numbers, or numbers for names."""
        names = list(forms._names(model).values())
        numbers = dict(enumerate(names))
        if optim_state_key_type is OptimStateKeyType.PARAM_NAME:
            return forms.rekeyed(optim_state_dict, numbers)
        return forms.rekeyed(optim_state_dict, {name: number for number, name in numbers.items()})


def _device(module: nn.Module) -> torch.device:
    first = next(module.parameters(), None)
    return torch.device("cpu") if first is None else first.device


def _policy(given: MixedPrecision) -> MixedPrecisionPolicy:
    reduce = given.reduce_dtype or given.param_dtype
    casts = given.cast_forward_inputs or given.cast_root_forward_inputs
    return MixedPrecisionPolicy(param_dtype=given.param_dtype, reduce_dtype=reduce, cast_forward_inputs=casts)


adopt(globals())
