"""`torch.overrides`: which functions `__torch_function__` sees, and the means for Python functions to take part."""

from __future__ import annotations

import contextlib
import functools
import inspect
import keyword
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mindtorch_dispatch.call import make_form
from mindtorch_dispatch.extend.overloads import OpOverload, OpOverloadPacket
from mindtorch_dispatch.override import overrides as dispatched
from mindtorch_dispatch.state import mode_set, state
from mindtorch_dispatch.table import find_packet
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.lazy_import import load as _load

from ._C import _modes
from ._C._infrastructure import _EnableTorchFunction
from ._naming import adopt
from ._torch_function import handle_torch_function, has_torch_function
from ._torch_function import has_torch_function_unary as has_torch_function_unary
from ._torch_function import has_torch_function_variadic as has_torch_function_variadic
from .tensor import absent_ops
from .tensor.tensor import Tensor

__all__ = [
    "enable_reentrant_dispatch",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]

_table = LazyModule("mindtorch.data.overridable", "only programs that list what can be overridden need it")
_NAMESPACES = ("", "functional", "nn.functional", "nn.init", "Tensor", "linalg", "fft", "special")

_IGNORED = {
    "": "arange are_deterministic_algorithms_enabled as_strided as_tensor asarray autocast_decrement_nesting "
    "autocast_increment_nesting bartlett_window blackman_window broadcast_shapes can_cast clear_autocast_cache compile "
    "device dtype empty empty_permuted empty_strided enable_grad eye fill finfo from_file from_numpy frombuffer full "
    "get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_default_device get_default_dtype "
    "get_deterministic_debug_mode get_float32_matmul_precision get_num_interop_threads get_num_threads get_rng_state "
    "hamming_window hann_window iinfo inference_mode initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled "
    "is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled is_deterministic_algorithms_warn_only_enabled "
    "is_grad_enabled is_inference_mode_enabled is_storage is_tensor is_vulkan_available is_warn_always_enabled "
    "kaiser_window layout linspace load logspace manual_seed memory_format no_grad normal ones promote_types rand "
    "rand_like randint randint_like randn randn_like randperm range result_type save scalar_tensor seed "
    "set_anomaly_enabled set_autocast_cache_enabled set_autocast_dtype set_autocast_enabled set_default_device "
    "set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal "
    "set_grad_enabled set_num_interop_threads set_num_threads set_printoptions set_rng_state set_warn_always tensor "
    "tril_indices triu_indices typename use_deterministic_algorithms vander vmap zeros set_autocast_cpu_enabled "
    "sparse_coo_tensor",
    "nn.functional": "grouped_mm handle_torch_function has_torch_function has_torch_function_unary "
    "has_torch_function_variadic hardsigmoid hardswish sigmoid tanh upsample upsample_bilinear upsample_nearest "
    "_canonical_mask _none_or_dtype",
    "Tensor": "as_subclass new new_empty new_empty_strided new_full new_ones new_tensor new_zeros reinforce stride "
    "unflatten __delitem__ __dir__ __hash__ __iter__ __new__ __init_subclass__ __torch_function__ __torch_dispatch__ "
    "_make_subclass _make_wrapper_subclass _to_sparse solve lstsq eig symeig",
    "fft": "fftfreq rfftfreq",
    "nn.init": "calculate_gain constant dirac eye kaiming_normal kaiming_uniform normal orthogonal sparse uniform "
    "xavier_normal xavier_uniform",
}
"""Namespace to the functions that `__torch_function__` does not see, or that have no tensor to see."""


def _namespace(name: str) -> Any:
    if name == "Tensor":
        return Tensor
    return _load(f"mindtorch.{name}" if name else "mindtorch")


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Return the public functions that `__torch_function__` cannot override.

    >>> torch.is_tensor in torch.overrides.get_ignored_functions()
    True
    """
    found: set[Any] = set()
    for namespace, names in _IGNORED.items():
        owner = _namespace(namespace)
        found.update(getattr(owner, name) for name in names.split() if hasattr(owner, name))
    return found


def _public(owner: object) -> Iterator[tuple[str, Any]]:
    """Yield the callables of a namespace, and of a class its properties; what every object has is left out."""
    for name in dir(owner):
        if isinstance(owner, type):
            value = inspect.getattr_static(owner, name)
            value = getattr(owner, name) if isinstance(value, property) else value  # a mode may have replaced it
            if getattr(object, name, None) is getattr(owner, name, None):
                continue
        elif name.startswith("__"):
            continue
        else:
            value = getattr(owner, name)
        if isinstance(value, property) or (callable(value) and not isinstance(value, (type, types.ModuleType))):
            yield name, value


_KINDS = {"": "functions", "Tensor": "methods", "properties": "methods"}
"""Namespaces of which some operators are known by their names alone, and what the table of those calls them."""


@functools.cache
def _names() -> dict[int, str]:
    """Return the name of every function, by identity: of several, that of the namespace that comes last."""
    names: dict[int, str] = {}
    for namespace in _NAMESPACES:
        prefix = f"torch.{namespace}." if namespace else "torch."
        for name, value in _public(_namespace(namespace)):
            names[id(value)] = f"{prefix}{name}.__get__" if isinstance(value, property) else f"{prefix}{name}"
    for namespace, kind in (("", "functions"), ("Tensor.", "methods")):
        for name in absent_ops.names(kind):
            names.setdefault(id(absent_ops.absent(name, kind)), f"torch.{namespace}{name}")
    return names


def _listed(table: dict[str, str]) -> Iterator[tuple[Any, Any, Callable[..., Any]]]:
    """Yield namespace, owner and function of the names of a table; for a property the owner is the property."""
    for namespace, names in table.items():
        owner = _namespace("Tensor" if namespace == "properties" else namespace)
        for name in names.split():
            if namespace == "properties":
                value = inspect.getattr_static(owner, name)
                yield namespace, value, value.__get__
                continue
            value = getattr(owner, name, None)
            if value is None and namespace in _KINDS:
                value = absent_ops.absent(name, _KINDS[namespace])
            if value is not None:
                yield namespace, owner, value


@functools.cache
def _overridable() -> dict[Any, list[Callable[..., Any]]]:
    functions: dict[Any, list[Callable[..., Any]]] = {}
    for _, owner, function in _listed(_table.OVERRIDABLE):
        functions.setdefault(owner, []).append(function)
    return functions


@functools.cache
def _methods() -> frozenset[Callable[..., Any]]:
    methods = {value for _, value in _public(Tensor) if not isinstance(value, property)}
    return frozenset(methods - get_ignored_functions())


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Return the functions that `__torch_function__` sees, by namespace; for a property its `__get__`.

    >>> torch.add in torch.overrides.get_overridable_functions()[torch]
    True
    """
    return {owner: list(functions) for owner, functions in _overridable().items()}


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return, for every function that can be overridden, a function of the same signature that answers -1.

    >>> torch.add in torch.overrides.get_testing_overrides()
    True
    """
    found: dict[Callable[..., Any], Callable[..., Any]] = {}
    for table in (_table.OVERRIDABLE, _table.ANSWERED):
        for _, _, function in _listed(table):
            found[function] = _answering(function)
    return found


def _answering(function: Callable[..., Any]) -> Callable[..., Any]:
    def answer(*args: Any, **kwargs: Any) -> int:
        return -1

    signature = _signature(function)
    if signature is not None:
        answer.__signature__ = signature  # type: ignore[attr-defined]
    return answer


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return the parameters of a Python function or of an operator's overload that needs least; None if neither says."""
    if getattr(function, "__name__", "") == "__get__":
        return inspect.signature(lambda self: -1)
    packet = find_packet(getattr(function, "__name__", ""))
    if packet is None or function not in (make_form(packet, False), make_form(packet, True)):
        try:
            return inspect.signature(function)
        except (TypeError, ValueError):  # callables of the interpreter do not say
            return None
    schema = min((row.schema for row in packet.rows), key=lambda one: sum(not a.has_default for a in one.arguments))
    is_function = function is make_form(packet, False)
    found: list[inspect.Parameter] = []
    for argument in schema.arguments:
        name = "input" if is_function and argument.name == "self" else argument.name
        kind = inspect.Parameter.KEYWORD_ONLY if argument.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        name = f"{name}_" if keyword.iskeyword(name) else name
        default = argument.default if argument.has_default else inspect.Parameter.empty
        found.append(inspect.Parameter(name, kind, default=default))
    if any(row.out for row in packet.rows) and is_function and "out" not in {one.name for one in found}:
        found.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
    kinds: dict[Any, list[inspect.Parameter]] = {}
    for one in found:
        kinds.setdefault((one.kind, one.default is not inspect.Parameter.empty), []).append(one)
    return inspect.Signature([one for key in sorted(kinds) for one in kinds[key]])


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Return the functions whose tensors the default override returns as they are."""
    return {inspect.getattr_static(Tensor, name).__get__ for name in ("_base", "grad", "_grad")}


def resolve_name(f: Any) -> str | None:
    """Return the name under which users know an overridable function, None for any other.

    >>> torch.overrides.resolve_name(torch.Tensor.add)
    'torch.Tensor.add'
    """
    if isinstance(f, (OpOverload, OpOverloadPacket)) and id(f) not in _names():
        return str(f)
    owner = getattr(f, "__self__", None)
    if isinstance(owner, types.MemberDescriptorType):
        return f"torch.Tensor.{owner.__name__}.{f.__name__}"
    if isinstance(owner, property):
        name = _names().get(id(owner)) if f.__name__ in ("__get__", "__set__") else None
        return None if name is None else name.replace("__get__", f.__name__)
    return _names().get(id(f))


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Return whether `func`, as `__torch_function__` gets it, is a method or a property's getter or setter.

    >>> torch.overrides.is_tensor_method_or_property(torch.Tensor.add)
    True
    """
    if getattr(func, "__name__", None) in ("__get__", "__set__"):
        return True
    return func in _methods()


def is_tensor_like(inp: Any) -> bool:
    """Return whether `inp` is a tensor or of a type that has `__torch_function__`.

    >>> torch.overrides.is_tensor_like(torch.ones(1)), torch.overrides.is_tensor_like(1)
    (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """Return a decorator that lets a Python function be overridden; `dispatcher` picks the arguments that may.

    >>> torch.overrides.wrap_torch_function(lambda x: (x,))(lambda x: x + 1)(torch.ones(1))
    tensor([2.])
    """

    def inner(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return inner


def redispatch_function(func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    """Call `func` past its own override; what it calls in turn is overridden as ever.

    >>> torch.overrides.redispatch_function(torch.add, (), (torch.ones(1), 1), {})
    tensor([2.])
    """
    state.skip_override = True
    try:
        return func(*args, **(kwargs or {}))
    finally:
        state.skip_override = False


class TorchFunctionMode:
    """A context in which every overridable call of this thread goes to the mode's `__torch_function__` first."""

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        _push_mode(self)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """Return an instance to enter; kept for programs of old."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that only calls through."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _len_torch_function_stack() -> int:
    return len(state.mode.function_modes)


def _push_mode(mode: TorchFunctionMode) -> None:
    _modes._push_on_torch_function_stack(mode)


def _pop_mode() -> Any:
    return _modes._pop_torch_function_stack()


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


def _get_overloaded_args(relevant_args: Iterable[Any], get_type_fn: Any = None) -> list[Any]:
    """Return the arguments that override, one of each type, subclasses before their bases."""
    return dispatched.overloaded_arguments([one for one in relevant_args if dispatched.overriding(one)])


def _get_current_function_mode() -> Any:
    modes = state.mode.function_modes
    return modes[-1] if modes else None


def _get_current_function_mode_stack() -> list[Any]:
    return list(state.mode.function_modes)


@contextlib.contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Within a `__torch_dispatch__`, run the block as where the call was made: autograd records it, for one."""
    entry = state.entry
    if entry is None:
        raise RuntimeError("Accessing torch dispatch state outside of '__torch_dispatch__' is not allowed.")
    with mode_set(exclude=entry.exclude, include=entry.include):
        yield


_enable_torch_function = _EnableTorchFunction

adopt(globals())
