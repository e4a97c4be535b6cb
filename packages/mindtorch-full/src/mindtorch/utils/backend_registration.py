"""The name of the out-of-tree device. Here it is always Ascend's."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt

__all__ = ["generate_methods_for_privateuse1_backend", "rename_privateuse1_backend"]

_IN_TREE = ("cpu", "cuda", "hip", "mps", "mtia", "xpu", "hpu", "xla", "meta", "maia", "vulkan", "ipu", "ve", "fpga")
_NAME = "npu"


def rename_privateuse1_backend(backend_name: str) -> None:
    """Accepts `npu`, the name it has; a process has one such device, as in torch."""
    if backend_name in _IN_TREE:
        raise RuntimeError(f"Cannot register privateuse1 backend with in-tree device name: {backend_name}")
    if backend_name != _NAME:
        raise RuntimeError(f"torch.register_privateuse1_backend() has already been set! Current backend: {_NAME}")


def _get_privateuse1_backend_name() -> str:
    """The name of the out-of-tree device."""
    return _NAME


def generate_methods_for_privateuse1_backend(
    for_tensor: bool = True,
    for_module: bool = True,
    for_packed_sequence: bool = True,
    for_storage: bool = False,
    unsupported_dtype: Any = None,
) -> None:
    """`Tensor.npu`, `Module.npu` and the like exist already: there is nothing to generate."""


adopt(globals())
