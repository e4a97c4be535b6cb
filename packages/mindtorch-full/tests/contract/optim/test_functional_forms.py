"""Optimizers of gradients that are given: the same steps as torch's, and `.grad` is left alone."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest

import mindtorch

torch = pytest.importorskip("torch")
NAMES = ["Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "RMSprop", "Rprop", "SGD"]
OPTIONS: dict[str, dict[str, Any]] = {"SGD": {"momentum": 0.9, "nesterov": True}, "Adam": {"amsgrad": True}}


def made(library: Any, name: str, params: list[Any], **options: Any) -> Any:
    """Return a functional optimizer of a library."""
    module = importlib.import_module(f"{library.__name__}.distributed.optim.functional_{name.lower()}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's says that it compiles them
        return getattr(module, f"_Functional{name}")(params, **options)


@pytest.mark.parametrize("name", NAMES)
def test_steps(name: str) -> None:
    def run(library: Any) -> list[Any]:
        params = [library.arange(4.0).reshape(2, 2), library.ones(3)]
        optimizer = made(library, name, params, **OPTIONS.get(name, {}))
        for step in range(1, 4):
            optimizer.step([library.full((2, 2), 0.5 * step), library.tensor([1.0, -2.0, 0.25])])
        assert all(param.grad is None for param in params)
        return [param.tolist() for param in params]

    for mine, reference in zip(run(mindtorch), run(torch), strict=True):
        assert mindtorch.allclose(mindtorch.tensor(mine), mindtorch.tensor(reference), rtol=1e-5)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD"])
def test_single_parameters(name: str) -> None:
    def run(library: Any) -> list[float]:
        utils = importlib.import_module(f"{library.__name__}.distributed.optim.utils")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimizer = utils.as_functional_optim(getattr(library.optim, name), lr=0.1)
        param = library.ones(2)
        for _ in range(2):
            optimizer.step_param(param, library.tensor([0.5, -1.0]))
        return param.tolist()

    assert run(mindtorch) == pytest.approx(run(torch))


def test_errors() -> None:
    def error(library: Any, call: Any) -> tuple[str, str]:
        with pytest.raises(ValueError, match=r"\w") as found:
            call(library)
        return type(found.value).__name__, str(found.value).replace("mindtorch", "torch")

    for call in (
        lambda library: made(library, "SGD", []),
        lambda library: made(library, "SGD", [library.ones(1)]).step([]),
        lambda library: made(library, "Adam", [library.ones(1)], lr=-1.0),
    ):
        assert error(mindtorch, call) == error(torch, call)
    utils = importlib.import_module("mindtorch.distributed.optim.utils")
    with pytest.raises(ValueError, match="does not have a functional counterpart!"):
        utils.as_functional_optim(int)
    utils.register_functional_optim("one of mine", dict)
    assert utils.functional_optim_map["one of mine"] is dict
    assert utils.functional_optim_map.pop("one of mine") is dict
