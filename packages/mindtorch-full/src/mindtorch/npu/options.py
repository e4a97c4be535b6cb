"""Options of the devices under torch_npu's names. Advice is checked and kept; what cannot be done raises."""

from __future__ import annotations

import os
import warnings
from enum import IntEnum
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_npu import runtime, switches
from mindtorch_npu.acl.errors import check
from mindtorch_npu.device import synchronize
from mindtorch_npu.properties import chip_family

__all__ = [
    "CubeMathType",
    "are_compatible_impl_enabled",
    "check_uce_in_memory",
    "clear_npu_overflow_flag",
    "config",
    "conv",
    "disable_deterministic_with_backward",
    "enable_deterministic_with_backward",
    "finalize_dump",
    "get_device_limit",
    "get_mm_bmm_format_nd",
    "get_npu_overflow_flag",
    "init_dump",
    "is_jit_compile_false",
    "is_support_inf_nan",
    "matmul",
    "npu_check_overflow",
    "set_aoe",
    "set_compile_mode",
    "set_deterministic_level",
    "set_device_limit",
    "set_dump",
    "set_mm_bmm_format_nd",
    "set_op_timeout_ms",
    "set_option",
    "stop_device",
    "stress_detect",
    "use_compatible_impl",
]

_SWITCH = ("enable", "disable")
_TEXTS = (
    "ACL_DEBUG_DIR ACL_OPTYPELIST_FOR_IMPLMODE ACL_OP_COMPILER_CACHE_DIR ACL_OP_DEBUG_OPTION FORCE_ACLNN_OP_LIST "
    "NPU_FUZZY_COMPILE_BLACKLIST TORCH_NPU_USE_COMPATIBLE_IMPL autotunegraphdumppath mdldumpconfigpath"
).split()
_VALUES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_TEXTS, ()),
    "ACL_PRECISION_MODE": ("allow_fp32_to_fp16", "must_keep_origin_dtype"),
    "ACL_OP_SELECT_IMPL_MODE": ("high_performance", "high_precision"),
    "ACL_AICORE_NUM": tuple(map(str, range(1, 33))),
    "ACL_OP_DEBUG_LEVEL": ("0", "1", "2", "3", "4"),
    "ACL_OP_COMPILER_CACHE_MODE": ("disable", "enable", "force"),
    "ALLOW_MATMUL_HF32": _SWITCH,
    "ALLOW_CONV_HF32": _SWITCH,
    "ALLOW_INTERNAL_FORMAT": _SWITCH,
    "CUBE_MATH_TYPE": ("0", "1", "2", "3", "4"),
    "OP_HOOK_ENABLE": _SWITCH,
    "STRONG_CONSISTENCY": _SWITCH,
    "MM_BMM_ND_ENABLE": _SWITCH,
    "jitCompile": _SWITCH,
    "mdldumpswitch": _SWITCH,
    "autotune": _SWITCH,
}
"""Options by name and what they may be; nothing stands for any text."""
_DEPRECATED = ("ACL_OP_SELECT_IMPL_MODE", "ACL_OPTYPELIST_FOR_IMPLMODE")
_options: dict[str, str] = {"MM_BMM_ND_ENABLE": "enable", "jitCompile": "disable"}
_compatible = {"impl": False}
_limited: set[int] = set()
OLD_FAMILIES = ("910", "310p")
"""Chips that cut numbers which are too large off, and raise a flag, instead of giving infinity."""


class CubeMathType(IntEnum):
    """How products of float32 are computed."""

    KEEP_DTYPE = 0
    ALLOW_FP32_DOWN_PRECISION = 1
    USE_FP16 = 2
    USE_HF32 = 3
    USE_FP32_ADD = 4
    FORCE_GRP_ACC_FOR_FP32 = 4


def set_option(option: dict[str, Any]) -> None:
    """Set options of the vendor's compiler and operators.

    TypeError and ValueError for what they cannot be, RuntimeError for a name that none has.
    """
    if not isinstance(option, dict):
        raise TypeError("npu option must be a dict.")
    for name, value in option.items():
        if name not in _VALUES:
            raise RuntimeError(f"invalid npu option name:{name}")
        allowed = _VALUES[name]
        if allowed and str(value) not in allowed:
            raise ValueError(f"value of {name} should be in {list(allowed)} but got {value}")
        if name in _DEPRECATED:
            warnings.warn(f"{name} is deprecated: numbers may be less exact, or computed slower, with it", stacklevel=2)
    for name, value in option.items():
        _options[name] = str(value)
    _apply()


def get_option(name: str) -> str | None:
    """Return what an option was set to, None where it was not."""
    return _options.get(name)


def _apply() -> None:
    """Let products be computed as the options say."""
    kept = int(_options.get("CUBE_MATH_TYPE", "0"))
    hf32 = int(CubeMathType.USE_HF32)
    switches.cube_math["matmul"] = hf32 if _options.get("ALLOW_MATMUL_HF32") == "enable" else kept
    switches.cube_math["conv"] = hf32 if _options.get("ALLOW_CONV_HF32") == "enable" else 0


class _Matmul:
    """`torch.npu.matmul`: how matrices are multiplied."""

    @property
    def allow_hf32(self) -> bool:
        """Whether float32 may be multiplied with fewer bits."""
        return _options.get("ALLOW_MATMUL_HF32") == "enable"

    @allow_hf32.setter
    def allow_hf32(self, value: Any) -> None:
        _set_flag("ALLOW_MATMUL_HF32", value)

    @property
    def cube_math_type(self) -> CubeMathType | None:
        """How float32 is multiplied, None where nothing was said."""
        found = _options.get("CUBE_MATH_TYPE")
        return None if found is None else CubeMathType(int(found))

    @cube_math_type.setter
    def cube_math_type(self, value: Any) -> None:
        if not isinstance(value, CubeMathType):
            raise TypeError(
                f"value should be one of Enum CubeMathType when setting cube_math_type, but got {type(value)}"
            )
        set_option({"CUBE_MATH_TYPE": int(value)})


class _Conv:
    """`torch.npu.conv`: how convolutions are computed."""

    @property
    def allow_hf32(self) -> bool:
        """Whether float32 may be multiplied with fewer bits."""
        return _options.get("ALLOW_CONV_HF32") == "enable"

    @allow_hf32.setter
    def allow_hf32(self, value: Any) -> None:
        _set_flag("ALLOW_CONV_HF32", value)


class _Config:
    """`torch.npu.config`."""

    @property
    def allow_internal_format(self) -> bool:
        """Whether tensors may lie in the chip's own formats; they never do here."""
        return _options.get("ALLOW_INTERNAL_FORMAT") == "enable"

    @allow_internal_format.setter
    def allow_internal_format(self, value: Any) -> None:
        set_option({"ALLOW_INTERNAL_FORMAT": "enable" if value else "disable"})


def _set_flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"allow_hf32 must be a bool, but got {type(value).__name__}")
    set_option({name: "enable" if value else "disable"})


matmul, conv, config = _Matmul(), _Conv(), _Config()


def set_compile_mode(jit_compile: bool = False) -> None:
    """Say whether operators are compiled anew for every shape. Kept: the operators here are compiled ones."""
    if runtime.is_initialized():
        synchronize()
    set_option({"jitCompile": "enable" if jit_compile else "disable"})


def is_jit_compile_false() -> bool:
    """Return whether compiled operators are used."""
    runtime.init()
    return _options["jitCompile"] == "disable"


def set_aoe(dump_path: Any) -> None:
    """Name the folder for graphs to tune, which is made; nothing is dumped, for no graph is compiled."""
    try:
        os.makedirs(dump_path, exist_ok=True)
    except TypeError:
        raise TypeError("Type of dump_path is invalid.") from None
    except OSError:
        raise OSError("Value of dump_path is invalid.") from None
    set_option({"autotune": "enable", "autotunegraphdumppath": os.fspath(dump_path)})


def set_mm_bmm_format_nd(is_nd: bool = True) -> None:
    """Say whether matrices of linear layers lie in plain order; here they always do."""
    set_option({"MM_BMM_ND_ENABLE": "enable" if is_nd else "disable"})


def get_mm_bmm_format_nd() -> bool:
    """Return what `set_mm_bmm_format_nd` said."""
    return _options["MM_BMM_ND_ENABLE"] == "enable"


def init_dump() -> None:
    """Let operands of operators be dumped."""
    set_option({"mdldumpswitch": "enable"})
    _dump("mdl_init_dump")


def set_dump(cfg_file: str) -> None:
    """Dump what a file says. AssertionError where it is not there."""
    if not os.path.exists(cfg_file):
        raise AssertionError(f"cfg_file {cfg_file} path does not exists.")
    path = os.path.realpath(cfg_file)
    set_option({"mdldumpconfigpath": path})
    _dump("mdl_set_dump", path)


def finalize_dump() -> None:
    """Dump no more."""
    set_option({"mdldumpswitch": "disable"})
    _dump("mdl_finalize_dump")


def _dump(name: str, *arguments: Any) -> None:
    call = getattr(getattr(runtime.init(), "mdl", None), name.removeprefix("mdl_"), None)
    if call is None:
        raise NotImplementedError(
            f"torch.npu: dumping operands needs acl.mdl.{name.removeprefix('mdl_')}, which is not there"
        )
    check(call(*arguments), f"acl.mdl.{name.removeprefix('mdl_')}")


def is_support_inf_nan() -> bool:
    """Return whether the chip gives infinity for numbers that are too large."""
    runtime.init()
    return chip_family() not in OLD_FAMILIES


def get_npu_overflow_flag() -> bool:
    """Return whether a number was too large since the flag was cleared. RuntimeError where chips give infinity."""
    if is_support_inf_nan():
        raise RuntimeError("Unsupported api when soc_version >= Ascend910B1, please use npu_check_overflow")
    raise NotImplementedError("torch.npu.get_npu_overflow_flag: the operator NPUGetFloatStatus is not bound")


def npu_check_overflow(grad: Any) -> bool:
    """Return whether a number or a tensor holds infinity or NaN."""
    if not is_support_inf_nan():
        return get_npu_overflow_flag()
    if isinstance(grad, float):
        total = grad
    elif hasattr(grad, "float"):
        total = float(grad.float().sum())
    else:
        raise RuntimeError("Unsupported type.")
    return total != total or total in (float("inf"), float("-inf"))


def clear_npu_overflow_flag() -> None:
    """Clear the flag of numbers that are too large; chips that give infinity have none."""
    if is_support_inf_nan():
        warnings.warn(
            "When soc_version >= Ascend910B1, clear_npu_overflow_flag is useless. Please remove it.", stacklevel=2
        )
        return
    raise NotImplementedError("torch.npu.clear_npu_overflow_flag: the operator NPUClearFloatStatus is not bound")


def stress_detect(detect_type: str = "aic") -> int:
    """Let the vendor's detector look for faults of the cores; 1 for a kind that there is not."""
    if detect_type not in ("aic", "hccs"):
        warnings.warn("Detect_type should be `aic` or `hccs`.", stacklevel=2)
        return 1
    runtime.init()
    raise NotImplementedError("torch.npu.stress_detect: pyACL has no function for it; use `mindtorch-npu selftest`")


def set_op_timeout_ms(timeout: int) -> None:
    """Let operators that run longer fail."""
    if isinstance(timeout, bool) or not isinstance(timeout, int):
        raise TypeError(f"timeout must be an int, but got {type(timeout).__name__}")
    if timeout < 0:
        raise ValueError("can't convert negative value to unsigned int")
    if timeout >= 2**32:
        raise ValueError("Overflow when unpacking unsigned int")
    switches.set_op_timeout_ms(timeout)


def set_deterministic_level(level: int) -> None:
    """0 lets operators be as fast as they can, 1 gives the same bits each time; 2, which newer chips have, raises."""
    if level not in (0, 1, 2):
        raise ValueError(f"level must be 0, 1 or 2, but got {level}")
    if level == 2:
        raise NotImplementedError("torch.npu.set_deterministic_level(2): only 0 and 1 are supported")
    switches.set_deterministic(level == 1)


class _Deterministic(torch.autograd.Function):
    """The tensor itself; whether algorithms are deterministic is chosen forward, and the other way on the way back."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, mode: bool) -> Any:
        ctx.mode = mode
        torch.use_deterministic_algorithms(mode)
        return tensor

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        torch.use_deterministic_algorithms(not ctx.mode)
        return gradient, None


def enable_deterministic_with_backward(tensor: Any) -> Any:
    """Return the tensor; from here on, forward, operators give the same bits each time, as far as its backward pass."""
    return _Deterministic.apply(tensor, True)


def disable_deterministic_with_backward(tensor: Any) -> Any:
    """Return the tensor; from here on, forward, operators are as fast as they can be, as far as its backward pass."""
    return _Deterministic.apply(tensor, False)


def use_compatible_impl(is_enable: bool) -> None:
    """Say whether operators follow the CPU's rounding where they have such a form; kept."""
    _compatible["impl"] = bool(is_enable)


def are_compatible_impl_enabled() -> bool:
    """Return what `use_compatible_impl` said."""
    return _compatible["impl"]


def _device(device: Any) -> int:
    if isinstance(device, bool) or not isinstance(device, int):
        raise TypeError(f"device must be an int, but got {type(device).__name__}")
    if not 0 <= device < runtime.device_count():
        raise AssertionError("Invalid device id")
    return device


def _resources(name: str) -> Any:
    call = getattr(runtime.init().rt, name, None)
    if call is None:
        raise NotImplementedError(f"torch.npu: this version of pyACL has no acl.rt.{name}")
    return call


def set_device_limit(device: int, cube_num: int = -1, vector_num: int = -1) -> None:
    """Let a process use no more than so many cores; once for a device."""
    index = _device(device)
    if index in _limited:
        raise RuntimeError("Function 'set_device_limit' has already been called, You can only set this interface once.")
    for kind, count in ((0, cube_num), (1, vector_num)):
        if count != -1:
            check(_resources("set_device_res_limit")(index, kind, count), "acl.rt.set_device_res_limit", runtime.init())
    _limited.add(index)


def get_device_limit(device: int) -> dict[str, int]:
    """Return how many cores of each kind a process may use."""
    index, found = _device(device), {}
    for kind, name in ((0, "cube_core_num"), (1, "vector_core_num")):
        count, code = _resources("get_device_res_limit")(index, kind)
        check(code, "acl.rt.get_device_res_limit", runtime.init())
        found[name] = int(count)
    return found


def check_uce_in_memory(device_id: int) -> int:
    """Return 0 without errors of the memory that could not be corrected, 3 with them."""
    ranges, code = _resources("get_mem_uce_info")(_device(device_id))
    check(code, "acl.rt.get_mem_uce_info", runtime.init())
    return 3 if ranges else 0


def stop_device(device_id: int) -> int:
    """Let all that a device has to do be dropped; 0 when that went well."""
    code = _resources("device_task_abort")(_device(device_id), 0)
    return int(code)


adopt(globals())
