"""Names of backends, and which device each serves."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Callable
from typing import Any, ClassVar

import mindtorch
from mindtorch.distributed._process_group import BackendType

_FORMAT = (
    "Custom backend string is an experimental feature where the backend string must be in the format: "
    "\"<device_type1>:<backend1>,<device_type2>:<backend2>...\". e.g. 'cpu:gloo,cuda:nccl'"
)


class Backend(str):
    """The name of a backend, in lower case.

    >>> import torch.distributed as dist
    >>> dist.Backend("GLOO"), dist.Backend.NCCL
    ('gloo', 'nccl')
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"

    stands_for: ClassVar[dict[str, str]] = {}
    """Names that mean another backend, for programs written for another device."""
    _BackendPlugin = namedtuple("_BackendPlugin", ["creator_fn", "extended_api"])
    _plugins: ClassVar[dict[str, Any]] = {}
    backend_list: ClassVar[list[str]] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    default_device_backend_map: ClassVar[dict[str, str]] = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}
    backend_capability: ClassVar[dict[str, list[str]]] = {
        GLOO: ["cpu", "cuda"],
        NCCL: ["cuda"],
        XCCL: ["xpu"],
        UCC: ["cpu", "cuda"],
        MPI: ["cpu", "cuda"],
        FAKE: ["cpu", "cuda", "hpu", "xpu"],
    }
    backend_type_map: ClassVar[dict[str, BackendType]] = {
        UNDEFINED: BackendType.UNDEFINED,
        GLOO: BackendType.GLOO,
        NCCL: BackendType.NCCL,
        XCCL: BackendType.XCCL,
        UCC: BackendType.UCC,
        MPI: BackendType.MPI,
        FAKE: BackendType.CUSTOM,
    }

    def __new__(cls, name: Any) -> Any:
        """The known name, or the name in lower case; ValueError for anything but str."""
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        known = getattr(Backend, name.upper(), Backend.UNDEFINED)
        found = name.lower() if known == Backend.UNDEFINED else known
        return Backend.stands_for.get(found, found)

    @classmethod
    def register_backend(
        cls, name: str, func: Callable[..., Any], extended_api: bool = False, devices: str | list[str] | None = None
    ) -> None:
        """Make a backend known: `func` makes it for each group."""
        lower = name.lower()
        if not hasattr(Backend, name.upper()):
            setattr(Backend, name.upper(), lower)
        if lower not in Backend.backend_list:
            Backend.backend_list.append(lower)
        for device in devices or ():
            current = Backend.default_device_backend_map.get(device)
            if current is None or (current == "fake" and lower != "fake"):
                Backend.default_device_backend_map[device] = lower
        Backend.backend_type_map[lower] = BackendType.CUSTOM
        if devices is None:
            warnings.warn(
                f"Device capability of {name} unspecified, assuming `cpu` and "
                "`cuda` or `xpu`. Please specify it via the `devices` argument of "
                "`register_backend`.",
                stacklevel=2,
            )
            devices = ["cpu", "cuda"]
        Backend.backend_capability[lower] = [devices] if isinstance(devices, str) else devices
        Backend._plugins[name.upper()] = Backend._BackendPlugin(func, extended_api)


class BackendConfig:
    """Which backend serves which device in a group.

    >>> import torch.distributed as dist
    >>> print(dist.BackendConfig(dist.Backend("gloo")))
    cpu:gloo,cuda:gloo
    """

    def __init__(self, backend: Any) -> None:
        text = str(backend)
        self.device_backend_map: dict[str, Any] = {}
        if text == Backend.UNDEFINED:
            self.device_backend_map = _default_map()
        elif text.lower() in Backend.backend_list:
            self.device_backend_map = dict.fromkeys(Backend.backend_capability[text.lower()], Backend(text))
        elif ":" in text:
            self._read_pairs(text)
        else:
            warnings.warn(
                f"Device capability of {text} unknown, assuming `cpu` and "
                "`cuda`. You can specify it in `device:backend` format in "
                "`init_process_group` call.",
                stacklevel=2,
            )
            self.device_backend_map = dict.fromkeys(("cpu", "cuda", "xpu"), Backend(text))

    def _read_pairs(self, text: str) -> None:
        intro = f"The custom backend string argument is invalid: {text}.\n                "
        message = intro + _FORMAT.replace("format: ", "format:\n                ", 1).replace(
            "backend string must", "backend string must", 1
        )
        for pair in text.lower().split(","):
            parts = pair.split(":")
            if len(parts) != 2:
                raise ValueError(
                    f"Invalid device:backend pairing:                                      {pair}. {message}"
                )
            device, name = parts
            if device in self.device_backend_map:
                raise ValueError(
                    f"Duplicate device type {device}                                      in backend string: {name}. "
                    f"{message}"
                )
            self.device_backend_map[device] = Backend(name)

    def __repr__(self) -> str:
        """All pairs of device and backend."""
        return ",".join(f"{device}:{backend}" for device, backend in self.device_backend_map.items())

    def get_device_backend_map(self) -> dict[str, Any]:
        """The backend of each device."""
        return self.device_backend_map


def _default_map() -> dict[str, Any]:
    current = mindtorch.accelerator.current_accelerator()
    kind = "cpu" if current is None else current.type
    if kind not in Backend.default_device_backend_map:
        raise ValueError(
            f"We detected accelerator {kind} on your machine. "
            "But we don't know which communication backend to use for this accelerator. "
            "Please specify the `backend` argument in the `init_process_group` call."
        )
    return {kind: Backend(Backend.default_device_backend_map[kind])}


def _parse_backend_string(backend: str) -> dict[str, str]:
    """The backend that `backend` names for each device, without those that it does not name."""
    backend = backend.lower()
    if ":" not in backend:
        kinds = [kind for kind, name in Backend.default_device_backend_map.items() if name == backend]
        if not kinds:
            raise ValueError(
                f"Unknown backend '{backend}'. Specify a 'device:backend' string "
                f"or use one of: {sorted(Backend.default_device_backend_map.values())}"
            )
        return dict.fromkeys(kinds, backend)
    found: dict[str, str] = {}
    for pair in backend.split(","):
        parts = [part.strip() for part in pair.split(":")]
        if len(parts) != 2:
            raise ValueError(
                f"Invalid device:backend pairing '{pair}' in '{backend}'. "
                "Expected format: '<device_type1>:<backend1>,<device_type2>:<backend2>...'"
            )
        if parts[0] in found:
            raise ValueError(f"Duplicate device type '{parts[0]}' in backend string '{backend}'")
        found[parts[0]] = parts[1]
    return found
