"""`torch.package`: what torch writes we read and the other way round, and the errors are torch's."""

from __future__ import annotations

import importlib
import inspect
import io
import sys
import zipfile
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import mindtorch
import mindtorch.package as ours

torch = pytest.importorskip("torch")
theirs = importlib.import_module("torch.package")

SOURCES = {
    "__init__.py": "from . import shapes\nfrom .shapes import Square\n",
    "shapes.py": "import math\n\nclass Square:\n    def __init__(self, side):\n        self.side = side\n\n"
    "    def root(self):\n        return math.sqrt(self.side)\n",
    "user.py": "from packaged_shapes.shapes import Square\nimport absent_helpers\n",
}


@pytest.fixture
def shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A package of this process that archives take modules from."""
    folder = tmp_path / "packaged_shapes"
    folder.mkdir()
    for name, text in SOURCES.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "absent_helpers.py").write_text("def help(): return 1\n")
    yield importlib.import_module("packaged_shapes")
    for name in [name for name in sys.modules if name.startswith(("packaged_shapes", "absent_helpers"))]:
        del sys.modules[name]


def written(package: Any, fill: Callable[[Any], object], **options: Any) -> io.BytesIO:
    """Return an archive that `fill` put things into."""
    file = io.BytesIO()
    with package.PackageExporter(file, **options) as exporter:
        fill(exporter)
    file.seek(0)
    return file


def raised(call: Callable[[], object]) -> tuple[str, str]:
    """Return the name and the text of the error that a call raises."""
    with pytest.raises(Exception) as found:  # noqa: PT011 (the two sides are compared)
        call()
    return type(found.value).__name__, str(found.value)


def same_error(call: Callable[[Any], object]) -> tuple[str, str]:
    """Return the error that a call raises with our package, and with torch's."""
    mine = raised(lambda: call(ours))
    assert mine == raised(lambda: call(theirs))
    return mine


@pytest.mark.parametrize(("writer", "reader"), [("ours", "theirs"), ("theirs", "ours"), ("ours", "ours")])
def test_archives_are_those_of_torch(writer: str, reader: str, shapes: Any) -> None:
    packages = {"ours": (ours, mindtorch), "theirs": (theirs, torch)}
    package, library = packages[writer]

    def fill(exporter: Any) -> None:
        exporter.intern("packaged_shapes.**")
        base = library.arange(6.0)
        exporter.save_pickle("data", "all.pkl", {"base": base, "part": base[2:4], "square": shapes.Square(9.0)})
        exporter.save_source_string("maker", "import torch\ndef make(): return torch.nn.Linear(2, 3)\n")
        exporter.save_text("data", "note.txt", "hello")

    importer = packages[reader][0].PackageImporter(written(package, fill))
    found = importer.load_pickle("data", "all.pkl")
    assert found["part"].tolist() == [2.0, 3.0]
    assert found["part"].untyped_storage().data_ptr() == found["base"].untyped_storage().data_ptr()
    assert found["square"].root() == 3.0
    assert type(found["square"]) is not shapes.Square
    assert packages[reader][0].is_from_package(found["square"])
    assert importer.import_module("maker").make().weight.shape == (3, 2)
    assert isinstance(importer.import_module("maker").make(), packages[reader][1].nn.Linear)
    assert importer.load_text("data", "note.txt") == "hello"
    assert importer.file_structure(include="**/*.txt").has_file("data/note.txt")


def test_what_is_written_names_the_same_modules() -> None:
    def names(package: Any, library: Any) -> Any:
        def fill(exporter: Any) -> None:
            exporter.save_source_string("a.b", "import os.path\nfrom torch.nn import functional\nimport json as j\n")
            exporter.save_pickle("a", "x.pkl", library.ones(2))

        reader = package.PackageImporter(written(package, fill))
        return reader.extern_modules, sorted(reader.zip_reader.get_all_records()), reader.python_version()

    assert names(ours, mindtorch) == names(theirs, torch)


def test_two_importers_have_classes_of_their_own(shapes: Any) -> None:
    def fill(exporter: Any) -> None:
        exporter.intern("**")
        exporter.save_pickle("data", "s.pkl", shapes.Square(4.0))

    file = written(ours, fill)
    first, second = (ours.PackageImporter(file) for _ in range(2) if file.seek(0) == 0)
    a, b = first.load_pickle("data", "s.pkl"), second.load_pickle("data", "s.pkl")
    assert type(a) is not type(b)
    assert type(a).__module__ == f"{first.id()}.packaged_shapes.shapes"
    assert first.import_module(type(a).__module__).Square is type(a)
    assert "class Square" in inspect.getsource(type(a))
    # An object of a package goes into another one with its importer alone.
    written(ours, lambda exporter: (exporter.intern("**"), exporter.save_pickle("d", "s.pkl", a)), importer=[first])
    with pytest.raises(Exception, match=r"PackageExporter's importer lists|was not found"):
        written(ours, lambda exporter: exporter.save_pickle("d", "s.pkl", a))


def test_a_folder_is_read_as_its_archive_is(shapes: Any, tmp_path: Path) -> None:
    def fill(exporter: Any) -> None:
        exporter.save_source_string("p", "x = 1\n", is_package=True)
        exporter.save_pickle("p", "t.pkl", mindtorch.arange(3))
        exporter.save_text("p", "note.txt", "hello")

    zipfile.ZipFile(written(ours, fill)).extractall(tmp_path / "unpacked")
    importer = ours.PackageImporter(tmp_path / "unpacked" / "archive")
    assert importer.load_pickle("p", "t.pkl").tolist() == [0, 1, 2]
    module = importer.import_module("p")
    assert resources.files(module).joinpath("note.txt").read_text() == "hello"
    assert sorted(importer.get_resource_reader("p").contents()) == ["__init__.py", "note.txt", "t.pkl"]


def test_mocked_modules_raise_when_they_are_used(shapes: Any) -> None:
    def use(package: Any) -> object:
        def fill(exporter: Any) -> None:
            exporter.mock("absent_helpers")
            exporter.intern("packaged_shapes.**")
            exporter.save_module("packaged_shapes.user")

        module = package.PackageImporter(written(package, fill)).import_module("packaged_shapes.user")
        assert repr(module.absent_helpers.help).startswith("MockedObject(<torch_package_")
        return module.absent_helpers.help

    use(ours)
    with pytest.raises(
        NotImplementedError, match=r"help' was mocked out during packaging but it is being used in __call__"
    ):
        use(ours)()  # type: ignore[operator]


@pytest.mark.parametrize("debug", [False, True])
def test_modules_without_an_action_are_reported_at_once(shapes: Any, debug: bool) -> None:
    def fill(exporter: Any) -> None:
        exporter.intern("packaged_shapes.**")
        exporter.save_source_string("m", "import sys, absent_helpers, numpy\nfrom packaged_shapes import user\n")

    kind, text = same_error(lambda package: written(package, fill, debug=debug))
    assert kind == "PackagingError"
    assert "absent_helpers" in text


def test_other_errors(shapes: Any) -> None:
    square = shapes.Square(1.0)
    same_error(lambda package: written(package, lambda e: (e.deny("numpy"), e.save_source_string("m", "import numpy"))))
    same_error(lambda package: written(package, lambda e: e.extern("nothing.*", allow_empty=False)))
    same_error(lambda package: written(package, lambda e: (e.mock("**"), e.save_pickle("d", "o.pkl", square))))
    same_error(lambda package: written(package, lambda e: e.save_module(shapes)))
    same_error(lambda package: written(package, lambda e: e.save_text("d", "a/b.txt", "x")))
    same_error(lambda package: written(package, lambda e: (e.save_text("d", "b", "x"), e.save_text("d", "b", "x"))))
    same_error(lambda package: written(package, lambda e: None, importer=3))
    same_error(lambda package: written(package, lambda e: e.save_source_string("m", "import (")))
    same_error(lambda package: package.GlobGroup("a.b**"))

    def imported(package: Any, name: str) -> object:
        file = written(package, lambda e: e.save_source_string("m", "import torch"))
        return package.PackageImporter(file).import_module(name)

    same_error(lambda package: imported(package, "absent_helpers"))
    same_error(lambda package: imported(package, "m.n"))
    file = written(ours, lambda e: e.save_source_string("m", "import torch"))
    with pytest.raises(ImportError, match="needs the external module 'torch' but that module has been disallowed"):
        ours.PackageImporter(file, module_allowed=lambda name: name != "torch")


class Doubled(mindtorch.nn.Module):
    """A module that a trace goes into."""

    def forward(self, x):  # type: ignore[no-untyped-def]
        return mindtorch.relu(x) * 2


def test_graph_modules_are_packaged_with_their_code() -> None:
    traced = mindtorch.fx.symbolic_trace(mindtorch.nn.Sequential(mindtorch.nn.ReLU(), Doubled()))
    file = written(ours, lambda exporter: exporter.save_pickle("d", "g.pkl", traced))
    loaded = ours.PackageImporter(file).load_pickle("d", "g.pkl")
    assert loaded(mindtorch.tensor([-1.0, 3.0])).tolist() == [0.0, 6.0]
    assert loaded.code == traced.code


def test_patterns() -> None:
    cases = ["torch", "torch.nn", "torch.nn.functional", "torchvision.io", "numpy"]
    for pattern in ("torch.**", "torch.*", "torch*.**", "**", "*.io", ["numpy", "torch"]):
        for exclude in ((), "torch.nn", ["**.io"]):
            groups = [package.GlobGroup(pattern, exclude=exclude) for package in (ours, theirs)]
            assert len({str(group) for group in groups}) == 1
            mine, reference = ([group.matches(name) for name in cases] for group in groups)
            assert mine == reference


def test_dependencies_of_sources() -> None:
    find = importlib.import_module("mindtorch.package.find_file_dependencies").find_files_source_depends_on
    reference = importlib.import_module("torch.package.find_file_dependencies").find_files_source_depends_on
    for source in (
        "import a.b, c\nfrom d import e, f\nfrom . import g\nfrom .h import *\nfrom ..i import j\n",
        "def f():\n    import a\n    __import__('b.c')\n    __import__('d', fromlist=['e', '*'])\n    __import__(name)\n",
        "__import__('x', globals(), locals(), ['y'], 1)\n",
    ):
        assert find(source, "p.q") == reference(source, "p.q")


def test_graph_of_dependencies() -> None:
    def filled(graph: Any) -> Any:
        for edge in ("ab", "bc", "ad", "dc", "ca"):
            graph.add_edge(*edge)
        return graph

    mine = filled(importlib.import_module("mindtorch.package._digraph").DiGraph())
    reference = filled(importlib.import_module("torch.package._digraph").DiGraph())
    assert list(mine) == list(reference)
    assert list(mine.edges) == list(reference.edges)
    assert mine.to_dot() == reference.to_dot()
    assert mine.forward_transitive_closure("d") == reference.forward_transitive_closure("d")
    assert mine.backward_transitive_closure("b") == reference.backward_transitive_closure("b")
    assert mine.first_path("a")[-1] == "a"  # torch does not return: the graph has a ring
    assert raised(lambda: mine.successors("x")) == raised(lambda: reference.successors("x"))


def test_records_are_written_one_by_one() -> None:
    def archive(library: Any) -> Any:
        file = io.BytesIO()
        writer = library._C.PyTorchFileWriter(file)
        writer.set_min_version(6)
        writer.write_record("note", b"hello world", 5)
        writer.write_end_of_file()
        file.seek(0)
        reader = library._C.PyTorchFileReader(file)
        names = sorted(reader.get_all_records())
        return names, [reader.get_record(name) for name in names if "id" not in name], writer.archive_name()

    assert archive(mindtorch) == archive(torch)
