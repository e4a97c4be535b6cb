"""Functions that both libraries script: what they compute, their code, and their archives read by the other."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")
import mindtorch  # noqa: E402

from .programs import carried, close, load, outcome  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:DeprecationWarning")
LIBS = {"ours": mindtorch, "torch": torch}
PROGRAMS = {name: load("script_functions", lib) for name, lib in LIBS.items()}
CASES = PROGRAMS["torch"]["CASES"]
SAME_CODE = frozenset(CASES) - frozenset(
    ("early", "cond", "d2", "whiles", "fib", "lists", "comp", "nested", "zips", "union", "unpack", "swap", "indexes", "opt",
     "dicts", "asserts", "maths", "ann")
)  # fmt: skip
"""Those whose text is torch's to the letter; elsewhere names and the order of assignments differ."""


def scripted(name, lib):
    function, given = PROGRAMS[lib]["CASES"][name]
    return LIBS[lib].jit.script(function), given


@pytest.mark.parametrize("name", CASES)
def test_scripted_functions_compute_what_torchs_do(name):
    theirs, given = scripted(name, "torch")
    ours, our_given = scripted(name, "ours")
    expected = outcome(lambda: theirs(*given()))
    assert close(outcome(lambda: ours(*our_given())), expected)
    assert close(outcome(lambda: carried(ours, mindtorch, torch)(*given())), expected)
    assert close(outcome(lambda: carried(theirs, torch, mindtorch)(*our_given())), expected)


@pytest.mark.parametrize("name", sorted(SAME_CODE))
def test_code_is_torchs(name):
    assert scripted(name, "ours")[0].code == scripted(name, "torch")[0].code


def test_graphs_name_operators_blocks_and_places():
    shown = str(scripted("early", "ours")[0].graph)
    for part in (
        "graph(%x",
        "prim::Loop(",
        "block0(",
        "aten::add(%x",
        "prim::If(",
        "script_functions.py:",
        "return (%",
    ):
        assert part in shown
    inlined = str(scripted("calls", "ours")[0].inlined_graph)
    assert "prim::CallFunction" not in inlined
    assert inlined.count("aten::mul") == 3


REFUSED = {
    "undefined": ("def f(x):\n    return nowhere\n", "undefined value nowhere"),
    "returned": ('def f(x) -> int:\n    return "a"\n', "having type int but is actually of type str"),
    "retyped": ('def f(x):\n    y = 1\n    for i in range(3):\n        y = "a"\n    return y\n', "previously had type int"),
    "one branch": ("def f(x):\n    if x.sum() > 0:\n        y = 1\n    return y\n", "y is not defined in the false branch"),
    "two types": ('def f(x):\n    if x.sum() > 0:\n        y = 1\n    else:\n        y = "a"\n    return y\n',
                  "y is set to type int in the true branch and type str in the false branch"),
    "yield": ("def f(x):\n    yield x\n", "Yield aren't supported"),
    "many": ("def f(*x):\n    return x\n", "Compiled functions can't take variable number of arguments"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_torchscript_is_refused_as_by_torch(what, tmp_path):
    text, said = REFUSED[what]
    path = tmp_path / "refused.py"
    path.write_text(text)
    kinds = []
    for lib in (mindtorch, torch):
        names = {"__name__": "refused"}
        exec(compile(text, str(path), "exec"), names)
        with pytest.raises(Exception) as raised:  # noqa: PT011 - the types are compared
            lib.jit.script(names["f"])
        assert said in str(raised.value)
        assert "<--- HERE" in str(raised.value)
        kinds.append(raised.type.__name__)
    assert kinds[0] == kinds[1]


def test_what_is_not_compiled_runs_in_python_and_says_why():
    made = mindtorch.jit.script(kept_in_python)
    assert made(mindtorch.ones(2)).tolist() == [3.0, 3.0]
    for action in (lambda: made.code, lambda: made.graph, lambda: made.save("none.pt")):
        with pytest.raises(NotImplementedError, match="with statements"):
            action()


def kept_in_python(x):
    with mindtorch.no_grad():
        y = x + 2
    return y
