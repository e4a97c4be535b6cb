"""`torch.utils.benchmark.Fuzzer` draws what torch's draws from the same seed."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the oracle says what is drawn")
import mindtorch as mt  # noqa: E402 (after the check that torch is there)


def shapes_and_layouts(T: Any, B: Any) -> Any:
    P, X = B.FuzzedParameter, B.FuzzedTensor
    steps = P("s", 1, 3, "uniform", strict=True)
    fuzzer = B.Fuzzer(
        [P("k0", 1, 64, "loguniform"), [P("k1", 1, 64, "uniform"), steps], P("r", 0.0, 1.0, "uniform")],
        [
            X("x", ("k0", "k1"), ("s", 1), 0.4, min_elements=40, max_elements=400, max_allocation_bytes=2000),
            [X("y", ("k1", 3), dtype=T.int64)],
        ],
        constraints=[lambda params: params["k0"] != params["k1"]],
        seed=7,
    )
    return _drawn(fuzzer, 6), fuzzer.rejection_rate


def dimensions(T: Any, B: Any) -> Any:
    P = B.FuzzedParameter
    make = lambda size, dtype, **params: T.ones(size, dtype=dtype) * params["k"]  # noqa: E731 (a name for the constructor)
    cube = B.FuzzedTensor("x", ("k", "k", "k"), dim_parameter="d", tensor_constructor=make)
    return _drawn(B.Fuzzer([P("d", 1, 3, "uniform"), P("k", 2, 6, "uniform")], [cube], seed=1), 4)


def coordinates(T: Any, B: Any) -> Any:
    P = B.FuzzedParameter
    drawn = [P("density", 0.1, 0.9, "uniform"), P("sparse_dim", 1, 2, "uniform"), P("coalesced", 0, 1, "uniform")]
    tensor = B.FuzzedSparseTensor("x", ("k", "k"), sparse_dim="sparse_dim")
    return _drawn(B.Fuzzer([P("k", 3, 6, "uniform"), *drawn], [tensor], seed=1), 4)


def aliases(T: Any, B: Any) -> Any:
    A = B.ParameterAlias
    return str(A("q")), B.Fuzzer._resolve_aliases({"a": A("b"), "b": A("c"), "c": 3})


REFUSED = [
    lambda B: B.FuzzedParameter("a", 1, 2, "normal"),
    lambda B: B.FuzzedParameter("a", distribution={1: -1}),
    lambda B: B.FuzzedParameter("a", distribution={1: 0.5, 2: 0.5}),
    lambda B: B.FuzzedParameter("a", 1, distribution={1: 0.5, 2: 0.4}),
    lambda B: B.FuzzedParameter("a", None, 2, distribution={1: 0.5, 2: 0.4}),
    lambda B: B.Fuzzer([B.FuzzedParameter("x", 1, 2, "uniform")], [B.FuzzedTensor("x", (1,))]),
    lambda B: list(B.Fuzzer([], [B.FuzzedTensor("x", (1,), min_elements=9)], seed=0).take(1)),
    lambda B: B.Fuzzer._resolve_aliases({"a": B.ParameterAlias("b"), "b": B.ParameterAlias("a")}),
]


def _drawn(fuzzer: Any, count: int) -> list[Any]:
    return [
        (
            params,
            {name: str(sorted(one.items())) for name, one in properties.items()},
            {name: str(one) for name, one in tensors.items()},
        )
        for tensors, properties, params in fuzzer.take(count)
    ]


@pytest.mark.parametrize("draw", [shapes_and_layouts, dimensions, coordinates, aliases])
def test_draws(draw: Any) -> None:
    """Parameters, properties and tensors are the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (draw(T, importlib.import_module(f"{T.__name__}.utils.benchmark")) for T in (mt, torch))
    assert ours == theirs


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals(number: int) -> None:
    """Errors have torch's type and text."""
    said = []
    for T in (mt, torch):
        with pytest.raises((AssertionError, ValueError)) as caught:
            REFUSED[number](importlib.import_module(f"{T.__name__}.utils.benchmark"))
        said.append((caught.type, str(caught.value).replace("mindtorch", "torch")))
    assert said[0] == said[1]
