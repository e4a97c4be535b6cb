"""`torch.jit.script`, `freeze` and `optimize_for_inference` beside torch: what they return, and what it shows."""

import copy
import io
import pickle

import pytest

torch = pytest.importorskip("torch", reason="oracle")
import mindtorch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:DeprecationWarning")


def tripled(x, n: int = 3):
    """Three times."""
    return x * n


def net(lib):
    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = lib.nn.Linear(2, 3)
            self.body = lib.nn.Sequential(lib.nn.ReLU(), lib.nn.Dropout(0.5))
            self.norm = lib.nn.BatchNorm1d(3)
            self.times = 2
            self.foreign = object()
            self.register_buffer("shift", lib.ones(1))

        def forward(self, x):
            return self.norm(self.body(self.first(x))) * self.times + self.called(x)

        def called(self, x):
            return self.shift

        @lib.jit.export
        def exported(self, x):
            return x + 1

        @lib.jit.ignore
        def ignored(self, x):
            return x + 2

        def uncalled(self, x):
            return x + 3

    made = Net()
    with lib.no_grad():
        for one in made.parameters():
            one.fill_(0.5)
    return made


def outcome(action):
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - whatever the other raises too
        return type(error).__name__, str(error)


ASKED = {
    "text": lambda lib, s: repr(s),
    "name": lambda lib, s: s.original_name,
    "number": lambda lib, s: s.times,
    "no type": lambda lib, s: s.foreign,
    "not compiled": lambda lib, s: s.uncalled,
    "unknown": lambda lib, s: s.nothing,
    "called": lambda lib, s: s.called(lib.ones(1)).tolist(),
    "exported": lambda lib, s: s.exported(lib.ones(1)).tolist(),
    "ignored": lambda lib, s: s.ignored(lib.ones(1)).tolist(),
    "value": lambda lib, s: s.eval()(lib.ones(4, 2)).tolist(),
    "state": lambda lib, s: list(s.state_dict()),
    "inside": lambda lib, s: (s.first.in_features, len(s.body), type(s.body[0]).__name__),
    "kinds": lambda lib, s: [
        isinstance(s, k) for k in (lib.nn.Module, lib.jit.ScriptModule, lib.jit.RecursiveScriptModule)
    ],
    "again": lambda lib, s: lib.jit.script(s) is s,
    "set": lambda lib, s: (setattr(s, "times", 5), s.times, s.eval()(lib.ones(1, 2)).tolist()),
    "copy": lambda lib, s: (type(copy.deepcopy(s)).__name__, copy.deepcopy(s).eval()(lib.ones(1, 2)).tolist()),
    "pickle": lambda lib, s: str(outcome(lambda: pickle.dumps(s))).rpartition(".")[2],
    "frozen in training": lambda lib, s: lib.jit.freeze(s),
    "frozen": lambda lib, s: repr(lib.jit.freeze(s.eval())),
    "frozen value": lambda lib, s: lib.jit.freeze(s.eval())(lib.ones(1, 2)).tolist(),
    "frozen state": lambda lib, s: list(lib.jit.freeze(s.eval()).state_dict()),
    "frozen name": lambda lib, s: lib.jit.freeze(s.eval()).first,
    "frozen mode": lambda lib, s: lib.jit.freeze(s.eval()).training,
    "kept": lambda lib, s: lib.jit.freeze(s.eval(), preserved_attrs=["exported"]).exported(lib.ones(1)).tolist(),
    "kept number": lambda lib, s: lib.jit.freeze(s.eval(), ["times"]).times,
    "kept nothing": lambda lib, s: lib.jit.freeze(s.eval(), ["nothing"]),
    "for inference": lambda lib, s: repr(lib.jit.optimize_for_inference(s.eval())),
}


@pytest.mark.parametrize("what", ASKED)
def test_scripted_modules_answer_as_torchs(what):
    found, expected = (
        outcome(lambda lib=lib: ASKED[what](lib, lib.jit.script(net(lib)))) for lib in (mindtorch, torch)
    )
    assert found == expected


FUNCTIONS = {
    "value": lambda lib, f: (f(lib.ones(1)).tolist(), f(lib.ones(1), 2).tolist(), f(lib.ones(1), n=4).tolist()),
    "names": lambda lib, f: (f.name, f.qualified_name.split(".")[-1]),
    "kind": lambda lib, f: (isinstance(f, lib.jit.ScriptFunction), callable(f), lib.jit.script(f) is f),
    "copy": lambda lib, f: copy.deepcopy(f),
    "pickle": lambda lib, f: pickle.dumps(f),
    "attribute": lambda lib, f: f.nothing,
    "a number": lambda lib, f: lib.jit.script(3),
    "nothing": lambda lib, f: lib.jit.script(None),
    "a module that is not compiled": lambda lib, f: lib.jit.freeze(lib.nn.ReLU()),
    "the same for inference": lambda lib, f: lib.jit.optimize_for_inference(lib.nn.ReLU()),
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_scripted_functions_answer_as_torchs(what):
    found, expected = (
        outcome(lambda lib=lib: FUNCTIONS[what](lib, lib.jit.script(tripled))) for lib in (mindtorch, torch)
    )
    assert found == expected


@pytest.mark.parametrize("lib", [mindtorch, torch])
def test_a_scripted_module_has_the_tensors_and_modes_of_its_own(lib):
    module = net(lib)
    scripted = lib.jit.script(module)
    assert scripted.first.weight is module.first.weight
    scripted.eval()
    assert (scripted.training, module.training, module.body[1].training) == (False, True, True)
    scripted.train()(lib.ones(3, 2)).sum().backward()
    assert module.first.bias.grad is not None
    scripted.double()
    assert scripted(lib.ones(3, 2, dtype=lib.float64)).dtype == lib.float64
    scripted.load_state_dict({name: lib.zeros_like(one) for name, one in scripted.state_dict().items()})
    assert module.first.weight.abs().sum().item() == 0
    with pytest.raises(
        RuntimeError, match=r"cannot be compiled since it inherits from nn\.Module, pass an instance instead"
    ):
        lib.jit.script(type(module))


@pytest.mark.parametrize("lib", [mindtorch, torch])
def test_scripted_parts_can_be_traced(lib):
    class Outer(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = lib.jit.script(net(lib))

        def forward(self, x):
            return self.inner(x) + x.sum()

    outer = Outer().eval()
    traced = lib.jit.trace(outer, lib.ones(2, 2))
    given = lib.full((3, 2), 2.0)
    assert lib.allclose(traced(given), outer(given))
    file = io.BytesIO()
    lib.jit.save(traced, file)
    file.seek(0)
    assert lib.allclose(lib.jit.load(file)(given), outer(given))


def test_frozen_traces_are_saved_without_state():
    for lib in (mindtorch, torch):
        module = net(lib).eval()
        frozen = lib.jit.freeze(lib.jit.trace(module, lib.ones(2, 2)))
        file = io.BytesIO()
        lib.jit.save(frozen, file)
        for reader in (mindtorch, torch):
            file.seek(0)
            loaded = reader.jit.load(file)
            assert list(loaded.state_dict()) == []
            assert loaded(reader.ones(1, 2)).flatten().tolist() == pytest.approx(
                frozen(lib.ones(1, 2)).flatten().tolist()
            )
        with lib.no_grad():
            module.first.bias = None
            module.eval().times = 0
        assert frozen(lib.ones(1, 2)).flatten().tolist() == pytest.approx([3.5] * 3, abs=1e-3)
        assert not frozen(lib.ones(1, 2)).requires_grad
