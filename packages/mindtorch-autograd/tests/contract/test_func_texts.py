"""What the transforms of `torch.func` refuse, with torch's errors and texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt
import mindtorch._functorch.autograd_function

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("torch._functorch.autograd_function", reason="oracle")


def _raised(call: Callable[[Any], object], lib: Any) -> str:
    try:
        call(lib)
    except (RuntimeError, ValueError, TypeError, NotImplementedError, AssertionError) as error:
        return f"{type(error).__name__}: {error}"
    return "nothing raised"


def _vector(lib: Any) -> Any:
    return lib.tensor([0.5, 1.0, 2.0])


def _transformed(name: str, function: Callable[[Any], Any], lib: Any, **options: Any) -> Any:
    value = _vector(lib)
    if name == "jvp":
        return lib.func.jvp(function, (value,), (lib.ones(3),), **options)
    if name == "vjp":
        return lib.func.vjp(function, value, **options)
    return getattr(lib.func, name)(function, **options)(value)


@pytest.mark.parametrize("transform", ["grad", "vjp", "jvp", "jacrev", "jacfwd"])
@pytest.mark.parametrize("aux", [1, "abc", None])
def test_aux_holds_tensors_only(transform: str, aux: object) -> None:
    def call(lib: Any) -> Any:
        value = (lambda x: (x.sum(), [x, aux])) if transform == "grad" else (lambda x: (x, [x, aux]))
        return _transformed(transform, value, lib, has_aux=True)

    said = _raised(call, torch)
    assert said.startswith("RuntimeError: Expected tensors")
    assert _raised(call, mt) == said


@pytest.mark.parametrize("transform", ["vjp", "jvp", "jacrev", "jacfwd", "hessian"])
@pytest.mark.parametrize("output", [None, (), 1, [2]])
def test_outputs_are_tensors(transform: str, output: object) -> None:
    def call(lib: Any) -> Any:
        return _transformed(transform, lambda x: output, lib)

    said = _raised(call, torch)
    assert said.startswith("RuntimeError")
    assert _raised(call, mt) == said


@pytest.mark.parametrize("transform", ["grad", "jacrev", "jacfwd"])
@pytest.mark.parametrize("argnums", [-3, 2, [0], ("0",), (0, 0), (0, -2), ()])
def test_argument_numbers(transform: str, argnums: object) -> None:
    def call(lib: Any) -> Any:
        return getattr(lib.func, transform)(lib.mul, argnums=argnums)(lib.tensor(1.0), lib.tensor(2.0))

    said = _raised(call, torch)
    assert said.startswith("RuntimeError")
    assert _raised(call, mt) == said


def test_pairs_of_jvp() -> None:
    for primals, tangents in (((1.0,), (2.0,)), ((1.0,), "ones"), ("ones", (2.0,)), ("whole", "whole")):

        def call(lib: Any, primals: Any = primals, tangents: Any = tangents) -> Any:
            known = {"ones": (lib.ones(3),), "whole": (lib.ones(3, dtype=lib.int64),)}
            given = [known.get(one, one) if isinstance(one, str) else one for one in (primals, tangents)]
            return lib.func.jvp(lambda x: x, *given)

        said = _raised(call, torch)
        assert "only contain Tensors" in said or "floating point or complex" in said
        assert _raised(call, mt) == said


@pytest.mark.parametrize("transform", ["jacrev", "jacfwd", "hessian"])
def test_jacobians_are_real(transform: str) -> None:
    for given in (1j, 1.0):

        def call(lib: Any, given: complex = given) -> Any:
            return getattr(lib.func, transform)(lambda x: lib.conj(x * 0.5j))(lib.tensor([given]))

        said = _raised(call, torch)
        assert "to be real" in said
        assert _raised(call, mt) == said


def test_outputs_have_cotangents() -> None:
    for transform in ("vjp", "jacrev"):

        def call(lib: Any, transform: str = transform) -> Any:
            return _transformed(transform, lambda x: x.long(), lib)

        said = _raised(call, torch)
        assert "floating-point or complex" in said
        assert _raised(call, mt) == said


@pytest.mark.parametrize("transform", ["grad", "vjp", "jacrev", "jvp", "vmap"])
@pytest.mark.parametrize("inside", [False, True])
def test_hooks_of_saved_tensors(transform: str, inside: bool) -> None:
    def call(lib: Any) -> Any:
        def summed(x: Any) -> Any:
            if not inside:
                return x.sin().sum()
            with lib.autograd.graph.save_on_cpu():
                return x.sin().sum()

        if inside:
            return _transformed(transform, summed, lib)
        with lib.autograd.graph.save_on_cpu():
            return _transformed(transform, summed, lib)

    assert _raised(call, mt) == _raised(call, torch)


def test_retained_gradients() -> None:
    def call(lib: Any) -> Any:
        def retaining(x: Any) -> Any:
            y = x.sin()
            y.retain_grad()
            return y.sum()

        return lib.func.grad(retaining)(_vector(lib))

    said = _raised(call, torch)
    assert "retain_grad()" in said
    assert _raised(call, mt) == said


@pytest.mark.parametrize("keep", ["save_for_backward", "save_for_forward"])
@pytest.mark.parametrize("what", ["input", "output"])
def test_saved_input_that_is_returned(keep: str, what: str) -> None:
    def call(lib: Any) -> Any:
        class Same(lib.autograd.Function):
            @staticmethod
            def forward(x: Any) -> Any:
                return x

            @staticmethod
            def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
                getattr(ctx, keep)(inputs[0] if what == "input" else output)

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                return grad

        return Same.apply(_vector(lib))

    said = _raised(call, torch)
    assert "returned as-is" in said
    assert _raised(call, mt) == said


def test_dimensions_of_a_list_are_a_list() -> None:
    def call(lib: Any) -> Any:
        class Zeros(lib.autograd.Function):
            @staticmethod
            def forward(x: Any) -> Any:
                return [lib.zeros(3)]

            @staticmethod
            def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
                pass

            @staticmethod
            def vmap(info: Any, in_dims: Any, x: Any) -> Any:
                return [lib.zeros(3)], (None,)

        return lib.vmap(Zeros.apply)(lib.ones(2, 3))

    said = _raised(call, torch)
    assert "returned an incompatible" in said
    assert _raised(call, mt) == said


def test_arguments_by_name_alone_under_vmap() -> None:
    def call(lib: Any) -> Any:
        class Sum(lib.autograd.Function):
            @staticmethod
            def forward(x: Any, *, y: Any) -> Any:
                return x + y

            @staticmethod
            def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
                pass

            @staticmethod
            def vmap(info: Any, in_dims: Any, x: Any, *, y: Any) -> Any:
                return x + y, 0

        return lib.vmap(Sum.apply)(_vector(lib), y=_vector(lib))

    said = _raised(call, torch)
    assert said.startswith("NotImplementedError")
    assert _raised(call, mt) == said


def test_one_row_at_a_time_needs_no_batch() -> None:
    """What no batch can do works with `chunk_size=1`."""

    def call(lib: Any, chunk: int) -> Any:
        class Same(lib.autograd.Function):
            @staticmethod
            def forward(x: Any) -> Any:
                return x.clone()

            @staticmethod
            def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
                pass

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                grad.nonzero()
                return grad

        return lib.func.jacrev(Same.apply, chunk_size=chunk)(_vector(lib))

    assert call(mt, 1).tolist() == call(torch, 1).tolist()
    assert _raised(lambda lib: call(lib, 2), mt) == _raised(lambda lib: call(lib, 2), torch)


def test_products_follow_the_mode_of_their_own_call() -> None:
    for lib in (torch, mt):
        x = lib.tensor(3.0, requires_grad=True)
        value, back = lib.func.vjp(lambda x: x**2, x)
        with lib.no_grad():
            (product,) = back(lib.tensor(1.0))
        assert product.item() == 6.0
        assert (product.requires_grad, value.requires_grad) == (False, True)


def test_autograd_that_a_guard_has_taken_out() -> None:
    for lib in (torch, mt):
        keys = lib._C.DispatchKeySet(lib._C.DispatchKey.Autograd)
        with lib._C._ExcludeDispatchKeyGuard(keys):
            assert lib.func.grad(lambda x: x**3)(lib.tensor(2.0)).item() == 12.0
            assert lib._C._dispatch_tls_local_exclude_set().has(lib._C.DispatchKey.Autograd)


def test_contexts_with_other_saved_tensors() -> None:
    for lib in (torch, mt):
        context = lib._functorch.autograd_function.CtxWithSavedTensors

        class Plain:
            """Stands for a ctx."""

        ctx = Plain()
        inner = context(ctx, (1,))
        outer = context(inner, (2, 3))
        outer.kept = "here"
        assert (outer.saved_tensors, inner.saved_tensors, ctx.kept) == ((2, 3), (1,), "here")
        for name in ("_pt_inner_ctx", "_pt_new_saved_tensors"):
            taken = Plain()
            setattr(taken, name, 1)
            with pytest.raises(RuntimeError, match="name collision"):
                context(taken, ())


@pytest.mark.parametrize(
    ("at", "wanted", "shape"),
    [(None, 2, None), (1, None, None), (0, 2, (3, 1)), (None, 1, (1, 4)), (2, 0, (4,)), (0, 1, None)],
)
def test_gradients_of_a_batch(at: int | None, wanted: int | None, shape: tuple[int, ...] | None) -> None:
    def call(lib: Any) -> Any:
        values = lib.arange(24.0).reshape([2, 3, 4])
        value = values[0] if at is None else values.movedim(0, at)
        return lib._functorch.autograd_function.reductify_leaf(value, at, wanted, 2, shape)

    assert call(mt).tolist() == call(torch).tolist()


def _squared(x: Any) -> Any:
    x.mul_(3)
    return x * x


def _through_a_view(x: Any) -> Any:
    view = x[0]
    view.mul_(2)
    return x, view


def _base_after_its_view(x: Any) -> Any:
    view = x[0]
    x.mul_(2)
    return x, view


@pytest.mark.parametrize("function", [_squared, _through_a_view, _base_after_its_view])
@pytest.mark.parametrize("batched", [False, True])
def test_inputs_that_jvp_may_write(function: Callable[[Any], Any], batched: bool) -> None:
    found = []
    for lib in (torch, mt):

        def push(x: Any, tangent: Any, lib: Any = lib) -> Any:
            return lib.func.jvp(function, (x,), (tangent,))

        x, tangent = lib.arange(1.0, 7.0).reshape(2, 3), lib.ones(2, 3)
        if batched:
            answer = lib.vmap(push)(lib.stack([x, x + 1]), lib.stack([tangent, 2 * tangent]))
        else:
            answer = push(x, tangent)
        found.append([one.tolist() for one in lib.utils._pytree.tree_leaves((answer, x))])
    assert found[0] == found[1]


def test_written_inputs_of_outer_transforms() -> None:
    """What an inner transform wrote into does not lose its gradient in silence."""

    def inner_grad(lib: Any) -> Any:
        return lib.func.grad(lambda x: lib.func.grad(lambda y: y.mul_(y).sum())(x * 1).sum())(_vector(lib))

    assert _raised(inner_grad, torch).endswith(
        "a leaf Variable that requires grad is being used in an in-place operation."
    )
    assert _raised(inner_grad, mt) == _raised(inner_grad, torch)

    def inner_jvp(x: Any) -> Any:
        return mt.func.jvp(lambda y: y.mul_(3), (x,), (mt.ones(3),))[1]

    assert "would mutate a captured Tensor" in _raised(
        lambda lib: mt.func.jvp(inner_jvp, (_vector(mt),), (mt.ones(3),)), mt
    )


def test_writes_that_no_batch_remembers() -> None:
    """Torch differentiates these; here they raise, as the gradient would be lost."""

    def written(x: Any) -> Any:
        made = mt.zeros(3)
        made.copy_(x)
        return made

    assert torch.func.jacfwd(lambda x: torch.zeros(3).copy_(x))(_vector(torch)).tolist() == torch.eye(3).tolist()
    assert _raised(lambda lib: mt.func.jacfwd(written)(_vector(mt)), mt).startswith("NotImplementedError: aten::copy_")


def test_tangents_switched_off_in_jvp() -> None:
    for lib in (torch, mt):

        def shifted(x: Any, lib: Any = lib) -> Any:
            with lib.autograd.forward_ad._set_fwd_grad_enabled(False):
                shift = x**2
            return x**2 - shift

        def push(x: Any, function: Callable[[Any], Any] = shifted, lib: Any = lib) -> Any:
            return lib.func.jvp(function, (x,), (lib.tensor(1.0),))[1]

        x = lib.tensor(3.0)
        assert push(x).item() == 6.0
        assert push(x, push).item() == 2.0
        assert lib.is_grad_enabled()


def test_views_of_a_batched_tensor_follow_its_base() -> None:
    found = []
    for lib in (torch, mt):

        def written(x: Any, y: Any) -> Any:
            made = x.clone()
            view = made[0]
            made.copy_(y)
            return view, made

        def push(x: Any, y: Any, tangent: Any, lib: Any = lib, written: Any = written) -> Any:
            return lib.func.jvp(lambda y: written(x, y), (y,), (tangent,))

        x = lib.arange(12.0).reshape(2, 2, 3)
        answer = lib.vmap(push)(x, x + 1, x * 2)
        found.append([one.tolist() for one in lib.utils._pytree.tree_leaves(answer)])
    assert found[0] == found[1]
