"""The stubs of what is bound from the op table; `tools/stubs.py check` lets mypy read them, where it is installed."""

import ast
import json
import subprocess
import sys

import pytest

pytest.importorskip("mindtorch", reason="the assembled library")
import mindtorch as mt
import stubs
from mindtorch_dispatch.arguments.description import PacketSignature


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stubs") / "_operators"
    stubs.write(folder)
    return {path.stem: path.read_text() for path in folder.glob("*.pyi")}


def defined(tree):
    """The names that a stub defines, one for each overload."""
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def described(owner):
    return {
        name for name in dir(owner) if isinstance(getattr(getattr(owner, name), "__signature__", None), PacketSignature)
    }


@pytest.fixture(scope="module")
def fresh():
    """The functions of each namespace in a process of its own: other tests put functions into `mindtorch`."""
    program = (
        "import json, mindtorch as mt; from mindtorch_dispatch.arguments.description import PacketSignature as P; "
        "print(json.dumps({n: [k for k in dir(o) if isinstance(getattr(getattr(o, k), '__signature__', None), P)] "
        "for n, o in [('functions', mt), ('linalg', mt.linalg), ('special', mt.special), ('fft', mt.fft)]}))"
    )
    return json.loads(
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout
    )


@pytest.mark.parametrize("name", ["functions", "linalg", "special", "fft"])
def test_every_function_of_the_table_is_in_the_stub_and_exported(made, fresh, name):
    tree = ast.parse(made[name])
    (exported,) = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)]
    assert set(defined(tree)) == set(fresh[name])
    assert set(defined(tree)) <= set(exported)
    assert len(exported) == len(set(exported))


def test_every_method_of_the_table_is_in_the_stub(made):
    (methods,) = [node for node in ast.parse(made["methods"]).body if isinstance(node, ast.ClassDef)]
    assert described(mt.Tensor) <= set(defined(methods))


def test_forms_are_overloads(made):
    found = {}
    for node in ast.parse(made["functions"]).body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    assert [ast.unparse(one.args) for one in found["max"]] == [
        "input: _types.Tensor, *, out: _types.Tensor | None=...",
        "input: _types.Tensor, other: _types.Tensor, *, out: _types.Tensor | None=...",
        "input: _types.Tensor, dim: _types.int, keepdim: _types.bool=..., *, out: _types.Sequence[_types.Tensor] | None=...",
    ]
    assert all(len(nodes) == 1 or all(node.decorator_list for node in nodes) for nodes in found.values())
    assert "*size: _types.int" in ast.unparse(found["zeros"][1].args)
    assert "add.Tensor(Tensor self, Tensor other" in ast.get_docstring(found["add"][0])


def test_named_results_have_their_fields(made):
    classes = {node.name: node for node in ast.parse(made["return_types"]).body if isinstance(node, ast.ClassDef)}
    assert defined(classes["topk"]) == ["values", "indices"]
    assert len(classes) > 20


def test_stubs_are_the_same_every_time(made, tmp_path):
    stubs.write(tmp_path / "again")
    assert {path.stem: path.read_text() for path in (tmp_path / "again").glob("*.pyi")} == made
