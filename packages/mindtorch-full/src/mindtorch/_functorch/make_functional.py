"""`torch._functorch.make_functional`: modules as functions of their parameters, in the way before `functional_call`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.nn.utils._named_member_accessor import NamedMemberAccessor
from mindtorch.nn.utils.stateless import _reparametrize_module
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "create_names_map",
    "extract_buffers",
    "extract_weights",
    "load_buffers",
    "load_state",
    "load_weights",
    "make_functional",
    "make_functional_with_buffers",
    "transpose_stack",
]

_Members = dict[str, Tensor] | Iterable[tuple[str, Tensor]]
_State = tuple[tuple[Tensor, ...], tuple[str, ...], dict[str, list[str]]]


def create_names_map(named_params: _Members, tied_named_params: _Members) -> dict[str, list[str]]:
    """Return for each name all names that share its tensor.

    Args:
        named_params: every tensor once.
        tied_named_params: every tensor under all of its names.
    """
    single, all_names = dict(named_params), dict(tied_named_params)
    if not single.keys() <= all_names.keys():
        raise AssertionError(
            f"tensors_dict_keys {set(single)} is not a subset of tied_tensors_dict_keys {set(all_names)}"
        )
    first: dict[int, str] = {id(tensor): name for name, tensor in single.items()}
    found: dict[str, list[str]] = {name: [] for name in single}
    for name, tensor in all_names.items():
        if id(tensor) not in first:
            raise AssertionError(f"tensors_dict_values is missing the tensor of {name!r}")
        found[first[id(tensor)]].append(name)
    return found


def extract_weights(mod: nn.Module) -> _State:
    """Take the parameters out of a module; return them, their names, and all names of each.

    Parameters without memory, on the device meta, are left in their place.
    """
    return _extract(mod, mod.named_parameters, nn.Parameter)


def extract_buffers(mod: nn.Module) -> _State:
    """Take the buffers out of a module; return them, their names, and all names of each."""
    return _extract(mod, mod.named_buffers, lambda tensor: tensor)


def _extract(mod: nn.Module, members: Callable[..., Any], kind: Callable[[Tensor], Tensor]) -> _State:
    single = tuple(members())
    names_map = create_names_map(single, members(remove_duplicate=False))
    for name, tensor in single:
        left = kind(torch.empty_like(tensor, device="meta"))
        for shared in names_map[name]:
            NamedMemberAccessor(mod).set_tensor(shared, left)
    return tuple(tensor for _, tensor in single), tuple(name for name, _ in single), names_map


def _place(mod: nn.Module, name: str, tensor: Tensor) -> None:
    path, _, leaf = name.rpartition(".")
    owner = mod.get_submodule(path)
    delattr(owner, leaf)
    setattr(owner, leaf, tensor)


def load_weights(mod: nn.Module, names: Sequence[str], params: Sequence[Tensor], as_params: bool = False) -> None:
    """Put tensors in the place of the parameters with these names, as parameters if `as_params`."""
    for name, tensor in zip(names, params, strict=False):
        _place(mod, name, nn.Parameter(tensor) if as_params else tensor)


def load_buffers(mod: nn.Module, names: Sequence[str], buffers: Sequence[Tensor], as_params: bool = False) -> None:
    """Put tensors in the place of the buffers with these names."""
    for name, tensor in zip(names, buffers, strict=False):
        _place(mod, name, tensor)


def load_state(
    model: nn.Module,
    weights: Sequence[Tensor],
    weight_names: Sequence[str],
    buffers: Sequence[Tensor] = (),
    buffer_names: Sequence[str] = (),
) -> nn.Module:
    """Put parameters and buffers, by their names, into a module they were taken out of; return it."""
    if len(weight_names) != len(weights):
        raise AssertionError(f"len(weight_names)={len(weight_names)} != len(weights)={len(weights)}")
    load_weights(model, weight_names, weights)
    if buffers:
        if len(buffer_names) != len(buffers):
            raise AssertionError(f"len(buffer_names)={len(buffer_names)} != len(buffers)={len(buffers)}")
        load_buffers(model, buffer_names, buffers)
    return model


def _call(
    model: nn.Module, names_map: dict[str, list[str]], state: Sequence[Tensor], args: Any, kwargs: dict[str, Any]
) -> Any:
    """Call a model without state with these tensors in the order of `names_map`."""
    given = {name: tensor for names, tensor in zip(names_map.values(), state, strict=False) for name in names}
    with _reparametrize_module(model, given):
        return model(*args, **kwargs)


class FunctionalModule(nn.Module):
    """What `make_functional` returns: a call takes the parameters first, then the model's arguments."""

    def __init__(
        self, stateless_model: nn.Module, param_names: tuple[str, ...], names_map: dict[str, list[str]]
    ) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.names_map = names_map

    @staticmethod
    def _create_from(
        model: nn.Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
        taken = copy.deepcopy(model)
        params, names, names_map = extract_weights(taken)
        return FunctionalModule(taken, names, names_map), _tracked(params, disable_autograd_tracking)

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Return what the model makes of its arguments with these parameters."""
        return _call(self.stateless_model, self.names_map, params, args, kwargs)


class FunctionalModuleWithBuffers(nn.Module):
    """What `make_functional_with_buffers` returns: a call takes parameters, buffers and the model's arguments."""

    def __init__(
        self,
        stateless_model: nn.Module,
        param_names: tuple[str, ...],
        buffer_names: tuple[str, ...],
        param_names_map: dict[str, list[str]],
        buffer_names_map: dict[str, list[str]],
    ) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names
        self.all_names_map = {**param_names_map, **buffer_names_map}

    @staticmethod
    def _create_from(
        model: nn.Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
        taken = copy.deepcopy(model)
        params, names, names_map = extract_weights(taken)
        buffers, buffer_names, buffer_names_map = extract_buffers(taken)
        made = FunctionalModuleWithBuffers(taken, names, buffer_names, names_map, buffer_names_map)
        return made, _tracked(params, disable_autograd_tracking), buffers

    def forward(self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Return what the model makes of its arguments with these parameters and buffers."""
        return _call(self.stateless_model, self.all_names_map, (*params, *buffers), args, kwargs)


def _tracked(params: tuple[Tensor, ...], disable: bool) -> tuple[Tensor, ...]:
    if disable:
        for one in params:
            one.requires_grad_(False)
    return params


def make_functional(
    model: nn.Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """Return a copy of a model as a function of its parameters, and copies of these.

    Raises:
        RuntimeError: the model has buffers.
    """
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    return FunctionalModule._create_from(model, disable_autograd_tracking=disable_autograd_tracking)


def make_functional_with_buffers(
    model: nn.Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return a copy of a model as a function of its parameters and buffers, and copies of both."""
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking=disable_autograd_tracking)


def _former(model: nn.Module, buffers: bool) -> Any:
    """Return a model as a function of the tuple of its arguments, as `functional_init` gives it."""
    if not buffers and list(model.buffers()):
        raise RuntimeError(
            "make_functional_deprecated_v1(model): `model` has buffers. Please use "
            "make_functional_with_buffers_deprecated_v1(model) instead."
        )
    names = tuple(name for name, _ in model.named_parameters())
    buffer_names = tuple(name for name, _ in model.named_buffers())
    function, params, state = make_functional_with_buffers(model)
    if buffers:
        return params, state, lambda weights, given, data: function(weights, given, *data), names, buffer_names
    return params, lambda weights, data: function(weights, (), *data), names


def _ensemble(model_class: type[nn.Module], shape: tuple[int, ...], device: Any, buffers: bool) -> Callable[..., Any]:
    def make(*args: Any, **kwargs: Any) -> Any:
        if len(shape) >= 2:
            raise ValueError("NYI: ensemble_shape with more than 1 element")
        if not shape:
            return _former(model_class(*args, **kwargs).to(device), buffers)
        if shape[0] <= 0:
            raise ValueError(f"num_models {shape[0]} should be > 0")
        made = [_former(model_class(*args, **kwargs).to(device), buffers) for _ in range(shape[0])]
        weights = transpose_stack(tuple(one[0] for one in made))
        if not buffers:
            return weights, *made[0][1:]
        return weights, transpose_stack(tuple(one[1] for one in made)), *made[0][2:]

    return make


def functional_init(
    model_class: type[nn.Module], ensemble_shape: tuple[int, ...] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """Return a function that makes models and gives their stacked parameters, one model as a function, and the names."""
    return _ensemble(model_class, ensemble_shape, device, buffers=False)


def functional_init_with_buffers(
    model_class: type[nn.Module], ensemble_shape: tuple[int, ...] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """Return a function that makes models and gives stacked parameters and buffers, one model as a function, and names."""
    return _ensemble(model_class, ensemble_shape, device, buffers=True)


def transpose_stack(tuple_of_tuple_of_tensors: tuple[tuple[Tensor, ...], ...]) -> tuple[Tensor, ...]:
    """Return the first tensors of all tuples stacked, then the second ones; without their history."""
    return tuple(torch.stack(shared).detach() for shared in zip(*tuple_of_tuple_of_tensors, strict=True))


def combine_state_for_ensemble(
    models: Sequence[nn.Module],
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return the first model as a function, and the stacked parameters and buffers of all.

    Raises:
        RuntimeError: no models, models in different modes or of different types.
    """
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if not (all(one.training for one in models) or all(not one.training for one in models)):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if not all(type(one) is type(models[0]) for one in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    functions, params, buffers = zip(*(make_functional_with_buffers(one) for one in models), strict=True)
    return functions[0], transpose_stack(params), transpose_stack(buffers)


adopt(globals())
