"""Puts pickles and records into files: the zip format of checkpoints, with every field open to lies, and the older one."""

from __future__ import annotations

import functools
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any

from mindtorch_testing.hostile.pickles import pickled

MAGIC = 0x1950A86A20F9469CFC6C
VALUES = struct.pack("<16f", *range(16))
"""The content of the storage that most files have: sixteen floats under the key 0."""


@dataclass
class Member:
    """A record, and what its headers say of it where that is not the truth."""

    name: bytes
    content: bytes
    method: int = 0
    packed: bytes | None = None
    lies: dict[str, int] = field(default_factory=dict)
    local_name: bytes | None = None
    extra: bytes = b""
    at: int | None = None
    """Where the directory says that it begins; nothing is written then."""


@functools.cache
def zeros(length: int) -> bytes:
    """So many zeros, compressed."""
    return deflated(b"", bytes(length)).packed or b""


def deflated(name: bytes, content: bytes) -> Member:
    """A compressed record."""
    machine = zlib.compressobj(9, zlib.DEFLATED, -15)
    return Member(name, content, 8, machine.compress(content) + machine.flush())


def archive(members: list[Member], *, alignment: int = 64, end: dict[str, int] | None = None) -> bytes:
    """The zip file of these records."""
    body, directory = bytearray(), bytearray()
    for member in members:
        packed = member.content if member.packed is None else member.packed
        offset = len(body) if member.at is None else member.at
        crc = zlib.crc32(member.content)
        if member.at is None:
            name = member.name if member.local_name is None else member.local_name
            padding = b"Z" * (-(len(body) + 30 + len(name)) % alignment)
            body += struct.pack(
                "<IHHHHHIIIHH", 0x04034B50, 20, 0, member.method, 0, 0, crc, len(packed), len(member.content),
                len(name), len(padding),
            )  # fmt: skip
            body += name + padding + packed
        said: dict[str, int] = {
            "flags": 0, "method": member.method, "crc": crc, "stored": len(packed), "size": len(member.content),
            "offset": offset, "name": len(member.name), "extra": len(member.extra), "comment": 0, "disk": 0,
        }  # fmt: skip
        said |= member.lies
        directory += struct.pack(
            "<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, said["flags"], said["method"], 0, 0, said["crc"],
            said["stored"], said["size"], said["name"], said["extra"], said["comment"], said["disk"], 0, 0,
            said["offset"],
        )  # fmt: skip
        directory += member.name + member.extra
    said = {"disk": 0, "here": len(members), "count": len(members), "size": len(directory), "offset": len(body)}
    said |= {"comment": 0} | (end or {})
    return bytes(
        body + directory + struct.pack("<IHHHHIIH", 0x06054B50, said["disk"], 0, said["here"] & 0xFFFF,
                                       said["count"] & 0xFFFF, said["size"], said["offset"], said["comment"])
    )  # fmt: skip


def members(code: bytes, records: dict[str, bytes] | None = None) -> list[Member]:
    """The records of a checkpoint with this pickle."""
    stored = {"0": VALUES} if records is None else records
    found = {b"data.pkl": code, b"byteorder": b"little", b"version": b"3\n"}
    found |= {f"data/{key}".encode(): content for key, content in stored.items()}
    return [Member(b"a/" + name, content) for name, content in found.items()]


def zipped(code: bytes, records: dict[str, bytes] | None = None) -> bytes:
    """A checkpoint of the zip format with this pickle, every checksum right."""
    return archive(members(code, records))


def legacy(
    code: bytes, storages: dict[str, tuple[int, bytes]] | None = None, *, parts: dict[int, bytes] | None = None
) -> bytes:
    """A checkpoint of the older format: `storages` are numbers of elements and content, `parts` replace a pickle."""
    kept = {"0": (16, VALUES)} if storages is None else storages
    header: dict[str, Any] = {"protocol_version": 1001, "little_endian": True, "type_sizes": {}}
    pickles = [pickled(MAGIC), pickled(1001), pickled(header), code, pickled(list(kept))]
    for place, other in (parts or {}).items():
        pickles[place] = other
    return b"".join(pickles) + b"".join(struct.pack("<q", count) + content for count, content in kept.values())
