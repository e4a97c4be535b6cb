"""Named results: `torch.return_types.max` and its like, made by one factory."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

pack_classes: dict[str, type[Pack]] = {}
"""Every class made by `pack`, by name."""


class Pack(tuple[Any, ...]):
    """A tuple with named fields that behaves as CPython's structure sequences do: it is made of one sequence."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    n_fields = 0
    n_sequence_fields = 0
    n_unnamed_fields = 0
    __signature__ = inspect.signature(tuple)
    """Structure sequences show the parameters of a tuple."""

    def __new__(cls, sequence: Iterable[Any] | None = None, dict: object = None) -> Pack:
        """Return the pack of the items of `sequence`; TypeError when their number is not the number of fields."""
        if sequence is None:
            raise TypeError("structseq() missing required argument 'sequence' (pos 1)")
        if not isinstance(sequence, Iterable):
            raise TypeError("constructor requires a sequence")
        items = tuple(sequence)
        if len(items) != cls.n_fields:
            name = f"{cls.__module__}.{cls.__qualname__}"
            raise TypeError(f"{name}() takes a {cls.n_fields}-sequence ({len(items)}-sequence given)")
        return tuple.__new__(cls, items)

    @classmethod
    def for_out(cls) -> type[Pack]:
        """Return the class that the form with `out=` returns, `max_out` for `max`."""
        return pack(f"{cls.__name__}_out", cls.__match_args__)

    def __repr__(self) -> str:
        fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{fields})"

    def __reduce__(self) -> Any:
        return type(self), (tuple(self), {})


def _field(index: int, name: str) -> property:
    return property(itemgetter(index), _read_only, _read_only, name)


def _read_only(self: Pack, value: object = None) -> None:
    raise AttributeError("readonly attribute")


def _words(name: str, names: tuple[str, ...]) -> str:
    origin = name.removesuffix("_out")
    form = " with `out=`" if origin != name else ""
    example = f">>> torch.return_types.{name}.n_fields\n{len(names)}"
    return f"What `{origin}`{form} returns: a tuple of {', '.join(names)}, which are attributes, too.\n\n{example}"


def pack(name: str, fields: str | Sequence[str]) -> type[Pack]:
    """Return the class `torch.return_types.<name>` with `fields`, the same one every time."""
    made = pack_classes.get(name)
    if made is None:
        names = tuple(fields.split()) if isinstance(fields, str) else tuple(fields)
        body: dict[str, Any] = {field: _field(index, field) for index, field in enumerate(names)}
        body.update(
            __slots__=(),
            __module__="torch.return_types",
            __doc__=_words(name, names),
            __match_args__=names,
            n_fields=len(names),
            n_sequence_fields=len(names),
        )
        made = pack_classes[name] = type(name, (Pack,), body)
    return made
