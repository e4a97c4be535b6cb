"""Which signatures may stand for which others, and smaller names of PyTorch's own tests, beside torch."""

from __future__ import annotations

import importlib

import pytest

import mindtorch

torch = pytest.importorskip("torch", reason="oracle")

PLAIN = "any(Tensor self, int a, int b=1) -> Tensor"
WITH_OUT = "any(Tensor self, *, int a, int b=1, Tensor(a!) out) -> Tensor(a!)"
PAIRS = [
    *(
        (new, PLAIN)
        for new in (
            PLAIN,
            "other(Tensor self, int a, int b=1) -> Tensor",
            "any.x(Tensor self, int a, int b=1) -> Tensor",
            "any(Tensor self, int a, int b=1) -> (Tensor, Tensor)",
            "any(Tensor self, int a, int b=1) -> int",
            "any(Tensor self, int a, int b=1) -> Tensor?",
            "any(Tensor self) -> Tensor",
            "any(Tensor self, int a, int b=1, int? c=None) -> Tensor",
            "any(Tensor self, int a, int b=1, int[] c=[1]) -> Tensor",
            "any(Tensor self, int a, int b=1, int[2] c=1) -> Tensor",
            "any(Tensor self, int? a, int b=1) -> Tensor",
            "any(Tensor self, float a, int b=1) -> Tensor",
            "any(Tensor self, Scalar a, int b=1) -> Tensor",
            "any(Tensor self, SymInt a, int b=1) -> Tensor",
            "any(Tensor self, int a, *, int b=1) -> Tensor",
            "any(Tensor(a!) self, int a, int b=1) -> Tensor",
            "any(Tensor self, int a, int b=1, *, int c) -> Tensor",
        )
    ),
    (PLAIN, "any(Tensor self, int a, int b=1) -> Tensor?"),
    (PLAIN, "any(Tensor self, int a, *, int b=1) -> Tensor"),
    ("any(Tensor self, *, int a, int b=1, int c=1, Tensor(a!) out) -> Tensor(a!)", WITH_OUT),
    ("any(Tensor self, *, int a, int b=1, Tensor(a!) o2) -> Tensor(a!)", WITH_OUT),
    ("any(Tensor self, *, int a, int b=1) -> Tensor", WITH_OUT),
    ("any(Tensor self, *, int a, int b=1, Tensor(a!) out, Tensor(b!) d) -> Tensor(a!)", WITH_OUT),
]
TYPES = "any(int? a, int[]? b, Tensor?[] c, int[2] d, ScalarType? e, SymInt f, Scalar g, Device? h) -> Tensor"


@pytest.mark.parametrize(("new", "old"), PAIRS)
def test_a_signature_may_stand_for_another_one_where_torch_says_so(new, old):
    verdicts = []
    for library in (mindtorch, torch):
        one, other = library._C.parse_schema(new), library._C.parse_schema(old)
        verdicts.append((one.is_backward_compatible_with(other), tuple(one.check_forward_compatible_with(other))))
    assert verdicts[0] == verdicts[1]


def test_types_have_the_texts_of_torch():
    shown = [
        [(one.type.str(), one.type.annotation_str) for one in library._C.parse_schema(TYPES).arguments]
        for library in (mindtorch, torch)
    ]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("library", [mindtorch, torch], ids=["ours", "torch"])
def test_dictionaries_by_identity_are_joined_from_both_sides(library):
    weak = importlib.import_module(f"{library.__name__}.utils.weak")
    one, other = library.ones(1), library.ones(2)
    joined = {one: 1} | weak.WeakIdKeyDictionary({other: 2, one: 3})
    assert type(joined) is weak.WeakIdKeyDictionary
    assert (joined[one], joined[other]) == (3, 2)
    with pytest.raises(TypeError, match="unsupported operand"):
        weak.WeakIdKeyDictionary() | [(one, 1)]


@pytest.mark.parametrize("library", [mindtorch, torch], ids=["ours", "torch"])
def test_the_filling_of_new_memory_is_asked_for_below_too(library):
    assert library._C._get_deterministic_fill_uninitialized_memory() is True
    library._C._set_deterministic_fill_uninitialized_memory(False)
    assert library.utils.deterministic.fill_uninitialized_memory is False
    library.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.parametrize("library", [mindtorch, torch], ids=["ours", "torch"])
def test_a_copy_of_an_input_keeps_strides_and_gradient(library):
    given = library.arange(6.0).reshape(2, 3).t().requires_grad_()
    given.grad = library.ones(3, 2)
    copied = importlib.import_module(f"{library.__name__}._dynamo.utils").clone_input(given)
    assert copied.stride() == (1, 3)
    assert copied.tolist() == given.tolist()
    assert copied.data_ptr() != given.data_ptr()
    assert copied.requires_grad
    assert copied.is_leaf
    assert copied.grad.tolist() == [[1.0, 1.0]] * 3
