"""Eager quantization: observers into a model, then quantized layers in the place of observed ones."""

from __future__ import annotations

import copy
import inspect
import warnings
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import quantized
from mindtorch.ao.nn.intrinsic import _FusedModule
from mindtorch.ao.quantization.observer import _is_activation_post_process
from mindtorch.ao.quantization.qconfig import (
    _activation_is_memoryless,
    _add_module_to_qconfig_obs_ctr,
    _assert_valid_qconfig,
    default_dynamic_qconfig,
    float16_dynamic_qconfig,
    float_qparams_weight_only_qconfig,
    float_qparams_weight_only_qconfig_4bit,
)
from mindtorch.ao.quantization.quantization_mappings import (
    _get_special_act_post_process,
    _has_special_act_post_process,
    get_default_dynamic_quant_module_mappings,
    get_default_qat_module_mappings,
    get_default_qconfig_propagation_list,
    get_default_static_quant_module_mappings,
    no_observer_set,
)
from mindtorch.ao.quantization.stubs import DeQuantStub, QuantWrapper
from mindtorch.ao.quantization.utils import (
    deprecated,
    has_no_children_ignoring_parametrizations,
)
from mindtorch.nn.utils.parametrize import type_before_parametrizations

__all__ = [
    "add_quant_dequant",
    "convert",
    "get_default_custom_config_dict",
    "prepare",
    "prepare_qat",
    "propagate_qconfig_",
    "quantize",
    "quantize_dynamic",
    "quantize_qat",
    "swap_module",
]

is_activation_post_process = _is_activation_post_process
_RECURRENT = (nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.RNNCell, nn.GRUCell)
_NO_CUSTOM: dict[str, Any] = {
    "float_to_observed_custom_module_class": {},
    "observed_to_quantized_custom_module_class": {},
}


def get_default_custom_config_dict() -> dict[str, Any]:
    """Return the modules of the user's that are swapped as they are: by default none."""
    return _NO_CUSTOM


def _propagate(module: Any, qconfig_dict: Any, parent: Any, prefix: str, custom: Any) -> None:
    found = qconfig_dict.get(type_before_parametrizations(module), parent)
    found = qconfig_dict.get(prefix, found)
    found = getattr(module, "qconfig", found)
    _assert_valid_qconfig(found, module)
    module.qconfig = placed = _add_module_to_qconfig_obs_ctr(found, module)
    for name, child in module.named_children():
        left_out = custom is not None and (
            name in custom.get("non_traceable_module_name", [])
            or type(child) in custom.get("non_traceable_module_class", [])
        )
        if not left_out:
            _propagate(child, qconfig_dict, placed, f"{prefix}.{name}" if prefix else name, None)


def propagate_qconfig_(module: Any, qconfig_dict: Any = None, prepare_custom_config_dict: Any = None) -> None:
    """Give every module below one its configuration: its own, that of its name or type, or its parent's."""
    _propagate(module, qconfig_dict or {}, None, "", prepare_custom_config_dict or {})


def _observer_forward_hook(self: Any, input: Tensor, output: Any) -> Any:
    """Let the observer see a result."""
    return self.activation_post_process(output)


def _observer_forward_pre_hook(self: Any, input: Tensor) -> Any:
    """Let the observer see an input."""
    return self.activation_post_process(input[0])


def _register_activation_post_process_hook(module: Any, pre_hook: bool = False) -> None:
    if not hasattr(module, "activation_post_process"):
        raise AssertionError("Expect activation_post_process attribute already attached to the module")
    if pre_hook:
        module.register_forward_pre_hook(_observer_forward_pre_hook, prepend=True)
    else:
        module.register_forward_hook(_observer_forward_hook, prepend=True)


def _needs_observation(module: Any) -> bool:
    return getattr(module, "qconfig", None) is not None


def _observer_of(qconfig: Any, device: Any, special: Any = None) -> Any:
    made = qconfig.activation() if special is None else special()
    if device is not None:
        made.to(device)
    return made


def _observe(module: Any, device: Any, special: Any = None) -> None:
    """Give a module an observer of its results, where it has a configuration."""
    if _needs_observation(module) and not isinstance(module, DeQuantStub):
        module.add_module("activation_post_process", _observer_of(module.qconfig, device, special))
        _register_activation_post_process_hook(module, pre_hook=_activation_is_memoryless(module.qconfig))


def _add_observer_(
    module: Any,
    qconfig_propagation_list: Any = None,
    non_leaf_module_list: Any = None,
    device: Any = None,
    custom_module_class_mapping: Any = None,
) -> None:
    """Give observers to the modules below one."""
    kinds = get_default_qconfig_propagation_list() if qconfig_propagation_list is None else qconfig_propagation_list
    custom = custom_module_class_mapping or {}
    if device is None:
        devices = _get_unique_devices_(module)
        if len(devices) > 1:
            raise AssertionError(
                f"_add_observer_ only works with cpu or single-device CUDA modules, but got devices {devices}"
            )
        device = next(iter(devices), None)
    for name, child in module.named_children():
        kind = type_before_parametrizations(child)
        if kind is nn.Dropout:
            continue
        if issubclass(kind, (quantized.FloatFunctional, quantized.QFunctional)):
            if _needs_observation(child):
                child.activation_post_process = _observer_of(child.qconfig, device)
        elif isinstance(child, _FusedModule) or (non_leaf_module_list is not None and kind in non_leaf_module_list):
            _observe(child, device)
        elif _has_special_act_post_process(child):
            _observe(child, device, _get_special_act_post_process(child))
        elif _needs_observation(child) and kind in custom:
            observed = custom[kind].from_float(child)
            setattr(module, name, observed)
            if not issubclass(custom[kind], tuple(no_observer_set())):
                _observe(observed, device)
        else:
            _add_observer_(child, kinds, non_leaf_module_list, device, custom)
    known = not isinstance(module, nn.Sequential) and type_before_parametrizations(module) in kinds
    if known and has_no_children_ignoring_parametrizations(module):
        _observe(module, device)
    if known and hasattr(module, "weight_fake_quant"):
        _observe(module, device)


def _get_unique_devices_(module: Any) -> set[Any]:
    return {one.device for one in [*module.parameters(), *module.buffers()] if one.device.type != "meta"}


def add_quant_dequant(module: Any) -> Any:
    """Return a module in which all with a configuration stand between two marks."""
    if has_no_children_ignoring_parametrizations(module) and getattr(module, "qconfig", None):
        return QuantWrapper(module)
    for name, child in module.named_children():
        module._modules[name] = add_quant_dequant(child)
    return module


@deprecated
def prepare(
    model: Any,
    inplace: bool = False,
    allow_list: Any = None,
    observer_non_leaf_module_list: Any = None,
    prepare_custom_config_dict: Any = None,
) -> Any:
    """Return a model whose modules have observers, by their `qconfig`.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> model = torch.nn.Sequential(torch.ao.quantization.QuantStub(), torch.nn.Linear(2, 3)).eval()
    >>> model.qconfig = torch.ao.quantization.default_qconfig
    >>> type(torch.ao.quantization.prepare(model)[1].activation_post_process).__name__
    'MinMaxObserver'
    """
    custom = get_default_custom_config_dict() if prepare_custom_config_dict is None else prepare_custom_config_dict
    if not inplace:
        model = copy.deepcopy(model)
    kinds = get_default_qconfig_propagation_list() if allow_list is None else allow_list
    propagate_qconfig_(model, qconfig_dict=None)
    if not any(getattr(one, "qconfig", None) for one in model.modules()):
        warnings.warn(
            "None of the submodule got qconfig applied. Make sure you passed correct configuration through "
            "`qconfig_dict` or by assigning the `.qconfig` attribute directly on submodules",
            stacklevel=2,
        )
    mapping = custom.get("float_to_observed_custom_module_class", {})
    _add_observer_(model, kinds, observer_non_leaf_module_list, custom_module_class_mapping=mapping)
    return model


def _remove_activation_post_process(module: Any) -> None:
    if _is_activation_post_process(getattr(module, "activation_post_process", None)):
        delattr(module, "activation_post_process")
    for hooks, own in (
        (module._forward_pre_hooks, _observer_forward_pre_hook),
        (module._forward_hooks, _observer_forward_hook),
    ):
        for key in [key for key, hook in hooks.items() if hook is own]:
            hooks.pop(key)


def _remove_qconfig(module: Any) -> None:
    """Take configurations and observers out of a model."""
    for child in module.children():
        _remove_qconfig(child)
    if hasattr(module, "qconfig"):
        del module.qconfig
    _remove_activation_post_process(module)


@deprecated
def quantize(model: Any, run_fn: Any, run_args: Any, mapping: Any = None, inplace: bool = False) -> Any:
    """Return a quantized model: `run_fn` shows it the numbers by which it is."""
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    prepare(model, inplace=True)
    run_fn(model, *run_args)
    convert(model, get_default_static_quant_module_mappings() if mapping is None else mapping, inplace=True)
    return model


def _dynamic_config(dtype: Any) -> Any:
    return {
        torch.qint8: default_dynamic_qconfig,
        torch.float16: float16_dynamic_qconfig,
        torch.quint8: float_qparams_weight_only_qconfig,
        torch.quint4x2: float_qparams_weight_only_qconfig_4bit,
    }.get(dtype)


def _dynamic_spec(qconfig_spec: Any, dtype: Any) -> Any:
    """Return a configuration for each type or name of a layer."""
    if isinstance(qconfig_spec, dict):
        return qconfig_spec
    config = _dynamic_config(dtype)
    if qconfig_spec is None:
        if config is None:
            raise ValueError(
                f"Don't know how to quantize with default settings for {dtype}. Provide full qconfig please"
            )
        kinds: tuple[Any, ...] = _RECURRENT
        if dtype == torch.quint8:
            kinds = (nn.EmbeddingBag, nn.Embedding)
        elif dtype == torch.quint4x2:
            kinds = (nn.EmbeddingBag,)
        return dict.fromkeys(kinds, config)
    if isinstance(qconfig_spec, set):
        if config is None:
            raise RuntimeError("Unknown dtype specified for quantize_dynamic: ", str(dtype))
        return dict.fromkeys(qconfig_spec, config)
    return qconfig_spec


@deprecated
def quantize_dynamic(
    model: Any, qconfig_spec: Any = None, dtype: Any = torch.qint8, mapping: Any = None, inplace: bool = False
) -> Any:
    """Return a model whose linear and recurrent layers have quantized weights; their inputs are quantized as they come.

    Args:
        qconfig_spec: types or names of layers, or configurations by type or name.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(torch.nn.Linear(2, 3)))[0].weight().dtype
    torch.qint8
    """
    spec = _dynamic_spec(qconfig_spec, dtype)
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    propagate_qconfig_(model, spec)
    convert(model, get_default_dynamic_quant_module_mappings() if mapping is None else mapping, inplace=True)
    return model


@deprecated
def prepare_qat(model: Any, mapping: Any = None, inplace: bool = False) -> Any:
    """Return a model that rounds as a quantized one would, to be trained so; it must be in training mode."""
    if not model.training:
        raise AssertionError("prepare_qat only works on models in training mode")
    mapping = get_default_qat_module_mappings() if mapping is None else mapping
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model, qconfig_dict=None)
    convert(model, mapping=mapping, inplace=True, remove_qconfig=False)
    prepare(model, observer_non_leaf_module_list=set(mapping.values()), inplace=True)
    return model


@deprecated
def quantize_qat(model: Any, run_fn: Any, run_args: Any, inplace: bool = False) -> Any:
    """Return a quantized model: `run_fn` trains it with rounding."""
    if not inplace:
        model = copy.deepcopy(model)
    model.train()
    prepare_qat(model, inplace=True)
    run_fn(model, *run_args)
    convert(model, inplace=True)
    return model


@deprecated
def convert(
    module: Any,
    mapping: Any = None,
    inplace: bool = False,
    remove_qconfig: bool = True,
    is_reference: bool = False,
    convert_custom_config_dict: Any = None,
    use_precomputed_fake_quant: bool = False,
) -> Any:
    """Return a model in which quantized layers stand for the observed ones."""
    if not inplace:
        module = copy.deepcopy(module)
    _convert(module, mapping, is_reference, convert_custom_config_dict, use_precomputed_fake_quant)
    if remove_qconfig:
        _remove_qconfig(module)
    return module


def _convert(
    module: Any, mapping: Any, is_reference: bool, convert_custom_config_dict: Any, use_precomputed_fake_quant: bool
) -> None:
    if is_reference:
        raise NotImplementedError("torch.ao.nn.quantized.reference: layers that dequantize weights are not offered")
    mapping = get_default_static_quant_module_mappings() if mapping is None else mapping
    config = get_default_custom_config_dict() if convert_custom_config_dict is None else convert_custom_config_dict
    custom = config.get("observed_to_quantized_custom_module_class", {})
    made = {}
    for name, child in module.named_children():
        if not isinstance(child, _FusedModule) and type_before_parametrizations(child) not in custom:
            _convert(child, mapping, is_reference, config, use_precomputed_fake_quant)
        made[name] = swap_module(child, mapping, custom, use_precomputed_fake_quant)
    module._modules.update(made)


def swap_module(
    mod: Any, mapping: Any, custom_module_class_mapping: Any, use_precomputed_fake_quant: bool = False
) -> Any:
    """Return the layer that stands for an observed one, or the module itself."""
    if not _needs_observation(mod):
        return mod
    kind = type_before_parametrizations(mod)
    if kind in custom_module_class_mapping:
        made = custom_module_class_mapping[kind].from_observed(mod)
    elif kind in mapping:
        make = mapping[kind].from_float
        takes = "use_precomputed_fake_quant" in inspect.signature(make).parameters
        made = make(mod, use_precomputed_fake_quant=use_precomputed_fake_quant) if takes else make(mod)
    else:
        return mod
    for hook in mod._forward_pre_hooks.values():
        made.register_forward_pre_hook(hook)
    for hook in mod._forward_hooks.values():
        if hook is not _observer_forward_hook:
            made.register_forward_hook(hook)
    devices = _get_unique_devices_(mod)
    if len(devices) > 1:
        raise AssertionError(
            f"swap_module only works with cpu or single-device CUDA modules, but got devices {devices}"
        )
    return made.to(next(iter(devices))) if devices else made


def _get_observer_dict(mod: Any, target_dict: dict[str, Any], prefix: str = "") -> None:
    """Put the observers of a model into a dictionary, by name."""
    start = prefix + "." if prefix else ""
    if hasattr(mod, "activation_post_process"):
        target_dict[start + "activation_post_process"] = mod.activation_post_process
    for name, child in mod.named_children():
        _get_observer_dict(child, target_dict, start + name)


adopt(globals())
