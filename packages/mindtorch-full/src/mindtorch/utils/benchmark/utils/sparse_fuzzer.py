"""`torch.utils.benchmark.utils.sparse_fuzzer`: random tensors of coordinates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.utils.benchmark.utils.fuzzer import FuzzedTensor, Parameters

__all__ = ["FuzzedSparseTensor"]


class FuzzedSparseTensor(FuzzedTensor):
    """How a tensor of coordinates is made of parameters, of which there must be `density`, `coalesced` and `sparse_dim`.

    Args:
        sparse_dim: given, the parameter `sparse_dim` says how many dimensions are of coordinates, else all are.
        density: elements that are not zero, relative to the sum of the sizes.
        coalesced: False gives every coordinate twice.
    """

    def __init__(
        self,
        name: str,
        size: tuple[str | int, ...],
        min_elements: int | None = None,
        max_elements: int | None = None,
        dim_parameter: str | None = None,
        sparse_dim: str | None = None,
        nnz: str | None = None,
        density: str | None = None,
        coalesced: str | None = None,
        dtype: torch.dtype = torch.float32,
        cuda: bool = False,
    ) -> None:
        super().__init__(
            name,
            size,
            min_elements=min_elements,
            max_elements=max_elements,
            dim_parameter=dim_parameter,
            dtype=dtype,
            cuda=cuda,
        )
        self._density, self._coalesced, self._sparse_dim = density, coalesced, sparse_dim

    @staticmethod
    def sparse_tensor_constructor(
        size: Any, dtype: torch.dtype, sparse_dim: int, nnz: int, is_coalesced: bool
    ) -> torch.Tensor:
        """Return ``nnz`` random values at random places; not coalesced, every place has a second value."""
        if isinstance(size, int | float):
            size = [size] * sparse_dim
        if all(length <= 0 for length in size[:sparse_dim]) and nnz != 0:
            raise AssertionError("invalid arguments")
        values = FuzzedTensor.default_tensor_constructor((nnz, *size[sparse_dim:]), dtype)
        places = torch.rand(sparse_dim, nnz, device="cpu")
        places.mul_(torch.tensor(size[:sparse_dim]).unsqueeze(1).to(places))
        indices = places.to(torch.long)
        if not is_coalesced:
            values = torch.cat([values, torch.randn_like(values)], 0)
            indices = torch.cat([indices, indices], 1)
        made = torch.sparse_coo_tensor(indices, values, torch.Size(size))
        return made.coalesce() if is_coalesced else made

    def _make_tensor(self, params: Parameters, state: np.random.RandomState) -> tuple[torch.Tensor, dict[str, Any]]:
        size, _, _ = self._get_size_and_steps(params)
        density = params["density"]
        nnz = math.ceil(sum(size) * density)
        if nnz > sum(size):
            raise AssertionError("nnz cannot exceed total number of elements")
        wanted = params["sparse_dim"] if self._sparse_dim else len(size)
        tensor = self.sparse_tensor_constructor(size, self._dtype, min(wanted, len(size)), nnz, params["coalesced"])
        if self._cuda:
            tensor = tensor.cuda()
        return tensor, {
            "numel": tensor.numel(),
            "shape": tensor.size(),
            "is_coalesced": tensor.is_coalesced(),
            "density": density,
            "sparsity": 1.0 - density,
            "sparse_dim": tensor.sparse_dim(),
            "dense_dim": tensor.dense_dim(),
            "is_hybrid": len(size[tensor.sparse_dim() :]) > 0,
            "dtype": str(self._dtype),
        }


adopt(globals())
