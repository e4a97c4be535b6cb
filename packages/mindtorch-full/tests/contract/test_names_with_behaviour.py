"""Names of which the board of the surface told: what they answer, beside torch where it is."""

import warnings

import pytest

import mindtorch

PROGRAMS = [
    "torch.ones(2, 2).to_sparse().nbytes",
    "torch.library.define('surface::without')",
    "torch.library.fallthrough_kernel(1)",
    "torch.library.fallthrough_kernel()",
    "torch.Event('cpu').ipc_handle()",
    "torch.Event.from_ipc_handle(torch.device('cpu'), b'')",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_errors_are_torchs(program):
    torch = pytest.importorskip("torch", reason="oracle")
    from mindtorch_testing import assert_torch_error

    assert_torch_error(lambda: eval(program, {"torch": mindtorch}), lambda: eval(program, {"torch": torch}))


def test_sparse_coordinates_have_no_dense_bytes():
    with pytest.raises(RuntimeError, match="nbytes is not defined for sparse tensors"):
        mindtorch.eye(2).to_sparse().nbytes
    assert mindtorch.eye(2).to_sparse_csr().nbytes == mindtorch.eye(2).nbytes == 16


def test_the_former_name_of_a_loss_warns():
    with pytest.warns(FutureWarning, match="`NLLLoss2d` has been deprecated. Please use `NLLLoss`"):
        made = mindtorch.nn.NLLLoss2d(reduction="sum")
    assert made.reduction == "sum"


def test_a_custom_function_is_a_context_to_isinstance():
    context = mindtorch.autograd.function.FunctionCtx
    assert issubclass(mindtorch.autograd.Function, context)

    class Doubled(mindtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert isinstance(ctx, context)
            ctx.save_for_backward(x)
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            assert ctx.saved_tensors[0].item() == 3
            return 2 * grad

    x = mindtorch.tensor(3.0, requires_grad=True)
    Doubled.apply(x).backward()
    assert x.grad.item() == 2


def test_hooks_of_saved_tensors_are_named_as_in_torch():
    names = {type(one).__module__ for one in (
        mindtorch.autograd.graph.saved_tensors_hooks(abs, abs), mindtorch.autograd.graph.save_on_cpu()
    )}  # fmt: skip
    assert names == {"torch.autograd.graph"}


def test_nested_tensors_have_data():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nested = mindtorch.nested.nested_tensor([mindtorch.ones(2), mindtorch.zeros(3)])
    assert [part.tolist() for part in nested.data.unbind()] == [[1, 1], [0, 0, 0]]


def test_the_older_base_of_functions_is_a_context_too():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = mindtorch.autograd.function.NestedIOFunction()
    made.mark_dirty(1, name=2)
    made.save_for_backward(3)
    assert (made.dirty_tensors, made.to_save) == ((1,), (3,))
    with pytest.raises(NotImplementedError):
        made.forward_extended(1)


def test_a_stream_of_the_cpu_captures_nothing():
    assert mindtorch.Stream("cpu").is_capturing() is False
    assert mindtorch.FloatTensor.is_sparse_csr is False


def test_stacks_are_exported_for_metrics_that_the_list_names(tmp_path):
    with mindtorch.profiler.profile(with_stack=True) as seen:
        mindtorch.ones(2).add(1)
    events = seen.events()
    assert events.supported_export_stacks_metrics()[0] == "self_cpu_time_total"
    with pytest.raises(ValueError, match="metric should be one of"):
        events.export_stacks(str(tmp_path / "stacks"), "no_metric")


def test_a_fallthrough_is_a_kernel_of_any_operator():
    lib = mindtorch.library.Library("surface_falls", "DEF")
    lib.define("same(Tensor x) -> Tensor")
    lib.impl("same", mindtorch.library.fallthrough_kernel, "AutogradCPU")
    lib.impl("same", lambda x: x.clone(), "CPU")
    assert mindtorch.ops.surface_falls.same(mindtorch.ones(1)).item() == 1


def test_casts_of_an_operator_by_name_are_registered_without_an_answer():
    lib = mindtorch.library.Library("surface_casts", "DEF")
    lib.define("same(Tensor x) -> Tensor")
    lib.impl("same", lambda x: x.clone(), "CPU")
    assert mindtorch.library.register_autocast("surface_casts::same", "cpu", mindtorch.bfloat16, lib=lib) is None
    with mindtorch.autocast("cpu"):
        assert mindtorch.ops.surface_casts.same(mindtorch.ones(1)).dtype is mindtorch.bfloat16
