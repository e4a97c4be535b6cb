"""Names that few libraries use: legacy sparse types, `torch.mtia`, `out_dtype`, helpers of optimizers, settings."""

import importlib
import warnings

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

INDICES, VALUES = "T.tensor([[0, 1], [1, 2]])", "T.tensor([1.0, 2.0])"
EXPRESSIONS = [
    f"T.sparse.FloatTensor({INDICES}, {VALUES}.double())",
    "T.sparse.FloatTensor(2, 3), T.sparse.LongTensor(), T.sparse.HalfTensor(T.Size([2, 3]))",
    "T.sparse.FloatTensor((2, 3))",
    "T.sparse.FloatTensor([1.0, 2.0])",
    f"T.sparse.FloatTensor({INDICES}, {VALUES}, (3, 3)), T.sparse.FloatTensor({INDICES}, {VALUES}, size=[3, 3])",
    f"T.sparse.FloatTensor({INDICES}, {VALUES}, T.Size([2, 2]))",
    f"T.sparse.FloatTensor({VALUES})",
    f"T.sparse.FloatTensor({INDICES}, {VALUES}, 3)",
    f"T.sparse.FloatTensor({INDICES}, [1.0, 2.0])",
    "T.sparse.FloatTensor(device='meta')",
    f"isinstance({VALUES}, T.sparse.FloatTensor), isinstance({VALUES}.to_sparse(), T.sparse.FloatTensor)",
    f"isinstance({VALUES}, T.FloatTensor), isinstance({VALUES}.to_sparse(), T.FloatTensor)",
    f"{VALUES}.to_sparse().type(), {VALUES}.to_sparse().type('torch.sparse.DoubleTensor').type()",
    f"{VALUES}.double().to_sparse().type(T.sparse.FloatTensor).type(), {VALUES}.type(T.sparse.FloatTensor)",
    "T.sparse.IntTensor, T.sparse.IntTensor.layout, T.sparse.IntTensor.is_sparse, T.IntTensor.layout",
    "T.sparse.BoolTensor",
    "T.eye(2).to_sparse_coo(), T.ones(2, requires_grad=True).to_sparse_coo().grad_fn.name()",
    *(
        f"T._higher_order_ops.out_dtype.out_dtype({arguments})"
        for arguments in (
            "T.ops.aten.mul.Tensor, T.int32, T.tensor([100, 2]).to(T.int8), T.tensor([100, 2]).to(T.int8)",
            "T.ops.aten.mul.Tensor, T.int64, T.tensor([2**25 + 1]), T.tensor([1])",
            "T.ops.aten.mul.Scalar, T.int32, T.tensor([100, 2]).to(T.int8), 300",
            "T.ops.aten.mm.default, T.int32, T.eye(2).to(T.int8), T.eye(2).to(T.int8)",
            "T.ops.aten.mm.default, T.float64, T.eye(2).to(T.int8), T.eye(2)",
            "T.ops.aten.mul.out, T.int32, T.ones(1), T.ones(1)",
            "T.ops.aten.max.default, T.float64, T.ones(1)",
            "T.mm, T.float64, T.ones(1, 1), T.ones(1, 1)",
            "T.ops.aten.mul.Tensor, 3, T.ones(1), T.ones(1)",
        )
    ),
    "[optimizer._default_to_fused_or_foreach([T.nn.Parameter(T.ones(1))], *o) for o in [(0, 1), (0, 0), (1, 1)]]",
    "optimizer._default_to_fused_or_foreach([], False, True)",
    "optimizer._default_to_fused_or_foreach([T.ones(1, dtype=T.int64), None], False, True)",
    "T.optim.Optimizer._group_tensors_by_device_and_dtype([[T.ones(1)], [T.zeros(1)]], True)",
    "{k: int(v) for k, v in T.onnx.symbolic_helper.cast_pytorch_to_onnx.items()}",
    "T.profiler.profiler._default_schedule_fn(3), T._dynamo.eval_frame.is_dynamo_supported()",
    "T.functional.pca_lowrank.__name__, T.profiler.profiler.schedule.__name__",
    *(
        f"T._prims_common.make_contiguous_strides_for({arguments})"
        for arguments in ("(2, 0, 3)", "(2, 0, 3), False", "(3, 4, 5), row_major=False", "(4,), False", "()")
    ),
    *(
        f"T._prims_common.suggest_memory_format({tensor})"
        for tensor in (
            "T.ones(2, 3)",
            "T.ones(2, 1, 4, 4)",
            "T.ones(2, 1, 4, 4).to(memory_format=T.channels_last)",
            "T.ones(2, 3, 1, 1).to(memory_format=T.channels_last)",
            "T.ones(2, 3, 4, 5, 6).permute(0, 4, 1, 2, 3)",
            "T.eye(2).to_sparse()",
        )
    ),
    *(
        f"T.ops.aten.to.dtype_layout(T.ones(2), {options})"
        for options in ("dtype=T.int32", "device='meta'", "layout=T.strided", "layout=T.sparse_csr", "copy=True")
    ),
    "(lambda x: T.ops.aten.to.dtype_layout(x) is x)(T.ones(2)), T.ops.aten.is_pinned.default(T.ones(2))",
    "T.ones(2).to(layout=T.strided)",
    "T._dynamo.utils.counters['a']['b']",
    *(
        f"[T._C.parse_schema(f'f(Tensor x, {kind} d={{d}}) -> Tensor').arguments[1].default_value for d in {names}]"
        for kind, names in (
            (
                "ScalarType",
                "('float32', 'half', 'bfloat16', 'int', 'cfloat', 'uint16', 'float8_e4m3fn', 'bool', 'complex')",
            ),
            ("int", "('float', 'long', 'complex', 'Mean')"),
            ("int", "('float32',)"),
            ("ScalarType", "('foo',)"),
            ("ScalarType", "('Sum',)"),
            ("Device", "('cuda',)"),
            ("int", "('cpu',)"),
        )
    ),
    "T._library.infer_schema.infer_schema(annotated(T), mutates_args=())",
    "registered(T)",
    *(
        f"T.mtia.{call}"
        for call in (
            "init()",
            "is_available(), T.mtia.is_initialized(), T.mtia.device_count(), T.mtia.is_bf16_supported()",
            "memory_stats(), T.mtia.memory_allocated(0), T.mtia.max_memory_allocated('mtia:1')",
            "record_memory_history(), T.mtia.reset_peak_memory_stats(), T.mtia.set_stream(None)",
            "manual_seed(1), T.mtia.manual_seed_all(1), T.mtia.seed(), T.mtia.seed_all()",
            "current_device()",
            "synchronize('mtia:1')",
            "synchronize('cpu')",
            "set_device(None)",
            "set_device(0)",
            "current_stream()",
            "default_stream(0)",
            "get_device_properties(1)",
            "get_device_capability()",
            "device('mtia')",
            "device(0).__enter__()",
            "stream(None)",
            "get_rng_state()",
            "get_rng_state_all()",
            "set_rng_state(None)",
            "initial_seed()",
            "empty_cache()",
            "snapshot()",
            "attach_out_of_memory_observer(print)",
            "MTIAGraph()",
            "graph(None)",
            "graph_pool_handle()",
        )
    ),
]


def annotated(T):
    def function(x, dtype=T.bfloat16):
        return x.to(dtype)

    function.__annotations__ = {"x": T.Tensor, "dtype": T.dtype, "return": T.Tensor}
    return function


def registered(T):
    """A custom operator with a dtype as a default, called with and without it."""
    library = T.library.Library("few_libraries", "FRAGMENT")
    library.define("cast(Tensor x, ScalarType dtype=bfloat16) -> Tensor")
    library.impl("cast", lambda x, dtype=T.bfloat16: x.to(dtype), "CompositeExplicitAutograd")
    decomposition = importlib.import_module(f"{T.__name__}._inductor.decomposition")
    op = T.ops.few_libraries.cast.default
    kept = decomposition.register_decomposition([op])(annotated(T))
    found = decomposition.decompositions.pop(op) is kept
    made = T.ops.few_libraries.cast(T.ones(1)).dtype, T.ops.few_libraries.cast(T.ones(1), T.int32).dtype
    library._destroy()
    return found, *made


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_names_of_few_libraries_behave_as_torchs(expression):
    def run(T):
        for name in (
            "mtia",
            "_higher_order_ops.out_dtype",
            "onnx.symbolic_helper",
            "_dynamo.utils",
            "_library.infer_schema",
        ):
            importlib.import_module(f"{T.__name__}.{name}")
        for name in ("_dynamo.eval_frame", "_prims_common"):
            importlib.import_module(f"{T.__name__}.{name}")
        try:
            optimizer = importlib.import_module(f"{T.__name__}.optim.optimizer")
            return repr(
                eval(expression, {"T": T, "optimizer": optimizer, "annotated": annotated, "registered": registered})
            )
        except (RuntimeError, TypeError, ValueError, AttributeError, AssertionError, NotImplementedError) as error:
            return type(error).__name__, str(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(mt) == run(torch)


def test_the_settings_of_the_compiler():
    ours, theirs = (importlib.import_module(f"{T.__name__}.compiler.config") for T in (mt, torch))
    names = [name for name in dir(ours) if not name.startswith("_") and not callable(getattr(ours, name))]
    assert "recompile_limit" in names
    for name in names:
        assert getattr(ours, name) == getattr(theirs, name), name
    with ours.patch(recompile_limit=3):
        assert ours.recompile_limit == 3
    assert ours.recompile_limit == 8


def test_groups_of_settings_of_the_compiler():
    def refusal(run):
        with pytest.raises(AttributeError) as caught:
            run()
        return str(caught.value)

    def seen(config):
        inside = []
        with config.patch({"triton.unique_kernel_names": False, "freezing": True}):
            inside += [config.triton.unique_kernel_names, config.freezing]
        config.cpp.threads = 3
        inside += [config.cpp.threads, config.get_config_copy()["cpp.threads"]]
        config.cpp.threads = -1
        return [
            inside,
            config.max_autotune_gemm_search_space,
            config.triton.unique_kernel_names,
            config.cpp.threads,
            config.eager_numerics.division_rounding,
            config.post_grad_custom_post_pass,
            type(config.triton).__name__,
            refusal(lambda: config.triton.nothing),
            refusal(lambda: setattr(config.triton, "nothing", 1)),
            refusal(lambda: config.nothing),
        ]

    ours, theirs = (importlib.import_module(f"{T.__name__}._inductor.config") for T in (mt, torch))
    assert seen(ours) == seen(theirs)


def test_a_program_may_set_what_a_worker_knows_of_itself(monkeypatch):
    for T in (mt, torch):
        worker = importlib.import_module(f"{T.__name__}.utils.data._utils.worker")
        info = worker.WorkerInfo(id=1, num_workers=2, seed=3, dataset=None)
        monkeypatch.setattr(worker, "_worker_info", info)
        assert T.utils.data.get_worker_info() is info
