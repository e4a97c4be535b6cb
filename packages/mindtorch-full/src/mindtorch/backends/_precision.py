"""How precisely float32 may be computed: the settings, and how torch's old and new names for them hang together.

A setting that is "none" follows its parent: operator -> backend -> all backends. None of this changes how the CPU
computes; the settings are kept for the devices they are for.
"""

from typing import Any

from mindtorch._naming import torch_name
from mindtorch.backends._flags import flag

_ALLOWED = {
    "generic": ("ieee", "tf32", "bf16", "none"),
    "mkldnn": ("ieee", "tf32", "bf16", "none"),
    "cuda": ("ieee", "tf32", "none"),
}

# torch's default for cuDNN: TF32, as long as nobody said anything, here or above.
_UNSET = "unset"
_state = {
    ("generic", "all"): "none",
    ("mkldnn", "conv"): "none",
    ("mkldnn", "rnn"): "none",
    ("mkldnn", "matmul"): "none",
    ("cuda", "all"): "none",
    ("cuda", "conv"): _UNSET,
    ("cuda", "rnn"): _UNSET,
    ("cuda", "matmul"): "none",
}
_legacy = {"cudnn": True, "matmul": "highest"}

_SEE = " See also: https://pytorch.org/docs/main/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices"


def get(backend: str, op: str) -> str:
    """Return the precision that holds for ``op`` ("conv", "rnn", "matmul" or "all") of ``backend``."""
    own = _state.get((backend, op), "none")
    if own not in ("none", _UNSET):
        return own
    inherited = _state.get((backend, "all"), "none")
    if inherited == "none":
        inherited = _state["generic", "all"]
    if own == _UNSET and inherited == "none":
        return "tf32"
    return inherited if inherited in _ALLOWED[backend] else "none"


def put(backend: str, op: str, precision: Any) -> None:
    """Set the precision of ``op`` of ``backend``."""
    if not isinstance(precision, str):
        raise TypeError(
            "_set_fp32_precision_setter(): incompatible function arguments. The following argument types are "
            f"supported:\n    1. (arg0: str, arg1: str, arg2: str) -> str\n\nInvoked with: {backend!r}, {op!r}, "
            f"{precision!r}"
        )
    if precision not in _ALLOWED["generic"]:
        raise RuntimeError(f"Unknown precision: {precision}")
    if precision not in _ALLOWED[backend]:
        raise RuntimeError(f"backend {backend!r} does not support precision {precision!r}")
    _state[backend, op] = precision


def cudnn_allow_tf32() -> bool:
    """Return the old setting for cuDNN. Raises when the new ones say something else."""
    conv, rnn = get("cuda", "conv") == "tf32", get("cuda", "rnn") == "tf32"
    if conv == rnn == _legacy["cudnn"]:
        return conv
    raise RuntimeError(
        "PyTorch is checking whether allow_tf32 is enabled for cuDNN without a specific operator name,but the current "
        "flag(s) indicate that cuDNN conv and cuDNN RNN have different TF32 flags.This combination indicates that you "
        "have used a mix of the legacy and new APIs to set the TF32 flags. We suggest only using the new API to set "
        "the TF32 flag(s)." + _SEE
    )


def set_cudnn_allow_tf32(value: Any) -> None:
    """Set the old setting for cuDNN, and the new ones with it."""
    if not isinstance(value, bool):
        raise RuntimeError(f"set_allow_tf32_cublas expects a bool, but got {type(value).__name__}")
    _legacy["cudnn"] = value
    _state["cuda", "conv"] = _state["cuda", "rnn"] = "tf32" if value else "none"


def matmul_allow_tf32() -> bool:
    """Return the old setting for matrix products on CUDA. Raises when the new one says something else."""
    legacy = _legacy["matmul"] != "highest"
    if legacy == (get("cuda", "matmul") == "tf32"):
        return legacy
    raise RuntimeError(
        "PyTorch is checking whether allow_tf32_new is enabled for cuBlas matmul,Current status indicate that you have "
        "used mix of the legacy and new APIs to set the TF32 status for cublas matmul. We suggest only using the new "
        "API to set the TF32 flag." + _SEE
    )


def set_matmul_allow_tf32(value: Any) -> None:
    """Set the old setting for matrix products on CUDA, and the new one with it."""
    if not isinstance(value, bool):
        raise RuntimeError(f"set_allow_tf32_cublas expects a bool, but got {type(value).__name__}")
    _legacy["matmul"] = "high" if value else "highest"
    _state["cuda", "matmul"] = "tf32" if value else "ieee"


class FP32Precision:
    """The settings of one operator of one backend: `torch.backends.cudnn.conv`."""

    def __init__(self, backend: str, op: str) -> None:
        self.backend = backend
        self.op = op

    @property
    def fp32_precision(self) -> str:
        """The precision that holds."""
        return get(self.backend, self.op)

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        put(self.backend, self.op, value)


FP32Precision.__name__ = FP32Precision.__qualname__ = "_FP32Precision"
FP32Precision.__module__ = torch_name("mindtorch.backends")


def precision_flag(backend: str, op: str = "all") -> property:
    """Return the property `fp32_precision` of a module."""
    return flag(lambda: get(backend, op), lambda value: put(backend, op, value))


def get_float32_matmul_precision() -> str:
    """Return how precisely float32 matrices are multiplied: "highest", "high" or "medium".

    It is kept for the devices; the CPU always multiplies in full precision.
    """
    legacy, mkldnn = _legacy["matmul"], get("mkldnn", "matmul")
    mixed = (
        (get("cuda", "matmul") == "tf32" and legacy == "highest")
        or (mkldnn == "bf16" and legacy != "medium")
        or (mkldnn == "tf32" and legacy != "high")
    )
    if mixed:
        raise RuntimeError(
            "PyTorch is checking the matmul precision without a specific backend name,Current status indicate that you "
            "have used mix of the legacy and new APIs to set the matmul precision. We suggest only using the new API "
            "for matmul precision." + _SEE
        )
    return str(legacy)


def set_float32_matmul_precision(precision: str) -> bool:
    """Set how precisely float32 matrices are multiplied; return False, and change nothing, for an unknown word."""
    values = {"highest": ("ieee", "ieee"), "high": ("tf32", "tf32"), "medium": ("tf32", "bf16")}
    if precision not in values:
        return False
    _legacy["matmul"] = precision
    _state["cuda", "matmul"], _state["mkldnn", "matmul"] = values[precision]
    return True
