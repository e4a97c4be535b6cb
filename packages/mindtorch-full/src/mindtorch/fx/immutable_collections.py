"""`torch.fx.immutable_collections`: the lists and dicts that nodes keep their arguments in."""

from collections.abc import Iterable
from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.utils import _pytree as pytree

__all__ = ["immutable_dict", "immutable_list"]

_HINT = """If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:

    new_args = ...  # copy and mutate args
    node.args = new_args"""


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(f"{type(self).__name__!r} object does not support mutation. {_HINT}")


class immutable_list(list):
    """A list that cannot be changed; every method that would raises TypeError."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[type, tuple[tuple[Any, ...]]]:
        return type(self), (tuple(self),)


class immutable_dict(dict):
    """A dict that cannot be changed; every method that would raises TypeError."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type, tuple[tuple[Any, ...]]]:
        return type(self), (tuple(self.items()),)


for _name in "__delitem__ __iadd__ __imul__ __setitem__ append clear extend insert pop remove reverse sort".split():
    setattr(immutable_list, _name, _refuse)
for _name in "__delitem__ __ior__ __setitem__ clear pop popitem setdefault update".split():
    setattr(immutable_dict, _name, _refuse)


def _flatten_list(value: Any) -> tuple[list[Any], None]:
    return list(value), None


def _unflatten_list(values: Iterable[Any], context: Any) -> immutable_list:
    return immutable_list(values)


def _flatten_dict(value: Any) -> tuple[list[Any], list[Any]]:
    return list(value.values()), list(value)


def _unflatten_dict(values: Iterable[Any], context: Any) -> immutable_dict:
    return immutable_dict(zip(context, values, strict=True))


pytree.register_pytree_node(
    immutable_list,
    _flatten_list,
    _unflatten_list,
    serialized_type_name="torch.fx.immutable_collections.immutable_list",
    flatten_with_keys_fn=pytree._list_flatten_with_keys,
)
pytree.register_pytree_node(
    immutable_dict,
    _flatten_dict,
    _unflatten_dict,
    serialized_type_name="torch.fx.immutable_collections.immutable_dict",
    flatten_with_keys_fn=pytree._dict_flatten_with_keys,
)

adopt(globals())
