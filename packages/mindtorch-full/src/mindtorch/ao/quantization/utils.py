"""Ranges, schemes and kinds of configurations, for the modules of this package."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.ao.quantization.quant_type import QuantType
from mindtorch.nn.utils.parametrize import is_parametrized

DEPRECATION_WARNING = (
    "torch.ao.quantization is deprecated and will be removed in 2.10. \nFor migrations of users: \n1. Eager mode quantization "
    "(torch.ao.quantization.quantize, torch.ao.quantization.quantize_dynamic), please migrate to use torchao eager mode "
    "quantize_ API instead \n2. FX graph mode quantization (torch.ao.quantization.quantize_fx.prepare_fx,"
    "torch.ao.quantization.quantize_fx.convert_fx, please migrate to use torchao pt2e quantization API instead "
    "(prepare_pt2e, convert_pt2e) \n3. pt2e quantization has been migrated to torchao "
    "(https://github.com/pytorch/ao/tree/main/torchao/quantization/pt2e) \nsee "
    "https://github.com/pytorch/ao/issues/2259 for more details"
)
_PLAIN = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.float8_e5m2, torch.float8_e4m3fn}
_STATIC = {torch.quint8, torch.qint8, torch.quint4x2, torch.qint32, *_PLAIN}
_BYTES = {torch.quint8, torch.qint8, torch.uint8, torch.int8}


class MatchAllNode:
    """What stands for any node in a pattern of nodes."""


def deprecated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that says when it is called that `torch.ao.quantization` goes."""

    @functools.wraps(function)
    def warned(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(DEPRECATION_WARNING, DeprecationWarning, stacklevel=2)
        return function(*args, **kwargs)

    warned.__deprecated__ = DEPRECATION_WARNING  # type: ignore[attr-defined]
    return warned


def get_combined_dict(default_dict: dict[Any, Any], additional_dict: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return both dictionaries in one; the second one's values stand where both have a key."""
    return {**default_dict, **additional_dict}


def is_per_tensor(qscheme: Any) -> bool:
    """True for schemes with one scale."""
    return qscheme in (torch.per_tensor_affine, torch.per_tensor_symmetric)


def is_per_channel(qscheme: Any) -> bool:
    """True for schemes with a scale for each channel."""
    return qscheme in (
        torch.per_channel_affine,
        torch.per_channel_affine_float_qparams,
        torch.per_channel_symmetric,
    )


def getattr_from_fqn(obj: Any, fqn: str) -> Any:
    """Return the attribute of a dotted name."""
    return functools.reduce(getattr, fqn.split("."), obj)


def to_underlying_dtype(qdtype: Any) -> Any:
    """Return the plain dtype of the integers of a quantized one."""
    known = {
        torch.quint8: torch.uint8,
        torch.qint8: torch.int8,
        torch.qint32: torch.int32,
        torch.quint4x2: torch.uint8,
        torch.quint2x4: torch.uint8,
        torch.uint16: torch.uint16,
        **{one: one for one in _PLAIN},
    }
    if qdtype not in known:
        raise AssertionError("Unsupported dtype: " + str(qdtype))
    return known[qdtype]


def get_qparam_dict(observer_or_fake_quant: Any) -> dict[str, Any]:
    """Return how an observer would quantize: scheme, dtype, scale, zero point and range."""
    observer = observer_or_fake_quant
    qscheme, dtype = getattr(observer, "qscheme", None), observer.dtype
    if not qscheme or type(observer).__name__ == "PlaceholderObserver":
        return {"qscheme": None, "dtype": dtype}
    found: dict[str, Any] = {"qscheme": torch.per_tensor_affine, "dtype": dtype}
    if is_per_channel(qscheme):
        found["axis"] = observer.ch_axis
        found["qscheme"] = torch.per_channel_affine if qscheme == torch.per_channel_symmetric else qscheme
    elif not is_per_tensor(qscheme):
        raise RuntimeError(f"Unrecognized qscheme: {qscheme}")
    found["scale"], found["zero_point"] = observer.calculate_qparams()
    found.update((name, getattr(observer, name)) for name in ("quant_min", "quant_max") if hasattr(observer, name))
    return found


def get_swapped_custom_module_class(custom_module: Any, custom_module_class_mapping: Any, qconfig: Any) -> Any:
    """Return the class that stands for a module of the user's, by kind of quantization."""
    class_mapping = custom_module_class_mapping.get(get_quant_type(qconfig), {})
    if type(custom_module) not in class_mapping:
        raise AssertionError(
            f"did not find corresponding observed module class for {type(custom_module)} in mapping: {class_mapping}"
        )
    return class_mapping[type(custom_module)]


def _asked(qconfig: Any, what: str) -> Any:
    if qconfig is None:
        raise AssertionError(f"qconfig must be provided to {what}")
    return qconfig


def activation_dtype(qconfig: Any) -> Any:
    """Return the dtype of activations."""
    return _asked(qconfig, "determine activation dtype").activation().dtype


def weight_dtype(qconfig: Any) -> Any:
    """Return the dtype of weights."""
    return _asked(qconfig, "determine weight dtype").weight().dtype


def activation_is_statically_quantized(qconfig: Any) -> bool:
    """True where activations have a scale before they come."""
    static = {torch.quint8, torch.qint8, torch.qint32, torch.float16, *_PLAIN}
    return activation_dtype(qconfig) in static and not activation_is_dynamically_quantized(qconfig)


def activation_is_dynamically_quantized(qconfig: Any) -> bool:
    """True where the scale of activations is found as they come."""
    return bool(get_qconfig_dtypes(qconfig)[2])


def activation_is_int8_quantized(qconfig: Any) -> bool:
    """True where activations have 8 bits."""
    return activation_dtype(qconfig) in _BYTES


def activation_is_int32_quantized(qconfig: Any) -> bool:
    """True where activations have 32 bits."""
    return activation_dtype(qconfig) in (torch.qint32, torch.int32)


def weight_is_quantized(qconfig: Any) -> bool:
    """True where weights are no float32."""
    return weight_dtype(qconfig) in {torch.quint8, torch.qint8, torch.float16, torch.quint4x2, *_PLAIN}


def weight_is_statically_quantized(qconfig: Any) -> bool:
    """True where weights have 8 bits."""
    return weight_dtype(qconfig) in _BYTES


def op_is_int8_dynamically_quantized(qconfig: Any) -> bool:
    """True where activations have 8 bits as they come, and weights 8 bits with a sign."""
    activation, weight, dynamic = get_qconfig_dtypes(qconfig)
    return activation in (torch.quint8, torch.uint8) and weight in (torch.qint8, torch.int8) and bool(dynamic)


def get_qconfig_dtypes(qconfig: Any) -> tuple[Any, Any, Any]:
    """Return the dtypes of activations and weights, and whether activations are quantized as they come."""
    _asked(qconfig, "extract dtypes")
    activation, weight = qconfig.activation(), qconfig.weight()
    return activation.dtype, weight.dtype, getattr(activation, "is_dynamic", False)


def get_quant_type(qconfig: Any) -> QuantType:
    """Return the kind of quantization that a configuration asks for."""
    _asked(qconfig, "determine quant type")
    activation, weight = qconfig.activation(), qconfig.weight()
    dynamic = getattr(activation, "is_dynamic", False)
    if weight.dtype in _STATIC:
        if dynamic:
            return QuantType.DYNAMIC
        return QuantType.STATIC if activation.dtype in _STATIC else QuantType.WEIGHT_ONLY
    if weight.dtype == torch.float16 and dynamic:
        return QuantType.DYNAMIC
    if weight.dtype == torch.float16 and activation.dtype == torch.float16:
        return QuantType.STATIC
    raise Exception(
        f"Unrecognized dtype combination in get_quant_type: activation({activation.dtype}),weight({weight.dtype})"
    )


def check_min_max_valid(min_val: Any, max_val: Any) -> bool:
    """True where something was observed; AssertionError where least and greatest value are the wrong way round."""
    unset = min_val.numel() == 0 or max_val.numel() == 0
    single = min_val.dim() == 0 or max_val.dim() == 0
    if unset or (single and min_val == float("inf") and max_val == float("-inf")):
        warnings.warn("must run observer before calling calculate_qparams. Returning default values.", stacklevel=2)
        return False
    if (min_val > max_val).any():
        raise AssertionError(f"min {min_val} should be less than max {max_val}")
    return True


def calculate_qmin_qmax(
    quant_min: Any, quant_max: Any, has_customized_qrange: bool, dtype: Any, reduce_range: bool
) -> tuple[int, int]:
    """Return the least and the greatest integer of an observer."""
    if has_customized_qrange:
        length = quant_max - quant_min + 1
        if dtype in (torch.qint8, torch.int8) and not 0 < length <= 256:
            raise AssertionError("quantization range should be positive and not exceed the maximum bit range (=256).")
        if dtype in (torch.qint32, torch.int32) and not 0 < length <= 2**32:
            raise AssertionError(
                "quantization range should be positive and not exceed the maximum bit range (=4294967296)."
            )
        return (quant_min // 2, quant_max // 2) if reduce_range else (quant_min, quant_max)
    if dtype in (torch.qint8, torch.int8):
        return (-64, 63) if reduce_range else (-128, 127)
    if dtype in (torch.quint8, torch.uint8):
        return (0, 127) if reduce_range else (0, 255)
    if dtype in (torch.qint32, torch.int32):
        return -(2**31), 2**31 - 1
    return {torch.uint16: (0, 2**16 - 1), torch.int16: (-(2**15), 2**15 - 1)}.get(dtype, (0, 15))


def validate_qmin_qmax(quant_min: int, quant_max: int) -> None:
    """Refuse a range of integers that is empty or has no 0."""
    if not quant_min <= 0 <= quant_max:
        raise AssertionError("Used-specified quantization range must include 0.")
    if quant_min >= quant_max:
        raise AssertionError("qmin must be strictly less than qmax for user-specified quantization range.")


def has_no_children_ignoring_parametrizations(module: Any) -> bool:
    """True for a module without others, but those of parametrizations."""
    return not module._modules or (is_parametrized(module) and len(module._modules) == 1)


adopt(globals())
