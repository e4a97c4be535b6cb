"""Training of one model in several processes, each with its own part of the data."""

from __future__ import annotations

import copy
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.autograd import Function, Variable
from mindtorch.distributed.algorithms.join import Join, Joinable
from mindtorch.distributed.utils import _broadcast_together, _sync_module_states, _verify_param_shape_across_processes
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parallel._buckets import BucketConfig
from mindtorch.nn.parallel._ddp_arguments import check_initialized, refuse, warn_of_arguments
from mindtorch.nn.parallel._ddp_hooks import CommunicationHooks
from mindtorch.nn.parallel._ddp_join import UnevenInputs
from mindtorch.nn.parallel._ddp_logging import Logger, logging_data
from mindtorch.nn.parallel._reducer import Reducer
from mindtorch.utils import _pytree

__all__ = ["DistributedDataParallel"]

_BROADCAST_BYTES = 250 * 1024 * 1024


class _DDPSink(Function):
    """Passes outputs on; its backward is the first of the whole pass."""

    @staticmethod
    def forward(ctx: Any, owner: Any, *inputs: Any) -> Any:
        """Return the outputs as new tensors."""
        ctx.set_materialize_grads(False)
        ctx.owner = owner
        return tuple(value.clone() if isinstance(value, torch.Tensor) else value for value in inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Queue the reduction of a static graph's first pass."""
        ddp = ctx.owner()
        if ddp.static_graph and not ddp._static_graph_delay_allreduce_enqueued:
            Variable._execution_engine.queue_callback(ddp.reducer.delay_all_reduce)
            ddp._static_graph_delay_allreduce_enqueued = True
        return None, *grads


class DistributedDataParallel(Module, UnevenInputs, CommunicationHooks):
    """Averages the gradients of all processes during backward, bucket by bucket; all begin with rank 0's state.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    >>> model(torch.ones(4, 2)).sum().backward()
    >>> model.module.bias.grad
    tensor([4.])
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: list[int] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        super().__init__()
        Joinable.__init__(self)
        self.logger = Logger()
        refuse(
            self._log_and_throw,
            delay_all_reduce_named_params=delay_all_reduce_named_params,
            param_to_hook_all_reduce=param_to_hook_all_reduce,
            mixed_precision=mixed_precision,
            skip_all_reduce_unused_params=skip_all_reduce_unused_params or None,
        )
        self._choose_group(process_group, device_mesh)
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self._module_parameters = [p for n, p in module.named_parameters() if n not in self.parameters_to_ignore]
        self._choose_devices(device_ids, output_device)
        self.static_graph = False
        self.dim = dim
        self.module = module
        self.device = self._module_parameters[0].device
        warn_of_arguments(broadcast_buffers, forward_sync_buffers, check_reduction)
        effective = True if broadcast_buffers is None else broadcast_buffers
        self.forward_sync_buffers = effective if forward_sync_buffers is None else forward_sync_buffers
        self.find_unused_parameters = find_unused_parameters
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.batched_grad_copy = batched_grad_copy
        self.broadcast_bucket_size = _BROADCAST_BYTES
        self._bucket_config = BucketConfig.create(bucket_cap_mb, bucket_cap_mb_list)
        self.bucket_bytes_cap = self._bucket_config.bucket_bytes_cap
        self._comm_hooks: list[Any] = []
        self._has_rebuilt_buckets = False
        self._static_graph_delay_allreduce_enqueued = False
        sync = True if forward_sync_buffers is not None else effective
        self._begin(init_sync, sync)
        self._setup_in_backward_optimizers()
        if static_graph:
            self._set_static_graph()

    # Making it

    def _begin(self, init_sync: bool, sync_buffers: bool) -> None:
        """Give all processes one state, and the parameters their buckets."""
        check_initialized(self._log_and_throw, self._module_parameters)
        names, parameters, sparse = self._build_params_for_reducer()
        if init_sync:
            _verify_param_shape_across_processes(self.process_group, parameters)
            ignored, size = self.parameters_to_ignore, self.broadcast_bucket_size
            _sync_module_states(self.module, self.process_group, size, 0, ignored, broadcast_buffers=sync_buffers)
        self._ddp_init_helper(names, parameters, sparse)

    def _choose_group(self, process_group: Any, device_mesh: Any) -> None:
        if process_group and device_mesh is not None:
            raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
        if device_mesh is None:
            default = dist.distributed_c10d._get_default_group
            self.process_group = default() if process_group is None else process_group
            return
        if device_mesh.ndim != 1:
            raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
        self.device_mesh = device_mesh
        self.process_group = device_mesh.get_group(mesh_dim=0)

    def _choose_devices(self, device_ids: Any, output_device: Any) -> None:
        if not any(p.requires_grad for p in self._module_parameters):
            self._log_and_throw(
                RuntimeError,
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.",
            )
        if device_ids is not None and len(device_ids) > 1:
            self._log_and_throw(ValueError, "device_ids can only be None or contain a single element.")
        devices = {p.device for p in self._module_parameters}
        kinds = {device.type for device in devices}
        if len(kinds) != 1:
            self._log_and_throw(
                ValueError,
                "DistributedDataParallel's input module must be on "
                f"the same type of devices, but input module parameters locate in {kinds}.",
            )
        self.is_multi_device_module = len(devices) > 1
        self.device_type = next(iter(kinds))
        self.device_ids: list[int] | None = None
        self.output_device: int | None = None
        if not device_ids or self.device_type == "cpu" or self.is_multi_device_module:
            if device_ids or output_device:
                self._log_and_throw(
                    ValueError,
                    "DistributedDataParallel device_ids and output_device arguments "
                    "only work with single-device/multiple-device GPU modules or CPU modules, "
                    f"but got device_ids {device_ids}, output_device {output_device}, "
                    f"and module parameters {devices}.",
                )
            return
        indices = [value if isinstance(value, int) else torch.device(value).index for value in device_ids]
        self.device_ids = indices
        self.output_device = indices[0] if output_device is None else torch.device(output_device).index

    def _log_and_throw(self, err_type: type[Exception], err_msg: str) -> None:
        self.logger.set_error_and_log(f"{err_type!s}: {err_msg}")
        raise err_type(err_msg)

    def _build_params_for_reducer(self) -> tuple[list[str], list[Any], list[bool]]:
        names, parameters, sparse = [], [], []
        seen: set[int] = set()
        for module_name, module in self.module.named_modules():
            for name, parameter in module.named_parameters(recurse=False):
                full = f"{module_name}.{name}" if module_name else name
                if parameter.requires_grad and full not in self.parameters_to_ignore and id(parameter) not in seen:
                    seen.add(id(parameter))
                    names.append(f"{module_name}.{name}")
                    parameters.append(parameter)
                    embedding = isinstance(module, (torch.nn.Embedding, torch.nn.EmbeddingBag))
                    sparse.append(bool(embedding and module.sparse))
        self._assign_modules_buffers()
        return names, parameters, sparse

    def _assign_modules_buffers(self) -> None:
        """Find the buffers anew: a module may have replaced them."""
        self.named_module_buffers = {
            name: buffer for name, buffer in self.module.named_buffers() if name not in self.parameters_to_ignore
        }
        self.modules_buffers = list(self.named_module_buffers.values())

    def _ddp_init_helper(self, names: list[str], parameters: list[Any], sparse: list[bool]) -> None:
        self.reducer = Reducer(
            parameters,
            names,
            sparse,
            self.process_group,
            self._bucket_config,
            self.find_unused_parameters,
            self.gradient_as_bucket_view,
            self.batched_grad_copy,
        )
        self._first_bucket_sizes = self.reducer.bucket_sizes()
        if self.device_type == "cpu" and any(isinstance(m, torch.nn.SyncBatchNorm) for m in self.module.modules()):
            self._log_and_throw(ValueError, "SyncBatchNorm layers only work with GPU modules")

    def __getstate__(self) -> dict[str, Any]:
        self._check_default_group()
        state = copy.copy(self.__dict__)
        for name in ("process_group", "reducer", "logger"):
            del state[name]
        state["broadcast_buffers"] = self.forward_sync_buffers
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = dist.distributed_c10d._get_default_group()
        super().__setstate__(state)
        self.__dict__.setdefault("require_forward_param_sync", True)
        self.__dict__.setdefault("require_backward_grad_sync", True)
        self.__dict__.setdefault("forward_sync_buffers", self.__dict__.pop("broadcast_buffers", True))
        self.logger = Logger()
        self._ddp_init_helper(*self._build_params_for_reducer())
        self.reducer.static_graph = self.static_graph

    def _check_default_group(self) -> None:
        if self.process_group is not dist.distributed_c10d._get_default_group():
            self._log_and_throw(
                RuntimeError,
                "DDP Pickling/Unpickling are only supported when using DDP with the default process group. That is, when "
                "you have called init_process_group and have not passed process_group argument to DDP constructor",
            )

    @property
    def broadcast_buffers(self) -> bool:
        """Whether buffers are those of rank 0 in every forward."""
        return bool(self.forward_sync_buffers)

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    # Using it

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within the block gradients are summed in this process only."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module and prepare for the reduction of its gradients."""
        with torch.autograd.profiler.record_function("DistributedDataParallel.forward"):
            inputs, kwargs = self._pre_forward(*inputs, **kwargs)
            return self._post_forward(self.module(*inputs, **kwargs))

    def _rebuild_buckets(self) -> bool:
        rebuilt = self.reducer.rebuild_buckets()
        self._has_rebuilt_buckets |= rebuilt
        return rebuilt

    def _pre_forward(self, *inputs: Any, **kwargs: Any) -> Any:
        if torch.is_grad_enabled() and self.require_backward_grad_sync:
            self.reducer.prepare_for_forward()
        work = Join.notify_join_context(self)
        if work:
            self.reducer.forward_work = (work, self._join_count)
        if torch.is_grad_enabled():
            self._rebuild_buckets()
        if self._check_sync_bufs_pre_fwd():
            self._sync_buffers()
        if self._join_config.enable:
            self._check_global_requires_backward_grad_sync(is_joined_rank=False)
        if self.device_ids:
            device = torch.device(self.device_type, self.device_ids[0])
            inputs, kwargs = _pytree.tree_map(
                lambda value: value.to(device) if isinstance(value, torch.Tensor) else value, (inputs, kwargs)
            )
        return inputs, kwargs

    def _post_forward(self, output: Any) -> Any:
        finds = self.find_unused_parameters and not self.static_graph
        if torch.is_grad_enabled() and self.require_backward_grad_sync:
            self.require_forward_param_sync = True
            found = [leaf for leaf in _pytree.tree_leaves(output) if isinstance(leaf, torch.Tensor)] if finds else []
            self.reducer.prepare_for_backward(found)
        else:
            self.require_forward_param_sync = False
        if finds or (self.static_graph and not self._static_graph_delay_allreduce_enqueued):
            leaves, spec = _pytree.tree_flatten(output)
            passed = _DDPSink.apply(weakref.ref(self), *leaves)
            leaves = [
                leaf if isinstance(leaf, torch.Tensor) and leaf.grad_fn is None else new
                for leaf, new in zip(leaves, passed, strict=True)
            ]
            output = _pytree.tree_unflatten(leaves, spec)
        return output

    def train(self, mode: bool = True) -> DistributedDataParallel:
        """Set the mode of the module too."""
        super().train(mode)
        return self

    # Buffers

    def _check_sync_bufs_pre_fwd(self) -> bool:
        return bool(self.require_forward_param_sync and self.forward_sync_buffers and self.modules_buffers)

    will_sync_module_buffers = _check_sync_bufs_pre_fwd

    def _sync_buffers(self) -> None:
        with torch.no_grad():
            source = self._find_common_rank(self.process_group.rank(), True) if self._join_config.enable else 0
            self._assign_modules_buffers()
            _broadcast_together(self.process_group, self.modules_buffers, self.broadcast_bucket_size, source)

    # Graphs

    def _set_static_graph(self) -> None:
        """Promise that every iteration uses the same parameters the same number of times."""
        if self.static_graph:
            warnings.warn("You've set static_graph to be True, no need to set it again.", stacklevel=2)
            return
        if self.reducer.iterations:
            raise RuntimeError(
                "set_static_graph() should be called before training loop starts "
                "and after DistributedDataParallel is constructed."
            )
        self.static_graph = self.reducer.static_graph = True
        if self.find_unused_parameters:
            warnings.warn(
                "You passed find_unused_parameters=true to DistributedDataParallel, `_set_static_graph` will detect unused "
                "parameters automatically, so you do not need to set find_unused_parameters=true, just be sure these "
                "unused parameters will not change during training loop while calling `_set_static_graph`.",
                stacklevel=2,
            )

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Module, params_and_buffers_to_ignore: Any) -> None:
        """Let a module's parameters and buffers with these names be."""
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore
        for name, value in (*module.named_parameters(), *module.named_buffers()):
            if name in params_and_buffers_to_ignore:
                value._ddp_ignored = True

    def _remove_autograd_hooks(self) -> None:
        self.reducer.remove_hooks()

    def _get_ddp_logging_data(self) -> dict[str, Any]:
        """Return what is known of the module and its training."""
        return {**logging_data(self), **self.logger.data}


adopt(globals())
