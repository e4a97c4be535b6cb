"""Objects on their way between processes: tensors as bytes, our classes by where they are defined.

The classes of this package say ``torch...`` in ``__module__``; a child process that has no such module could not find
them by that name.
"""

from __future__ import annotations

import importlib
import io
import pickle
from multiprocessing.reduction import ForkingPickler
from types import FunctionType
from typing import Any

import mindtorch as torch

_SHOWN = "torch"
_HOME = "mindtorch"


def _find(module_name: str, qualname: str) -> Any:
    value: Any = importlib.import_module(module_name)
    for part in qualname.split("."):
        value = getattr(value, part)
    return value


def _home(value: Any) -> tuple[str, str] | None:
    """Where a class or function that says `torch...` is really found."""
    module = value.__module__ or ""
    if module != _SHOWN and not module.startswith(_SHOWN + "."):
        return None
    name = _HOME + module[len(_SHOWN) :]
    try:
        return (name, value.__qualname__) if _find(name, value.__qualname__) is value else None
    except (ImportError, AttributeError):
        return None


def _rebuild(kind: Any, data: bytes, dtype: Any, shape: tuple[int, ...], requires_grad: bool) -> Any:
    if data:
        tensor = torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
    else:
        tensor = torch.empty(shape, dtype=dtype)
    if kind is not torch.Tensor:
        return kind(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


class _Packer(ForkingPickler):  # type: ignore[misc]
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, torch.Tensor) and type(obj) in (torch.Tensor, torch.nn.Parameter):
            if obj.device.type != "cpu" or obj.layout != torch.strided:
                return NotImplemented
            if obj.requires_grad and not obj.is_leaf:
                raise RuntimeError(
                    "Cowardly refusing to serialize non-leaf tensor which requires_grad, "
                    "since autograd does not support crossing process boundaries.  "
                    "If you just want to transfer the data, call detach() on the tensor "
                    "before serializing (e.g., putting it on the queue)."
                )
            raw = obj.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if obj.numel() else b""
            return _rebuild, (type(obj), raw, obj.dtype, tuple(obj.shape), obj.requires_grad)
        if isinstance(obj, (type, FunctionType)):
            home = _home(obj)
            if home is not None:
                return _find, home
        return NotImplemented


def pack(value: Any) -> bytes:
    """A value as bytes."""
    buffer = io.BytesIO()
    _Packer(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def unpack(data: bytes) -> Any:
    """The value of bytes made by :func:`pack`, in the process that trusts its own workers."""
    return pickle.loads(data)


class Parcel:
    """Carries a value through code that pickles in its own way, such as starting a process."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> Any:
        return _open, (pack(self.value),)


def _open(data: bytes) -> Parcel:
    return Parcel(unpack(data))
