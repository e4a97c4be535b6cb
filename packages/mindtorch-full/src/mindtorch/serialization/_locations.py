"""Location tags: where a storage was when it was saved, and where it goes when it is loaded."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch_storage.device import device as Device
from mindtorch_storage.storage import UntypedStorage

Tagger = Callable[[Any], str | None]
Deserializer = Callable[[Any, str], Any]

_CPU_ADVICE = (
    "If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map "
    "your storages to the CPU."
)
_registry: list[tuple[int, Tagger, Deserializer]] = []


def register_package(priority: int, tagger: Tagger, deserializer: Deserializer) -> None:
    """Add how to tag and restore the storages of a device; lower priorities are asked first."""
    _registry.append((priority, tagger, deserializer))
    _registry.sort(key=lambda entry: entry[0])


def typename(value: object) -> str:
    """Module and class name of an object."""
    return f"{type(value).__module__}.{type(value).__name__}"


def location_tag(storage: Any) -> str:
    """The tag that a file keeps for this storage.

    >>> torch.serialization.location_tag(torch.ones(1).untyped_storage())
    'cpu'
    """
    for _, tagger, _ in _registry:
        location = tagger(storage)
        if location:
            return location
    raise RuntimeError(f"don't know how to determine data location of {typename(storage)}")


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage, or its copy, on the device that the tag names.

    >>> torch.serialization.default_restore_location(torch.ones(1).untyped_storage(), "cpu").device
    device(type='cpu')
    """
    for _, _, deserializer in _registry:
        result = deserializer(storage, location)
        if result is not None:
            return result
    raise RuntimeError(f"don't know how to restore data location of {typename(storage)} (tagged with {location})")


def restorer(map_location: Any) -> Deserializer:
    """What `map_location` asks for, as a function of storage and tag."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, str | Device):
        target = str(map_location)
        return lambda storage, location: default_restore_location(storage, target)

    def restore(storage: Any, location: str) -> Any:
        result = map_location(storage, location)
        return default_restore_location(storage, location) if result is None else result

    return restore


def is_meta_location(map_location: Any) -> bool:
    """Whether no data needs to be read, because everything goes to `meta`."""
    if isinstance(map_location, str):
        return map_location == "meta"
    return isinstance(map_location, Device) and map_location.type == "meta"


def _tag(name: str, storage: Any) -> str | None:
    if storage.device.type != name:
        return None
    return name if storage.device.index is None else f"{name}:{storage.device.index}"


def validate_device(location: str, name: str) -> Device:
    """The device that a tag names, if its module is there, available, and has that many devices."""
    module = getattr(mindtorch, name, None)
    if module is None:
        raise RuntimeError(f"The {name.upper()} device module is not registered. {_CPU_ADVICE}")
    device = Device(location)
    index = device.index or 0
    if hasattr(module, "is_available") and not module.is_available():
        raise RuntimeError(
            f"Attempting to deserialize object on a {name.upper()} device but torch.{name}.is_available() is False. "
            f"{_CPU_ADVICE}"
        )
    if hasattr(module, "device_count"):
        count = module.device_count()
        if index >= count:
            raise RuntimeError(
                f"Attempting to deserialize object on {name.upper()} device {index} but torch.{name}.device_count() "
                f"is {count}. Please use torch.load with map_location to map your storages to an existing device."
            )
    return device if device.index is not None or not hasattr(module, "current_device") else Device(name, 0)


def _restore(name: str, storage: Any, location: str) -> Any:
    if name == "mps" and location.startswith("mps"):
        return UntypedStorage(storage.nbytes(), device="mps")  # raises: no build here stands for it
    if location == name or re.match(f"{name}(:|[0-9]+)", location):
        return storage.to(device=validate_device(location, name))
    return None


def validate_cuda_device(location: str) -> int | None:
    """The index of the CUDA device that a tag names; ValueError for tags of other devices.

    >>> torch.serialization.validate_cuda_device("cuda:0")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is ...
    """
    if not location.startswith("cuda"):
        raise ValueError(f"Expected a cuda device, but got: {location}")
    return validate_device(location, "cuda").index


def validate_hpu_device(location: str) -> int | None:
    """The index of the HPU device that a tag names.

    >>> torch.serialization.validate_hpu_device("hpu:0")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: The HPU device module is not registered. If you are running on a CPU-only machine, ...
    """
    return validate_device(location, "hpu").index


def _restore_meta(storage: Any, location: str) -> Any:
    return UntypedStorage(storage.nbytes(), device="meta") if location == "meta" else None


register_package(10, lambda s: _tag("cpu", s) and "cpu", lambda s, location: s if location == "cpu" else None)
register_package(22, lambda s: _tag("meta", s) and "meta", _restore_meta)
for _priority, _name in ((20, "cuda"), (21, "mps"), (23, "npu"), (24, "hpu"), (25, "xpu"), (26, "mtia")):
    register_package(_priority, functools.partial(_tag, _name), functools.partial(_restore, _name))
