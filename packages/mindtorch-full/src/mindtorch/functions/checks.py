"""`torch._check` and its like, questions about tensors, and process-wide switches."""

from __future__ import annotations

import builtins
import os
import warnings
from collections.abc import Callable
from typing import Any

from mindtorch_cpu import native
from mindtorch_cpu.threads import MOST_THREADS, threads
from mindtorch_dispatch import determinism, warn_once
from mindtorch_dispatch.arguments.messages import type_name
from mindtorch_dispatch.arguments.parameter import is_tensor_like
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.defaults import set_default_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.lazy_import import load
from mindtorch_storage.tensor_base import TensorBase, math_bits

from .._naming import adopt, torch_name
from .._overridable import as_given, make_overridable


def _check_with(error_type: type[Exception], cond: Any, message: Callable[[], str] | None = None) -> None:
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        text = (
            "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
            "enhancement request to PyTorch.)"
        )
    else:
        if not callable(message):
            raise TypeError("message must be a callable")
        text = str(message())
    raise error_type(text)


def _checker(error_type: type[Exception]) -> Callable[..., None]:
    def check(cond: Any, message: Callable[[], str] | None = None) -> None:
        _check_with(error_type, cond, message)

    return check


_check = _checker(RuntimeError)
_check_index = _checker(IndexError)
_check_value = _checker(ValueError)
_check_type = _checker(TypeError)
_check_not_implemented = _checker(NotImplementedError)


def _check_is_size(i: Any, message: Callable[[], str] | None = None, *, max: Any = None) -> None:
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Callable[[], str] | None = None) -> None:
    if not isinstance(cond, TensorBase):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype.name != "bool":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(aten.all(cond).item()), message)


def _check_tensor_all(cond: Any, message: Callable[[], str] | None = None) -> None:
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert(condition: Any, message: str) -> None:
    assert condition, message


def given_tensor(input: Any, name: str) -> Any:
    """Return `input`, which the function `name` was given; torch's TypeError where it is no tensor."""
    if not is_tensor_like(input):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
    return input


def is_floating_point(input: Any) -> bool:
    """Return whether the dtype is a floating-point one.

    >>> torch.is_floating_point(torch.tensor([1.]))
    True
    """
    return given_tensor(input, "is_floating_point").dtype.is_floating_point


def is_complex(input: Any) -> bool:
    """Return whether the dtype is complex.

    >>> torch.is_complex(torch.tensor([1.]))
    False
    """
    return given_tensor(input, "is_complex").dtype.is_complex


def is_signed(input: Any) -> bool:
    """Return whether the dtype is signed.

    >>> torch.is_signed(torch.ones(1)), torch.is_signed(torch.ones(1, dtype=torch.uint8))
    (True, False)
    """
    return given_tensor(input, "is_signed").dtype.is_signed


def is_conj(input: Any) -> bool:
    """Return whether a tensor is a view that shows the conjugates of what its storage holds.

    >>> torch.is_conj(torch.tensor([1 + 2j]).conj())
    True
    """
    return math_bits(input).conj


def is_neg(input: Any) -> bool:
    """Return whether a tensor is a view that shows the negatives of what its storage holds.

    >>> torch.is_neg(torch._neg_view(torch.ones(2)))
    True
    """
    return math_bits(input).neg


def is_inference(input: Any) -> bool:
    """Return whether the tensor was made in inference mode.

    >>> with torch.inference_mode():
    ...     torch.is_inference(torch.ones(2))
    True
    >>> torch.is_inference(torch.ones(2))
    False
    """
    return given_tensor(input, "is_inference").is_inference()


def is_distributed(input: Any) -> bool:
    """Always False.

    >>> torch.is_distributed(torch.ones(2))
    False
    """
    return False


def is_same_size(input: Any, other: Any) -> bool:
    """Return whether two tensors have one shape.

    >>> torch.is_same_size(torch.ones(2, 3), torch.ones(3, 2))
    False
    """
    return bool(input.is_same_size(other))


def is_nonzero(input: Any) -> bool:
    """Return whether the only element is not zero; RuntimeError for other counts.

    >>> torch.is_nonzero(torch.tensor([1.]))
    True
    """
    return bool(given_tensor(input, "is_nonzero"))


def typename(obj: Any, /) -> str:
    """Return a type's name, `torch.FloatTensor` for tensors.

    >>> torch.typename(torch.tensor([1.]))
    'torch.FloatTensor'
    """
    if isinstance(obj, TensorBase):
        return obj.dtype.type_name
    module = getattr(type(obj), "__module__", "") if not hasattr(obj, "__qualname__") else obj.__module__
    name = obj.__qualname__ if hasattr(obj, "__qualname__") else type(obj).__qualname__
    return name if module in ("", "builtins") else f"{torch_name(module)}.{name}"


def _has_compatible_shallow_copy_type(first: Any, second: Any) -> bool:
    return first.device.type == second.device.type


_switches: dict[str, Any] = {"precision": "highest", "interop_threads": None}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Record the wish and tell the backends; every CPU kernel is deterministic for a given thread count.

    >>> torch.use_deterministic_algorithms(True)
    >>> torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.use_deterministic_algorithms(False)
    """
    for value, name in ((mode, "'mode' (position 1)"), (warn_only, "'warn_only'")):
        if not isinstance(value, bool):
            raise TypeError(f"_set_deterministic_algorithms(): argument {name} must be bool, not {type_name(value)}")
    determinism.ask_for(mode, warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Return what `use_deterministic_algorithms` set.

    >>> torch.are_deterministic_algorithms_enabled()
    False
    """
    return determinism.wanted.enabled


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether non-deterministic ops only warn.

    >>> torch.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return determinism.wanted.warn_only


def get_deterministic_debug_mode() -> int:
    """Return 0, 1 (warn) or 2 (error).

    >>> torch.get_deterministic_debug_mode()
    0
    """
    return 0 if not determinism.wanted.enabled else 1 if determinism.wanted.warn_only else 2


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set 0/"default", 1/"warn" or 2/"error".

    >>> torch.set_deterministic_debug_mode("warn")
    >>> torch.get_deterministic_debug_mode()
    1
    >>> torch.set_deterministic_debug_mode("default")
    """
    level = (
        {"default": 0, "warn": 1, "error": 2}.get(debug_mode, debug_mode) if isinstance(debug_mode, str) else debug_mode
    )
    if level not in (0, 1, 2):
        raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_float32_matmul_precision() -> str:
    """Return "highest", "high" or "medium"; the CPU always computes in full precision.

    >>> torch.get_float32_matmul_precision()
    'highest'
    """
    return _switches["precision"]


def set_float32_matmul_precision(precision: str) -> None:
    """Record the wish for float32 matrix products.

    >>> torch.set_float32_matmul_precision("high")
    >>> torch.get_float32_matmul_precision()
    'high'
    >>> torch.set_float32_matmul_precision("highest")
    """
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', or 'medium'.")
    _switches["precision"] = precision


def is_warn_always_enabled() -> bool:
    """Return whether repeated warnings are shown.

    >>> torch.is_warn_always_enabled()
    False
    """
    return warn_once.is_always()


def set_warn_always(b: bool, /) -> None:
    """Choose whether repeated warnings are shown.

    >>> torch.set_warn_always(True)
    >>> torch.is_warn_always_enabled()
    True
    >>> torch.set_warn_always(False)
    """
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    warn_once.set_always(b)


def set_flush_denormal(mode: bool, /) -> bool:
    """Choose whether this thread's arithmetic takes denormal numbers for zeros, operands and results alike.

    Returns False, with nothing changed, where there is no native code or the processor has no such switch.

    >>> _ = torch.set_flush_denormal(False)
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return native.module is not None and native.module.flush_denormals(mode)


def get_num_threads() -> int:
    """Return how many threads kernels may use.

    >>> torch.get_num_threads() >= 1
    True
    """
    return threads.count


def set_num_threads(int: Any) -> None:
    """Set how many threads kernels may use, BLAS included.

    >>> threads = torch.get_num_threads()
    >>> torch.set_num_threads(1)
    >>> torch.get_num_threads()
    1
    >>> torch.set_num_threads(threads)
    """
    if type(int) is not builtins.int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(int).__name__}")
    if not -(2**31) <= int < 2**31:
        raise ValueError("Overflow when unpacking long")
    if int <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    threads.set(min(int, MOST_THREADS))


def get_num_interop_threads() -> int:
    """Return the number of inter-op threads.

    >>> torch.get_num_interop_threads() >= 1
    True
    """
    return _switches["interop_threads"] or os.cpu_count() or 1


def set_num_interop_threads(int: Any) -> None:
    """Record the number of inter-op threads.

    >>> try:
    ...     torch.set_num_interop_threads(0)
    ... except RuntimeError as error:
    ...     print(error)
    set_num_interop_threads expects a positive integer
    """
    if int <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _switches["interop_threads"] is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads called"
        )
    _switches["interop_threads"] = int


def is_vulkan_available() -> bool:
    """Always False.

    >>> torch.is_vulkan_available()
    False
    """
    return False


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by a legacy type or its name.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.set_default_tensor_type(torch.DoubleTensor)
    >>> torch.ones(1).dtype
    torch.float64
    >>> torch.set_default_tensor_type(torch.FloatTensor)
    """
    if isinstance(t, str):
        module, _, name = t.rpartition(".")
        ours = module.replace("torch", "mindtorch", 1) if module.split(".")[0] == "torch" else module or t
        t = getattr(load(ours), name)
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    if getattr(t, "__module__", "") == "torch.cuda":
        raise TypeError(f"type torch.cuda.{t.__name__} not available. Torch not compiled with CUDA enabled.")
    if isinstance(t, Dtype) or not hasattr(t, "dtype"):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    set_default_dtype(t.dtype)


make_overridable(
    globals(),
    "_assert is_floating_point is_complex is_signed is_conj is_neg is_inference is_distributed is_same_size is_nonzero".split(),
    as_given,
)


adopt(globals(), "torch")
