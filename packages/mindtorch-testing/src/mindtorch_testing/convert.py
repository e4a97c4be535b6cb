"""Carries values between torch, the oracle, and the library under test, keeping everything a program can observe.

Tensors keep dtype, shape, strides, storage offset, storage sharing and `requires_grad`; value types (dtype, device,
layout, memory format, size, generator) go by name. The library under test is a module with torch's surface:
`mindtorch`, or `torch` itself when the harness checks itself.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

_RAW = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
"""Integer types (and one 16-byte stand-in) that carry the bytes of any element type of that size."""

_NN = ("torch.nn.", "torch._C._nn")
"""Where the functions come from that modules hold, activations for one."""


class Unconvertible(Exception):
    """A value that has no counterpart on the other side (yet): the sample that holds it cannot be compared."""


def default_target() -> ModuleType:
    """Return `mindtorch`, the library the oracle is compared with."""
    return importlib.import_module("mindtorch")


def is_namedtuple(value: Any) -> bool:
    """True for collections.namedtuple instances and torch.return_types structures."""
    return isinstance(value, tuple) and (hasattr(value, "_fields") or hasattr(value, "n_sequence_fields"))


def map_structure(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """Apply `leaf` to everything inside nested tuples, named tuples, lists and dicts, keeping the containers."""
    if isinstance(value, torch.Size) or type(value).__name__ in ("Size", "PackedSequence"):
        return leaf(value)
    if is_namedtuple(value) and hasattr(value, "_fields"):
        return type(value)(*(map_structure(item, leaf) for item in value))
    if isinstance(value, tuple):
        return tuple(map_structure(item, leaf) for item in value)
    if isinstance(value, list):
        return [map_structure(item, leaf) for item in value]
    if isinstance(value, dict):
        return {key: map_structure(item, leaf) for key, item in value.items()}
    return leaf(value)


class Converter:
    """Converts between the oracle and `target`. One instance per sample: it remembers which storages are shared."""

    def __init__(self, target: ModuleType | None = None) -> None:
        self.target = default_target() if target is None else target
        self._storages: dict[int, Any] = {}
        self._keep_alive: list[Any] = []

    def to_target(self, value: Any) -> Any:
        """Return the target's counterpart of an oracle value; containers are converted inside out."""
        return map_structure(value, self._leaf_to_target)

    def to_oracle(self, value: Any) -> Any:
        """Return the oracle's counterpart of a target value; named tuples become plain tuples."""
        return map_structure(value, self._leaf_to_oracle)

    def is_target_tensor(self, value: Any) -> bool:
        """True when `value` is a tensor of the library under test."""
        return isinstance(value, self.target.Tensor)

    def _leaf_to_target(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor_to_target(value)
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return self._named(str(value))
        if isinstance(value, torch.device):
            return self.target.device(str(value))
        if isinstance(value, torch.Size):
            return self.target.Size(value)
        if isinstance(value, torch.Generator):
            generator = self.target.Generator(str(value.device))
            generator.set_state(self._tensor_to_target(value.get_state()))
            return generator
        if isinstance(value, torch.nn.Module):
            return self._module_to_target(value)
        if isinstance(value, torch.nn.utils.rnn.PackedSequence):
            return self.target.nn.utils.rnn.PackedSequence(*(self.to_target(part) for part in value))
        if isinstance(value, (FunctionType, BuiltinFunctionType)) and (value.__module__ or "").startswith(_NN):
            return self._by_place(value)
        return value

    def _module_to_target(self, module: torch.nn.Module) -> Any:
        if self.target.nn.Module is torch.nn.Module:
            return copy.deepcopy(module)
        found = self._by_place(type(module))
        result = found.__new__(found)
        result.__dict__.update({name: self.to_target(value) for name, value in vars(module).items()})
        return result

    def _by_place(self, value: Any) -> Any:
        """Return the target's class or function of the same module and name."""
        found: Any = self.target
        for part in f"{value.__module__}.{value.__qualname__}".split(".")[1:]:
            found = getattr(found, part, None)
        if found is None:
            raise Unconvertible(f"the library lacks {value.__module__}.{value.__qualname__}")
        return found

    def _named(self, text: str) -> Any:
        name = text.removeprefix("torch.")
        found = getattr(self.target, name, None)
        if found is None:
            raise Unconvertible(f"{self.target.__name__} has no {name}")
        return found

    def _tensor_to_target(self, value: torch.Tensor) -> Any:
        plain = value.detach().resolve_conj().resolve_neg()
        if plain.is_nested or plain.layout not in (torch.strided, torch.sparse_coo, torch.sparse_csr):
            raise Unconvertible(f"layout {'nested' if plain.is_nested else plain.layout}")
        if plain.device.type == "meta":
            result = self.target.empty_strided(
                tuple(plain.shape), plain.stride(), dtype=self._named(str(plain.dtype)), device="meta"
            )
        elif plain.device.type != "cpu":
            raise Unconvertible(f"device {plain.device}")
        elif plain.layout is torch.strided:
            result = self._strided_to_target(plain)
        else:
            result = self._sparse_to_target(plain)
        if isinstance(value, torch.nn.Parameter):
            return self.target.nn.Parameter(result, requires_grad=value.requires_grad)
        return result.requires_grad_(True) if value.requires_grad else result

    def _sparse_to_target(self, plain: torch.Tensor) -> Any:
        size = tuple(plain.shape)
        if plain.layout is torch.sparse_coo:
            parts = (plain._indices(), plain._values())
            make = self._named("sparse_coo_tensor")
            return make(*map(self._strided_to_target, parts), size, is_coalesced=plain.is_coalesced())
        rows = (plain.crow_indices(), plain.col_indices(), plain.values())
        return self._named("sparse_csr_tensor")(*map(self._strided_to_target, rows), size)

    def _strided_to_target(self, plain: torch.Tensor) -> Any:
        storage = plain.untyped_storage()
        if self.target.Tensor is torch.Tensor:
            copied = self._storages.get(storage._cdata)
            if copied is None:
                copied = self._storages[storage._cdata] = storage.clone()
                self._keep_alive.append(storage)
            holder = torch.empty(0, dtype=plain.dtype)
            return holder.set_(copied, plain.storage_offset(), plain.shape, plain.stride())
        return self._adopt(plain, storage)

    def _adopt(self, plain: torch.Tensor, storage: torch.UntypedStorage) -> Any:
        base = importlib.import_module("mindtorch_storage.tensor_base")
        spec_type = importlib.import_module("mindtorch_storage.spec").Spec
        copied = self._storages.get(storage._cdata)
        if copied is None:
            octets = torch.empty(0, dtype=torch.uint8).set_(storage).numpy().copy()
            copied = self._storages[storage._cdata] = base.UntypedStorage._from_buffer(octets)
            self._keep_alive.append(storage)
        spec = spec_type.of(
            self._named(str(plain.dtype)), self.target.device("cpu"), tuple(plain.shape), tuple(plain.stride())
        )
        offset = plain.storage_offset()
        array = base.array_of_storage(copied, spec, offset)
        return base.make_tensor(self.target.Tensor, spec.plain, array, copied, offset, [0])

    def _leaf_to_oracle(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.detach().resolve_conj().resolve_neg()
        if self.is_target_tensor(value):
            return self._tensor_to_oracle(value)
        kind = type(value).__name__
        if kind in ("dtype", "layout", "memory_format"):
            return getattr(torch, str(value).removeprefix("torch."))
        if kind == "device":
            return torch.device(str(value))
        if kind == "Size":
            return torch.Size(tuple(value))
        return value

    def _tensor_to_oracle(self, value: Any) -> torch.Tensor:
        dtype = getattr(torch, str(value.dtype).removeprefix("torch."))
        layout = str(value.layout)
        if layout != "torch.strided":
            return self._sparse_to_oracle(value, layout)
        if value.device.type == "meta":
            return torch.empty_strided(tuple(value.shape), tuple(value.stride()), dtype=dtype, device="meta")
        array = target_array(value)
        size, stride = tuple(value.shape), tuple(value.stride())
        length = 0 if 0 in size else 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        raw = _RAW[array.dtype.itemsize]
        flat = np.zeros(max(length, 1), dtype=raw)
        steps = tuple(step * flat.itemsize for step in stride)
        np.ndarray(size, raw, flat.data, 0, steps)[...] = (
            array.view(raw) if array.ndim else array.reshape(1).view(raw)[0]
        )
        carrier = torch.empty(0, dtype=dtype)
        octets = torch.from_numpy(flat.view(np.uint8))
        return carrier.set_(octets.untyped_storage(), 0, size, stride)

    def _sparse_to_oracle(self, value: Any, layout: str) -> torch.Tensor:
        size = tuple(value.shape)
        if layout == "torch.sparse_coo":
            indices, values = self.to_oracle(value._indices()), self.to_oracle(value._values())
            return torch.sparse_coo_tensor(indices, values, size, is_coalesced=value.is_coalesced())
        if layout == "torch.sparse_csr":
            parts = (value.crow_indices(), value.col_indices(), value.values())
            return torch.sparse_csr_tensor(*map(self.to_oracle, parts), size)
        raise Unconvertible(f"layout {layout}")


def target_array(value: Any) -> np.ndarray:
    """Return the numpy view of a CPU tensor of ours, without going through any operator.

    One that shows conjugates or negatives of what its storage holds has no such view: its copy's is returned.
    """
    if value.is_conj() or value.is_neg():
        value = value.detach().resolve_conj().resolve_neg()
    if getattr(value, "_pending", False):
        value.data_ptr()  # flushes a recording pipeline
    array = value._array
    if array is None:
        raise Unconvertible(f"a tensor on {value.device} has no host array")
    return array
