"""What `help` and `inspect` say of an operator's function or method: the forms of its packet, and one signature for all."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from inspect import Parameter as P
from inspect import Signature
from keyword import iskeyword
from typing import Any

from ..schema import EnumName
from ..table import DYNAMIC, OpRow, Packet, RowKind
from .annotations import annotation_of, return_annotation
from .binding import parser_of
from .documentation import entry_of
from .parameter import Parameter, enum_value
from .signature import PythonSignature
from .tables import HIDDEN_OVERLOADS


class _Omitted:
    """The default of a parameter that some forms need and others do not have."""

    def __repr__(self) -> str:
        return "..."


OMITTED = _Omitted()


class PacketSignature(Signature):
    """The signature of a packet's function or method, worked out when something of it is first asked for.

    It takes every call that some form of the packet takes. Where the forms differ in more than missing parameters, it ends
    in `*args` and `**kwargs`.
    """

    __slots__ = ("method", "packet")

    def __init__(self, packet: Packet, method: bool) -> None:
        self.packet, self.method = packet, method

    def __getattr__(self, name: str) -> Any:
        if name not in ("_parameters", "_return_annotation"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        forms = python_forms(self.packet, self.method)
        parameters = list(merged(forms))
        if self.method:
            parameters.insert(0, P("self", P.POSITIONAL_OR_KEYWORD))
        returned = dict.fromkeys(_returned(self.packet, form) for form in forms)
        plain: Any = Signature(parameters, return_annotation=" | ".join(returned) or Signature.empty)
        self._parameters, self._return_annotation = plain._parameters, plain._return_annotation
        return getattr(plain, name)

    def replace(self, *, parameters: Any = None, return_annotation: Any = Signature.empty) -> Any:
        """Return a signature with other parameters or another return annotation."""
        kept = self.return_annotation if return_annotation is Signature.empty else return_annotation
        return Signature(list(self.parameters.values() if parameters is None else parameters), return_annotation=kept)

    def __reduce__(self) -> Any:
        return Signature, (tuple(self.parameters.values()),), {"_return_annotation": self.return_annotation}


def python_forms(packet: Packet, method: bool) -> list[PythonSignature]:
    """Return the Python forms of a packet, those with an old order of arguments left out."""
    return [form for form in parser_of(packet, method).signatures if not form.deprecated]


def _returned(packet: Packet, form: PythonSignature) -> str:
    row = packet.rows[form.index]
    pack = (row.base or row).pack
    return return_annotation(form.schema, None if pack is None else pack.__name__)


def merged(forms: Sequence[PythonSignature]) -> Iterable[P]:
    """Yield the parameters of a signature that takes what every one of `forms` takes."""
    places = [form.parameters[: form.positional] for form in forms]
    if any(len(place) == 1 and place[0].takes_varargs for place in places):
        names = {place[0].name if place else "args" for place in places}
        yield P(names.pop() if len(names) == 1 else "args", P.VAR_POSITIONAL)
        yield from _keywords(forms, [], loose=len(forms) > 1)
        return
    taken: list[P] = []
    for index in range(max(map(len, places), default=0)):
        found = [(form, place[index]) for form, place in zip(forms, places, strict=True) if index < len(place)]
        names = {parameter.name for _, parameter in found}
        if len(names) > 1 or any(map(iskeyword, names)):
            yield P("args", P.VAR_POSITIONAL)
            yield from _keywords(forms, taken, loose=True)
            return
        made = _one(found, P.POSITIONAL_OR_KEYWORD, everywhere=len(found) == len(forms))
        if made.default is P.empty and taken and taken[-1].default is not P.empty:
            made = made.replace(default=OMITTED)
        taken.append(made)
        yield made
    yield from _keywords(forms, taken, loose=False)


def _keywords(forms: Sequence[PythonSignature], taken: Sequence[P], loose: bool) -> Iterable[P]:
    """Yield what is given by name only; `loose` where positional parameters of other names may be given by name, too."""
    found: dict[str, list[tuple[PythonSignature, Parameter]]] = {}
    for form in forms:
        for parameter in form.parameters[form.positional :]:
            found.setdefault(parameter.name, []).append((form, parameter))
    for name, places in found.items():
        if all(name != one.name for one in taken):
            yield _one(places, P.KEYWORD_ONLY, everywhere=len(places) == len(forms))
    if loose:
        yield P("kwargs", P.VAR_KEYWORD)


def _one(found: Sequence[tuple[PythonSignature, Parameter]], kind: Any, everywhere: bool) -> P:
    types = dict.fromkeys(part for _, parameter in found for part in annotation_of(parameter).split(" | "))
    optional = [default_of(form, parameter) for form, parameter in found if parameter.optional]
    default: Any = P.empty
    if len(optional) == len(found):
        default = optional[0]
    if len(optional) < len(found) and (optional or not everywhere):
        default = OMITTED
    if "None" in types:
        types["None"] = types.pop("None")  # last, as one writes it
    return P(found[0][1].name, kind, default=default, annotation=" | ".join(types))


def default_of(form: PythonSignature, parameter: Parameter) -> Any:
    """Return the default of an optional parameter."""
    name = "self" if parameter.name == "input" else parameter.name
    argument = next((one for one in form.schema.arguments if one.name in (parameter.name, name)), None)
    if argument is None or not argument.has_default:
        return ast.literal_eval(str(parameter.text))
    value = argument.default
    return enum_value(argument.type.kind, value) if isinstance(value, EnumName) else value


class TextOfFunction:
    """The documentation of a class, and of its objects that of their `function`, which is put together when it is read."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __get__(self, owner: Any, kind: type) -> str | None:
        return self.text if owner is None else owner.function.__doc__ or self.text


def describe(packet: Packet, method: bool) -> str:
    """Return the documentation of a packet's function or method: what it computes, its forms, and examples.

    The words are those of its entry (documentation.py), the forms those of its rows, which are not parsed.
    """
    rows = [row for row in packet.rows if row.name not in HIDDEN_OVERLOADS] or packet.rows
    name = packet.name if "::" in packet.name else f"aten::{packet.name}"
    entry = entry_of(packet.name)
    parts = [] if entry is None else [entry.text, entry.note]
    parts.append(f"The operator `{name}`{' as a method of tensors' if method else ''}, in these forms:")
    parts.append("\n".join(f"    {_form(row)}" for row in rows))
    parts.append("\n".join(_facts(packet, rows, method)))
    if entry is not None and entry.examples:
        parts.append("    " + entry.examples.replace("\n", "\n    "))
    return "\n\n".join(part for part in parts if part)


def _form(row: OpRow) -> str:
    if row.kind is not RowKind.INPLACE or row.base is None:
        return row.signature
    return row.base.signature.replace(row.base.packet, row.packet, 1).replace("Tensor self", "Tensor(a!) self", 1)


def _facts(packet: Packet, rows: Sequence[OpRow], method: bool) -> Iterable[str]:
    if any("Tensor self" in row.signature or row.base is not None for row in rows):
        yield "`input` above is the tensor itself." if method else "As a keyword, `self` is called `input`."
    if any(row.kind is RowKind.INPLACE for row in rows):
        yield "The result is written to the tensor itself, which is returned."
    if all(getattr(row.meta, "view", False) for row in rows):
        yield "The result is a view: it shares the tensor's memory."
    if all(DYNAMIC in row.tags for row in rows):
        yield "The shape of the result depends on values."
    if not method and any(row.out for row in rows):
        yield "With `out=` the result is written to tensors that are given."
    if any(row.inplace for row in rows):
        yield f"`{packet.name}_` writes the result to the tensor itself."
