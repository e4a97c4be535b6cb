"""``torch.nn.Module``, the base class of all layers."""

import inspect
import sys
from collections import OrderedDict
from collections.abc import Callable
from types import ModuleType
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.modules import _global_hooks, _hooks, _tree
from mindtorch.nn.modules._convert import _ConvertMixin
from mindtorch.nn.modules._global_hooks import (
    _global_backward_hooks as _global_backward_hooks,
)
from mindtorch.nn.modules._global_hooks import (
    _global_backward_pre_hooks as _global_backward_pre_hooks,
)
from mindtorch.nn.modules._global_hooks import (
    _global_buffer_registration_hooks as _global_buffer_registration_hooks,
)
from mindtorch.nn.modules._global_hooks import (
    _global_forward_hooks as _global_forward_hooks,
)
from mindtorch.nn.modules._global_hooks import (
    _global_forward_hooks_always_called as _global_forward_hooks_always_called,
)
from mindtorch.nn.modules._global_hooks import (
    _global_forward_hooks_with_kwargs as _global_forward_hooks_with_kwargs,
)
from mindtorch.nn.modules._global_hooks import (
    _global_forward_pre_hooks as _global_forward_pre_hooks,
)
from mindtorch.nn.modules._global_hooks import (
    _global_module_registration_hooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from mindtorch.nn.modules._global_hooks import (
    _global_parameter_registration_hooks as _global_parameter_registration_hooks,
)
from mindtorch.nn.modules._global_hooks import (
    _has_any_global_hook as _has_any_global_hook,
)
from mindtorch.nn.modules._hooks import _CallMixin
from mindtorch.nn.modules._hooks import _WrappedHook as _WrappedHook
from mindtorch.nn.modules._state import (
    _EXTRA_STATE_KEY_SUFFIX as _EXTRA_STATE_KEY_SUFFIX,
)
from mindtorch.nn.modules._state import (
    _IncompatibleKeys as _IncompatibleKeys,
)
from mindtorch.nn.modules._state import (
    _StateMixin,
)
from mindtorch.nn.modules._tree import _TreeMixin, typename
from mindtorch.nn.parameter import Buffer, Parameter

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


def _addindent(text: str, spaces: int) -> str:
    """Indent every line of ``text`` but the first."""
    return text.replace("\n", "\n" + " " * spaces)


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """Stand for ``forward`` until a subclass defines it."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module(_CallMixin, _TreeMixin, _StateMixin, _ConvertMixin):
    """Base class of all layers: a callable tree of parameters, buffers and submodules.

    Assigning a Parameter, Buffer or Module as an attribute registers it. ``forward`` defines the call.

    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor(2.0))
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> model = Scale()
    >>> model(torch.ones(2))
    tensor([2., 2.], grad_fn=<MulBackward0>)
    >>> model.state_dict()
    OrderedDict([('factor', tensor(2.))])
    """

    dump_patches: bool = False
    _version: int = 1
    training: bool
    call_super_init: bool = False
    _compiled_call_impl: Callable | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        # Straight into __dict__: __setattr__ needs these entries to exist.
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _backward_pre_hooks=OrderedDict(),
            _backward_hooks=OrderedDict(),
            _is_full_backward_hook=None,
            _forward_hooks=OrderedDict(),
            _forward_hooks_with_kwargs=OrderedDict(),
            _forward_hooks_always_called=OrderedDict(),
            _forward_pre_hooks=OrderedDict(),
            _forward_pre_hooks_with_kwargs=OrderedDict(),
            _state_dict_hooks=OrderedDict(),
            _state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_post_hooks=OrderedDict(),
            _modules={},
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward: Callable[..., Any] = _forward_unimplemented

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            entries = own.get(table)
            if entries is not None and name in entries:
                return entries[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        parameters = own.get("_parameters")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            _forget(name, own, own["_buffers"], own["_modules"], own["_non_persistent_buffers_set"])
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        else:
            self._set_module_or_buffer(name, value)

    def _set_module_or_buffer(self, name: str, value: Any) -> None:
        own = self.__dict__
        modules = own.get("_modules")
        if isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            _forget(name, own, own["_parameters"], own["_buffers"], own["_non_persistent_buffers_set"])
            modules[name] = _through_hooks(_global_module_registration_hooks, self, name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            modules[name] = _through_hooks(_global_module_registration_hooks, self, name, value)
        else:
            self._set_buffer_or_plain(name, value)

    def _set_buffer_or_plain(self, name: str, value: Any) -> None:
        own = self.__dict__
        buffers = own.get("_buffers")
        is_buffer = isinstance(value, Tensor) and isinstance(value, Buffer)
        if not is_buffer and (buffers is None or name not in buffers):
            super().__setattr__(name, value)
            return
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        persistent = value.persistent if is_buffer else name not in own["_non_persistent_buffers_set"]
        plain = type(self).register_buffer is Module.register_buffer
        if plain or "persistent" in inspect.signature(self.register_buffer).parameters:
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without the "
                "persistent argument is not allowed."
            )

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Modules pickled by older versions lack the tables that came later.
        for table in (
            "_forward_pre_hooks",
            "_forward_pre_hooks_with_kwargs",
            "_forward_hooks_with_kwargs",
            "_forward_hooks_always_called",
            "_state_dict_hooks",
            "_state_dict_pre_hooks",
            "_load_state_dict_pre_hooks",
            "_load_state_dict_post_hooks",
            "_backward_pre_hooks",
        ):
            self.__dict__.setdefault(table, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    def _get_name(self) -> str:
        return self.__class__.__name__

    def extra_repr(self) -> str:
        """Return what ``repr`` shows between the parentheses; one line, or several."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        lines = extra_lines + child_lines
        if not lines:
            return self._get_name() + "()"
        if len(extra_lines) == 1 and not child_lines:
            return f"{self._get_name()}({extra_lines[0]})"
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"

    def __dir__(self) -> list[str]:
        names = [
            *dir(self.__class__),
            *self.__dict__,
            *self._parameters,
            *self._modules,
            *self._buffers,
        ]
        return sorted(name for name in names if not name[0].isdigit())

    def _replicate_for_data_parallel(self) -> Any:
        """Return a shallow copy whose tables are copies and whose parameters are plain attributes."""
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers = replica._buffers.copy()
        replica._modules = replica._modules.copy()
        replica._is_replica = True
        return replica

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Make calls go through ``torch.compile``, see there for the arguments."""
        self._compiled_call_impl = mindtorch.compile(self._call_impl, *args, **kwargs)


def _forget(name: str, *tables: Any) -> None:
    """Remove ``name`` from every table, so that one name means one thing."""
    for table in tables:
        if name in table:
            if isinstance(table, dict):
                del table[name]
            else:
                table.discard(name)


def _through_hooks(hooks: OrderedDict, module: Module, name: str, value: Any) -> Any:
    for hook in hooks.values():
        output = hook(module, name, value)
        if output is not None:
            value = output
    return value


class _GlobalHooks(ModuleType):
    """This module: programs put other tables of global hooks into it, and calls must then use those."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name.startswith("_global_"):
            for holder in (_global_hooks, _hooks, _tree):
                setattr(holder, name, value)


sys.modules[__name__].__class__ = _GlobalHooks
adopt(globals())
