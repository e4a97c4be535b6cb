"""Names that few programs use: they answer and refuse as torch's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

pytestmark = pytest.mark.filterwarnings("ignore:non-inplace resize")


def _grid(lib: Any) -> Any:
    return (lib.arange(8.0).view(2, 4) - 3) / 3


def _quantized(make: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(lib: Any, x: Any) -> Any:
        leaf = x.clone().requires_grad_()
        result = make(lib, leaf)
        result.sum().backward()
        return result, leaf.grad, result.grad_fn.name()

    return run


def _zero(lib: Any) -> Any:
    return lib.tensor([0, 1], dtype=lib.int32)


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "apply_": lambda lib, x: (x.apply_(lambda v: v + 1), lib.arange(4).apply_(lambda v: v * 0.5)),
    "apply_ of a number": lambda lib, x: x.apply_(3),
    "apply_ gives a string": lambda lib, x: x.apply_(lambda v: "a"),
    "apply_ requires grad": lambda lib, x: x.requires_grad_().apply_(lambda v: v),
    "apply_ on meta": lambda lib, x: x.to("meta").apply_(lambda v: v),
    "map_": lambda lib, x: (x.map_(x, lambda a, b: a * b), x.map_(lib.ones(4), lambda a, b: a + b)),
    "map2_": lambda lib, x: x.map2_(x, x, lambda a, b, c: a + b + c),
    "map_ dtype": lambda lib, x: x.map_(lib.arange(4), lambda a, b: a),
    "map_ requires grad": lambda lib, x: x.map_(x.clone().requires_grad_(), lambda a, b: a),
    "map_ of a number": lambda lib, x: x.map_(2, lambda a, b: a),
    "sameness": lambda lib, x: (x.is_same_size(lib.ones(2)), x.is_set_to(x.detach()), x.is_set_to(x.view(8))),
    "is_distributed": lambda lib, x: x.is_distributed(),
    "resize": lambda lib, x: (x.resize(8), x.resize_as(lib.ones(4, 2))),
    "reinforce": lambda lib, x: x.reinforce(1),
    "delitem": lambda lib, x: x.__delitem__(0),
    "reversed": lambda lib, x: (list(reversed(x)), reversed(lib.tensor(1))),
    "older operators": lambda lib, x: (x.__idiv__(2), lib.tensor(1).__nonzero__(), lib.tensor(1.5).__long__()),
    "matrix_rank": lambda lib, x: lib.matrix_rank(x),
    **{name: (lambda lib, x, name=name: getattr(lib, name)(x, x)) for name in ("solve", "eig", "lstsq", "symeig")},
    "Tensor.solve": lambda lib, x: x.solve(x),
    "fake quantize": _quantized(lambda lib, x: lib.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 10)),
    "fake quantize, tensors": _quantized(
        lambda lib, x: lib.fake_quantize_per_tensor_affine(x, lib.tensor(0.1), lib.tensor(3, dtype=lib.int32), 0, 10)
    ),
    "fake quantize, channels": _quantized(
        lambda lib, x: lib.fake_quantize_per_channel_affine(x, lib.tensor([0.1, 0.2]), _zero(lib), 0, -4, 10)
    ),
    "fake quantize, nan": lambda lib, x: lib.fake_quantize_per_tensor_affine(x / 0, 0.1, 3, 0, 10),
    "fake quantize, half": lambda lib, x: lib.fake_quantize_per_tensor_affine(x.half(), 0.1, 3, 0, 10),
    "zero point": lambda lib, x: lib.fake_quantize_per_tensor_affine(x, 0.1, 30, 0, 10),
    "range": lambda lib, x: lib.fake_quantize_per_tensor_affine(x, 0.1, 3, 10, 0),
    "integers": lambda lib, x: lib.fake_quantize_per_tensor_affine(x.long(), 0.1, 3, 0, 10),
    "channels": lambda lib, x: lib.fake_quantize_per_channel_affine(x, lib.tensor([0.1, 0.2]), _zero(lib), 1, 0, 10),
    "no vector": lambda lib, x: lib.fake_quantize_per_channel_affine(x, lib.tensor(0.1), _zero(lib), 1, 0, 10),
    "two lengths": lambda lib, x: lib.fake_quantize_per_channel_affine(x, lib.tensor([0.1]), _zero(lib), 0, 0, 10),
}


def _outcome(name: str, lib: Any) -> Any:
    try:
        return repr(CALLS[name](lib, _grid(lib)))
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
        return type(error).__name__, str(error)


@pytest.mark.parametrize("name", CALLS)
def test_rarer_names_are_as_in_torch(name: str) -> None:
    assert _outcome(name, mt) == _outcome(name, torch)


def _sobol(lib: Any, arguments: Any) -> Any:
    engine = lib.quasirandom.SobolEngine(*arguments)
    first = [engine.draw(3), engine.draw(2, dtype=lib.float64), engine.num_generated]
    engine.fast_forward(4)
    then = [engine.draw(1), engine.reset().draw(1), engine.draw_base2(0), engine.quasi, engine.shift]
    engine.reset().fast_forward(1)
    return repr((engine, first, then, engine.draw(300).double().sum(0).tolist(), engine.sobolstate[:, :4].tolist()))


@pytest.mark.parametrize("arguments", [(3,), (2, True, 7), (40, True, 1), (1111,)])
def test_sobol_sequences(arguments: Any) -> None:
    assert _sobol(mt, arguments) == _sobol(torch, arguments)


@pytest.mark.parametrize(
    "act",
    [
        lambda lib: lib.quasirandom.SobolEngine(0),
        lambda lib: lib.quasirandom.SobolEngine(21202),
        lambda lib: lib.quasirandom.SobolEngine(2).draw(0),
        lambda lib: (engine := lib.quasirandom.SobolEngine(2)).draw(1) is engine.draw_base2(2),
    ],
)
def test_sobol_sequences_refuse(act: Callable[[Any], Any]) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011 - which one is torch's to say
        act(torch)
    with pytest.raises(expected.type) as found:
        act(mt)
    assert str(found.value) == str(expected.value)


def _futures(lib: Any) -> list[Any]:
    future, failed, log = lib.futures.Future(), lib.futures.Future(), []
    future.add_done_callback(lambda done: log.append(done.value()))
    following = future.then(lambda done: done.wait() + 1)
    log.append(future.done())
    future.set_result(3)
    failed.set_exception(ValueError("a"))
    log += [future.wait(), following.wait(), len(lib.futures.collect_all([future]).wait())]
    for act in (
        lambda: future.set_result(4),
        failed.wait,
        lambda: lib.futures.Future().set_exception(3),
        lambda: lib.futures.wait_all([future, failed]),
        lambda: lib.futures.Future(devices=["cpu"]),
    ):
        with pytest.raises(Exception) as raised:  # noqa: PT011 - which one is compared
            act()
        log.append((raised.type.__name__, str(raised.value)))
    return log


def test_futures() -> None:
    assert _futures(mt) == _futures(torch)
