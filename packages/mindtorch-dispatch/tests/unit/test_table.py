"""The op table: declarations are checked, derived forms follow."""

import subprocess
import sys

import pytest

from mindtorch_dispatch.meta.pointwise import pointwise
from mindtorch_dispatch.table import rows as table


@pytest.fixture
def scratch(monkeypatch):
    monkeypatch.setattr(table, "packets", {})


def test_a_row_is_declared_once(scratch):
    table.op("toy.Tensor(Tensor self, Tensor other) -> Tensor", pointwise())
    with pytest.raises(table.DuplicateOpError, match=r"toy\.Tensor"):
        table.op("toy.Tensor(Tensor self, Tensor other) -> Tensor", pointwise())


def test_a_kernel_is_registered_once(monkeypatch):
    monkeypatch.setattr(table, "kernels", {"cpu": {}})
    table.register_kernel("cpu", ["toy"], lambda out, self: None)
    with pytest.raises(table.DuplicateOpError, match="toy"):
        table.register_kernel("cpu", ["toy"], lambda out, self: None)


def test_the_inplace_packet_follows_from_the_functional_one(scratch):
    table.op("toy.Tensor(Tensor self, Tensor other) -> Tensor", pointwise())
    packet = table.find_packet("toy_")
    assert str(packet.rows[0].schema) == "aten::toy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"
    assert packet.rows[0].base is table.find_packet("toy").rows[0]


def test_an_op_without_inplace_form_has_no_such_packet(scratch):
    table.op("toy.Tensor(Tensor self, Tensor other) -> Tensor", pointwise(inplace=False))
    assert table.find_packet("toy_") is None


def test_declaring_parses_no_schema():
    program = (
        "import mindtorch_dispatch.schema as s, mindtorch_dispatch.table as t\n"
        "import mindtorch_dispatch.ops\n"
        "rows = [row for packet in t.packets.values() for row in packet.rows]\n"
        "assert len(rows) > 300, len(rows)\n"
        "assert not any('schema' in row.__dict__ for row in rows)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_kernel_belongs_to_a_row():
    program = (
        "import mindtorch_dispatch.ops, mindtorch_cpu.ops\n"
        "from mindtorch_dispatch import table\n"
        "unknown = [name for name in table.kernels['cpu'] if table.find_row(name) is None]\n"
        "assert not unknown, unknown\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_kind_of_a_row_says_whether_a_call_writes_an_argument(scratch):
    rows = [
        table.op("toy(Tensor self) -> Tensor", pointwise()),
        table.op("made(Tensor self) -> Tensor", composite=lambda self: self),
        table.op("toy.fill(Tensor(a!) self) -> Tensor(a!)", pointwise()),
        table.find_packet("toy_").rows[0],
    ]
    kinds = [table.RowKind.FUNCTIONAL, table.RowKind.COMPOSITE, table.RowKind.MUTATING, table.RowKind.INPLACE]
    assert [row.kind for row in rows] == kinds
    assert [row.kind.writes for row in rows] == [False, False, True, True]
