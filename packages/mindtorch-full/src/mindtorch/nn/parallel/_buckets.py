"""Gradients that are reduced together: which they are, and one flat tensor for each group."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

DEFAULT_FIRST_BUCKET_BYTES = 1024 * 1024


def assign_buckets(
    tensors: Sequence[Any],
    limits: Sequence[int],
    sparse: Sequence[bool] = (),
    indices: Sequence[int] = (),
) -> list[list[int]]:
    """Group tensors of one dtype and device until a group is as large as its limit; the last limit holds on.

    `indices` are what stands for the tensors in the result, which is sorted by each group's least one unless given.
    """
    return [group for group, _ in assign_with_limits(tensors, limits, sparse, indices)]


def compute_bucket_assignment_by_size(
    tensors: Sequence[Any],
    bucket_size: Sequence[int],
    expect_sparse_gradient: Sequence[bool] = (),
    tensor_indices: Sequence[int] = (),
    logger: object = None,
) -> tuple[list[list[int]], list[int]]:
    """Return groups of tensors, by their places, and the limit of bytes of each group.

    >>> from torch.distributed import _compute_bucket_assignment_by_size
    >>> _compute_bucket_assignment_by_size([torch.empty(10), torch.empty(10), torch.empty(10)], [40, 80])
    ([[0], [1, 2]], [40, 80])
    """
    found = assign_with_limits(tensors, bucket_size, expect_sparse_gradient, tensor_indices)
    return [group for group, _ in found], [limit for _, limit in found]


def assign_with_limits(
    tensors: Sequence[Any], limits: Sequence[int], sparse: Sequence[bool] = (), indices: Sequence[int] = ()
) -> list[tuple[list[int], int]]:
    """Return the groups of `assign_buckets`, each with the limit that it was filled to."""
    names = list(indices) or list(range(len(tensors)))
    done: list[tuple[list[int], int]] = []
    open_groups: dict[Any, tuple[list[int], int]] = {}
    positions: dict[Any, int] = {}
    for place, tensor in enumerate(tensors):
        if sparse and sparse[names[place]]:
            done.append(([names[place]], 0))
            continue
        key = (tensor.dtype, tensor.device)
        group, size = open_groups.get(key, ([], 0))
        group.append(names[place])
        size += tensor.numel() * tensor.element_size()
        position = positions.setdefault(key, 0)
        if size >= limits[position]:
            done.append((group, limits[position]))
            open_groups.pop(key, None)
            positions[key] = min(position + 1, len(limits) - 1)
        else:
            open_groups[key] = (group, size)
    done += [(group, limits[positions[key]]) for key, (group, _) in open_groups.items()]
    return done if indices else sorted(done, key=lambda one: min(one[0]))


@dataclass
class BucketConfig:
    """How large groups may be."""

    bucket_bytes_cap: int
    first_bucket_bytes_cap: int
    per_bucket_bytes_caps: list[int] = field(default_factory=list)

    @classmethod
    def create(cls, cap_mb: float | None, cap_mb_list: list[int] | None) -> BucketConfig:
        """Read the arguments of `DistributedDataParallel`."""
        if cap_mb_list:
            caps = [int(cap * 1024 * 1024) for cap in cap_mb_list]
            return cls(max(caps), max(caps), caps)
        cap = int((25 if cap_mb is None else cap_mb) * 1024 * 1024)
        return cls(cap, DEFAULT_FIRST_BUCKET_BYTES if cap_mb is None else cap)

    def initial(self, one_bucket: bool) -> list[int]:
        """Limits before the order of gradients is known."""
        if self.per_bucket_bytes_caps:
            return self.per_bucket_bytes_caps
        return [sys.maxsize] if one_bucket else self.rebuilt()

    def rebuilt(self) -> list[int]:
        """Limits when it is."""
        return self.per_bucket_bytes_caps or [self.first_bucket_bytes_cap, self.bucket_bytes_cap]


class Bucket:
    """Some parameters, a flat tensor for their gradients, and a view of it for each."""

    def __init__(self, indices: Sequence[int], parameters: Sequence[Any], sparse: bool = False) -> None:
        self.indices = list(indices)
        self.parameters = [parameters[index] for index in indices]
        self.sparse = sparse
        self.pending = len(self.indices)
        self.work: Any = None
        self.future: Any = None
        first = self.parameters[0]
        lengths = [parameter.numel() for parameter in self.parameters]
        self.offsets = [sum(lengths[:place]) for place in range(len(lengths))]
        self.flat = torch.zeros(0 if sparse else sum(lengths), dtype=first.dtype, device=first.device)
        self.views = [] if sparse else self.views_of(self.flat)

    def views_of(self, flat: Any) -> list[Any]:
        """Return each parameter's part of a flat tensor, with its shape and its strides where they leave no gaps."""
        views = []
        for parameter, offset in zip(self.parameters, self.offsets, strict=True):
            part = flat.narrow(0, offset, parameter.numel())
            dense = sorted(zip(parameter.stride(), parameter.shape, strict=True))
            expected, gaps = 1, False
            for stride, size in dense:
                if size != 1:
                    gaps |= stride != expected
                    expected *= size
            views.append(
                part.view(parameter.shape)
                if gaps
                else part.as_strided(parameter.shape, parameter.stride(), part.storage_offset())
            )
        return views


class GradBucket:
    """What a communication hook gets: the gradients of one bucket."""

    def __init__(self, bucket: Bucket, index: int, count: int) -> None:
        self._bucket = bucket
        self._index = index
        self._count = count

    def index(self) -> int:
        """Return the bucket's place in the order of reduction."""
        return self._index

    def is_last(self) -> bool:
        """Return whether it is the last of this backward pass."""
        return self._index == self._count - 1

    def buffer(self) -> Any:
        """Return the flat tensor."""
        return self._bucket.flat

    def set_buffer(self, buffer: Any) -> None:
        """Replace the flat tensor."""
        self._bucket.flat = buffer

    def gradients(self) -> list[Any]:
        """Return the parts of the flat tensor, by parameter."""
        return self._bucket.views_of(self._bucket.flat)

    def parameters(self) -> list[Any]:
        """Return the parameters."""
        return list(self._bucket.parameters)


adopt(globals())
GradBucket.__module__ = "torch._C._distributed_c10d"
