"""What random programs found: texts, their order, views and empty operands as torch has them."""

from typing import Any

import pytest
import torch

import mindtorch

OVERLAP = "unsupported operation: some elements of the input tensor and the written-to tensor"

CALLS = {
    "movedim of a number": lambda lib: lib.ones(()).movedim(0, -1),
    "movedim of nothing": lambda lib: lib.ones(()).movedim((), ()),
    "moveaxis of a number": lambda lib: lib.moveaxis(lib.ones(()), 0, 0),
    "unbind along no dimension": lambda lib: lib.ones(()).unbind(1),
    "unbind of a number": lambda lib: lib.ones(()).unbind(0),
    "expand of bool": lambda lib: lib.ones(2, 3, dtype=lib.bool).expand(2),
    "expand of bfloat16": lambda lib: lib.ones(2, 3, dtype=lib.bfloat16).expand(2),
    "expand of complex": lambda lib: lib.ones(2, 3, dtype=lib.complex64).expand(2),
    "expand on meta": lambda lib: lib.ones(2, 3, device="meta").expand(2),
    "expand of float": lambda lib: lib.ones(2, 3).expand(2),
    "copy of what is wider": lambda lib: lib.ones(4, 1).copy_(lib.ones(3)),
    "copy of nothing": lambda lib: lib.ones(4, 1).copy_(lib.ones(0, 3)),
    "copy of another length": lambda lib: lib.ones(3).copy_(lib.ones(4)),
    "copy of more dimensions": lambda lib: lib.ones(3).copy_(lib.ones(4, 3)),
    "addmm of other dtypes": lambda lib: lib.addmm(lib.ones(2, 3), lib.ones(3), lib.ones(3, dtype=lib.float64)),
    "addmm of vectors": lambda lib: lib.addmm(lib.ones(2, 3), lib.ones(3), lib.ones(3)),
    "clamp of bool": lambda lib: lib.ones(2, dtype=lib.bool).clamp_(min=0),
    "clamp of bytes": lambda lib: lib.ones(2, dtype=lib.uint8).clamp_max_(0.5),
    "clamp by tensors": lambda lib: lib.ones(2, dtype=lib.int32).clamp_(min=lib.tensor([0.5, 0.5])),
    "clamp into integers": lambda lib: lib.clamp(lib.ones(2, dtype=lib.int32), 0.5, out=lib.ones(2, dtype=lib.int32)),
    "relu of complex": lambda lib: lib.ones(2, dtype=lib.complex64).relu(),
    "layer_norm of no integers": lambda lib: lib.nn.functional.layer_norm(lib.ones(0, 3, dtype=lib.int64), (3,)),
    "amax over nothing": lambda lib: lib.ones(0, 3).amax(-2),
    "amax of nothing complex": lambda lib: lib.ones(0, 3, dtype=lib.complex64).amax(1),
    "cumsum of no bool": lambda lib: lib.ones(0, 3, dtype=lib.bool).cumsum_(1),
    "cumsum of bool": lambda lib: lib.ones(1, 3, dtype=lib.bool).cumsum_(1),
    "median of no bool": lambda lib: lib.ones(0, 3, dtype=lib.bool).median(),
    "median of nothing complex": lambda lib: lib.ones(0, 3, dtype=lib.complex64).median(),
    "trace of bool volumes": lambda lib: lib.ones(2, 4, 1, dtype=lib.bool).trace(),
    "set_ of a leaf to itself": lambda lib: (lambda x: x.set_(x))(lib.ones(2, requires_grad=True)),
    "version after set_ to itself": lambda lib: (lambda x: x.set_(x)._version)(lib.ones(2)),
    "trace of volumes": lambda lib: lib.ones(2, 4, 1).trace(),
    "t_ of volumes": lambda lib: lib.ones(2, 4, 1).t_(),
    "another place of a number": lambda lib: lib.ones(())[1],
    "the place before a number": lambda lib: lib.ones(())[-1],
    "the place of a number": lambda lib: lib.ones(())[0],
    "two places of a number": lambda lib: lib.ones(())[1, 0],
    "istft of no length": lambda lib: lib.istft(lib.ones(5, 5, dtype=lib.complex64), 8, length=0),
    "istft of less": lambda lib: lib.istft(lib.ones(5, 5, dtype=lib.complex64), 8, length=-1, center=False),
    "a file without a name": lambda lib: lib.from_file(None),
    "a file without a name or size": lambda lib: lib.from_file(),
    "a file's tensor that cannot be pinned": lambda lib: lib.from_file("", pin_memory=True),
    "copy of None": lambda lib: lib.ones(2).copy_(None),
    "copy by its old name": lambda lib: lib.ones(2).copy_(src=lib.zeros(2)),
    "copy by name": lambda lib: lib.ones(2).copy_(other=lib.zeros(2), non_blocking=True),
    "put of nothing over itself": lambda lib: (lambda x: x.index_put_((lib.tensor([0]),), x))(lib.ones(0, 3)),
}


def answer(lib: Any, call: Any) -> str:
    """What a call gives, or says, as text."""
    try:
        return repr(call(lib))
    except Exception as error:  # noqa: BLE001 - which error it is, is the question
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_answers(call: Any) -> None:
    assert answer(mindtorch, call) == answer(torch, call)


def test_memory_is_looked_at_before_shapes() -> None:
    for lib in (torch, mindtorch):
        x = lib.ones(4, 1)
        with pytest.raises(RuntimeError, match=OVERLAP):
            x.unsqueeze(-2).mul_(x)
        with pytest.raises(RuntimeError, match="output with shape"):
            x.unsqueeze(-2).mul_(lib.ones(4, 1))


@pytest.mark.parametrize("name", ["median", "max", "min", "nanmedian"])
def test_a_gradient_that_is_nan_stays_with_its_elements(name: str) -> None:
    found = []
    for lib in (torch, mindtorch):
        x = lib.tensor([-1.0, -2.0, -3.0], requires_grad=True)
        getattr(x, name)().sqrt().backward()
        found.append(repr(x.grad))
    assert found[0] == found[1]
    assert found[0].count("nan") == 1


def test_bytes_seen_as_another_dtype_are_no_view() -> None:
    for lib in (torch, mindtorch):
        x = lib.ones(3, requires_grad=True)
        seen = x.view(lib.int32)
        assert (seen._is_view(), seen._base, seen.requires_grad) == (False, None, False)
        plain = lib.ones(3)
        plain.view(lib.int32).zero_()
        assert plain.tolist() == [0, 0, 0]
        assert plain._version == 1


@pytest.mark.parametrize(
    "write", ["x.add_(1)", "x[0].add_(1)", "y.mul_(2)", "y[None].mul_(2)", "y.unbind(0)[0].add_(1)"]
)
def test_a_view_of_a_leaf_that_is_itself_a_view_is_no_leaf_once_its_bytes_changed(write: str) -> None:
    """Its gradient went to the leaf; to the base, which needs none, it goes nowhere, and stays not with the view."""

    def run(lib: Any) -> Any:
        x = lib.arange(4.0).reshape(4, 1).requires_grad_()
        y = x.t()
        with lib.no_grad():
            eval(write)
        y.sum().backward()
        return y.is_leaf, type(y.grad_fn).__name__, y.grad_fn.next_functions, x.grad, y.grad

    assert answer(mindtorch, run) == answer(torch, run)


OVER_ITSELF = """
a.T.add_(a)
a.view(-1)[:12].div_(a.view(-1)[6:18])
a.T.copy_(a)
T.sub(a.T, a, out=a)
T.mul(a, a[0, :, 0], out=a)
T.where(a > 0, a.T, a, out=a)
a.T.lerp_(a, 0.5)
a.view(-1)[:12].lerp_(a.view(-1)[6:18], 0.5)
a.T.addcmul_(a, a)
a.T.clamp_(a)
a.T.pow_(a)
a.T.eq_(a)
a.view(-1)[:12].bitwise_and_(a.view(-1)[6:18])
a.T.masked_fill_(a > 0, 1)
a.index_put_((T.tensor([0]),), a)
a.index_put_((T.tensor([0]),), a, accumulate=True)
a.index_put_((T.tensor([0]),), a[0].view(T.uint8))
a.index_copy_(0, T.tensor([0]), a)
a.index_copy_(0, T.tensor([0]), a.T)
a.index_copy_(0, T.tensor([0.5]), a)
a.index_add_(0, T.tensor([0]), a)
a.put_(T.tensor([0]), a)
T.cumsum(a, 5, out=a[0])
T.softmax(a.float(), 5, out=a[0])
a[:1].expand(5, 3, 4).add_(T.ones(7))
a[:1].expand(5, 3, 4).copy_(T.ones(7))
a[:1].expand(5, 3, 4).clamp_(T.ones(7))
a[:1].expand(5, 3, 4).index_copy_(0, T.tensor([0]), T.ones(7))
a[:1].expand(5, 3, 4).index_put_((T.tensor([0]),), T.ones(7))
T.add(T.ones(3), T.ones(2), out=a[:1].expand(5, 3, 4))
""".strip().splitlines()


@pytest.mark.parametrize("call", ["a.T.add_(a)", "a.T.copy_(a)", "a.index_put_((T.tensor([0]),), a)"])
def test_memory_before_shapes_where_calls_of_the_family_were_planned(call: str) -> None:
    for shape in ((3, 3), (2, 2, 2), (5, 5)):
        a = mindtorch.ones(shape)
        answer(mindtorch, lambda lib, a=a: eval(call, {"T": lib, "a": a.T + 1}))
        a.mT.copy_(a + 1), a.add_(a[0] + 0), a.index_put_((mindtorch.tensor([0]),), a[0] + 1)
    for shape in ((2, 3), (4, 3), (2, 3, 4)):
        ours, theirs = (
            answer(lib, lambda lib, shape=shape: eval(call, {"T": lib, "a": lib.ones(shape)}))
            for lib in (mindtorch, torch)
        )
        assert ours == theirs


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("call", OVER_ITSELF)
def test_memory_before_what_else_is_wrong(call: str, dtype: str) -> None:
    """Shapes, dtypes or dims do not fit either: which of them is told is torch's."""

    def run(lib: Any) -> Any:
        a = lib.arange(24, dtype=getattr(lib, dtype)).reshape(2, 3, 4)
        return eval(call, {"T": lib, "a": a})

    assert answer(mindtorch, run) == answer(torch, run)


DIAGONALS = {
    "tall": (8, 3), "taller by one": (4, 3), "wide": (3, 8), "square": (3, 3), "cube": (3, 3, 3), "no cube": (2, 3, 3),
    "row": (3,), "number": (), "no rows": (0, 3), "no columns": (3, 0),
}  # fmt: skip


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("form", ["x", "x.t()", "x[::2]", "x[..., 1:]", "x.expand(2, *x.shape)", "x.unbind(0)[0]"])
@pytest.mark.parametrize("shape", DIAGONALS.values(), ids=DIAGONALS)
def test_a_filled_diagonal_is_a_view_that_was_written(shape: tuple[int, ...], form: str, wrap: bool) -> None:
    def run(lib: Any) -> Any:
        leaf = lib.ones(shape, requires_grad=True)
        x = leaf * 2
        y = eval(form, {"x": x})
        y.fill_diagonal_(7, wrap)
        x.pow(2).sum().backward()
        return leaf.grad, x, type(x.grad_fn).__name__, type(y.grad_fn).__name__, x._version

    assert answer(mindtorch, run) == answer(torch, run)


@pytest.mark.parametrize("shape", [(), (2, 3, 4), (2, 2)])
def test_a_diagonal_of_a_leaf_is_checked_before_the_leaf(shape: tuple[int, ...]) -> None:
    def run(lib: Any) -> Any:
        return lib.ones(shape, requires_grad=True).fill_diagonal_(7)

    assert answer(mindtorch, run) == answer(torch, run)


GIVEN = {
    "nothing": "", "None": "None", "a number": "1", "a storage": "s", "an offset alone": "s, 1",
    "an offset and a size": "s, 1, (2,)", "all": "s, 0, (2,), (1,)", "a tensor's offset alone": "x, 0",
    "a tensor and a size": "x, 1, (2,)", "a size of floats": "s, 0, [1.5], (1,)", "numbers as sizes": "s, 0, 1, 1",
    "a tensor by name": "source=x", "None by name": "source=None", "another name": "storage=s",
    "a size by name": "source=s, size=(2,)",
}  # fmt: skip


@pytest.mark.parametrize("leaf", [False, True])
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_what_set_takes(given: str, leaf: bool) -> None:
    def run(lib: Any) -> Any:
        values = {"s": lib.zeros(4).untyped_storage(), "x": lib.ones(3), "y": lib.ones(2, requires_grad=leaf)}
        return eval(f"y.set_({given})", values)

    assert answer(mindtorch, run) == answer(torch, run)


def test_a_view_in_the_graph_is_set_to_more_memory() -> None:
    def run(lib: Any) -> Any:
        leaf = lib.ones(1, 3, requires_grad=True)
        base = leaf * leaf
        view = base.T
        view.set_(lib.stack([leaf, leaf]))
        nodes = [type(one.grad_fn).__name__ for one in (base, view)]
        return view, nodes, base._version, view._is_view(), base.requires_grad

    assert answer(mindtorch, run).replace("grad_fn=<AsStridedBackward0>", "") == answer(torch, run).replace(
        "grad_fn=<AsStridedBackward0>", ""
    )


SEEN_AS_BOOL = {
    "==": lambda lib, x, y: x == y,
    "!=": lambda lib, x, y: x != y,
    "^": lambda lib, x, y: x ^ y,
    "<": lambda lib, x, y: x < y,
    "minimum": lambda lib, x, y: lib.minimum(x, y),
    "equal": lambda lib, x, y: lib.equal(x, lib.tensor([True, True, False, True])),
    "a number": lambda lib, x, y: x == True,  # noqa: E712
}


@pytest.mark.parametrize("call", SEEN_AS_BOOL.values(), ids=SEEN_AS_BOOL)
def test_bytes_that_are_seen_as_bool(call: Any) -> None:
    """All but 0 are true, and equal."""
    found = []
    for lib in (torch, mindtorch):
        x = lib.tensor([2, 1, 0, 255], dtype=lib.uint8).view(lib.bool)
        found.append(repr(call(lib, x, lib.tensor([True, True, True, True]))))
    assert found[0] == found[1]
