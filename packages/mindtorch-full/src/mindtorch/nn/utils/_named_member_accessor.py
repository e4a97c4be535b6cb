"""Reading and replacing what is deep in a module, by dotted names: what functional calls and tensordict are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.modules.module import Module

_MISSING: Any = object()
"""Stands for a tensor that a module had not; put into a module it takes the name away."""


def _check(value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{value} is not an instance of torch.{'nn.Module' if kind is Module else 'Tensor'}")


def _check_name(name: str, what: str) -> None:
    if "." in name:
        raise KeyError(f'{what} name can\'t contain "."')
    if not name:
        raise KeyError(f'{what} name can\'t be empty string ""')


def _table(module: Module, name: str) -> MutableMapping[str, Any] | None:
    """Return the parameters or buffers of a module, whichever has the name."""
    tables: tuple[MutableMapping[str, Any], ...] = (module._parameters, module._buffers)
    return next((table for table in tables if name in table), None)


def set_tensor(module: Module, name: str, tensor: Tensor | None) -> None:
    """Put a tensor, or None, in the place of a module's parameter, buffer or attribute."""
    _check(module, Module)
    if tensor is not None:
        _check(tensor, Tensor)
    _check_name(name, "tensor")
    table = _table(module, name)
    if table is None:
        setattr(module, name, tensor)
    else:
        table[name] = tensor


def swap_tensor(module: Module, name: str, tensor: Any, allow_missing: bool = False) -> Any:
    """Put a tensor in the place of another and return that one; AttributeError where there was none."""
    _check(module, Module)
    if tensor is not _MISSING and tensor is not None:
        _check(tensor, Tensor)
    _check_name(name, "tensor")
    table = _table(module, name)
    if table is not None:
        before = table.pop(name) if tensor is _MISSING else table[name]
        if tensor is not _MISSING:
            table[name] = tensor
        return before
    before = getattr(module, name, _MISSING)
    if before is _MISSING:
        if not allow_missing:
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    elif before is not None and not isinstance(before, Tensor):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif before is not _MISSING:
        delattr(module, name)
    return before


def swap_submodule(module: Module, name: str, submodule: Module) -> Module:
    """Put a module in the place of another and return that one; KeyError where there was none."""
    _check(module, Module)
    _check(submodule, Module)
    _check_name(name, "submodule")
    if name not in module._modules:
        raise KeyError(f"submodule {name} does not exist")
    before = module._modules[name]
    if not isinstance(before, Module):
        raise TypeError(f"{name} attribute is not an instance of torch.nn.Module")
    module._modules[name] = submodule
    return before


class NamedMemberAccessor:
    """The tensors and submodules of a module by dotted names; the submodules met on the way are kept."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.memo: dict[str, Module] = {}

    def get_submodule(self, name: str) -> Module:
        """Return a submodule; AttributeError or TypeError where there is none."""
        if not name:
            return self.module
        found = self.memo.get(name)
        if found is None:
            owner, attribute = self._owner(name)
            found = self._attribute(owner, attribute, attribute)
            if not isinstance(found, Module):
                raise TypeError(f"submodule `{name}`: {found} is not an instance of torch.nn.Module")
            self.memo[name] = found
        return found

    def _owner(self, name: str) -> tuple[Module, str]:
        path, _, attribute = name.rpartition(".")
        return self.get_submodule(path), attribute

    @staticmethod
    def _attribute(owner: Module, attribute: str, shown: str) -> Any:
        try:
            return getattr(owner, attribute)
        except AttributeError as error:
            raise AttributeError(f"{owner._get_name()} has no attribute `{shown}`") from error

    def swap_submodule(self, path: str, value: Module) -> Module:
        """Put a module in the place of another, which is returned."""
        owner, attribute = self._owner(path)
        return swap_submodule(owner, attribute, value)

    def get_tensor(self, name: str) -> Tensor | None:
        """Return a parameter, buffer or attribute that is a tensor or None."""
        owner, attribute = self._owner(name)
        found: Tensor | None = self._attribute(owner, attribute, name)
        if found is not None:
            _check(found, Tensor)
        return found

    def set_tensor(self, name: str, value: Tensor | None) -> None:
        """Put a tensor in the place of another."""
        owner, attribute = self._owner(name)
        set_tensor(owner, attribute, value)

    def del_tensor(self, name: str) -> None:
        """Take a tensor away; AttributeError where there is none."""
        owner, attribute = self._owner(name)
        try:
            delattr(owner, attribute)
        except AttributeError as error:
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`") from error

    def swap_tensor(self, name: str, value: Any, allow_missing: bool = False) -> Any:
        """Put a tensor in the place of another, which is returned."""
        owner, attribute = self._owner(name)
        return swap_tensor(owner, attribute, value, allow_missing=allow_missing)

    def get_tensors(self, names: Iterable[str]) -> list[Tensor | None]:
        """Return several tensors."""
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names: Iterable[str], values: Iterable[Tensor | None]) -> None:
        """Put tensors in the place of others; AssertionError for another number of them."""
        for name, value in _paired(names, values):
            self.set_tensor(name, value)

    def set_tensors_dict(self, named_tensors: Mapping[str, Tensor | None]) -> None:
        """As `set_tensors`, of a mapping."""
        for name, value in named_tensors.items():
            self.set_tensor(name, value)

    def del_tensors(self, names: Iterable[str]) -> None:
        """Take several tensors away."""
        for name in names:
            self.del_tensor(name)

    def swap_tensors(self, names: Iterable[str], values: Iterable[Any], allow_missing: bool = False) -> list[Any]:
        """Put tensors in the place of others, which are returned."""
        return [self.swap_tensor(name, value, allow_missing=allow_missing) for name, value in _paired(names, values)]

    def swap_tensors_dict(
        self, named_tensors: Mapping[str, Any], allow_missing: bool = False
    ) -> tuple[dict[str, Any], list[str]]:
        """Put tensors in the place of others; return those and the names that had none.

        Nothing is changed where one cannot be put, or where a name had none and `allow_missing` is false (RuntimeError).
        """
        before: dict[str, Any] = {}
        whole = False
        try:
            for name, tensor in named_tensors.items():
                before[name] = self.swap_tensor(name, tensor, allow_missing=True)
            missing = [name for name, tensor in before.items() if tensor is _MISSING]
            if missing and not allow_missing:
                raise RuntimeError(f"Missing key(s): {', '.join(map(repr, missing))}.")
            whole = True
        finally:
            if not whole:
                for name, tensor in before.items():
                    self.swap_tensor(name, tensor, allow_missing=True)
        return before, missing

    def check_keys(self, keys: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return the names of tensors that are not among the keys, and the keys that name none; both sorted."""
        given = set(keys)
        names = {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return sorted(names - given), sorted(given - names)

    def named_parameters(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the parameters."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the buffers."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the parameters, then over the buffers."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        """Iterate over the module and its submodules."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)


def _paired(names: Iterable[str], values: Iterable[Any]) -> list[tuple[str, Any]]:
    listed, given = list(names), list(values)
    if len(listed) != len(given):
        raise AssertionError(
            f"names and values must have the same length, got {len(listed)} names and {len(given)} values"
        )
    return list(zip(listed, given, strict=True))


adopt(globals())
