"""A row of unsupported.toml is there while its feature is missing: a program shows that, and a feature that came fails here."""

import importlib
import re
import tomllib
from importlib import resources

import pytest

import mindtorch

ROWS = tomllib.loads(resources.files("mindtorch").joinpath("data/unsupported.toml").read_text())
KEPT_ELSEWHERE = {
    "absent names": "test_absent_names.py holds absent.toml against the names that are there",
    "public names": "test_public_names.py holds missing_names.txt against torch",
    "pickle": "test_plain_pickles.py",
    "device npu": "the column npu of the scoreboard is compared by the sweep",
    "torch_npu": "its own lists are compared by the tests of torch_npu's names",
    "torch.profiler.itt": "torch without ITT raises the same text",
    "torch.library.wrap_triton": "torch without Triton raises the same text",
    "torch.utils.tensorboard.SummaryWriter.add_onnx_graph": "it needs tensorboard, which is not everywhere",
    "torch.complex32": "the sweep's board for complex32",
    "torch.distributed": "backends of libraries that are not here",
    "torch.distributed.run": "what it refuses beside NUMA, which has a row, are texts of its arguments",
}
"""Rows that a list or a test of its own keeps."""

RAISES = [
    ("torch._scaled_mm", "torch._scaled_mm(f8, f8.t(), torch.tensor(1.0), torch.tensor(1.0))", "not offered"),
    ("torch._scaled_mm_v2", "torch._scaled_mm_v2(f8, f8.t(), [], [], [], [], [], [])", "not offered"),
    (
        "torch.nn.functional.scaled_mm",
        "F.scaled_mm(f8, f8.t(), torch.tensor(1.0), 0, torch.tensor(1.0), 0)",
        "not offered",
    ),
    ("torch.distributed.rpc", "load('distributed.rpc').init_rpc('a')", "not offered"),
    ("torch.distributed.fsdp", "load('distributed.fsdp.sharded_grad_scaler').ShardedGradScaler()", "not offered"),
    ("torch.distributed.optim", "load('distributed.optim').DistributedOptimizer(torch.optim.SGD, [])", "not offered"),
    (
        "torch.distributed.pipelining",
        "load('distributed.pipelining.stage').PipelineStage(linear, 0, 1, torch.device('cpu'), dw_builder=list)",
        "dw_builder",
    ),
    (
        "torch.distributed.checkpoint",
        "load('distributed.checkpoint').FileSystemWriter('x', _extensions=[object()])",
        "extensions",
    ),
    ("torch.distributed.tensor", "load('distributed.tensor.experimental').context_parallel(None)", "context_parallel"),
    ("torch.sparse", "torch.triangular_solve(torch.ones(3, 1), torch.eye(3).to_sparse_csr())", "triangular_solve"),
    ("torch.sparse", "torch.eye(3).to_sparse_csr().resize_(4, 4)", "SparseCsr"),
    (
        "torch.sparse",
        "torch.sparse.to_sparse_semi_structured(torch.tensor([0, 0, 1, 1.0]).repeat(64, 4).half())",
        "structured",
    ),
    ("tensors of more than 64 dimensions", "torch.sin(torch.ones([1] * 70))", "up to 64 dims"),
    ("torch.nested", "torch.cumsum(torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), 0)", "NestedTensorCPU"),
    (
        "torch._subclasses.meta_utils.MetaConverter",
        "load('_subclasses.meta_utils').MetaConverter()(torch.eye(2).to_sparse())",
        "layout",
    ),
    ("torch.export.export", "load('export').draft_export(linear, (torch.ones(2),))", "draft_export"),
    ("torch.export.export", "load('export').unflatten(load('export').export(linear, (torch.ones(2),)))", "unflatten"),
    (
        "torch.fx.experimental.proxy_tensor.make_fx",
        "load('fx.experimental.proxy_tensor').make_fx(abs, tracing_mode='symbolic')(torch.ones(2))",
        "symbolic",
    ),
    (
        "torch.numa.binding",
        "load('distributed.launcher').LaunchConfig(1, 1, 1, numa_options=load('numa.binding').NumaOptions('node'))",
        "NUMA",
    ),
    (
        "torch.quantize_per_tensor",
        "torch.add(torch.ones(2), 1, out=torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8))",
        "Quantized",
    ),
    (
        "torch.ao.quantization",
        "load('ao.quantization.quantize_fx').prepare_fx(linear, None, (torch.ones(2),))",
        "eager mode alone",
    ),
    ("torch.nn.quantized", "load('ao.nn.quantizable').LSTM(2, 2)", "eager mode alone"),
    ("torch.func.vmap", "torch.vmap(lambda x: x.resize_(2))(torch.ones(2, 1))", "BatchedTensorImpl"),
    (
        "torch.Tensor._make_wrapper_subclass",
        "torch.Tensor._make_wrapper_subclass(Wrapped, (2,), layout=torch.jagged)",
        "layout",
    ),
    ("torch._subclasses.FakeTensorMode", "load('_subclasses').FakeTensorMode(shape_env=object())", "symbolic"),
    ("torch.ops.load_library", "torch.ops.load_library('missing.so')", "Could not load"),
    ("torch.jit.script", "torch.jit.script(torch.nn.CrossMapLRN2d(2)).code", "no definition that compiles"),
    ("torch.jit.script", "torch.jit.script(torch.nn.CrossMapLRN2d(2)).save('x')", "no definition that compiles"),
    ("torch.jit.script", "torch.jit.trace(linear, torch.ones(2)).graph", "without a graph"),
    ("torch.onnx.export", "load('onnx').export(linear, (torch.ones(2),), 'x')", "does not export"),
    ("torch.utils.data.datapipes.dataframe", "load('utils.data.datapipes.iter').RoutedDecoder([])", "data frames"),
    (
        "torch.profiler.ExecutionTraceObserver",
        "load('profiler').ExecutionTraceObserver().register_callback('x')",
        "other profilers",
    ),
    (
        "torch.profiler.profile.export_memory_timeline",
        "load('profiler').profile().export_memory_timeline('x')",
        "not supported",
    ),
    ("torch.autograd.profiler.load_nvprof", "torch.autograd.profiler.load_nvprof('x')", "other profilers"),
    ("torch.autograd.profiler_legacy", "load('autograd.profiler_legacy').profile()", "other profilers"),
    ("torch.profiler._KinetoProfile", "load('profiler')._KinetoProfile", "_KinetoProfile"),
    ("torch.autograd.profiler.emit_itt", "torch.autograd.profiler.emit_itt().__enter__()", "ITT"),
    (
        "torch.autograd.grad_mode._force_original_view_tracking",
        "load('autograd.grad_mode')._force_original_view_tracking(True).__enter__()",
        "not replayed",
    ),
    ("torch.fx.passes", "load('fx.passes.net_min_base')._MinimizerBase", "_MinimizerBase"),
    (
        "torch.fx.Graph.python_code",
        "torch.fx.symbolic_trace(linear).graph.python_code('self', record_func=True)",
        "record_func",
    ),
    ("torch.lobpcg", "torch.lobpcg(torch.eye(9), k=1, tracker=print)", "tracker"),
    ("torch.lobpcg", "torch.lobpcg(torch.eye(9).requires_grad_(), k=1)[0].sum().backward()", "gradients"),
    ("torch.utils.benchmark", "load('utils.benchmark').Timer('int x;', language='c++')", "C++"),
    ("torch.utils.benchmark", "load('utils.benchmark').Compare([]).colorize()", "colours"),
    (
        "DistributedDataParallel",
        "torch.nn.parallel.DistributedDataParallel(linear, mixed_precision=object())",
        "mixed_precision",
    ),
]
"""What raises: of which row, the program, and a part of the text."""

DIFFERS = [
    (
        "torch.func.vmap",
        "kinds = []\ntorch.vmap(lambda x: kinds.append(type(x)) or x)(torch.ones(2))\nassert kinds != [torch.Tensor]",
    ),
    (
        "torch.utils.flop_counter",
        "names = map(str, load('utils.flop_counter').flop_registry)\nassert not [name for name in names if 'attention' in name]",
    ),
    (
        "torch.fx.experimental.optimization.optimize_for_inference",
        "made = load('fx.experimental.optimization').optimize_for_inference(torch.nn.Sequential(linear).eval())\n"
        "assert not [node for node in made.graph.nodes if 'mkldnn' in str(node.target)]",
    ),
    ("torch._higher_order_ops", "assert not hasattr(torch.ops.higher_order, 'scan')"),
]
"""What runs and is not what torch does: a program that ends while that is so."""


class Wrapped(mindtorch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def space():
    """What the programs name."""
    return {
        "torch": mindtorch,
        "F": mindtorch.nn.functional,
        "load": lambda name: importlib.import_module(f"mindtorch.{name}"),
        "f8": mindtorch.ones(16, 16).to(mindtorch.float8_e4m3fn),
        "linear": mindtorch.nn.Linear(2, 2),
        "Wrapped": Wrapped,
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("row", "program", "text"), RAISES, ids=[program[:60] for _, program, _ in RAISES])
def test_what_a_row_says_raises(row, program, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = space()
    with pytest.raises(Exception, match=re.escape(text)):
        exec(program, names)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("row", "program"), DIFFERS, ids=[row for row, _ in DIFFERS])
def test_what_a_row_says_differs(row, program):
    exec(program, space())


def test_every_row_has_a_program_or_a_test_of_its_own():
    shown = {row for row, *_ in (*RAISES, *DIFFERS)}
    rows = {row for table in ROWS.values() for row in table}
    assert sorted(shown - rows) == []
    assert sorted(rows - shown - set(KEPT_ELSEWHERE)) == []
    assert sorted(set(KEPT_ELSEWHERE) & shown) == []
    assert sorted(set(KEPT_ELSEWHERE) - rows) == []
