"""`torch.jit.trace` beside torch: what a trace keeps and follows, its warnings and errors, and archives both ways."""

import io
import warnings

import pytest

torch = pytest.importorskip("torch", reason="oracle")
import mindtorch  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
    pytest.mark.filterwarnings("ignore::mindtorch.jit.TracerWarning"),
]
BOTH = pytest.mark.parametrize("lib", [mindtorch, torch])


def nets(lib):
    nn = lib.nn

    class Conv(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True))
            self.act = nn.GELU()
            self.head = nn.Linear(4, 2)
            self.register_buffer("shift", lib.arange(2.0))

        def forward(self, x):
            B, _, _, _ = x.shape
            y = self.body(x).reshape(B, 4, -1)
            y = self.act(self.act(y)).mean(-1)
            if y.sum() > -1e9:
                y = y + lib.zeros(B, 4)
            y[:, 0] = 3
            first, second = y.chunk(2, 1)
            return self.head(y) + self.shift, (x.size(0) * first.max(1).values, second)

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(11, 8)
            self.rnn = nn.LSTM(8, 4, bidirectional=True, batch_first=True)
            layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

        def forward(self, x):
            y, (h, _) = self.rnn(self.embed(x))
            mask = lib.triu(lib.full((x.size(1), x.size(1)), float("-inf")), diagonal=1)
            return self.encoder(y, mask=mask)[:, -1], h

    return {"conv": (Conv, (2, 3, 6, 6), (5, 3, 7, 8)), "words": (Words, (2, 5), (3, 4))}


def inputs(lib, name, shape):
    count = 1
    for one in shape:
        count *= one
    if name == "words":
        return (lib.arange(count) % 11).view(shape)
    return (lib.arange(count, dtype=lib.float32) % 7 - 3).view(shape)


def values(made):
    """All numbers of a result, in order."""
    if not isinstance(made, tuple):
        return made.detach().reshape(-1).tolist()
    return [one for part in made for one in values(part)]


def weights(module):
    for count, one in enumerate(module.parameters()):
        one.data.copy_(
            ((type(one.data).cumsum(one.data.new_ones(one.numel()), 0) * 7 + count) % 13 / 13 - 0.5).view(one.shape)
        )
    return module.eval()


@pytest.mark.parametrize("name", ["conv", "words"])
def test_other_sizes_and_archives_that_the_other_reads(name):
    seen = {}
    for lib in (mindtorch, torch):
        kind, small, large = nets(lib)[name]
        model = weights(kind())
        with lib.no_grad():  # as the check of a trace runs: attention has another path there
            traced = lib.jit.trace(model, inputs(lib, name, small))
            given = inputs(lib, name, large)
            expected = values(model(given))
        assert values(traced(given)) == pytest.approx(expected, abs=1e-5)
        assert list(traced.state_dict()) == list(model.state_dict())
        assert all(one is other for one, other in zip(traced.parameters(), model.parameters(), strict=True))
        file = io.BytesIO()
        lib.jit.save(traced, file)
        seen[lib] = (traced, file.getvalue(), values(traced(given)), given)
    mine, theirs = seen[mindtorch], seen[torch]
    assert repr(mine[0]) == repr(theirs[0])
    assert mine[2] == pytest.approx(theirs[2], abs=1e-5)
    for lib, (_, _, expected, given), (_, archive, _, _) in ((mindtorch, mine, theirs), (torch, theirs, mine)):
        loaded = lib.jit.load(io.BytesIO(archive))
        assert values(loaded(given)) == pytest.approx(expected, abs=1e-5)
    assert repr(torch.jit.load(io.BytesIO(mine[1]))) == repr(torch.jit.load(io.BytesIO(theirs[1])))


@BOTH
def test_gradients_training_and_movement(lib):
    kind, small, large = nets(lib)["conv"]
    model = weights(kind())
    traced = lib.jit.trace(model, inputs(lib, "conv", small))
    traced(inputs(lib, "conv", large))[0].sum().backward()
    found = [one.grad.clone() for one in model.parameters() if one.grad is not None]
    model.zero_grad()
    model(inputs(lib, "conv", large))[0].sum().backward()
    expected = [one.grad for one in model.parameters() if one.grad is not None]
    assert len(found) == len(expected) > 3
    assert all(lib.allclose(one, other, atol=1e-5) for one, other in zip(found, expected, strict=True))
    assert traced.train().training
    assert traced.head.training
    assert not traced.eval().head.training
    assert traced.double().head.weight.dtype == lib.float64
    assert isinstance(traced, lib.jit.ScriptModule)
    assert not isinstance(traced, lib.jit.RecursiveScriptModule)


@BOTH
def test_a_branch_is_kept_as_it_was(lib):
    traced = lib.jit.trace(lambda x: x * 2 if x.sum() > 0 else x - 1, lib.ones(2))
    assert traced(lib.full((2,), -1.0)).tolist() == [-2.0, -2.0]
    assert isinstance(traced, lib.jit.ScriptFunction)
    counted = lib.jit.trace(lambda x: x.view(x.shape[1], -1)[: x.size(0) - 1] * x.numel(), lib.ones(2, 3))
    assert counted(lib.ones(4, 5)).tolist() == [[20.0] * 4] * 3


FOREIGN = {lib: lib.ones(1, requires_grad=True) for lib in (mindtorch, torch)}
CASES = {
    "a number given": lambda lib, x: lib.jit.trace(lambda a: a, (3,)),
    "a number beside a tensor": lambda lib, x: lib.jit.trace(lambda a, b: a, (x, 3)),
    "no iterable": lambda lib, x: lib.jit.trace(lambda a: a, 3),
    "a number": lambda lib, x: lib.jit.trace(lambda a: 3, x),
    "nothing": lambda lib, x: lib.jit.trace(lambda a: None, x),
    "none within": lambda lib, x: lib.jit.trace(lambda a: (a, None), x),
    "a dict": lambda lib, x: lib.jit.trace(lambda a: {"a": a}, x),
    "a method": lambda lib, x: lib.jit.trace(lib.nn.Linear(2, 2).extra_repr, x),
    "no module": lambda lib, x: lib.jit.trace_module(3, {}),
    "no methods": lambda lib, x: lib.jit.trace_module(lib.nn.ReLU(), 3),
    "no inputs": lambda lib, x: lib.jit.trace(lib.nn.ReLU(), None),
    "another name": lambda lib, x: lib.jit.trace(lib.nn.ReLU(), example_kwarg_inputs={"z": x}),
    "a parameter from elsewhere": lambda lib, x: lib.jit.trace(lambda a: a * FOREIGN[lib], x),
    "a subscript": lambda lib, x: lib.jit.trace(lib.nn.Sequential(lib.nn.ReLU()), x)[0],
    **{
        f"containers {place}": lambda lib, x, given=given: lib.jit.trace(lambda a: a, (given(x),))
        for place, given in enumerate(
            (
                lambda x: [x, "x"], lambda x: [x, (x,)], lambda x: [], lambda x: [[x], []], lambda x: (x, []), lambda x: {},
                lambda x: {"a": x, "b": "x"}, lambda x: {1: x, "b": x}, lambda x: {"a": [x, 3]}, lambda x: [[3], ["x"]],
            )
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_errors_are_torchs(what):
    texts = []
    for lib in (mindtorch, torch):
        with pytest.raises((RuntimeError, TypeError, AttributeError, NameError)) as raised:
            CASES[what](lib, lib.ones(2, 2))
        text = str(raised.value).split("\nTensor:\n")[0]  # native code prints the tensor in its own way
        texts.append((type(raised.value).__name__, text))
    assert texts[0] == texts[1]


GIVEN = {
    "a dict": (lambda d: d["a"] + d["b"], lambda x: ({"a": x, "b": x * 2},)),
    "a list": (lambda d: d[0] - d[1], lambda x: ([x, x * 2],)),
    "tuples": (lambda d, e: d[0] - d[1][0] * e, lambda x: ((x, (x * 2,)), x)),
    "one twice": (lambda a, b: a * 2 + b, lambda x: (x, x)),
}


@BOTH
@pytest.mark.parametrize("what", GIVEN)
def test_inputs_in_containers(lib, what):
    function, given = GIVEN[what]
    traced = lib.jit.trace(function, given(lib.ones(2)))
    other = lib.tensor([3.0, 5.0])
    assert traced(*given(other)).tolist() == function(*given(other)).tolist()


LOST = {
    "bool": lambda lib, x: bool(x.sum()),
    "int": lambda lib, x: int(x.sum()),
    "float": lambda lib, x: float(x.sum()),
    "item": lambda lib, x: x.sum().item(),
    "len": lambda lib, x: len(x),
    "for": lambda lib, x: list(x),
    "list": lambda lib, x: x.tolist(),
    "array": lambda lib, x: x.numpy(),
    "range": lambda lib, x: list(range(x.size(0))),
    "root": lambda lib, x: x.size(0) ** 0.5,
    "new": lambda lib, x: lib.tensor([1.0]),
    "tracing": lambda lib, x: None if lib.jit.is_tracing() else bool(x.sum()),
}


@pytest.mark.parametrize("what", LOST)
def test_what_leaves_a_trace_is_told(what):
    texts = []
    for lib in (mindtorch, torch):

        def function(x, lib=lib):
            LOST[what](lib, x)
            return x + 1

        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            lib.jit.trace(function, lib.ones(2), check_trace=False)
        kept = [one for one in seen if one.category is lib.jit.TracerWarning]
        assert all(one.filename == __file__ for one in kept)
        texts.append([str(one.message) for one in kept])
    assert texts[0] == texts[1]


@BOTH
def test_a_second_trace_that_differs_is_an_error(lib):
    turns = iter(range(9))
    with pytest.raises(Exception, match="Graphs differed across invocations") as raised:
        lib.jit.trace(lambda x: x * 2 if next(turns) % 2 else x + 1, lib.ones(2))
    assert type(raised.value).__name__ == "TracingCheckError"


@BOTH
def test_values_that_differ_are_told(lib):
    with pytest.warns(lib.jit.TracerWarning, match=r"nondeterministic nodes(.|\n)*dropout"), warnings.catch_warnings():
        lib.jit.trace(lambda x: lib.nn.functional.dropout(x, 0.5), lib.ones(200))


@BOTH
def test_several_methods(lib):
    class Two(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = lib.nn.Parameter(lib.full((1,), 3.0))

        def forward(self, x):
            return x * self.scale

        def shifted(self, x, y):
            return self(x) + y

    made = lib.jit.trace_module(Two(), {"forward": lib.ones(1), "shifted": (lib.ones(1), lib.ones(1))})
    file = io.BytesIO()
    made.save(file) if lib is mindtorch else lib.jit.save(made, file)
    file.seek(0)
    for one in (made, lib.jit.load(file)):
        assert one.shifted(lib.ones(1), lib.full((1,), 4.0)).tolist() == [7.0]
        assert one(lib.ones(2)).tolist() == [3.0, 3.0]


def test_a_function_is_saved_as_a_module(tmp_path):
    texts = []
    for lib in (mindtorch, torch):
        lib.jit.trace(lib.relu, lib.ones(2)).save(str(tmp_path / lib.__name__))
    for lib in (mindtorch, torch):
        for name in ("mindtorch", "torch"):
            loaded = lib.jit.load(str(tmp_path / name))
            assert loaded(lib.tensor([-1.0, 1.0])).tolist() == [0.0, 1.0]
            texts.append(repr(loaded))
    assert len(set(texts)) == 1


def test_another_thread_is_not_traced():
    import threading

    found = []

    def ask(x):
        thread = threading.Thread(target=lambda: found.append((type(x.size(0)), mindtorch.jit.is_tracing())))
        thread.start()
        thread.join()
        return x + 1

    before = mindtorch.Tensor.size
    mindtorch.jit.trace(ask, mindtorch.ones(2), check_trace=False)
    assert found == [(int, False)]
    assert mindtorch.Tensor.size is before


@BOTH
def test_formulas_of_the_program_are_kept(lib):
    class Kept(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, times):
            return x * times, x + 1

        @staticmethod
        def backward(ctx, first, second):
            return first * 7 + second * 100, None

    traced = lib.jit.trace(lambda x: Kept.apply(x.sin(), 2)[0].sum(), lib.ones(2))
    x = lib.zeros(2, requires_grad=True)
    traced(x).backward()
    assert x.grad.tolist() == [7.0, 7.0]
    with pytest.raises(
        RuntimeError, match=r"Could not export Python function call 'Kept'\. Remove calls to Python functions"
    ):
        traced.save_to_buffer()


@BOTH
def test_a_trace_cannot_be_nested(lib):
    with pytest.raises(RuntimeError, match="Tracing can't be nested"):
        lib.jit.trace(lambda x: lib.jit.trace(lambda y: y * 2, x)(x), lib.ones(2))


@BOTH
def test_what_nothing_needs_is_no_part_of_a_trace(lib):
    class Counting(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = lib.zeros(1)

        def forward(self, x):
            self.seen = self.seen + 1
            return x * 2

    assert "CONSTANTS.c1" not in lib.jit.trace(Counting(), lib.ones(1)).code
