"""Operators and functions whose names begin with an underscore, and what PyTorch's own tests ask of them; beside torch."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import mindtorch
import mindtorch._prims_common
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

SAME = (
    "T._weight_int8pack_mm(W(3, 8), (W(4, 8) * 100).to(T.int8), W(4))",
    "T._weight_int8pack_mm(W(32, 64).bfloat16(), (W(48, 64) * 100).to(T.int8), W(48).bfloat16())",
    "T._convert_weight_to_int4pack_for_cpu(I(16, 4), 2)",
    "T._convert_weight_to_int4pack_for_cpu(I(64, 6), 2)",
    "T._convert_weight_to_int4pack_for_cpu(I(112, 2), 2)",
    "T._weight_int4pack_mm_for_cpu(W(3, 64), T._convert_weight_to_int4pack_for_cpu(I(96, 64), 2), 32, W(2, 96, 2))",
    "T._addmm_activation(T.ones(3), W(2, 4), W(4, 3))",
    "T._addmm_activation(W(2, 3), W(2, 4), W(4, 3), beta=2, alpha=0.5, use_gelu=True)",
    "T.ones(3)._addmm_activation(W(2, 4), W(4, 3))",
    "(lambda g, f: (T._amp_foreach_non_finite_check_and_unscale_(g, f, T.tensor([0.5])), g, f))"
    "([T.ones(2), T.ones(1).double()], T.zeros(1))[1:]",
    "(lambda g, f: (T._amp_foreach_non_finite_check_and_unscale_(g, f, T.tensor([0.5])), g, f))"
    "([T.ones(2), T.tensor([float('inf')])], T.zeros(1))[1:]",
    "U(4.0, 0, 0.0)",
    "U(4.0, 1, 0.0)",
    "U(4.0, 1, 1.0)",
    "U(3e38, 1, 0.0)",
    "T.slice_inverse(T.arange(10.0)[2:6], T.arange(10.0), 0, 2, 6)",
    "T._grid_sampler_2d_cpu_fallback(W(1, 1, 3, 3), W(1, 2, 2, 2), 0, 0, False)",
    "T._C._nn.thnn_conv2d(W(1, 2, 5, 5), W(3, 2, 3, 3), [3, 3], W(3), [2, 1], [1, 0])",
    "T._test_autograd_multiple_dispatch(T.ones(2), True)",
    "T._test_check_tensor(T.ones(2).bool())",
)
ERRORS = (
    "T._weight_int8pack_mm(W(3, 8).double(), I(4, 8).to(T.int8), W(4))",
    "T._weight_int8pack_mm(W(3, 8), I(4, 8), W(4))",
    "T._weight_int8pack_mm(W(3, 8), I(4, 6).to(T.int8), W(4))",
    "T._weight_int8pack_mm(W(3, 8), I(4, 8).to(T.int8), W(5))",
    "T._weight_int8pack_mm(W(3, 8).bfloat16(), I(4, 8).to(T.int8), W(4))",
    "T._convert_weight_to_int4pack_for_cpu(I(20, 4), 2)",
    "T._convert_weight_to_int4pack_for_cpu(I(16, 3), 2)",
    "T._convert_weight_to_int4pack_for_cpu(I(16, 4).long(), 2)",
    "T._weight_int4pack_mm_for_cpu(W(3, 64), T.zeros(16, 32, dtype=T.uint8), 20, W(2, 16, 2))",
    "T._weight_int4pack_mm_for_cpu(W(3, 64), T.zeros(16, 32, dtype=T.uint8), 32, W(2, 15, 2))",
    "T._weight_int4pack_mm_for_cpu(W(3, 64), T.zeros(16, 16, dtype=T.uint8), 32, W(2, 16, 2))",
    "T._addmm_activation(T.ones(3), W(2, 4), W(2, 4))",
    "T._amp_foreach_non_finite_check_and_unscale_([T.ones(2)], T.zeros(2), T.ones(1))",
    "T._amp_foreach_non_finite_check_and_unscale_([T.ones(2)], T.zeros(1), T.ones(1).double())",
    "T._amp_foreach_non_finite_check_and_unscale_([T.ones(2).int()], T.zeros(1), T.ones(1))",
    "T._amp_update_scale_(T.ones(2), T.zeros(1).int(), T.zeros(1), 2.0, 0.5, 2)",
    "T._amp_update_scale_(T.ones(1), T.zeros(1), T.zeros(1), 2.0, 0.5, 2)",
    "T._test_check_tensor(T.zeros(2).bool())",
    "T._C._nn.thnn_conv2d(W(1, 2, 5, 5), W(3, 2, 3, 3), [])",
    "T._C._nn.thnn_conv2d(W(1, 2, 5, 5), W(3, 2, 3, 3), [3, 3], stride=[1])",
    "T._C._nn.thnn_conv2d(W(2, 5, 5), W(3, 2, 3, 3), [3, 3])",
    "T._C._nn.thnn_conv2d(W(1, 1, 5, 5), W(3, 2, 3, 3), [3, 3])",
    "T.nonzero(T.ones(2), as_tuple=True, out=T.empty(2, 1, dtype=T.long))",
    "T.linalg.pinv(W(2, 2), rcond=T.full((), 1j))",
    "T.nn.Fold((4, 5), (2, 2), stride=1, dilation=8)(W(1, 12, 12))",
    "delattr(T.ones(2), 'shape')",
    "V(lambda x: x, in_dims=(-1,))(T.ones(2, 3))",
    "V(lambda x: x, in_dims=(2,))(T.ones(2, 3))",
    "T.autograd.gradcheck(lambda x: T.cat([x, x]) if bool((x >= 1).all()) else x, (T.ones(1).double().requires_grad_(),))",
    "T.autograd.gradcheck(lambda x: x.float() if bool((x >= 1).all()) else x, (T.ones(1).double().requires_grad_(),), "
    "fast_mode=True)",
    "T.autograd.gradgradcheck(T.scatter_reduce, (R(1), 0, T.tensor([0, 0]), R(2), 'prod'))",
    "T.autograd.gradgradcheck(T.index_reduce, (R(1), 0, T.tensor([0, 0]), R(2), 'prod'))",
)


def _names(module: Any) -> dict[str, Any]:
    def wave(*shape: int) -> Any:
        return module.arange(float(_count(shape))).sin().reshape(shape)

    def integers(*shape: int) -> Any:
        return (module.arange(_count(shape), dtype=module.int32) * 7 % 16).reshape(shape)

    def update(scale: float, steps: int, found: float) -> Any:
        tracker = module.tensor([steps], dtype=module.int32)
        return module._amp_update_scale_(module.tensor([scale]), tracker, module.tensor([found]), 2.0, 0.5, 2), tracker

    def zeros(count: int) -> Any:
        return module.zeros(count, dtype=module.float64).requires_grad_()

    return {"T": module, "W": wave, "I": integers, "U": update, "R": zeros, "V": module._vmap_internals.vmap}


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


@pytest.mark.parametrize("text", SAME)
def test_results(text: str) -> None:
    """Numbers are torch's, those of 16 bits to their last place."""
    code = compile(text, "case", "eval")
    assert_same_value(lambda: eval(code, _names(mindtorch)), lambda: eval(code, _names(torch)), rtol=1e-2, atol=1e-4)


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text: str) -> None:
    """Errors have torch's kind and text."""
    code = compile(text, "case", "eval")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_torch_error(lambda: eval(code, _names(mindtorch)), lambda: eval(code, _names(torch)))


def test_gradients_of_operators_for_tests() -> None:
    """One adds 1 to the gradient, one warns; a view and its copy have the same gradient."""
    leaf = mindtorch.ones(2, 2, requires_grad=True)
    mindtorch._test_autograd_multiple_dispatch(leaf).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    with pytest.warns(UserWarning, match="Warn from backward"):
        mindtorch._C._nn._test_warn_in_autograd(leaf).sum().backward()
    flat = mindtorch._test_autograd_multiple_dispatch_view(leaf)
    assert flat._base is leaf
    assert mindtorch._test_autograd_multiple_dispatch_view_copy(leaf)._base is None


def test_a_recomputation_that_saves_more_is_an_error() -> None:
    """Where it does not stop early, the text says what was saved too much."""
    calls: list[int] = []

    def varying(x: Any) -> Any:
        calls.append(1)
        return x.sin().exp() if len(calls) == 1 else x.sin().exp().sin()

    with mindtorch.utils.checkpoint.set_checkpoint_early_stop(False):
        x = mindtorch.ones(1, requires_grad=True)
        out = mindtorch.utils.checkpoint.checkpoint(varying, x, use_reentrant=False)
        with pytest.raises(RuntimeError, match="trying to save more tensors during recomputation"):
            out.backward()


def test_names_of_threads() -> None:
    """The calling thread has the name that it was given, as far as the system keeps it."""
    before = mindtorch.multiprocessing._get_thread_name()
    try:
        mindtorch.multiprocessing._set_thread_name("test name")
        assert mindtorch.multiprocessing._get_thread_name() in ("test name", "")
    finally:
        mindtorch.multiprocessing._set_thread_name(before)


def test_types_of_elementwise_operations() -> None:
    """In which type numbers are computed with, and which the result has."""
    operands = (
        "T.ones(2).half()",
        "T.ones(2).int()",
        "T.ones(2, dtype=T.complex64)",
        "T.tensor(1.0).double()",
        "2.5",
        "True",
    )
    for kind in torch._prims_common.ELEMENTWISE_TYPE_PROMOTION_KIND.__members__:
        for text in (*operands, *(f"{one}, {other}" for one in operands for other in operands)):
            found = [_promoted(module, kind, text) for module in (mindtorch, torch)]
            assert found[0] == found[1], (kind, text)


def _promoted(module: Any, kind: str, text: str) -> str:
    common = module._prims_common
    operands = eval(f"({text},)", {"T": module})
    return str(common.elementwise_dtypes(*operands, type_promotion_kind=common.ELEMENTWISE_TYPE_PROMOTION_KIND[kind]))


def test_sizes_in_inference_mode() -> None:
    """A tensor that requires grad may be resized where nothing is recorded at all."""
    with mindtorch.inference_mode():
        assert mindtorch.ones(1, 2, 3, requires_grad=True).resize_(1, 2).shape == (1, 2)


@pytest.mark.parametrize("zeros", [True, False])
def test_gradients_of_outputs_without_any(zeros: bool) -> None:
    """They are zeros in `backward`, or None where the function wants them so."""
    seen: list[Any] = []

    class Both(mindtorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            out, count = x.clone(), x.clone()
            ctx.mark_non_differentiable(count)
            ctx._materialize_non_diff_grads = zeros
            return out, count

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            seen.extend(grads)
            return grads[0]

    Both.apply(mindtorch.ones(1, requires_grad=True))[0].backward()
    assert seen[0].item() == 1.0
    assert seen[1] == 0.0 if zeros else seen[1] is None


def test_filling_elements_that_share_memory() -> None:
    """A number fills them with a warning, be it in a tensor."""
    for module in (mindtorch, torch):
        shared = module.ones(1).expand(3)
        with pytest.warns(UserWarning, match="expanded tensors"):
            shared.masked_fill_(module.tensor([True, False, True]), module.tensor(0.0))
        assert shared.tolist() == [0.0] * 3
