"""The hostile file of a number: its family, its bytes, and how it is to be loaded."""

from __future__ import annotations

import pickle
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mindtorch_testing import mutations
from mindtorch_testing.hostile import exhaustion, families
from mindtorch_testing.hostile.containers import VALUES, Member, archive, deflated, legacy, members, zeros, zipped
from mindtorch_testing.hostile.pickles import Call, Stored, encode, pickled, stored

Source = random.Random
_MAKERS = {**families.VALUES, "nesting": exhaustion.nesting, "memory": exhaustion.memory}
"""The families whose files are pickles under right checksums, in every format."""


@dataclass
class File:
    """One attempt."""

    number: int
    family: str
    data: bytes
    mapped: bool
    location: Any


def _older(value: Any) -> Any:
    """The value with the persistent ids of the older format, which say whether the storage is a view."""
    if isinstance(value, Stored) and isinstance(value.saved_id, tuple) and len(value.saved_id) == 5:
        return Stored((*value.saved_id, None))
    if isinstance(value, list | tuple):
        return type(value)(_older(item) for item in value)
    for name in ("function", "args", "target", "state", "value", "items"):
        if hasattr(value, name) and not isinstance(value, dict):
            setattr(value, name, _older(getattr(value, name)))
    return value


def _in_a_file(code: bytes, source: Source) -> bytes:
    content = {"0": VALUES, "1": VALUES}
    return zipped(code, content) if source.random() < 0.97 else zipped(code, {})


def _legacy_of(value: Any, source: Source) -> bytes:
    code = pickled(_older(value))
    place = 3 if source.random() < 0.9 else source.choice((0, 1, 2, 4))
    storages = {"0": (16, VALUES), "1": (16, VALUES)}
    if source.random() < 0.1:
        storages = {"0": (source.choice(families.BOUNDS[:15]), VALUES[: source.choice((0, 8, 64))])}
    return legacy(code, storages) if place == 3 else legacy(pickled([]), storages, parts={place: code})


_POPS = {b"R": 2, b"\x81": 2, b"b": 2, b"a": 2, b"s": 3, b"Q": 1, b"\x85": 1, b"\x86": 2, b"\x87": 3}
_MARKED = (b"t", b"e", b"u")


def _program(source: Source) -> bytes:
    """Operations in any order, with operands that exist more often than not."""
    code, heights = bytearray(b"\x80\x02"), [0]
    for _ in range(source.choice((5, 20, 80))):
        kind = source.random()
        possible = [code for code, pops in _POPS.items() if pops <= heights[-1]]
        if kind < 0.35 and possible:
            operation = source.choice(possible)
            code += operation
            heights[-1] -= _POPS[operation] - 1
        elif kind < 0.5 and len(heights) > 1:
            operation = source.choice(_MARKED)
            code += operation
            heights.pop()
            heights[-1] += operation == b"t"
        elif kind < 0.55:
            code += b"("
            heights.append(0)
        elif kind < 0.65:
            code += source.choice((b"q", b"h")) + bytes((source.randrange(3),))
            heights[-1] += 1
        elif kind < 0.99:
            code += source.choice(
                (b"N", b"]", b"}", b")", encode(families.plain(source, 1)), encode(families.calls(source)))
            )
            heights[-1] += 1
        else:
            code += source.randbytes(source.randrange(1, 4))
    return bytes(code) + b"."


def _view(source: Source) -> bytes:
    """A view of a storage, as the older format has them, with any offset and size."""
    saved = stored("0", source.choice(families.KINDS), source.choice((16, 64, 8))).saved_id
    view = source.choice(
        (("v", source.choice(families.BOUNDS), source.choice(families.BOUNDS)), (), 5, ("v", "0", None))
    )
    parts = (Stored((*saved, view)), 0, (2,), (1,), False, None)
    dtype = families.torch_name(source.choice(families.DTYPES))
    rebuild = families.torch_name("torch._utils._rebuild_tensor_v3")
    return legacy(pickled(Call(rebuild, (*parts, dtype))))


_NAMES = (
    b"../data.pkl", b"a/../data.pkl", b"/etc/passwd", b"a\\data.pkl", b"a/data.pkl\0x", b"a//data.pkl", b"", b"/", b"b/data/0",
    b"a/" + b"x" * 60_000, b"a/data/0/", b"a/\xff\xfe", b"A/data.pkl", b"a/data/-0", b"a/.data/version", b"a/constants.pkl",
)  # fmt: skip
_FIELDS = ("flags", "method", "crc", "stored", "size", "offset", "name", "extra", "comment", "disk")


def _lying(code: bytes, source: Source) -> bytes:
    """An archive in which some header, name or record is wrong."""
    found = members(code, {"0": VALUES, "1": VALUES})
    chosen = source.choice(found)
    kind = source.randrange(12)
    if kind < 3:
        width = (
            0xFFFF
            if (field := source.choice(_FIELDS)) in ("flags", "method", "name", "extra", "comment", "disk")
            else 0xFFFFFFFF
        )
        chosen.lies = {field: source.choice((0, 1, 7, 8, 64, 99, width - 1, width, source.randrange(width)))}
    elif kind == 3:
        chosen.lies = {"size": 0xFFFFFFFF, "stored": 0xFFFFFFFF, "offset": 0xFFFFFFFF}
        numbers = [source.choice((0, 64, 1 << 31, (1 << 63) - 1, (1 << 64) - 1)) for _ in range(source.randrange(4))]
        chosen.extra = struct.pack(f"<HH{len(numbers)}Q", 1, source.choice((8 * len(numbers), 0xFFFF)), *numbers)
    elif kind == 4:
        found.append(Member(chosen.name, source.choice((b"", VALUES, pickled(1)))))
    elif kind == 5:
        chosen.local_name = source.choice(_NAMES)
    elif kind == 6:
        found.append(Member(source.choice(_NAMES), b"x"))
    elif kind == 7:
        chosen.name = source.choice(_NAMES)
    elif kind == 8:
        found.remove(chosen)
    elif kind == 9:
        chosen.content = source.choice((b"", b"9" * 6000, b"-1", b"1e9", b"big", b"\xff" * 70, VALUES * 2))
    elif kind == 10:
        chosen.at = source.choice((0, 1, 64, 1 << 20, 0xFFFFFFF0))
    else:
        lie = source.choice(("disk", "here", "count", "size", "offset", "comment"))
        width = 0xFFFF if lie in ("disk", "here", "count", "comment") else 0xFFFFFFFF
        return archive(found, end={lie: source.choice((0, 1, 2, 1000, width, source.randrange(width)))})
    data = archive(found, alignment=source.choice((64, 64, 1)))
    return data + source.choice((b"", b"", b"x" * 100, b"PK\x05\x06", data))


def _bomb(source: Source) -> bytes:
    """Records that expand a thousandfold, or that share their bytes with others, or very many of them."""
    count = source.choice((1, 5, 50))
    length = source.choice((1 << 16, 1 << 22, 1 << 26))
    kind = source.randrange(5)
    keys = [str(number) for number in range(count)]
    value = [stored(key, "ByteStorage", length) for key in keys]
    if kind < 2:
        found = members(pickled(value), {})
        found += [Member(f"a/data/{key}".encode(), b"", 8, zeros(length), {"size": length, "crc": 0}) for key in keys]
        return archive(found)
    if kind == 2:
        found = members(pickled([stored(str(n), "FloatStorage", 16) for n in range(count * 100)]), {"0": VALUES})
        where = archive(found).find(b"a/data/0") - 30
        for number in range(1, count * 100):
            said = {"crc": 0, "stored": 64, "size": 64}
            found.append(Member(f"a/data/{number}".encode(), b"", lies=said, at=where))
        return archive(found)
    if kind == 3:
        code = source.choice((b"N" * length, b"]" * length, b"\x8f" * length)) + b"."
        rest = members(b"", {})[1:]
        return archive([deflated(b"a/data.pkl", b"\x80\x02" + code[: 1 << 22]), *rest])
    names = [Member(b"a/%x" % number, b"", at=0) for number in range(source.choice((1000, 30_000)))]
    return archive([*members(pickled(value), {}), *names])


def _damaged(source: Source) -> bytes:
    """A good or hostile file with bytes changed, cut off or added."""
    value = families.well_formed(source) if source.random() < 0.7 else _MAKERS["states"](source)
    data = _legacy_of(value, source) if source.random() < 0.3 else _in_a_file(pickled(value), source)
    return source.choice((mutations.flipped, mutations.overwritten, mutations.truncated, mutations.oversized))(
        data, source
    )


def _pickle_damaged(source: Source) -> bytes:
    """The same damage to the pickle alone, under a right checksum."""
    maker = _MAKERS[source.choice(list(_MAKERS))]
    code = pickled(maker(source) if source.random() < 0.5 else families.well_formed(source))[:200_000]
    change = source.choice((mutations.flipped, mutations.overwritten, mutations.truncated))
    return _in_a_file(change(code, source), source)


def _nonsense(source: Source) -> bytes:
    """Bytes of no format, or that begin like one."""
    starts = (
        b"",
        b"PK\x03\x04",
        b"\x80\x02",
        b"\x80",
        b"PK\x05\x06",
        b"\x93NUMPY",
        b"\0" * 257 + b"ustar",
        pickle.dumps(1),
    )
    return source.choice(starts) + source.randbytes(source.choice((0, 1, 4, 22, 100, 1000)))


def good() -> bytes:
    """A file that names most of what a file may name, as it is meant."""
    source = random.Random(0)
    rebuild, name = "torch._utils._rebuild_", families.torch_name
    made = families.tensor(source, well=True)
    layout = Call(name("torch.serialization._get_layout"), ("torch.sparse_coo",))
    whole = (stored("1", "LongStorage", 8), 0, (2, 4), (4, 1), False, None)
    indices = Call(name(rebuild + "tensor_v2"), whole)
    values = Call(name(rebuild + "tensor_v2"), (stored("0", "FloatStorage", 16), 0, (4,), (1,), False, None))
    value = [
        made,
        Call(name(rebuild + "parameter_with_state"), (made, True, None, {"a": 1})),
        Call(name(rebuild + "sparse_tensor"), (layout, (indices, values, (9, 9), False))),
        Call(name(rebuild + "meta_tensor_no_storage"), (name("torch.float32"), (2,), (1,), True)),
        Call(name(rebuild + "device_tensor_from_cpu_tensor"), (made, name("torch.complex64"), "cpu", True)),
        Call(name("torch._tensor._rebuild_from_type_v2"), (made.function, name("torch.Tensor"), made.args, {"a": 1})),
    ]
    return zipped(pickled(value), {"0": VALUES, "1": struct.pack("<8q", *range(8))})


FILES: dict[str, Callable[[Source], bytes]] = {
    "archives": lambda source: _lying(pickled(families.well_formed(source)), source),
    "bombs": _bomb,
    "damage": _damaged,
    "damaged pickles": _pickle_damaged,
    "programs": lambda source: _in_a_file(_program(source), source),
    "views": _view,
    "nonsense": _nonsense,
}
FAMILIES = (*_MAKERS, *FILES)
"""The order of the families: file number N is of the family N modulo their count."""


def make(seed: int, number: int) -> File:
    """Return the file of this number: always the same one for a seed."""
    source = random.Random(f"{seed}-{number}")
    family = FAMILIES[number % len(FAMILIES)]
    if family in FILES:
        data = FILES[family](source)
    else:
        value = _MAKERS[family](source)
        value = [families.tensor(source, well=True), value] if source.random() < 0.2 else value
        data = _legacy_of(value, source) if source.random() < 0.3 else _in_a_file(pickled(value), source)
    location = source.choice((None, None, None, None, "cpu", "meta", {"cuda:0": "cpu"}))
    return File(number, family, data, data.startswith(b"PK") and source.random() < 0.2, location)
