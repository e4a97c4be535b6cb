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
