"""`torch.cond`, streams of the CPU, `torch.sparse`, `torch.monitor` and their neighbours, beside torch's."""

from __future__ import annotations

import datetime
import importlib
from typing import Any

import pytest

import mindtorch as mt

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("torch.utils.benchmark", reason="oracle")

CALLS = """
T.cond(True, lambda x: x + 1, lambda x: x - 1, (T.ones(2),))
T.cond(T.tensor(False), lambda x: x + 1, lambda x: x - 1, [T.ones(2)])
T.cond(T.tensor([True, False]), lambda x: x, lambda x: x, (T.ones(2),))
T.cond("a", lambda x: x, lambda x: x, (T.ones(2),))
I("_higher_order_ops").while_loop(lambda x, y: x.sum() < 3, lambda x, y: (x + 1, y * 2), (T.zeros(1), T.ones(2)))
S(lambda x, y: x + y, T.arange(5.0), 0, combine_mode="generic")
S(lambda x, y: x + y, T.arange(5.0), 0, reverse=True, combine_mode="generic")
S(lambda x, y: (x[0] * y[0], x[1] + y[1]), (T.arange(1.0, 7.0).view(2, 3), T.ones(2, 3)), 1, combine_mode="generic")
S(lambda x, y: {"k": x["k"] @ y["k"]}, {"k": T.arange(12.0).view(3, 2, 2)}, 0, combine_mode="generic")
S(lambda x, y: x + y, T.arange(5.0), 0)
S(lambda x, y: x + y, T.arange(5.0), 0, combine_mode="other")
S(3, T.arange(5.0), 0)
S(lambda x, y: x + y, T.arange(5.0), 3)
S(lambda x, y: x + y, T.ones(0), 0, combine_mode="generic")
I("jit").wait(I("jit").fork(lambda x, *, y: x + y, T.ones(1), y=2))
I("jit").fork(lambda: 1 / 0)
I("jit").wait(3)
I("jit").onednn_fusion_enabled(), I("jit").strict_fusion().__enter__()
[T._C._get_graph_executor_optimize() for _ in I("jit").optimized_execution.__wrapped__(False)]
I("jit").optimized_execution(False).__enter__(), T._C._get_graph_executor_optimize(True)
I("jit").set_module(set, 3)
I("jit").set_fusion_strategy([("STATIC", 2), ("DYNAMIC", 10)])
I("utils._device").set_device("meta")(lambda: (T.zeros(2).device, T.ones(1, device="cpu").device, T.tensor(1).device))()
T.torch is T, T.torch.Tensor is T.Tensor
T.get_device_module("cpu").__name__.rpartition(".")[2]
T.get_device_module().__name__.rpartition(".")[2]
T.get_device_module(T.device("cuda")).__name__.rpartition(".")[2]
T.get_device_module(3)
T.get_device(T.ones(2))
T.dequantize(T.ones(2, dtype=T.float64)), T.dequantize(T.ones(2, dtype=T.int64))
T.set_autocast_cpu_dtype(T.bfloat16), T.set_autocast_gpu_dtype(T.float16)
T.set_autocast_cpu_dtype(3)
T.detach_(T.ones(2, requires_grad=True) * 2).requires_grad
T.sym_sqrt(4)
(T.has_lapack, T.has_mkl, T.has_openmp, T.has_spectral, T.newaxis)
T.GradScaler is T.amp.GradScaler
T.feature_alpha_dropout_(T.ones(2, 3), 0.0, True)
T.embedding_renorm_(T.ones(2, 3), T.tensor([0]), 1.0, 2.0)
T.Stream()
T.Stream("cpu") == T.Stream()
T.Stream().query(), T.Stream().synchronize(), T.Stream().device, T.Stream().stream_id
T.Stream().wait_stream(T.Stream())
T.Event()
T.Event().query(), T.Event().synchronize(), T.Event().event_id
T.Event().record()
T.Event().elapsed_time(T.Event())
T.Stream("cuda")
scan(lambda s, x: (s + x, s * x), T.zeros(2), T.arange(6.0).reshape(3, 2))
scan(lambda s, x: (s + x, s * x), T.zeros(3), T.arange(6.0).reshape(3, 2), dim=1)
scan(lambda s, x: (s + x, s * x), T.zeros(3), T.arange(6.0).reshape(3, 2), dim=-1, reverse=True)
scan(lambda s, x: ({"a": s["a"] * x[0]}, [x[1] + 1, s["a"].clone()]), {"a": T.ones(2)}, (T.ones(3, 2), T.zeros(3, 2)))
scan(lambda s, x: (s + 1, x.sum()), T.zeros(2), T.ones(2, 3, 2), dim=1)
scan(lambda s, x: (s, x), T.ones(2), [])
scan(3, T.ones(2), T.ones(2))
scan(lambda s, x: (s, x), T.ones(2), T.ones(2), dim=1)
scan(lambda s, x: (s, x), T.ones(2), T.ones(2), reverse=1)
scan(lambda s, x: (s, x), [], T.ones(2))
scan(lambda s, x: (s, x), [1], T.ones(2))
scan(lambda s, x: (s, x), T.ones(2), [T.ones(2), 1])
scan(lambda s, x: (s, x), T.ones(2), T.ones(0))
scan(lambda s, x: (s, x), T.ones(2), [T.ones(2, 2), T.ones(2)], dim=1)
T.sparse.mm(T.eye(3).to_sparse(), T.ones(3, 2))
T.sparse.mm(T.eye(3).to_sparse(), T.eye(3).to_sparse()).to_dense()
T.sparse.addmm(T.ones(3, 2), T.eye(3).to_sparse(), T.ones(3, 2), beta=2.0, alpha=3.0)
T.sparse.sum(T.eye(3).to_sparse())
T.sparse.sum(T.ones(2, 3).to_sparse(), 1)
T.sparse.sum(T.ones(2, 3).to_sparse(), (0, 1))
T.lobpcg(T.eye(4), k=2)
T.lobpcg(T.ones(4, 3), k=1)
[round(v, 3) for v in T.lobpcg(T.diag(T.arange(1.0, 13.0)), k=2)[0].tolist()]
[round(v, 3) for v in T.lobpcg(T.diag(T.arange(1.0, 13.0)), k=2, largest=False)[0].tolist()]
[round(v, 3) for v in T.lobpcg(T.diag(T.arange(1.0, 13.0)), k=1, B=T.diag(T.arange(12.0, 0.0, -1)))[0].tolist()]
I("monitor").Aggregation.SUM, list(I("monitor").Aggregation.__members__)
I("utils.benchmark").select_unit(1e-4), I("utils.benchmark").unit_to_english("us")
I("utils.benchmark").trim_sigfig(123.456, 2), I("utils.benchmark").ordered_unique([1, 2, 1])
I("utils.benchmark").Timer(3)
I("utils.benchmark").Timer("a", global_setup="b")
I("utils.benchmark").Timer("nothing()").timeit(1)
I("utils.benchmark").Timer("a").autorange()
""".strip().splitlines()


@pytest.mark.parametrize("call", CALLS)
def test_call(call: str) -> None:
    """Values, texts and errors."""

    def run(T: Any) -> Any:
        part = lambda name: importlib.import_module(f"{T.__name__}.{name}")  # noqa: E731 (a name for the expression)
        ops = importlib.import_module(f"{T.__name__}._higher_order_ops")
        return eval(call, {"T": T, "I": part, "S": ops.associative_scan, "scan": ops.scan})

    assert_same(lambda: run(mt), lambda: run(torch))


@pytest.mark.parametrize("T", [mt, torch], ids=["ours", "torch"])
def test_a_device_context_makes_there(T: Any) -> None:
    """What is made without a device goes to the context's, and the context ends."""
    devices = importlib.import_module(f"{T.__name__}.utils._device")
    with devices.DeviceContext("meta"):
        made = [T.ones(2), T.tensor([1]), T.arange(3), T.empty(1, device="cpu")]
        assert str(devices.CURRENT_DEVICE) == "meta"
    assert [str(one.device) for one in [*made, T.ones(1)]] == ["meta", "meta", "meta", "cpu", "cpu"]
    assert devices.CURRENT_DEVICE is None


def test_lobpcg_finds_what_eigh_finds() -> None:
    """Random matrices, one and several; vectors that belong to the values."""
    generator = mt.Generator().manual_seed(0)
    A = mt.randn(2, 24, 24, generator=generator, dtype=mt.float64)
    A = A @ A.mT
    values, vectors = mt.lobpcg(A, k=3, tol=1e-9)
    assert mt.allclose(values, mt.linalg.eigvalsh(A).flip(1)[:, :3], rtol=1e-7)
    assert mt.allclose(A @ vectors, vectors * values[:, None], atol=1e-5)
    with pytest.raises(NotImplementedError, match="gradients are not offered"):
        mt.lobpcg(A.requires_grad_(), k=1)


@pytest.mark.parametrize("T", [mt, torch], ids=["ours", "torch"])
def test_stats_and_events(T: Any) -> None:
    """A full interval is an event that every listener gets."""
    monitor = importlib.import_module(f"{T.__name__}.monitor")
    seen: list[Any] = []
    handle = monitor.register_event_handler(seen.append)
    stat = monitor.Stat("a", [monitor.Aggregation.SUM, monitor.Aggregation.COUNT], datetime.timedelta(days=1), 2)
    stat.add(2.5)
    assert (stat.name, stat.count, sorted(stat.get().values())) == ("a", 1, [0.0, 0.0])
    stat.add(1)
    assert (stat.count, sorted(stat.get().values())) == (0, [2.0, 3.5])
    monitor.log_event(monitor.Event("b", datetime.datetime(2020, 1, 1), {"x": 1, "y": "z"}))
    monitor.unregister_event_handler(handle)
    monitor.log_event(monitor.Event("c", datetime.datetime(2020, 1, 1), {}))
    assert [(one.name, one.data) for one in seen] == [
        ("torch.monitor.Stat", {"a.sum": 3.5, "a.count": 2.0}),
        ("b", {"x": 1, "y": "z"}),
    ]
    with pytest.raises(TypeError):
        monitor.Event("d", datetime.datetime(2020, 1, 1), {"x": [1]})


def _measured(T: Any) -> list[Any]:
    b = importlib.import_module(f"{T.__name__}.utils.benchmark")

    def made(times: list[float], number: int, stmt: str, **rest: Any) -> Any:
        return b.Measurement(number, times, b.TaskSpec(stmt, "", "", "lab", env="env", **rest))

    return [
        made([1e-5, 2e-5, 3e-5, 2.5e-5], 1, "x", sub_label="sub", description="desc", num_threads=2),
        made([1e-3, 2e-3], 100, "y", sub_label="other", description="desc"),
        made([1e-1, 2e-1, 1, 1.5], 100, "z", sub_label="other", description="another"),
        b.Measurement(1, [3e-9], b.TaskSpec("a\nb", "s")),
    ]


def test_measurements_are_written_as_torch_writes_them() -> None:
    """Texts, numbers and tables of given times."""
    rows = []
    for T in (mt, torch):
        found = _measured(T)
        b = importlib.import_module(f"{T.__name__}.utils.benchmark")
        table = b.Compare(found[:3])
        texts = [str(one).partition("\n")[2] for one in found] + [str(table)]
        table.trim_significant_figures()
        facts = [(one.median, one.mean, one.iqr, one.significant_figures, one.has_warnings, one.title) for one in found]
        rows.append([texts, str(table), facts, [one.times for one in b.Measurement.merge(found[1:2] * 2)]])
    assert rows[0] == rows[1]


def test_a_timer_counts_runs() -> None:
    """The statement sees its names, and runs as often as it says."""
    b = importlib.import_module("mindtorch.utils.benchmark")
    runs: list[int] = []
    timer = b.Timer("runs.append(1); torch.ones(1)", globals={"runs": runs}, label="l")
    measured = timer.timeit(100)
    assert len(runs) == 102
    assert (measured.number_per_run, len(measured.raw_times), measured.median > 0) == (100, 1, True)
    assert timer.blocked_autorange(min_run_time=0.001).median > 0
    assert timer.adaptive_autorange(min_run_time=0.001, max_run_time=0.01).median > 0
    for call in (timer.collect_callgrind, b.Compare([measured]).colorize, b.Compare([measured]).highlight_warnings):
        with pytest.raises(NotImplementedError):
            call()


def test_what_the_surroundings_are() -> None:
    """The texts of `collect_env` and `__config__` name this library."""
    text = importlib.import_module("mindtorch.utils.collect_env").get_pretty_env_info()
    assert "PyTorch version: 2.13.0" in text
    assert "Is CUDA available: False" in text
    assert "MindTorch" in mt.__config__.show()
    assert f"at::get_num_threads() : {mt.get_num_threads()}" in mt.__config__.parallel_info()
