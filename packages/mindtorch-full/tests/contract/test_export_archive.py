"""`torch.export.save` and `load`: archives of either library are read by the other, and what they hold runs the same."""

import io
import zipfile

import pytest

import mindtorch as mt
import mindtorch.export as ours

from .export_precisions import precisions  # noqa: F401  # a fixture
from .test_export import containers, images, language, net, tied, written
from .test_export_lowering import assigned, trained

torch = pytest.importorskip("torch", reason="oracle")
theirs = pytest.importorskip("torch.export", reason="oracle")
pytestmark = pytest.mark.usefixtures("precisions")


def kinds(t):
    class Kinds(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = t.nn.Linear(2, 3)
            self.again = self.first
            self.register_buffer("b", t.ones(3))

        def forward(self, x, y, *, m=None, n=2.5, f=True, s="a"):
            parts = (x.chunk(2, 1)[1], y.unbind(0), x[:, [0]], x.clamp(max=2), x.max(1)[0], x.sum(dtype=t.float64))
            made = t.full((3, x.shape[0] * 2), 1.5, dtype=t.float64), t.where(x > 0, x, float("inf"))
            moved = t.cat([x, x])[None].contiguous(memory_format=t.contiguous_format)
            return self.first(x) + self.b, parts, made, moved, x.shape[0], n

    t.manual_seed(0)
    return Kinds(), (t.ones(2, 2), t.ones(2, 2)), {"m": None, "n": 2.5, "f": True, "s": "a"}


PROGRAMS = [net, tied, written, containers, images, language, assigned, trained, kinds]


def varied(t, library):
    module, args, kwargs = kinds(t)
    sizes = dict.fromkeys(("x", "y", "m", "n", "f", "s")) | {"x": {0: library.Dim("batch", min=2, max=10)}}
    return library.export(module, args, kwargs, dynamic_shapes=sizes)


def saved(library, program):
    buffer = io.BytesIO()
    library.save(program, buffer, extra_files={"note.txt": "hello"})
    return buffer


def shown(found):
    """Return results as plain values."""
    leaves = mt.utils._pytree.tree_leaves(found)
    return [one.tolist() if hasattr(one, "tolist") else one for one in leaves]


@pytest.mark.parametrize("lower", [False, True], ids=["exported", "lowered"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_either_library_reads_what_the_other_writes(program, lower):
    for t, library, other_t, other in ((mt, ours, torch, theirs), (torch, theirs, mt, ours)):
        module, args, kwargs = program(t)
        made = library.export(module, args, kwargs)
        made = made.run_decompositions() if lower else made
        read = other.load(saved(library, made))
        expected = made.module()(*args, **kwargs)
        assert str(read.graph_signature) == str(made.graph_signature)
        assert set(read.state_dict) == set(made.state_dict)
        assert read.dialect == made.dialect
        _, args, kwargs = program(other_t)
        wanted, found = shown(expected), shown(read.module()(*args, **kwargs))
        assert len(found) == len(wanted)
        for one, other_one in zip(found, wanted, strict=True):
            if isinstance(one, str | None):
                assert one == other_one
            else:
                mt.testing.assert_close(mt.tensor(one), mt.tensor(other_one), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("writer", ["ours", "theirs"])
def test_sizes_vary_in_what_was_read(writer):
    t, library = (mt, ours) if writer == "ours" else (torch, theirs)
    buffer = saved(library, varied(t, library))
    for read in (ours.load(buffer), ours.load(saved(ours, ours.load(buffer))), ours.load(buffer).run_decompositions()):
        module = read.module()
        found = module(mt.ones(5, 2), mt.ones(2, 2), m=None, n=2.5, f=True, s="a")
        assert [found[0].shape, found[2][0].shape, found[3].shape, found[4]] == [(5, 3), (3, 10), (1, 10, 2), 5]
        assert list(map(str, read.range_constraints.values())) == ["VR[2, 10]"]
        with pytest.raises(AssertionError, match=r"Guard failed: x\.size\(\)\[0\] <= 10"):
            module(mt.ones(11, 2), mt.ones(2, 2), m=None, n=2.5, f=True, s="a")
    buffer.seek(0)
    assert str(theirs.load(buffer).range_constraints) == str(ours.load(buffer).range_constraints)


def test_memory_that_is_shared_is_written_once_and_shared_again():
    module, args, kwargs = kinds(mt)
    module.register_buffer("tail", module.b[1:])
    buffer = saved(ours, ours.export(module, args, kwargs))
    names = [name for name in zipfile.ZipFile(buffer).namelist() if "weights/weight" in name]
    assert len(names) == 3
    state = ours.load(buffer).state_dict
    assert state["first.weight"] is state["again.weight"]
    state["b"][1] = 7
    assert state["tail"].tolist() == [7, 1]


def test_files_and_their_texts(tmp_path):
    path = tmp_path / "program.pt2"
    ours.save(ours.export(*images(mt)), path, extra_files={"note.txt": "hello"})
    for library in (ours, theirs):
        extra = {"note.txt": ""}
        library.load(path, extra_files=extra)
        assert extra == {"note.txt": "hello"}


@pytest.mark.parametrize("content", ["module", "nothing", "text", "checkpoint"])
def test_what_is_no_program_is_refused_as_by_torch(content, tmp_path):
    def refused(t, library):
        path = tmp_path / f"{content}.pt2"
        if content == "text":
            path.write_bytes(b"abc")
        if content == "checkpoint":
            t.save({"a": 1}, path)
        with pytest.raises(Exception) as caught:  # noqa: PT011  # torch says which
            library.save(t.nn.Linear(1, 1), io.BytesIO()) if content == "module" else library.load(path)
        return type(caught.value).__name__, str(caught.value)

    assert refused(mt, ours) == refused(torch, theirs)


def test_programs_that_archives_do_not_hold_are_refused():
    class Block(mt.nn.Module):
        def forward(self, x):
            with mt.no_grad():
                return x * 2

    with pytest.raises(NotImplementedError, match=r"_set_grad_enabled .* are not archived"):
        ours.save(ours.export(Block(), (mt.ones(2),)), io.BytesIO())

    class Branch(torch.nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

    buffer = saved(theirs, theirs.export(Branch(), (torch.ones(2),)))
    with pytest.raises(NotImplementedError, match=r"calls torch\.ops\.higher_order\.cond"):
        ours.load(buffer)
