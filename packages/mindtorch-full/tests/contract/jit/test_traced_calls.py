"""Traces that call what is compiled keep its loops and branches, and compiled functions take values as torch's do."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")
import mindtorch  # noqa: E402

from .programs import carried, close, load, plain  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("error::torch.jit.TracerWarning"),
    pytest.mark.filterwarnings("error::mindtorch.jit.TracerWarning"),
]
LIBS = {"ours": mindtorch, "torch": torch}
with pytest.warns(DeprecationWarning, match="torch.jit"):
    PROGRAMS = {name: load("traced_calls", lib) for name, lib in LIBS.items()}
CASES = list(PROGRAMS["torch"]["CASES"])


def traced(name, lib):
    example, *others = PROGRAMS[lib]["INPUTS"]
    made = LIBS[lib].jit.trace(PROGRAMS[lib]["CASES"][name](), (example,))
    return made, [example, *others]


@pytest.mark.parametrize("name", CASES)
def test_loops_and_branches_of_what_is_called_are_kept(name):
    ours, given = traced(name, "ours")
    theirs, their_given = traced(name, "torch")
    expected = [plain(theirs(one.clone())) for one in their_given]
    assert close([plain(ours(one.clone())) for one in given], expected)
    for reader, inputs in ((torch, their_given), (mindtorch, given)):
        loaded = carried(ours, mindtorch, reader)
        assert close([plain(loaded(one.clone())) for one in inputs], expected)
    loaded = carried(theirs, torch, mindtorch)
    assert close([plain(loaded(one.clone())) for one in given], expected)


def test_compiled_modules_stay_compiled_in_a_traced_one():
    ours, theirs = (traced("modules", lib)[0] for lib in LIBS)
    assert str(ours) == str(theirs)
    assert ours.repeated.code == theirs.repeated.code
    assert type(ours.repeated).__name__ == type(theirs.repeated).__name__
    x = mindtorch.ones(2, 2)
    ours(x).sum().backward()
    assert all(one.grad is not None for one in ours.repeated.parameters())
    assert "(repeated).forward(" in ours.code
    assert "(repeated).twice(" in ours.code


@pytest.mark.parametrize("lib", LIBS)
def test_modules_from_elsewhere_are_refused(lib):
    module = LIBS[lib].jit.script(PROGRAMS[lib]["Repeated"]())
    with pytest.raises(
        RuntimeError, match=r"Tried to trace <__torch__\.\w*\.?Repeated object at 0x\w+> but it is not part"
    ):
        LIBS[lib].jit.trace(lambda x: module(x), (LIBS[lib].ones(2, 2),))
    count = LIBS[lib].jit.script(PROGRAMS[lib]["counted"])
    with pytest.raises(
        RuntimeError, match=r"Tracer cannot set value trace for type Int. Supported types are tensor, tensor"
    ):
        LIBS[lib].jit.trace(lambda x: x + count(x), (LIBS[lib].ones(2, 2),))


def test_what_is_not_compiled_is_traced_with_a_warning():
    def loop(x):
        with mindtorch.no_grad():
            for _ in range(x.size(0)):
                x = x + 1
        return x

    scripted = mindtorch.jit._script.ScriptedFunction._of_python(loop)
    scripted.__dict__["_compiled_form"] = NotImplementedError("a reason")
    with pytest.warns(mindtorch.jit.TracerWarning, match="runs in Python.*a reason"):
        mindtorch.jit.trace(lambda x: scripted(x) + 1, (mindtorch.ones(2),), check_trace=False)


def answer(function, *given):
    try:
        return plain(function(*given))
    except Exception as error:  # noqa: BLE001 - whatever the other raises too
        return type(error).__name__, str(error).partition("\n\nAt:")[0]


@pytest.mark.parametrize("place", range(len(PROGRAMS["torch"]["TAKERS"])))
def test_arguments_become_values_of_their_types(place):
    functions = {lib: LIBS[lib].jit.script(names["TAKERS"][place]) for lib, names in PROGRAMS.items()}
    for number in range(len(PROGRAMS["torch"]["VALUES"])):
        ours, theirs = (answer(functions[lib], PROGRAMS[lib]["VALUES"][number]) for lib in LIBS)
        if isinstance(theirs, tuple) and theirs[0] == "TypeError":  # pybind's refusal of an overload
            assert ours[0] == "RuntimeError"
        else:
            assert ours == theirs


@pytest.mark.parametrize("name", PROGRAMS["torch"]["REFUSED"])
def test_wrong_arguments_raise_torchs_errors(name):
    found = []
    for lib, names in PROGRAMS.items():
        found.append(answer(names["REFUSED"][name], LIBS[lib].jit.script(names["several"])))
    assert found[0] == found[1]


def test_methods_count_the_module_among_their_arguments():
    found = []
    for lib, names in PROGRAMS.items():
        module = LIBS[lib].jit.script(names["Plain"]())
        x = LIBS[lib].ones(2)
        found.append(
            [answer(module), answer(module, 1), answer(module, x, 1, 2), answer(module, x, x), answer(module, x, 3)]
        )
    assert found[0] == found[1]


def test_lists_that_are_given_stay_as_they_are():
    for names in PROGRAMS.values():
        given = [names["INPUTS"][0]]
        names["packed"](names["INPUTS"][0], 1, given)
        assert len(given) == 1


SLICES = {
    "the first": lambda x: x[:5], "beside a number": lambda x: x[0:5, 0] + 1, "after all": lambda x: x[..., 0:4],
    "a new dimension": lambda x: x[None, 0:5, :3], "further than the end": lambda x: x[0:9, -4:],
}  # fmt: skip


@pytest.mark.parametrize("name", SLICES)
def test_slices_that_end_where_the_example_does_shorten_what_is_longer(name):
    made = mindtorch.jit.trace(SLICES[name], (mindtorch.ones(5, 4),))
    longer = mindtorch.arange(42.0).reshape(7, 6)
    assert made(longer).tolist() == SLICES[name](longer).tolist()


def test_script_modules_of_the_programs_own_class_are_traced():
    class Inner(mindtorch.jit.ScriptModule):
        def forward(self, x):
            return x * 2

    class Outer(mindtorch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x) + 1

    assert mindtorch.jit.trace(Outer(), (mindtorch.ones(1),))(mindtorch.ones(1)).tolist() == [3.0]
