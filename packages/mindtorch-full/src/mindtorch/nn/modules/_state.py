"""Saving a module's state into a flat dictionary and loading it back."""

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import mindtorch
from mindtorch import __future__ as future
from mindtorch._tensor import Tensor
from mindtorch.nn.parameter import Parameter, is_lazy

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What ``load_state_dict`` could not match."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _StateMixin:
    """``state_dict`` and ``load_state_dict``."""

    T_destination = TypeVar("T_destination", bound=dict[str, Any])

    def get_extra_state(self) -> Any:
        """Return what else belongs in the module's state; overridden by modules that have any."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take back what :meth:`get_extra_state` returned."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
        )

    def state_dict(
        self, *args: Any, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return an ordered dict of parameters and persistent buffers by dotted name.

        The values share storage with the module and are detached unless ``keep_vars``.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            if destination is None:
                destination = args[0]
            if len(args) > 1 and prefix == "":
                prefix = args[1]
            if len(args) > 2 and keep_vars is False:
                keep_vars = args[2]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if replaced is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif replaced is not None:
                destination = replaced
        return destination

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Put the module's own entries, not its descendants', into ``destination``."""
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not _StateMixin.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy ``state_dict`` into the module and its descendants; with ``assign`` take the tensors themselves.

        Returns the missing and unexpected keys; raises RuntimeError listing every problem if ``strict`` finds keys
        that do not match, or if a value cannot be copied.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata
        _load_tree(self, state_dict, metadata, strict, assign, _Report(missing, unexpected, errors))
        if strict:
            if unexpected:
                errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if missing:
                errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if errors:
            lines = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {self.__class__.__name__}:\n\t{lines}")
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the module's own entries, appending what does not fit to the three lists."""
        self._upgrade_older_entries(state_dict, prefix, local_metadata.get("version"), error_msgs)
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        local_state = {k: v for k, v in (*self._parameters.items(), *persistent.items()) if v is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, param in local_state.items():
            key = prefix + name
            if key in state_dict:
                problem = _load_entry(self, name, param, key, state_dict[key], assign)
                if problem is not None:
                    error_msgs.append(problem)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not _StateMixin.set_extra_state:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            unexpected_keys.extend(_unexpected(self, state_dict, prefix, extra_key, local_state))

    def _upgrade_older_entries(
        self, state_dict: dict[str, Any], prefix: str, version: int | None, errors: list[str]
    ) -> None:
        """Give the entries of an older ``version`` of the module the form that is loaded; modules with versions do."""


class _Report:
    """The three lists every module of the tree appends to."""

    __slots__ = ("errors", "missing", "unexpected")

    def __init__(self, missing: list[str], unexpected: list[str], errors: list[str]) -> None:
        self.missing = missing
        self.unexpected = unexpected
        self.errors = errors


def _quoted(keys: Iterable[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


def _load_tree(
    module: Any, state_dict: Any, metadata: Any, strict: bool, assign: bool, report: _Report, prefix: str = ""
) -> None:
    local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local_metadata["assign_to_params_buffers"] = assign
    module._load_from_state_dict(
        state_dict, prefix, local_metadata, True, report.missing, report.unexpected, report.errors
    )
    for name, child in module._modules.items():
        if child is None:
            continue
        child_prefix = prefix + name + "."
        # A module that edits the dictionary in its pre-hook must not see its siblings' entries.
        child_state = OrderedDict((k, v) for k, v in state_dict.items() if k.startswith(child_prefix))
        _load_tree(child, child_state, metadata, strict, assign, report, child_prefix)
    incompatible = _IncompatibleKeys(report.missing, report.unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, incompatible) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace."
            )


def _unexpected(module: Any, state_dict: Any, prefix: str, extra_key: str, local_state: Any) -> Iterable[str]:
    for key in state_dict:
        if not key.startswith(prefix) or key == extra_key:
            continue
        name, dot, _ = key[len(prefix) :].partition(".")
        if dot:
            if name not in module._modules:
                yield key
        elif name not in local_state:
            yield key


def _load_entry(module: Any, name: str, param: Tensor, key: str, value: Any, assign: bool) -> str | None:
    """Put ``value`` into ``module.name``; return the line of the error report, or None."""
    if not (isinstance(value, Tensor) or hasattr(value, "__torch_function__")):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
            f"but received {type(value)}"
        )
    lazy = is_lazy(param)
    # Checkpoints written before 0-d tensors existed hold one-element vectors.
    if not lazy and len(param.shape) == 0 and len(value.shape) == 1:
        value = value[0]
    if not lazy and value.shape != param.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in current "
            f"model is {param.shape}."
        )
    if param.is_meta and not value.is_meta and not assign:
        warnings.warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, "
            "which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their "
            "corresponding key in the module instead of copying them in place?)",
            stacklevel=2,
        )
    swap = future.get_swap_module_params_on_conversion()
    try:
        with mindtorch.no_grad():
            _store(module, name, param, value, assign, swap)
    except Exception as error:  # noqa: BLE001 - every failure becomes a line of one report
        action = "swapping" if swap else "copying"
        return (
            f'While {action} the parameter named "{key}", whose dimensions in the model are {param.size()} and whose '
            f"dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
        )
    return None


def _store(module: Any, name: str, param: Tensor, value: Tensor, assign: bool, swap: bool) -> None:
    if swap:
        loaded = param.module_load(value, assign=assign)
        if id(loaded) == id(value) or id(loaded) == id(param):
            raise RuntimeError(
                "module_load returned one of self or other, please .detach() the result if returning one of the "
                "inputs in module_load"
            )
        if isinstance(param, Parameter):
            loaded = (
                loaded.requires_grad_(param.requires_grad)
                if isinstance(loaded, Parameter)
                else Parameter(loaded, requires_grad=param.requires_grad)
            )
        mindtorch.utils.swap_tensors(param, loaded)
    elif assign:
        if isinstance(param, Parameter):
            value = (
                value.requires_grad_(param.requires_grad)
                if isinstance(value, Parameter)
                else Parameter(value, requires_grad=param.requires_grad)
            )
        setattr(module, name, value)
    else:
        param.copy_(value)
