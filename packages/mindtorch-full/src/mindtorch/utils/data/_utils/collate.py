"""From a list of samples to a batch."""

from __future__ import annotations

import collections.abc
import copy
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch._naming import adopt

np_str_obj_array_pattern = re.compile(r"[SaUO]")
_REFUSAL = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def _is_namedtuple(data: Any) -> bool:
    return isinstance(data, tuple) and hasattr(data, "_fields")


def _like_sequence(original: Any, items: Any) -> Any:
    """The items in a sequence of the original's type; a list where that type cannot be made from a list."""
    try:
        if isinstance(original, collections.abc.MutableSequence):
            clone = copy.copy(original)
            for index, item in enumerate(items):
                clone[index] = item
            return clone
        return type(original)(items)
    except TypeError:
        return list(items)


def _like_mapping(original: Any, items: dict[Any, Any]) -> Any:
    """The items in a mapping of the original's type; a dict where that type cannot be made from one."""
    try:
        if isinstance(original, collections.abc.MutableMapping):
            clone = copy.copy(original)  # keeps what else the mapping carries
            clone.update(items)
            return clone
        return type(original)(items)
    except TypeError:
        return dict(items)


def default_convert(data: Any) -> Any:
    """Turn the numpy arrays inside nested containers into tensors; leave everything else as it is.

    >>> import numpy
    >>> torch.utils.data.default_convert(numpy.array([1, 2]))
    tensor([1, 2])
    """
    kind = type(data)
    if isinstance(data, torch.Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        if isinstance(data, np.ndarray) and np_str_obj_array_pattern.search(data.dtype.str) is not None:
            return data
        return torch.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _like_mapping(data, {key: default_convert(data[key]) for key in data})
    if _is_namedtuple(data):
        return kind(*(default_convert(item) for item in data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(item) for item in data])
    return data


def collate(batch: Any, *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> Any:
    """Combine samples: by the function registered for their type, else container by container."""
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for registered, function in collate_fn_map.items():
            if isinstance(first, registered):
                return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, collections.abc.Mapping):
        columns = {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in first}
        return _like_mapping(first, columns)
    if _is_namedtuple(first):
        return kind(*(collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)))
    if isinstance(first, collections.abc.Sequence):
        if not all(len(sample) == len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        items = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)]
        if isinstance(first, tuple):
            return items
        return _like_sequence(first, items)
    raise TypeError(_REFUSAL.format(kind))


def collate_tensor_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Tensors of equal shape stacked."""
    first = batch[0]
    if first.is_nested or first.layout not in (torch.strided, torch._mkldnn):
        raise RuntimeError(
            f"Batches of {'nested' if first.is_nested else 'sparse'} tensors are not currently supported by the default "
            "collate_fn; please provide a custom collate_fn to handle them appropriately."
        )
    return torch.stack(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Arrays as tensors, stacked."""
    if np_str_obj_array_pattern.search(batch[0].dtype.str) is not None:
        raise TypeError(_REFUSAL.format(batch[0].dtype))
    return collate([torch.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Numpy numbers as one tensor."""
    return torch.as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Python floats as one double tensor."""
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Python ints as one tensor."""
    return torch.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Text as it is."""
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    torch.Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """Combine samples of tensors, arrays, numbers, text and containers of them into a batch.

    >>> torch.utils.data.default_collate([{"x": 1.0}, {"x": 2.0}])
    {'x': tensor([1., 2.], dtype=torch.float64)}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


adopt(globals())
