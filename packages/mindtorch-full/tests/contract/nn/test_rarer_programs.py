"""Layers in the corners that programs reach: empty batches, volumes without a batch, sparse bags, replaced tables of hooks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")
Lib = Any


def _outcome(case: Callable[[Lib], Any], lib: Lib) -> Any:
    try:
        return repr(case(lib))
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
        return f"{type(error).__name__}: {error}"


def _bag(lib: Lib, **options: Any) -> Any:
    weight = lib.arange(12.0).reshape(4, 3).requires_grad_()
    offsets = lib.tensor([0, 2, 2, 4])
    given = {key: value(lib) if callable(value) else value for key, value in options.items()}
    out = lib.nn.functional.embedding_bag(lib.tensor([0, 1, 1, 2, 3, 1]), weight, offsets, sparse=True, **given)
    out.backward(lib.arange(12.0).reshape(4, 3) + 1)
    return weight.grad, weight.grad.is_coalesced()


def _wrong_row(lib: Lib, layout: str, dtype: str, **options: Any) -> Any:
    weight = lib.arange(12.0).reshape(4, 3).to(getattr(lib, dtype))
    weight = weight if layout == "rows" else weight.t().contiguous().t()
    return lib.nn.functional.embedding_bag(lib.tensor([0, -1, 1]), weight, lib.tensor([0, 2]), **options)


def _twice_looked_up(lib: Lib) -> Any:
    layer = lib.nn.Embedding(10, 3, sparse=True)
    for _ in range(2):
        layer(lib.tensor([7, 1, 3])).sum().backward()
    return layer.weight.grad


def _of_nothing(lib: Lib, rows: int, columns: int) -> Any:
    layer = lib.nn.Embedding(rows, columns, sparse=True)
    layer(lib.zeros(0 if rows == 0 else 3, dtype=lib.int64)).sum().backward()
    return layer.weight.grad.shape, layer.weight.grad._values().shape


def _unpooled(lib: Lib, dims: int) -> Any:
    x = lib.zeros(0, 10, *[8] * dims, requires_grad=True)
    pool = getattr(lib.nn, f"MaxPool{dims}d")(2, return_indices=True)
    y = getattr(lib.nn, f"MaxUnpool{dims}d")(2)(*pool(x))
    y.sum().backward()
    return y.shape, x.grad.shape


def _volumes(lib: Lib, last: bool) -> Any:
    x = lib.arange(2.0 * 3 * 64).reshape(2, 3, 4, 4, 4)
    x = x.contiguous(memory_format=lib.channels_last_3d) if last else x
    one = x[0].detach().requires_grad_()
    out, indices = lib.nn.functional.max_pool3d(one, 2, return_indices=True)
    out.sum().backward()
    return out, out.stride(), indices, indices.stride(), one.grad.stride()


CASES: dict[str, Callable[[Lib], Any]] = {
    "bag sum": lambda w: _bag(w, mode="sum"),
    "bag mean": lambda w: _bag(w, mode="mean"),
    "bag max": lambda w: _bag(w, mode="max"),
    "bag padding": lambda w: _bag(w, mode="mean", padding_idx=1),
    "bag by frequency": lambda w: _bag(w, mode="sum", scale_grad_by_freq=True),
    "bag weighted": lambda w: _bag(w, mode="sum", per_sample_weights=lambda lib: lib.arange(1.0, 7.0)),
    "embedding added up": _twice_looked_up,
    "embedding of nothing": lambda w: _of_nothing(w, 0, 0),
    "embedding without columns": lambda w: _of_nothing(w, 10, 0),
    **{f"unpool {n}": (lambda w, n=n: _unpooled(w, n)) for n in (1, 2, 3)},
    **{
        f"adaptive {kind}{n} of {shape}": (
            lambda w, kind=kind, n=n, shape=shape: getattr(w.nn, f"Adaptive{kind}Pool{n}d")(3)(w.zeros(shape)).shape
        )
        for kind in ("Max", "Avg")
        for n in (2, 3)
        for shape in ([1, 0, *[9] * n], [0, 2, *[9] * n], [0, *[9] * n])
    },
    **{
        f"fractional {n} {kernel} {size}": (
            lambda w, n=n, kernel=kernel, size=size: (
                getattr(w.nn.functional, f"fractional_max_pool{n}d")(
                    w.zeros(1, 1, *[7] * n), kernel, output_size=size, _random_samples=w.zeros(1, 1, n)
                ).shape
            )
        )
        for n in (2, 3)
        for kernel in (2, (1,), (2, 2), (2, 2, 2), ())
        for size in (3, (1,), (3, 3))
    },
    "volumes": lambda w: _volumes(w, last=False),
    "volumes, channels last": lambda w: _volumes(w, last=True),
}


@pytest.mark.parametrize("name", CASES)
def test_like_torch(name: str) -> None:
    assert _outcome(CASES[name], mt) == _outcome(CASES[name], torch)


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("options", [{}, {"padding_idx": 0}, {"mode": "mean"}, {"mode": "max"}])
def test_rows_that_are_not_there(layout: str, dtype: str, options: dict[str, Any]) -> None:
    texts = [_outcome(lambda lib: _wrong_row(lib, layout, dtype, **options), lib) for lib in (mt, torch)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("lib", [mt, torch], ids=["mindtorch", "torch"])
def test_tables_of_global_hooks_can_be_replaced(lib: Lib) -> None:
    module, seen = lib.nn.modules.module, []
    handle = module.register_module_forward_hook(lambda *_: seen.append(1))
    table, layer = module._global_forward_hooks, lib.nn.ReLU()
    try:
        module._global_forward_hooks = OrderedDict()
        layer(lib.ones(1))
        assert seen == []
        later = module.register_module_forward_hook(lambda *_: seen.append(2))
        layer(lib.ones(1))
        assert seen == [2]
        later.remove()
    finally:
        module._global_forward_hooks = table
        handle.remove()


@pytest.mark.parametrize("lib", [mt, torch], ids=["mindtorch", "torch"])
@pytest.mark.parametrize("assign", [False, True])
def test_parameters_are_swapped_while_a_state_is_loaded(lib: Lib, assign: bool) -> None:
    class Own(lib.Tensor):  # type: ignore[misc, name-defined]
        pass

    layer = lib.nn.Linear(2, 3)
    layer.bias = lib.nn.Parameter(Own(lib.zeros(3)))
    state = {"weight": lib.ones(3, 2), "bias": lib.ones(3)}
    before = lib.__future__.get_swap_module_params_on_conversion()
    lib.__future__.set_swap_module_params_on_conversion(True)
    try:
        held = layer.weight
        layer.load_state_dict(state, assign=assign)
    finally:
        lib.__future__.set_swap_module_params_on_conversion(before)
    assert layer.weight is held
    assert held.tolist() == [[1, 1]] * 3
    assert layer.bias.tolist() == [1] * 3
    assert (held.data_ptr() == state["weight"].data_ptr()) == assign


@pytest.mark.parametrize("lib", [mt, torch], ids=["mindtorch", "torch"])
def test_a_backward_hook_may_return_what_it_got_where_no_input_needs_a_gradient(lib: Lib) -> None:
    layer = lib.nn.Linear(2, 3)
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: grad_input)
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        layer(lib.ones(1, 2)).sum().backward()
    assert layer.weight.grad is not None


GIVEN: dict[str, Callable[[Lib], dict[str, Any]]] = {
    "none for a bias": lambda w: {"bias": None},
    "not a tensor": lambda w: {"weight": "text"},
    "an attribute that is no tensor": lambda w: {"weight": w.ones(1, 1), "scale": w.ones(1)},
    "an attribute that is not there": lambda w: {"weight": w.ones(1, 1), "extra": w.ones(1)},
    "a parameter that is not there": lambda w: {"weight": w.ones(1, 1), "extra": w.nn.Parameter(w.ones(1))},
    "within a parameter": lambda w: {"weight": w.ones(1, 1), "bias.x": w.ones(1)},
    "within an attribute": lambda w: {"weight": w.ones(1, 1), "scale.x": w.ones(1)},
    "no name": lambda w: {"": w.ones(1)},
    "a method": lambda w: {"weight": w.ones(1, 1), "extra_repr": w.ones(1)},
}


def _parts(layer: Any) -> list[Any]:
    return [layer.weight, layer.bias, layer.scale, *sorted(vars(layer)), *layer._parameters]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", GIVEN)
def test_a_functional_call_leaves_the_module_as_it_was(name: str, strict: bool) -> None:
    texts = []
    for lib in (mt, torch):
        layer = lib.nn.Linear(1, 1)
        lib.nn.init.ones_(layer.weight)
        lib.nn.init.zeros_(layer.bias)
        layer.scale = 0.0
        before, given = _parts(layer), GIVEN[name](lib)

        def call(lib: Lib, layer: Any = layer, given: Any = given) -> Any:
            return lib.func.functional_call(layer, given, lib.ones(1, 1), strict=strict)

        texts.append(_outcome(call, lib))
        assert all(one is two for one, two in zip(before, _parts(layer), strict=True))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("lib", [mt, torch], ids=["mindtorch", "torch"])
def test_what_is_loaded_may_say_how(lib: Lib) -> None:
    class Same(lib.Tensor):  # type: ignore[misc, name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is lib.Tensor.module_load:
                return args[1]
            return super().__torch_function__(func, types, args, kwargs or {})

    given = lib.ones(2).as_subclass(Same)
    assert lib.zeros(2).module_load(given) is given


@pytest.mark.parametrize("lib", [mt, torch], ids=["mindtorch", "torch"])
def test_a_backward_hook_may_return_nothing_else_where_no_input_needs_a_gradient(lib: Lib) -> None:
    layer = lib.nn.Linear(2, 3)
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: lib.ones(1, 2))
    with (
        pytest.warns(UserWarning, match="no inputs require gradients"),
        pytest.raises(
            RuntimeError, match="Backward hook for Modules where no input requires gradient should always return"
        ),
    ):
        layer(lib.ones(1, 2)).sum().backward()
