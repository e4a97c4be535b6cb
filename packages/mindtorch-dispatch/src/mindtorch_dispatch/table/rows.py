"""The op table: rows (signature + meta rule), kernels per device, and the packets that group overloads by name.

    op("mul.Tensor(Tensor self, Tensor other) -> Tensor", meta=pointwise())
    register_kernel("cpu", "mul.Tensor", fn)

A row is data. Everything a user can call (function, method, in-place form, `out=`, overload object) is derived from
it on first use, so declaring a row costs a microsecond or two and parses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

from mindtorch_storage.cached import cached_property

from ..apart import ANYWHERE, Apart
from ..schema import Schema, parse_schema

DYNAMIC = "dynamic"
"""Tag: the output's shape depends on values, so the kernel makes the output and `meta` only checks arguments."""

COPIES = "copies"
"""Tag: the op is a new tensor and a write to it, so that autograd sees it whatever its operand is."""

CORE = "core"
"""Tag: backends implement this op; others may be composed of core ops."""


class RowKind(StrEnum):
    """Where the result of a row comes from."""

    FUNCTIONAL = "functional"
    """A kernel fills a new tensor."""

    COMPOSITE = "composite"
    """Other ops compute it."""

    INPLACE = "inplace"
    """The functional row that it is derived from, written into the first argument."""

    MUTATING = "mutating"
    """A kernel writes an argument that the signature declares as written."""

    writes: bool
    """True where a call writes one of its arguments."""


for _kind in RowKind:
    _kind.writes = _kind is RowKind.INPLACE or _kind is RowKind.MUTATING


class OpRow:
    """One overload: its signature text, meta rule, and what the derived forms need to know.

    A composite row's `composite` computes it from other ops; an in-place row is derived from its `base`.
    """

    __slots__ = (
        "__dict__",
        "apart",
        "base",
        "composite",
        "inplace",
        "keeps",
        "key",
        "kind",
        "meta",
        "moves",
        "name",
        "out",
        "overload",
        "pack",
        "packet",
        "rounds",
        "signature",
        "static",
        "tags",
        "variants",
    )

    def __init__(self, signature: str, meta: Any, **options: Any) -> None:
        full, _, _ = signature.partition("(")
        name, _, overload = full.strip().partition(".")
        self.signature = signature
        self.name = full.strip()
        self.packet = name
        self.overload = overload
        self.meta = meta
        self.apart: Apart | Callable[..., Apart] = options.get("apart") or getattr(meta, "apart", None) or ANYWHERE
        self.base: OpRow | None = options.get("base")
        self.composite = options.get("composite")
        self.kind: RowKind = options["kind"]
        self.inplace = options.get("inplace", False)
        self.out = options.get("out", False)
        self.variants = options.get("variants", ("function", "method"))
        self.static = options.get("static", ())
        self.key = options.get("key")
        self.moves = options.get("moves", ())
        self.rounds = options.get("rounds", ())
        self.keeps = options.get("keeps", ())
        self.pack = options.get("pack")
        self.tags = options.get("tags", frozenset())

    @cached_property
    def schema(self) -> Schema:
        """The parsed signature."""
        if self.kind is RowKind.INPLACE:
            assert self.base is not None, "an in-place row has the row that it is made of"
            return self.base.schema.as_inplace()
        return parse_schema(self.signature)

    @cached_property
    def call_form(self) -> tuple[int, tuple[str, ...]]:
        """How many arguments are positional, and the names of the others, which all follow them."""
        names = tuple(argument.name for argument in self.schema.arguments if argument.kwarg_only)
        return len(self.schema.arguments) - len(names), names

    @cached_property
    def places(self) -> dict[str, int]:
        """Place of every argument by its name."""
        return {argument.name: place for place, argument in enumerate(self.schema.arguments)}

    @cached_property
    def written(self) -> tuple[int, ...]:
        """Places of the arguments that are written to."""
        return tuple(place for place, argument in enumerate(self.schema.arguments) if argument.is_write)

    @property
    def aten_name(self) -> str:
        """`aten::name.overload`, as messages spell it."""
        return self.name if "::" in self.name else "aten::" + self.name

    def __repr__(self) -> str:
        return f"OpRow({self.signature!r})"


class Packet:
    """All overloads of one name, with the plans made for calls of it."""

    __slots__ = ("__dict__", "name", "plans", "plans_by_default", "rows")

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: list[OpRow] = []
        self.plans: dict[Any, Any] = {}
        self.plans_by_default: dict[Any, dict[Any, Any]] = {_defaults["dtype"]: self.plans}

    def forget_plans(self) -> None:
        """Have every call planned anew. Other dicts take the place of those there are: who kept plans compares them."""
        self.plans_by_default = {default: {} for default in self.plans_by_default}
        self.plans = self.plans_by_default[_defaults["dtype"]]

    def offers(self, form: str) -> bool:
        """True when some overload exists as `form`: "function", "method" or "nn"."""
        return any(form in row.variants for row in self.rows)

    @cached_property
    def static(self) -> bool:
        """True when a number's value, not only its type, belongs to the plan key."""
        return any(row.static is True for row in self.rows)

    @cached_property
    def key(self) -> Callable[..., Any] | None:
        """The rows' own key function, for ops where an int only moves an offset."""
        return next((row.key for row in self.rows if row.key is not None), None)

    @cached_property
    def free(self) -> frozenset[Any]:
        """Positions (counted from 1, as they stand in a plan key) and names at which a number is a kernel argument.

        There every overload that takes a number takes a `Scalar` or `float`, or an int that only moves a view; elsewhere an
        int belongs to the key.
        """
        takes: dict[Any, set[str]] = {}
        if not self.static:
            for row in self.rows:
                for position, argument in row.schema.places():
                    free = argument.name not in row.static
                    kind = argument.type.kind if not argument.type.is_list else "list"
                    kind = kind if free or kind == "Tensor" else "static"
                    kind = "Scalar" if argument.name in row.moves else kind
                    takes.setdefault(argument.name, set()).add(kind)
                    if not argument.kwarg_only:
                        takes.setdefault(position, set()).add(kind)
        numbers = {"Scalar", "float", "Tensor"}
        return frozenset(place for place, kinds in takes.items() if kinds <= numbers and kinds != set())

    def row(self, overload: str) -> OpRow:
        """Return the row of `overload` ("" is the default one); KeyError when there is none."""
        for row in self.rows:
            if row.overload == overload:
                return row
        raise KeyError(f"{self.name}.{overload}" if overload else self.name)

    def __repr__(self) -> str:
        return f"Packet({self.name!r}, {[row.overload or 'default' for row in self.rows]})"


class Kernel:
    """A backend's function for one op: `fn(out, *values)`.

    `upcast`: float16 and bfloat16 operands are given as float32 and the result is rounded once; False for kernels
    that only move or compare elements. `aliases_ok`: `out` may be an input. `halves`: where upcast, operands that are
    float16 or bfloat16 and need no other conversion are given as they are, and the kernel rounds the result itself.
    `takes`, of an op that is composed elsewhere: whether the kernel takes a call's values, by what a plan's key holds; where
    it does not, the op is composed here too.
    """

    __slots__ = ("aliases_ok", "fn", "halves", "takes", "upcast")

    def __init__(
        self,
        fn: Callable[..., Any],
        upcast: bool = True,
        aliases_ok: bool = False,
        halves: bool = False,
        takes: Callable[..., bool] | None = None,
    ) -> None:
        self.fn = fn
        self.upcast = upcast
        self.aliases_ok = aliases_ok
        self.halves = halves
        self.takes = takes


_defaults: dict[str, Any] = {"dtype": None}

packets: dict[str, Packet] = {}
"""Every declared or derived packet by name."""

kernels: dict[str, dict[str, Kernel]] = {"cpu": {}, "npu": {}, "meta": {}}
"""Device type to row name to kernel."""


class DuplicateOpError(RuntimeError):
    """An op or a kernel was declared twice."""


def op(
    signature: str,
    meta: object = None,
    *,
    composite: Callable[..., Any] | None = None,
    inplace: bool | None = None,
    out: bool | str | None = None,
    variants: str = "function, method",
    static: bool | Iterable[str] = (),
    key: Callable[..., Any] | None = None,
    moves: Iterable[str] = (),
    rounds: Iterable[str] = (),
    keeps: Iterable[str] = (),
    pack: object = None,
    apart: Apart | Callable[..., Apart] | None = None,
    tags: Iterable[str] = (),
) -> OpRow:
    """Declare one overload and return its row.

    Args:
        signature: aten grammar, without the namespace.
        meta: rule from `mindtorch_dispatch.meta`; it alone knows output geometry, dtype and argument errors.
        composite: instead of a kernel, a function of the same arguments made of other ops.
        inplace, out: offer `name_` and `out=`; the default is the meta family's. A string names the out overload.
        variants: which of "function" and "method" exist, as upstream writes it; "nn" for `torch._C._nn`, "" for
            ops reachable as `torch.ops.aten` only.
        static: names of number arguments whose value the plan depends on; True for all of them.
        key: for views, `key(spec, *values)` gives the part of the plan key made of the values.
        moves: for views, names of int arguments that only move where the view starts.
        rounds: names of number arguments that the kernel gets rounded where it computes in float16 or bfloat16, as if
            they were tensors; other numbers keep their digits.
        keeps: names of tensor arguments that keep their digits there when they have no dimensions, as if they were
            numbers; other ones are rounded.
        pack: class of a named tuple return.
        apart: of composed ops, how far operands have to lie apart from `out=`; else the meta rule says so.
        tags: `CORE`, `DYNAMIC`.

    Raises DuplicateOpError when the overload is declared already.
    """
    written = "!" in signature.partition("->")[0]
    kind = RowKind.COMPOSITE if composite is not None else RowKind.MUTATING if written else RowKind.FUNCTIONAL
    row = OpRow(
        signature,
        meta,
        composite=composite,
        kind=kind,
        inplace=getattr(meta, "inplace", False) if inplace is None else inplace,
        out=getattr(meta, "out", False) if out is None else out,
        variants=tuple(part.strip() for part in variants.split(",")),
        static=static if isinstance(static, bool) else tuple(static),
        key=key,
        moves=tuple(moves),
        rounds=tuple(rounds),
        keeps=tuple(keeps),
        pack=pack,
        apart=apart,
        tags=frozenset(tags),
    )
    packet = packets.get(row.packet)
    if packet is None:
        packet = packets[row.packet] = Packet(row.packet)
    elif any(other.overload == row.overload for other in packet.rows):
        raise DuplicateOpError(f"op {row.name!r} is declared twice")
    packet.rows.append(row)
    return row


def _derive_inplace(row: OpRow) -> OpRow:
    derived = OpRow(
        f"{row.packet}_{'.' + row.overload if row.overload else ''}()",
        row.meta,
        base=row,
        composite=row.composite,
        kind=RowKind.INPLACE,
        variants=("method",) if row.variants == ("method",) else ("function", "method"),
        static=row.static,
        rounds=row.rounds,
        keeps=row.keeps,
        apart=row.apart,
        tags=row.tags,
    )
    return derived


def find_packet(name: str) -> Packet | None:
    """Return the packet called `name`, deriving the in-place one from its functional rows; None when there is none."""
    packet = packets.get(name)
    functional = packets.get(name[:-1]) if name.endswith("_") else None
    if functional is None or (packet is not None and "derived" in packet.__dict__):
        return packet
    rows = [row for row in functional.rows if row.inplace]
    if packet is None:
        if not rows:
            return None
        packet = packets.setdefault(name, Packet(name))
    packet.__dict__["derived"] = True
    declared = {row.overload for row in packet.rows}
    packet.rows.extend(_derive_inplace(row) for row in rows if row.overload not in declared)
    return packet


def find_row(name: str) -> OpRow | None:
    """Return the row called `packet.overload` or `packet`, None when there is none."""
    base, _, overload = name.partition(".")
    packet = find_packet(base)
    if packet is None:
        return None
    return next((row for row in packet.rows if row.overload == overload), None)


def register_kernel(
    device_type: str,
    names: Iterable[str],
    fn: Callable[..., Any],
    *,
    upcast: bool = True,
    aliases_ok: bool = False,
    takes: Callable[..., bool] | None = None,
) -> None:
    """Make `fn` the kernel of the rows `names` on `device_type`; DuplicateOpError when one has a kernel already."""
    table = kernels[device_type]
    entry = Kernel(fn, upcast, aliases_ok, takes=takes)
    for name in names:
        if name in table:
            raise DuplicateOpError(f"{device_type} kernel of {name!r} is registered twice")
        table[name] = entry


def set_default_dtype_plans(default: object) -> None:
    """Switch every packet to the plans made under the default dtype `default` (plans depend on it)."""
    _defaults["dtype"] = default
    for packet in list(packets.values()):
        packet.plans = packet.plans_by_default.setdefault(default, {})
