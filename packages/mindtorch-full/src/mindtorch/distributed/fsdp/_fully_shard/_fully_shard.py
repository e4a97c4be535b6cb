"""`fully_shard`: parameters, gradients and optimizer states in parts; whole only while a module runs."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NoReturn, cast

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.fsdp._fully_shard._fsdp_api import (
    AllGather,
    CPUOffloadPolicy,
    MixedPrecisionPolicy,
    OffloadPolicy,
    ReduceScatter,
)
from mindtorch.distributed.fsdp._fully_shard._fsdp_init import (
    Placing,
    check_module,
    managed_modules,
    mesh_info,
    move_to,
    owners_of,
    reshards,
    spread,
)
from mindtorch.distributed.fsdp._fully_shard._fsdp_param import MeshInfo
from mindtorch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPParamGroup
from mindtorch.distributed.fsdp._fully_shard._fsdp_state import FSDPState, state_of
from mindtorch.tensor.tensor import Tensor

_classes: dict[type, type] = {}


def fully_shard(
    module: nn.Module | list[nn.Module],
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Placing | None = None,
    mp_policy: MixedPrecisionPolicy = MixedPrecisionPolicy(),  # noqa: B008 - torch's default; it cannot be changed
    offload_policy: OffloadPolicy = OffloadPolicy(),  # noqa: B008 - torch's default; it holds nothing
    ignored_params: set[nn.Parameter] | None = None,
    dp_mesh_dims: object = None,
) -> nn.Module | list[nn.Module]:
    """Spread the parameters of a module, or of several that run together, over the processes of a mesh.

    Every process keeps a part of each parameter, a `DTensor`. Before the module runs its parameters are gathered, after it
    they are freed again; in backward the same happens, and gradients are reduced to parts. Modules within that were given
    to `fully_shard` before keep their own turn.

        for layer in model.layers:
            fully_shard(layer)
        fully_shard(model)
        optimizer = torch.optim.AdamW(model.parameters())
    """
    if dp_mesh_dims is not None:
        raise NotImplementedError("fully_shard: dp_mesh_dims is not offered")
    modules = [module] if isinstance(module, nn.Module) else list(module)
    for one in modules:
        check_module(one)
    info = mesh_info(mesh)
    shard_modules(modules, info, reshard_after_forward, shard_placement_fn, mp_policy, offload_policy, ignored_params)
    for one in modules:
        one.__class__ = _sharded_class(type(one))
        one.register_state_dict_pre_hook(_before_state_dict)
        one.register_load_state_dict_post_hook(_after_load)
    return module


def shard_modules(
    modules: list[nn.Module],
    info: MeshInfo,
    reshard_after_forward: bool | int | None,
    placing: Placing | None,
    policy: MixedPrecisionPolicy,
    offload_policy: OffloadPolicy,
    ignored_params: set[nn.Parameter] | None,
) -> FSDPState:
    """Spread the parameters of modules, and register the hooks that gather them."""
    device = _device_of(info.mesh)
    after_forward = reshards(True if reshard_after_forward is None else reshard_after_forward, info)
    managed, ignored = managed_modules(modules), ignored_params or set()
    move_to(managed, ignored, device)
    owners = owners_of(managed, ignored)
    state = FSDPState(modules, device, policy, reshard_after_forward is None)
    if owners:
        offload = isinstance(offload_policy, CPUOffloadPolicy) and device.type != "cpu"
        params = spread(owners, info, placing, policy.param_dtype, device, offload)
        state.group = FSDPParamGroup(params, modules, info, after_forward, policy)
    for one in managed:
        one._is_fsdp_managed_module = True
        one._fsdp_use_orig_params = True
    return state


def _device_of(mesh: DeviceMesh) -> torch.device:
    if mesh.device_type == "cpu":
        return torch.device("cpu")
    return torch.device(mesh.device_type, torch.accelerator.current_device_index())


def _before_state_dict(module: nn.Module, prefix: str, keep_vars: bool) -> None:
    cast(FSDPModule, module).reshard()


def _after_load(module: nn.Module, incompatible: object) -> None:
    state = state_of(module)
    if state is not None and state.group is not None:
        for param in state.group.fsdp_params:
            param.reset_sharded_param()


def _no_deepcopy(*args: object, **kwargs: object) -> NoReturn:
    raise AssertionError("FSDP does not support deepcopy. Please use state dict for serialization.")


def _sharded_class(cls: type) -> type:
    if cls not in _classes:
        body: dict[str, object] = {
            "__deepcopy__": _no_deepcopy,
            "__module__": "torch.distributed.fsdp._fully_shard._fsdp_init",
        }
        _classes[cls] = types.new_class(f"FSDP{cls.__name__}", (FSDPModule, cls), exec_body=lambda n: n.update(body))
    return _classes[cls]


class FSDPModule:
    """What a module that was given to `fully_shard` can do besides."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make an unsharded module, as slices of containers do."""
        original: Any = cls.__mro__[2]
        made = original.__new__(original)
        made.__init__(*args, **kwargs)
        return made

    def _get_fsdp_state(self) -> FSDPState:
        state = state_of(cast(nn.Module, self))
        if state is None:
            raise AssertionError(f"No FSDP state found on {self}")
        return state

    def _groups(self, recurse: bool = False) -> Iterator[FSDPParamGroup]:
        modules = cast(nn.Module, self).modules() if recurse else [self]
        for module in modules:
            if isinstance(module, FSDPModule):
                group = module._get_fsdp_state().group
                if group is not None:
                    yield group

    def reshard(self) -> None:
        """Free the whole parameters; the module's parameters are parts again."""
        for group in self._groups():
            group.reshard()

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Gather the whole parameters; with `async_op` they are there after the handle's `wait`."""
        state = self._get_fsdp_state()
        for group in self._groups():
            if not group.forward_order and state.is_root is None:
                group.lazy_init()
            group.unshard(async_op)
        handle = _UnshardHandle(list(self._groups()))
        if async_op:
            return handle
        handle.wait()
        return None

    def reset_iter_state(self) -> None:
        """Forget a step that ended with an exception, and its gradients; the root's next step begins anew."""
        self._get_fsdp_state().forget_step()

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Say whether the next backward is the step's last; others leave what is gathered ahead alone."""
        self._get_fsdp_state().context.is_last_backward = is_last_backward

    def set_requires_gradient_sync(self, requires_gradient_sync: bool, *, recurse: bool = True) -> None:
        """Say whether gradients are reduced; without that they are added up, whole, in every process."""
        for group in self._groups(recurse):
            group.reduce_grads = group.all_reduce_grads = requires_gradient_sync

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """Say whether gradients are reduced over the copies of a two-dimensional mesh."""
        for group in self._groups(recurse):
            group.all_reduce_grads = requires_all_reduce

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Say whether parameters are freed after forward."""
        if not isinstance(reshard_after_forward, bool):
            raise ValueError(f"reshard_after_forward should be a bool, got {type(reshard_after_forward)}")
        modules = cast(nn.Module, self).modules() if recurse else [self]
        for module in modules:
            if isinstance(module, FSDPModule):
                module._get_fsdp_state().auto_reshard = False
        for group in self._groups(recurse):
            group.reshard_after_forward = reshard_after_forward

    def set_reshard_after_backward(self, reshard_after_backward: bool, *, recurse: bool = True) -> None:
        """Say whether parameters are freed after backward."""
        for group in self._groups(recurse):
            group.reshard_after_backward = reshard_after_backward

    def set_modules_to_forward_prefetch(self, modules: list[FSDPModule]) -> None:
        """Say whose parameters are gathered while this module runs forward."""
        _check_all(modules)
        self._get_fsdp_state().forward_prefetch = [module._get_fsdp_state() for module in modules]

    def set_modules_to_backward_prefetch(self, modules: list[FSDPModule]) -> None:
        """Say whose parameters are gathered while this module runs backward, instead of the one before it."""
        _check_all(modules)
        self._get_fsdp_state().backward_prefetch = [module._get_fsdp_state() for module in modules]

    def set_custom_all_gather(self, comm: AllGather) -> None:
        """Let a program gather this module's parameters: `comm` gives memory, and gathers."""
        for group in self._groups():
            group.custom_all_gather = comm

    def set_custom_reduce_scatter(self, comm: ReduceScatter) -> None:
        """Let a program reduce this module's gradients: `comm` gives memory, and reduces."""
        for group in self._groups():
            group.custom_reduce_scatter = comm

    def set_all_reduce_hook(self, hook: Callable[[Tensor], None], *, stream: object = None) -> None:
        """Call a function with every reduced part of a gradient."""
        if stream is not None:
            raise NotImplementedError("FSDPModule.set_all_reduce_hook: a stream is not offered")
        for group in self._groups():
            group.all_reduce_hook = hook

    def set_post_optim_event(self, event: object) -> None:
        """Nothing runs on streams of its own here: there is nothing to wait for."""

    def set_gradient_divide_factor(self, factor: float) -> None:
        """Divide gradients by a number instead of the number of processes."""
        for group in self._groups():
            group.divide_factor = factor

    set_reduce_scatter_divide_factor = set_gradient_divide_factor

    def set_force_sum_reduction_for_comms(self, enable: bool) -> None:
        """Say whether only sums are asked of the transport, which are divided afterwards."""
        for group in self._groups():
            group.only_sums = enable

    def set_unshard_in_backward(self, unshard_in_backward: bool) -> None:
        """Say whether backward needs the parameters whole."""
        for group in self._groups():
            group.unshard_in_backward = unshard_in_backward

    def set_allocate_memory_from_process_group_for_comm(self, enable: bool) -> None:
        """Memory for communication is the host's in any case, unless a program communicates on its own."""
        self._check_not_custom("set_allocate_memory_from_process_group()")

    def set_symm_mem_for_comm(self, backend: Literal["NCCL"] = "NCCL") -> None:
        """Symmetric memory belongs to NCCL."""
        self._check_not_custom("set_symm_mem()")
        raise RuntimeError(f"SymmetricMemory does not find allocation backend {backend}")

    def _check_not_custom(self, name: str) -> None:
        for group in self._groups():
            for kind, comm in (
                ("all gather", group.custom_all_gather),
                ("reduce scatter", group.custom_reduce_scatter),
            ):
                if comm is not None:
                    raise AssertionError(f"cannot call {name} when {kind} comm is custom: {type(comm).__name__}")

    def set_reduce_scatter_unused_params(self, reduce_scatter_unused_params: bool, *, recurse: bool = True) -> None:
        """Say whether parameters without a gradient take part in reductions, with zeros: other processes may use them."""
        for group in self._groups(recurse):
            group.reduce_unused = reduce_scatter_unused_params

    def set_reduce_scatter_max_input_buffers(self, max_input_buffers: int, *, recurse: bool = True) -> None:
        """Say how many reductions may be under way: a reduction is waited for, so that one buffer is enough."""
        if isinstance(max_input_buffers, bool) or not isinstance(max_input_buffers, int):
            raise TypeError(f"max_input_buffers must be an int, got {type(max_input_buffers).__name__}")
        if max_input_buffers < 1:
            raise ValueError(f"max_input_buffers must be a positive int, got {max_input_buffers}")

    def set_separate_reduce_scatter_group(self, enable: bool = True, *, recurse: bool = True) -> None:
        """Say whether gradients are reduced in a group of their own."""
        made: dict[tuple[int, ...], dist.ProcessGroup] = {}
        for group in self._groups(recurse):
            group.reduce_group = None
            if enable:
                ranks = tuple(dist.get_process_group_ranks(group.info.shard_group))
                if ranks not in made:
                    made[ranks] = dist.new_group(list(ranks), use_local_synchronization=True)
                group.reduce_group = made[ranks]

    def _set_unshard_async_op(self, async_op: bool) -> None:
        for group in self._groups(recurse=True):
            group.unshard_async_op = async_op

    def _apply(self, *args: Any, **kwargs: Any) -> Any:
        self.reshard()
        result = super()._apply(*args, **kwargs)  # type: ignore[misc] # the original class comes next
        with torch.no_grad():
            for group in self._groups():
                for param in group.fsdp_params:
                    param.reset_sharded_param()
        return result


class UnshardHandle:
    """Parameters on their way."""

    def wait(self) -> None:
        """Return when the module has whole parameters."""


class _UnshardHandle(UnshardHandle):
    def __init__(self, groups: list[FSDPParamGroup]) -> None:
        self._groups = groups

    def wait(self) -> None:
        """Return when the module has whole parameters."""
        for group in self._groups:
            group.wait_for_unshard()
        self._groups = []


def register_fsdp_forward_method(module: nn.Module, method_name: str) -> None:
    """Gather parameters for another method of a module too, as for its forward."""
    if not isinstance(module, FSDPModule):
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    original = getattr(module, method_name)

    @functools.wraps(original)
    def wrapped(self: FSDPModule, *args: Any, **kwargs: Any) -> object:
        state = self._get_fsdp_state()
        args, kwargs = state.pre_forward(module, args, kwargs)
        return state.post_forward(module, args, original(*args, **kwargs))

    setattr(module, method_name, wrapped.__get__(module, type(module)))


def share_comm_ctx(modules: list[FSDPModule]) -> None:
    """Let roots use the same transport: they do, as all use their mesh's groups."""
    if not modules:
        return
    for module in modules:
        if not isinstance(module, FSDPModule):
            raise ValueError(f"Expects list of FSDPModules but got {module}")


def _check_all(modules: Iterable[object]) -> None:
    for module in modules:
        if not isinstance(module, FSDPModule):
            raise ValueError(f"Expects FSDPModule but got {type(module)}: {module}")


__all__ = ["FSDPModule", "UnshardHandle", "fully_shard", "register_fsdp_forward_method", "share_comm_ctx"]

adopt(globals(), "torch.distributed.fsdp")
