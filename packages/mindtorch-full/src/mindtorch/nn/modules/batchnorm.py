"""Batch normalization."""

from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules._affine import register_affine, reset_affine
from mindtorch.nn.modules._functions import SyncBatchNorm as _Synchronized
from mindtorch.nn.modules.lazy import LazyModuleMixin
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import UninitializedBuffer, UninitializedParameter

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _NormBase(Module):
    """Scale, shift and running statistics of batch and instance normalization."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        register_affine(self, num_features, affine, affine and bias, device=device, dtype=dtype)
        if track_running_stats:
            self.register_buffer("running_mean", mindtorch.zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", mindtorch.ones(num_features, device=device, dtype=dtype))
            count = mindtorch.tensor(0, dtype=mindtorch.long, device=device)
            self.register_buffer("num_batches_tracked", count)
        else:
            self.register_buffer("running_mean", None)
            self.register_buffer("running_var", None)
            self.register_buffer("num_batches_tracked", None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the running statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the running statistics; set scale to one and shift to zero."""
        self.reset_running_stats()
        if self.affine:
            reset_affine(self)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _upgrade_older_entries(
        self, state_dict: dict[str, Any], prefix: str, version: int | None, errors: list[str]
    ) -> None:
        if (version is None or version < 2) and self.track_running_stats:
            # num_batches_tracked came with version 2.
            key = prefix + "num_batches_tracked"
            if key not in state_dict:
                own = self.num_batches_tracked
                keep = own is not None and own.device != mindtorch.device("meta")
                state_dict[key] = own if keep else mindtorch.tensor(0, dtype=mindtorch.long)


class _BatchNorm(_NormBase):
    """Normalization by batch statistics in training, by running statistics in evaluation."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape; in training the running statistics move."""
        self._check_input_dim(input)
        return self._normalize(input, *self._batch_statistics())

    def _normalize(self, input: Tensor, use_batch: bool, factor: float) -> Tensor:
        tracked = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if tracked else (None, None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, use_batch, factor, self.eps)

    def _batch_statistics(self) -> tuple[bool, float]:
        """Count the batch; return whether its statistics are used and the weight they get in the running ones."""
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        if self.training:
            return True, factor
        return self.running_mean is None and self.running_var is None, factor


class _LazyNormBase(LazyModuleMixin, _NormBase):
    weight: UninitializedParameter
    bias: UninitializedParameter

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device=device, dtype=dtype, bias=bias)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = mindtorch.tensor(0, dtype=mindtorch.long, device=device)

    def reset_parameters(self) -> None:
        """Reset, once the sizes are known."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the number of features from dimension 1 of ``input``."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        if self.affine:
            self.weight.materialize((self.num_features,))
            if self.bias is not None:
                self.bias.materialize((self.num_features,))
        if self.track_running_stats:
            self.running_mean.materialize((self.num_features,))
            self.running_var.materialize((self.num_features,))
        self.reset_parameters()


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (N, C) or (N, C, L).

    Training normalises by the batch and moves `running_mean` and `running_var`; evaluation uses those.

    >>> torch.nn.BatchNorm1d(1)(torch.tensor([[1.], [3.]])).detach()
    tensor([[-1.0000],
            [ 1.0000]])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A BatchNorm1d that takes ``num_features`` from its first input.

    >>> torch.nn.LazyBatchNorm1d()(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (N, C, H, W).

    Training normalises by the batch and moves `running_mean` and `running_var` by `momentum`; evaluation uses those. A
    batch with one value for each channel raises ValueError in training.

    >>> layer = torch.nn.BatchNorm2d(3).eval()
    >>> layer(torch.ones(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    >>> layer.running_mean
    tensor([0., 0., 0.])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A BatchNorm2d that takes ``num_features`` from its first input.

    >>> torch.nn.LazyBatchNorm2d()(torch.ones(2, 3, 1, 1)).shape
    torch.Size([2, 3, 1, 1])
    """

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class BatchNorm3d(_BatchNorm):
    """Batch normalization of (N, C, D, H, W).

    >>> torch.nn.BatchNorm3d(2)(torch.ones(2, 2, 1, 1, 1)).shape
    torch.Size([2, 2, 1, 1, 1])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A BatchNorm3d that takes ``num_features`` from its first input.

    >>> layer = torch.nn.LazyBatchNorm3d()
    >>> _ = layer(torch.ones(1, 4, 2, 2, 2))
    >>> layer.num_features
    4
    """

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class SyncBatchNorm(_BatchNorm):
    """Batch normalization with statistics over all processes of a group, on GPU-like devices.

    >>> model = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    >>> type(torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)[0]).__name__
    'SyncBatchNorm'
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _check_non_zero_input_channels(self, input: Tensor) -> None:
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the input's shape; in training the statistics are those of all processes' inputs.

        torch has this for accelerators alone; here tensors on the host can be synchronized too.
        """
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        statistics = self._batch_statistics()
        if not (self.training and _in_process_group(self.process_group)):
            return self._normalize(input, *statistics)
        tracked = (self.running_mean, self.running_var) if self.track_running_stats else (None, None)
        group = self.process_group or mindtorch.distributed.group.WORLD
        return _Synchronized.apply(input, self.weight, self.bias, *tracked, self.eps, statistics[1], group)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Return ``module`` with every batch normalization in it replaced by a synchronized one."""
        result = module
        if isinstance(module, _BatchNorm):
            result = SyncBatchNorm(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                with mindtorch.no_grad():
                    result.weight = module.weight
                    result.bias = module.bias
            result.running_mean = module.running_mean
            result.running_var = module.running_var
            result.num_batches_tracked = module.num_batches_tracked
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


def _in_process_group(group: Any) -> bool:
    distributed = mindtorch.distributed
    return distributed.is_initialized() and distributed.get_world_size(group or distributed.group.WORLD) > 1


adopt(globals())
