"""Dataclasses as arguments and results of exported programs."""

from __future__ import annotations

from typing import Any

from mindtorch.fx._pytree import register_pytree_flatten_spec
from mindtorch.utils._pytree.dataclass_nodes import functions_of_fields
from mindtorch.utils._pytree.registry import register_node


def register_dataclass(cls: type[Any], *, serialized_type_name: str | None = None) -> None:
    """Let a dataclass be an argument or a result of an exported program; its fields are inputs of their own.

    Raises:
        ValueError: `cls` is no dataclass.

    >>> import dataclasses
    >>> Pair = dataclasses.make_dataclass("Pair", ["first", "second"])
    >>> torch.export.register_dataclass(Pair)
    >>> class Sum(torch.nn.Module):
    ...     def forward(self, pair):
    ...         return pair.first + pair.second
    >>> program = torch.export.export(Sum(), (Pair(torch.ones(1), torch.ones(1)),))
    >>> program.module()(Pair(torch.ones(1), torch.zeros(1)))
    tensor([1.])
    """
    flatten, unflatten, with_keys = functions_of_fields(cls)
    register_node(cls, flatten, unflatten, serialized_type_name=serialized_type_name, flatten_with_keys_fn=with_keys)
    register_pytree_flatten_spec(
        cls, lambda value, _: flatten(value)[0], lambda value, spec: flatten(value)[1] == spec.context
    )
