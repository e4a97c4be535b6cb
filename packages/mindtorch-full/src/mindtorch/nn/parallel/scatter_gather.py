"""`torch.nn.parallel.scatter_gather`: parts of a batch for several devices, and results of several devices as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.tensor.tensor import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]

_REASON = "copies over several accelerators are not offered"


def is_namedtuple(obj: Any) -> bool:
    """Return whether an object is a tuple with names."""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(f"torch.nn.parallel.{name}: {_REASON}")


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> list[Any]:
    """Return the inputs once for every device; tensors raise, as they would be split over accelerators.

    >>> torch.nn.parallel.scatter_gather.scatter({"rate": 0.5, "name": "a"}, [0, 1])
    [{'rate': 0.5, 'name': 'a'}, {'rate': 0.5, 'name': 'a'}]
    """
    if isinstance(inputs, Tensor):
        _refuse("scatter")
    if isinstance(inputs, dict) and inputs:
        pairs = [scatter(pair, target_gpus, dim) for pair in inputs.items()]
        return [type(inputs)(row) for row in zip(*pairs, strict=True)]
    if isinstance(inputs, (list, tuple)) and inputs:
        rows = zip(*(scatter(one, target_gpus, dim) for one in inputs), strict=True)
        if is_namedtuple(inputs):
            return [type(inputs)(*row) for row in rows]
        return list(rows) if isinstance(inputs, tuple) else [list(row) for row in rows]
    return [inputs for _ in target_gpus]


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """Return arguments and keyword arguments once for every device, as many of one as of the other.

    >>> torch.nn.parallel.scatter_gather.scatter_kwargs((1,), {"scale": 2}, [0, 1])
    (((1,), (1,)), ({'scale': 2}, {'scale': 2}))
    """
    places = scatter(inputs, target_gpus, dim) if inputs else []
    names = scatter(kwargs, target_gpus, dim) if kwargs else []
    places += [() for _ in range(len(names) - len(places))]
    names += [{} for _ in range(len(places) - len(names))]
    return tuple(places), tuple(names)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> NoReturn:
    """Return the outputs of several devices as one; raises, there is one device."""
    _refuse("gather")


adopt(globals())
