"""Parameters computed from other parameters, transparently to the module that uses them."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.modules.container import ModuleDict
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter
from mindtorch.nn.utils._parametrization_list import ParametrizationList, _register_parameter_or_buffer

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]


class _Cache:
    """Values computed while :func:`cached` is active, by module identity and tensor name."""

    depth = 0
    values: dict[tuple[int, str], Tensor | None] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute every parametrized tensor at most once inside the block.

    >>> from torch.nn.utils import parametrize
    >>> with parametrize.cached():
    ...     parametrize.is_parametrized(torch.nn.Linear(1, 1))
    False
    """
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.values = {}


def _inject_new_class(module: Module) -> None:
    """Give ``module`` a class of its own, on which properties can be set."""
    cls = module.__class__

    def default_deepcopy(self: Module, memo: dict[int, Any]) -> Module:
        if id(self) in memo:
            return memo[id(self)]
        replica = self.__new__(self.__class__)
        memo[id(self)] = replica
        replica.__dict__ = copy.deepcopy(self.__dict__, memo)
        return replica

    def getstate(self: Module) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    namespace: dict[str, Any] = {"__getstate__": getstate, "__module__": "torch.nn.utils.parametrize"}
    # __getstate__ raises, so copying needs its own way.
    if not hasattr(cls, "__deepcopy__"):
        namespace["__deepcopy__"] = default_deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), namespace)


def _inject_property(module: Module, tensor_name: str) -> None:
    """Make ``tensor_name`` a property of the module's own class, computed at each read."""
    if hasattr(module, tensor_name):
        raise AssertionError(f"attribute '{tensor_name}' already exists on module")

    def get_parametrized(self: Module) -> Tensor:
        compute = self.parametrizations[tensor_name]
        if not _Cache.depth:
            return compute()
        key = (id(module), tensor_name)
        value = _Cache.values.get(key)
        if value is None:
            value = _Cache.values[key] = compute()
        return value

    def set_original(self: Module, value: Tensor) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(module.__class__, tensor_name, property(get_parametrized, set_original))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Make ``module.tensor_name`` the result of ``parametrization``; return the module.

    A further call composes. Unless ``unsafe``, shape and dtype must stay (ValueError).

    >>> from torch.nn.utils import parametrize
    >>> layer = parametrize.register_parametrization(torch.nn.Linear(1, 1), "weight", torch.nn.ReLU())
    >>> bool(layer.weight >= 0)
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_composed(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        # Built first: where it raises, the module is as it was.
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _first_difference(tensor: Tensor, other: Tensor) -> str | None:
    return next((what for what in ("dtype", "shape") if getattr(tensor, what) != getattr(other, what)), None)


def _check_composed(module: Module, tensor_name: str, parametrization: Module) -> None:
    current = getattr(module, tensor_name)
    result = parametrization(current)
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    if what := _first_difference(result, current):
        raise ValueError(
            f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
            f"enabled.\nmodule.{tensor_name}.{what}: {getattr(current, what)}\n"
            f"parametrization(module.{tensor_name}).{what}: {getattr(result, what)}"
        )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(result)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    if what := _first_difference(back, current):
        raise ValueError(
            f"The tensor returned by parametrization.right_inverse must have the same {what} as "
            f"module.{tensor_name}, unless the `unsafe` flag is enabled.\n"
            f"module.{tensor_name}.{what}: {getattr(current, what)}\nreturned {what}: {getattr(back, what)}"
        )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether ``module``, or its tensor ``tensor_name``, has a parametrization.

    >>> from torch.nn.utils import parametrize
    >>> parametrize.is_parametrized(torch.nn.Linear(1, 1))
    False
    """
    parametrizations = getattr(module, "parametrizations", None)
    if parametrizations is None or not isinstance(parametrizations, ModuleDict):
        return False
    if tensor_name is None:
        return len(parametrizations) > 0
    return tensor_name in parametrizations


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make ``tensor_name`` an ordinary parameter again, with its computed or its original value.

    >>> from torch.nn.utils import parametrize
    >>> layer = parametrize.register_parametrization(torch.nn.Linear(1, 1), "weight", torch.nn.ReLU())
    >>> parametrize.remove_parametrizations(layer, "weight")
    Linear(in_features=1, out_features=1, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            original = _frozen(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(module.__class__, tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = module.__class__.__bases__[0]
    return module


def _frozen(original: Tensor, value: Tensor) -> Tensor:
    """Put ``value`` into ``original``, whose identity optimizers know."""
    if type(original) is Tensor:
        return value.detach().requires_grad_(original.requires_grad)
    original.data = value.data
    return original


def type_before_parametrizations(module: Module) -> type:
    """Return the class that ``module`` had before its first parametrization.

    >>> from torch.nn.utils import parametrize
    >>> parametrize.type_before_parametrizations(torch.nn.Linear(1, 1)).__name__
    'Linear'
    """
    return module.__class__.__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Move parametrizations, all or those of one tensor, to a module that may lack the tensor; return it.

    >>> import torch.nn.utils.parametrize as parametrize
    >>> class Positive(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.abs()
    >>> first = parametrize.register_parametrization(torch.nn.Linear(1, 1), "weight", Positive())
    >>> second = parametrize.transfer_parametrizations_and_params(first, torch.nn.Linear(1, 1))
    >>> parametrize.is_parametrized(second, "weight"), bool(second.weight == first.weight)
    (True, True)
    """
    if is_parametrized(from_module):
        if not isinstance(from_module.parametrizations, ModuleDict):
            raise AssertionError("from_module.parametrizations must be a ModuleDict")
        names: Sequence[str] = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
        for name in names:
            _transfer(from_module, to_module, name)
    return to_module


def _transfer(from_module: Module, to_module: Module, name: str) -> None:
    source = from_module.parametrizations[name]
    if not hasattr(to_module, name):
        setattr(to_module, name, Parameter(source.original))
    for parametrization in source:
        register_parametrization(to_module, name, parametrization)
    target = to_module.parametrizations[name]
    if hasattr(source, "original"):
        target.original = source.original
        return
    index = 0
    while hasattr(source, f"original{index}"):
        setattr(target, f"original{index}", getattr(source, f"original{index}"))
        index += 1


adopt(globals())
