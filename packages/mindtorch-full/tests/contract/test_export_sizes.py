"""`torch.export.export` with sizes that vary: graphs, bounds, guards and errors are torch's, and so are the numbers."""

import copy
import math

import pytest

import mindtorch as mt
import mindtorch.export as ours

from .export_precisions import precisions  # noqa: F401  # a fixture

torch = pytest.importorskip("torch", reason="oracle")
theirs = pytest.importorskip("torch.export", reason="oracle")
pytestmark = pytest.mark.usefixtures("precisions")


def flat(t):
    class Flat(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = t.nn.Linear(4, 3)

        def forward(self, x):
            rows = x.shape[0]
            return self.linear(x).view(rows * 3) + t.ones(rows * 3)

    return Flat()


def products(t):
    class Products(t.nn.Module):
        def forward(self, x, y):
            return t.cat([x.reshape(x.shape[0] * x.shape[1]), y.flatten()]), x.shape[0] + y.shape[1]

    return Products()


def added(t):
    class Added(t.nn.Module):
        def forward(self, x, y):
            return x + y

    return Added()


def three(t):
    class Three(t.nn.Module):
        def forward(self, x, y, z):
            return x + y + z

    return Three()


def shifted(t):
    class Shifted(t.nn.Module):
        def forward(self, x, y):
            return x + y[1:]

    return Shifted()


def halved(t):
    class Halved(t.nn.Module):
        def forward(self, x):
            return x.view(x.shape[0] // 2, 2) * x.shape[0], x.shape[0]

    return Halved()


def pooled(t):
    class Pooled(t.nn.Module):
        def forward(self, x):
            made = t.nn.functional.max_pool2d(x, 2).flatten(1)
            return made, x.shape[0] * x.shape[2] - 1, t.arange(x.shape[2] * 2 + 1)

    return Pooled()


def images(t):
    class Images(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = t.nn.Conv2d(3, 4, 3, stride=2, padding=1)
            self.head = t.nn.Linear(256, 2)

        def forward(self, x):
            y = t.relu(self.conv(x))
            return self.head(y.flatten(1)), y[:, :2], t.cat([x, x], 0), y.mean((2, 3)), x.reshape(x.size(0), -1)

    return Images()


def windows(t):
    return t.nn.Conv2d(3, 4, 3, stride=2)


def looped(t):
    class Looped(t.nn.Module):
        def forward(self, x):
            for number in range(x.shape[0]):
                x = x + number
            return x

    return Looped()


def chosen(t):
    class Chosen(t.nn.Module):
        def forward(self, x):
            return x + 1 if x.shape[0] <= 16 else x - 1

    return Chosen()


def single(t):
    class Single(t.nn.Module):
        def forward(self, x):
            return x.view(5, -1) if x.shape[0] == 5 else x + 1

    return Single()


def scaled(t):
    class Scaled(t.nn.Module):
        def forward(self, x):
            return x / x.shape[0], x * x.shape[0] ** 0.5

    return Scaled()


def attention(t):
    class Attention(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = t.nn.Embedding(10, 8)
            self.places = t.nn.Embedding(32, 8)
            self.register_buffer("mask", t.tril(t.ones(32, 32)))

        def forward(self, ids):
            batch, length = ids.shape
            h = self.words(ids) + self.places(t.arange(length))
            weights = (h @ h.transpose(-2, -1)).masked_fill(self.mask[:length, :length] == 0, float("-inf")).softmax(-1)
            h = (weights @ h).view(batch, length, 2, 4).transpose(1, 2).contiguous()
            return t.nn.functional.scaled_dot_product_attention(h, h, h)

    return Attention()


def nested(t):
    class Nested(t.nn.Module):
        def forward(self, x, *more, k):
            return x.mean() + more[0].sum() + k["a"].sum()

    return Nested()


# the program, the sizes of its arguments, what varies, sizes to call it with
EXPORTED = [
    (flat, [(5, 4)], lambda e: {"x": {0: e.Dim("batch")}}, [[(7, 4)], [(1, 4)], [(0, 4)], [(7, 5)]]),
    (flat, [(5, 4)], lambda e: ({0: e.Dim.DYNAMIC},), [[(70, 4)]]),
    (flat, [(5, 4)], lambda e: ({0: e.Dim("batch", min=2, max=64)},), [[(64, 4)], [(65, 4)]]),
    (flat, [(5, 4)], lambda e: ([e.Dim.DYNAMIC(min=3, max=10), e.Dim.STATIC],), [[(2, 4)], [(10, 4)], [(11, 4)]]),
    (flat, [(5, 4)], lambda e: ({0: 5},), [[(5, 4)], [(4, 4)]]),
    (
        products,
        [(5, 4), (3, 7)],
        lambda e: {"x": {0: e.Dim("a"), 1: e.Dim("b")}, "y": {1: e.Dim("c", min=2, max=9)}},
        [[(2, 9), (3, 2)], [(2, 9), (2, 2)], [(2, 9), (3, 10)]],
    ),
    (added, [(5,), (5,)], lambda e: ({0: e.Dim.DYNAMIC}, {0: e.Dim.DYNAMIC}), [[(4,), (4,)], [(4,), (6,)]]),
    (added, [(5,), (5,)], lambda e: ({0: e.Dim.AUTO}, {0: e.Dim.AUTO}), [[(4,), (4,)]]),
    (added, [(5,), (5,)], lambda e: ({0: e.Dim("p")}, {0: e.Dim("p")}), [[(4,), (4,)], [(4,), (6,)]]),
    (added, [(5,), (5,)], lambda e: ({0: e.Dim.AUTO}, None), [[(5,), (4,)], [(5,), (5,)]]),
    (three, [(5,)] * 3, lambda e: [{0: e.Dim.DYNAMIC}] * 3, [[(4,)] * 3, [(4,), (4,), (3,)]]),
    (three, [(5,)] * 3, lambda e: [{0: e.Dim("d", min=3, max=9)}] * 3, [[(2,)] * 3, [(9,)] * 3, [(12,)] * 3]),
    (
        shifted,
        [(5,), (6,)],
        lambda e: ({0: e.Dim("d", min=3, max=6)}, {0: e.Dim("d", min=3, max=6) + 1}),
        [[(4,), (5,)], [(4,), (6,)], [(7,), (8,)]],
    ),
    (shifted, [(5,), (6,)], lambda e: ({0: e.Dim.DYNAMIC}, {0: e.Dim.DYNAMIC}), [[(4,), (5,)], [(4,), (6,)]]),
    (halved, [(6,)], lambda e: ({0: e.Dim.DYNAMIC},), [[(8,)], [(5,)]]),
    (images, [(2, 3, 16, 16)], lambda e: ({0: e.Dim("batch")},), [[(5, 3, 16, 16)], [(5, 3, 16, 15)]]),
    (
        windows,
        [(2, 3, 16, 16)],
        lambda e: ({0: e.Dim("batch"), 2: e.Dim.DYNAMIC, 3: e.Dim.DYNAMIC},),
        [[(1, 3, 9, 10)], [(1, 3, 2, 10)]],
    ),
    (looped, [(3,)], lambda e: ({0: e.Dim.AUTO},), [[(3,)], [(4,)]]),
    (chosen, [(3, 2)], lambda e: ({0: e.Dim.DYNAMIC},), [[(16, 2)], [(17, 2)]]),
    (chosen, [(3, 2)], lambda e: ({0: e.Dim("b", min=3, max=16)},), [[(16, 2)], [(2, 2)]]),
]


def nested_one(t):
    class One(t.nn.Module):
        def forward(self, x):
            return x["a"] + 1

    return One()


def sized(t, shapes):
    counts = [math.prod(shape) for shape in shapes]
    return tuple(
        t.arange(count, dtype=t.float32).reshape(shape) / max(count, 1)
        for shape, count in zip(shapes, counts, strict=True)
    )


def text(program):
    """Return what is printed of a program, without the lines that name files."""
    return [line for line in str(program).splitlines() if line.strip() and not line.strip().startswith("# ")]


def called(module, arguments):
    try:
        return module(*arguments)
    except Exception as error:  # noqa: BLE001  # compared with torch's
        return type(error).__name__, str(error)


@pytest.mark.parametrize("case", EXPORTED, ids=lambda case: case[0].__name__)
def test_graphs_bounds_and_calls_are_torchs(case):
    program, shapes, varying, calls = case
    torch.manual_seed(0)
    wanted_module = program(torch)
    module = program(mt)
    module.load_state_dict({name: mt.from_numpy(one.numpy()) for name, one in wanted_module.state_dict().items()})
    wanted = theirs.export(wanted_module, sized(torch, shapes), dynamic_shapes=varying(theirs))
    made = ours.export(module, sized(mt, shapes), dynamic_shapes=varying(ours))
    assert text(made) == text(wanted)
    assert made.module().code == wanted.module().code
    for call in calls:
        expected = called(wanted.module(), sized(torch, call))
        found = called(made.module(), sized(mt, call))
        if isinstance(expected, tuple) and isinstance(expected[0], str):
            assert found == expected
            continue
        pairs = zip(mt.utils._pytree.tree_leaves(found), torch.utils._pytree.tree_leaves(expected), strict=True)
        for one, two in pairs:
            if isinstance(two, torch.Tensor):
                mt.testing.assert_close(one, mt.from_numpy(two.detach().numpy()))
            else:
                assert one == two


REFUSED = [
    (added, [(5,), (5,)], lambda e: ({0: e.Dim("p")}, {0: e.Dim("q")})),
    (added, [(5,), (5,)], lambda e: ({0: e.Dim("p")}, None)),
    (added, [(5,), (5,)], lambda e: ({0: e.Dim.DYNAMIC}, {0: e.Dim.STATIC})),
    (added, [(5,), (5,)], lambda e: ({0: 4}, None)),
    (added, [(5,), (5,)], lambda e: {"x": {0: e.Dim("p")}}),
    (added, [(5,), (5,)], lambda e: {"x": {0: e.Dim("p")}, "z": None}),
    (added, [(5,), (5,)], lambda e: [{0: e.Dim("p")}]),
    (added, [(5,), (5,)], lambda e: ({0: "p"}, None)),
    (shifted, [(5,), (6,)], lambda e: ({0: e.Dim("p")}, {0: e.Dim("q")})),
    (looped, [(3,)], lambda e: ({0: e.Dim.DYNAMIC},)),
    (chosen, [(3, 2)], lambda e: ({0: e.Dim("b")},)),
    (chosen, [(3, 2)], lambda e: ({0: e.Dim("b", max=20)},)),
    (chosen, [(3, 2)], lambda e: ({0: e.Dim("b", min=4, max=20)},)),
    (chosen, [(3, 2)], lambda e: ({3: e.Dim("b")},)),
    (chosen, [(3, 2)], lambda e: ([e.Dim("b")],)),
    (chosen, [(1, 2)], lambda e: ({0: e.Dim.DYNAMIC},)),
    (chosen, [(1, 2)], lambda e: ({0: e.Dim("b")},)),
    (nested_one, [(7, 2)], lambda e: {"x": None}),
    (nested_one, [(7, 2)], lambda e: {"x": {}}),
    (nested_one, [(7, 2)], lambda e: [[{0: e.Dim("b")}, None]]),
    (single, [(7, 2)], lambda e: ({0: e.Dim("b")},)),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[0].__name__)
def test_what_a_program_does_not_take_is_said_as_by_torch(case):
    program, shapes, varying = case

    def refused(t, library):
        args = sized(t, shapes)
        args = ({"a": args[0]},) if program is nested_one else args
        with pytest.raises(Exception) as caught:  # noqa: PT011  # torch says which
            library.export(program(t), args, dynamic_shapes=varying(library))
        return type(caught.value).__name__, str(caught.value)

    assert refused(mt, ours) == refused(torch, theirs)


def test_a_program_with_a_mask_takes_every_length_and_computes_what_its_module_does():
    module = attention(mt)
    varying = {"ids": {0: ours.Dim("batch"), 1: ours.Dim("length", max=32)}}
    program = ours.export(module, (mt.zeros(2, 6, dtype=mt.int64),), dynamic_shapes=varying).module()
    for shape in ((1, 2), (3, 7), (2, 32), (5, 31)):
        ids = mt.arange(shape[0] * shape[1]).reshape(shape) % 10
        mt.testing.assert_close(program(ids), module(ids))
    with pytest.raises(AssertionError, match=r"Guard failed: ids.size\(\)\[1\] <= 32"):
        program(mt.zeros(1, 33, dtype=mt.int64))


def test_pooled_sizes_and_numbers_follow_the_arguments():
    module = pooled(mt)
    everything = ({0: ours.Dim.DYNAMIC, 2: ours.Dim.DYNAMIC, 3: ours.Dim.DYNAMIC},)
    program = ours.export(module, (mt.ones(5, 3, 8, 9),), dynamic_shapes=everything).module()
    for shape in ((2, 3, 4, 5), (7, 3, 11, 2)):
        (x,) = sized(mt, [shape])
        found, expected = program(x), module(x)
        mt.testing.assert_close(found[0], expected[0])
        assert found[1] == expected[1]
        assert found[2].tolist() == expected[2].tolist()


def test_numbers_that_are_roots_of_sizes_follow_them():
    program = ours.export(scaled(mt), sized(mt, [(3, 2)]), dynamic_shapes=({0: ours.Dim.DYNAMIC},)).module()
    (x,) = sized(mt, [(7, 2)])
    mt.testing.assert_close(program(x), scaled(mt)(x))


def test_arguments_in_containers_vary():
    def exported(t, library):
        args, kwargs = sized(t, [(5, 2), (6, 2)]), {"k": {"a": t.ones(7, 2)}}
        dim = library.Dim("d", min=3, max=9)
        varying = {
            "x": {0: dim},
            "more": ({0: library.Dim.DYNAMIC},),
            "k": {"a": (library.Dim.DYNAMIC, library.Dim.STATIC)},
        }
        return library.export(nested(t), args, kwargs, dynamic_shapes=varying)

    made, wanted = exported(mt, ours), exported(torch, theirs)
    assert text(made) == text(wanted)


def test_sizes_in_a_graph_are_symbols_with_a_hint():
    program = ours.export(flat(mt), (mt.ones(5, 4),), dynamic_shapes=({0: ours.Dim("batch")},))
    value = next(node for node in program.graph.nodes if node.name == "view").meta["val"]
    assert isinstance(value.shape[0], mt.SymInt)
    assert repr(value.shape) == "torch.Size([3*s77])"
    assert value.shape[0].node.hint == 15
    assert "size=(3*s77,)" in repr(value)
    (bounds,) = program.range_constraints.values()
    assert (bounds.lower, 7 in bounds) == (0, True)


def test_a_size_that_cannot_be_followed_is_refused():
    class Odd(mt.nn.Module):
        def forward(self, x):
            return x * (x.shape[0] ^ 3)

    with pytest.raises(NotImplementedError, match="follows the sizes in a way that is not found"):
        ours.export(Odd(), (mt.ones(5),), dynamic_shapes=({0: ours.Dim.DYNAMIC},))


def test_copies_of_a_program_keep_its_sizes():
    program = ours.export(flat(mt), (mt.ones(5, 4),), dynamic_shapes=({0: ours.Dim("batch")},))
    graph = copy.deepcopy(program.graph_module).graph
    shapes = [repr(node.meta["val"].shape) for node in graph.nodes if node.name in ("x", "add")]
    assert shapes == ["torch.Size([s77, 4])", "torch.Size([3*s77])"]
    copied = copy.deepcopy(program.module())
    assert copied(mt.ones(9, 4)).shape == (27,)
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[1\] == 4"):
        copied(mt.ones(9, 5))
