"""What a program lets take part in the reduction of gradients: hooks, and optimizers that step within it."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import mindtorch as torch
from mindtorch.distributed._options import BuiltinCommHookType
from mindtorch.distributed.algorithms._optimizer_overlap import _as_overlapped_optim
from mindtorch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook, fp16_compress_hook
from mindtorch.distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks import _apply_optim_in_backward_hook
from mindtorch.nn.parallel._buckets import GradBucket
from mindtorch.tensor.tensor import Tensor

_BUILTIN = {BuiltinCommHookType.ALLREDUCE: allreduce_hook, BuiltinCommHookType.FP16_COMPRESS: fp16_compress_hook}


class CommunicationHooks:
    """The hooks of `DistributedDataParallel`, which inherits them."""

    reducer: Any
    logger: Any
    process_group: Any
    device_type: str
    gradient_as_bucket_view: bool
    _module_parameters: list[Any]
    _comm_hooks: list[Any]
    _log_and_throw: Callable[[type[Exception], str], None]

    def register_comm_hook(self, state: object, hook: Callable[..., Any]) -> None:
        """Let `hook(state, bucket)` reduce buckets: it returns a future of a bucket's flat tensor."""
        self._check_comm_hook(hook)
        if self.reducer.comm_hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self._comm_hooks.append((hook, state))
        self.logger.data["comm_hook"] = hook.__qualname__
        self.reducer.comm_hook = (state, hook)

    def _register_builtin_comm_hook(self, comm_hook_type: BuiltinCommHookType) -> None:
        """Let buckets be averaged as they are, or in float16."""
        if not isinstance(comm_hook_type, BuiltinCommHookType):
            raise TypeError(
                "_register_builtin_comm_hook(): incompatible function arguments. The following argument types are "
                "supported:\n    1. (reducer: c10d::Reducer, comm_hook_type: c10d::BuiltinCommHookType) -> None\n\n"
                f"Invoked with: {self.reducer!r}, {comm_hook_type!r}"
            )
        if self.reducer.comm_hook is not None:
            raise RuntimeError("register_builtin_comm_hook or register_comm_hook can only be called once.")
        self.logger.data["comm_hook"] = str(comm_hook_type)
        self.reducer.comm_hook = (self.process_group, _BUILTIN[comm_hook_type])

    def _register_fused_optim(
        self, optim: type, *args: Any, optim_params: Iterable[Tensor] | None = None, **kwargs: Any
    ) -> None:
        """Let an optimizer step with each bucket that is averaged; it needs no step of its own."""
        overlapped = _as_overlapped_optim(optim, optim_params, *args, **kwargs)
        try:
            overlapped.register_ddp(self)
        except NotImplementedError as error:
            raise RuntimeError(
                f"{optim} does not support overlapped DDP. Please file an issue to PyTorch or the respective owner of "
                f"{optim}."
            ) from error

    def _setup_in_backward_optimizers(self) -> None:
        """Let optimizers that step in backward do so after the average, not with this process's own gradients."""
        stepping = [parameter for parameter in self._module_parameters if hasattr(parameter, "_in_backward_optimizers")]
        for parameter in stepping:
            handle = parameter.__dict__.pop("_step_in_backward", None)
            if handle is not None:
                handle.remove()
        if stepping:
            self.reducer.steps_in_backward = True
            self.register_comm_hook(weakref.ref(self), _apply_optim_in_backward_hook(self.gradient_as_bucket_view))

    def _check_comm_hook(self, hook: Any) -> None:
        if not callable(hook):
            self._log_and_throw(TypeError, "Communication hook must be callable.")
        signature = inspect.signature(hook)
        annotation = signature.parameters["bucket"].annotation
        if annotation not in (inspect.Parameter.empty, Any, GradBucket, "Any", "dist.GradBucket"):
            self._log_and_throw(ValueError, "Communication hook: bucket annotation should be dist.GradBucket.")
        result = signature.return_annotation
        future = torch.futures.Future[torch.Tensor]
        if not isinstance(result, str) and result not in (inspect.Signature.empty, Any, future):
            self._log_and_throw(
                ValueError, "Communication hook: return annotation should be torch.futures.Future[torch.Tensor]."
            )
        if hook.__name__ in ("bf16_compress_hook", "bf16_compress_wrapper_hook") and self.device_type == "cpu":
            self._log_and_throw(
                TypeError, "BF16 all reduce communication hook required CUDA 11+ and NCCL 2.10+ or XPU and XCCL"
            )
