"""The profiler: which events there are, how they nest, tables to the letter, schedules, trace files."""

from __future__ import annotations

import copy
import gc
import gzip
import json
import threading
import warnings
from typing import Any

import pytest

import mindtorch as mt

from .sides import Scenarios, assert_same_results, caught, torch

scenarios = Scenarios()

CPU = "CPU"


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same_results(scenario)


def warned(T: Any, call: Any) -> Any:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        caught(call)
    return [(one.category.__name__, str(one.message)) for one in found]


def events(T: Any, **options: Any) -> Any:
    """Events as a profile has them, with numbers that give every column something to show."""
    make = T.autograd.profiler_util.FunctionEvent
    every = {"overload_name": "", "stack": [], "input_shapes": [], "flops": 0}
    listed = [
        make(1, "fwd", 1, 0.0, 2000.5, **every, scope=7, cpu_memory_usage=3000, is_user_annotation=True),
        make(2, "aten::add", 1, 10.0, 500.25, **{**every, "flops": 12345678}, cpu_memory_usage=2048, sequence_nr=0),
        make(3, "aten::mul", 1, 20.0, 100.25, **every, cpu_memory_usage=-2048 * 1024),
        make(4, "aten::mul", 1, 1000.0, 1500.25, **every, cpu_memory_usage=5 * 1024**3),
        make(5, "aten::" + "a_long_name_of_an_operator" * 3, 2, 2100.0, 2500000.25, **every),
        make(6, "aten::add", 3, 10.0, 500.25, **every),
        make(7, "aten::add", 3, 11.0, 499.25, **every),
    ]
    for event, changed in zip(listed[1:], options.pop("changes", ()), strict=False):
        for name, value in changed.items():
            setattr(event, name, value)
    made = T.autograd.profiler_util.EventList(listed, use_device=None, **options)
    made._build_tree()
    return made


SHAPES = [{"input_shapes": [[2, 3], []]}, {"input_shapes": [[2, 3], [2]]}, {"input_shapes": [[2, 3], [2]]}]
LONG = "/a/path/to/a/file/that/is/much/longer/than/seventy/five/characters/really/file.py(1): f"
STACKS = [{"stack": ["a.py(3): f", "b c.py(4): g"]}, {"stack": [LONG] * 7}, {"stack": ["a.py(3): f"]}]
OVERLOADS = [{"overload_name": "Tensor"}, {"overload_name": "o" * 70}]


@scenarios.each(
    plain=({}, {}),
    memory=({"profile_memory": True}, {}),
    flops=({"with_flops": True}, {}),
    shapes=({"changes": SHAPES}, {"sort_by": "cpu_time_total"}),
    wide_shapes=({"changes": [{"input_shapes": [[2] * 60]}]}, {}),
    narrow=({"changes": SHAPES}, {"max_name_column_width": 20, "max_shapes_column_width": 10}),
    stacks=({"changes": STACKS}, {"max_src_column_width": 40}),
    wide_stacks=({"changes": STACKS}, {}),
    overloads=({"changes": OVERLOADS}, {}),
    nodes=({"changes": [{"node_id": 3}]}, {}),
    asynchronous=({"changes": [{}, {"is_async": True}]}, {}),
    header=({}, {"header": "A HEADER"}),
    top=({}, {"top_level_events_only": True}),
    rows=({}, {"row_limit": 2, "sort_by": "self_cpu_time_total"}),
    all_rows=({}, {"row_limit": -1}),
    no_rows=({}, {"row_limit": 0}),
    seconds=({}, {"time_unit": "s"}),
    milliseconds=({}, {"time_unit": "ms"}),
    microseconds=({}, {"time_unit": "us"}),
    unknown_unit=({}, {"time_unit": "h"}),
    by_count=({}, {"sort_by": "count"}),
    by_memory=({"profile_memory": True}, {"sort_by": "self_cpu_memory_usage"}),
    by_device=({}, {"sort_by": "cuda_time_total"}),
    by_nothing=({}, {"sort_by": "zzz"}),
)
def tables(T, case):
    options, asked = copy.deepcopy(case)
    listed = events(T, **options)
    groups = ({}, {"group_by_input_shapes": True}, {"group_by_stack_n": 1}, {"group_by_overload_name": True})
    return caught(lambda: listed.table(**asked)), [
        caught(lambda group=group: listed.key_averages(**group).table(**asked)) for group in groups
    ]


@scenarios
def lists(T):
    listed = events(T)
    average = listed.key_averages()[0]
    return (
        [(e.name, e.id, [c.id for c in e.cpu_children], e.cpu_parent and e.cpu_parent.id) for e in listed],
        str(listed),
        repr(listed),
        repr(average),
        repr(listed.total_average()),
        listed.self_cpu_time_total,
        [listed[0].cpu_time_str, listed[0].self_cpu_time_total_str, listed[0].self_cpu_memory_usage],
        [average.cpu_time, average.cpu_time_str, average.count, average.key],
        listed[0].time_range.elapsed_us(),
        type(listed).__module__,
        str(T.autograd.profiler_util.EventList([])),
    )


@scenarios
def list_errors(T):
    util = T.autograd.profiler_util
    average = util.FunctionEventAvg()
    listed = events(T)
    average.add(listed[0])
    return (
        caught(lambda: average.add(listed[1])),
        caught(lambda: util.EventList([]).key_averages()),
        caught(lambda: listed.export_stacks("/nonexistent/x", "zzz")),
        repr(util.FunctionEventAvg()),
        util.FunctionEventAvg().cpu_time,
        util.StringTable()["name"],
        util.Kernel("a", 0, 1),
    )


@scenarios
def files_of_lists(T, tmp=None):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        listed = events(T, changes=[{"stack": ["a.py(3): f", "b c/d.py(4): g;h"], "trace_name": "shown"}])
        listed.export_stacks(f"{folder}/stacks", "self_cpu_time_total")
        listed.export_chrome_trace(f"{folder}/trace")
        return Path(f"{folder}/stacks").read_text(), json.loads(Path(f"{folder}/trace").read_text())


def top(events: Any) -> list[Any]:
    """The outermost events; what is inside is each side's own affair."""
    return [(e.name, e.scope, e.is_user_annotation) for e in events if e.cpu_parent is None and e.name != "[memory]"]


@scenarios
def names_of_ops(T):
    x = T.ones(2, 3)
    with T.profiler.profile() as p:
        y = x.relu() @ T.ones(3, 4)
        y.add_(1).sum()
        x[0], x[:, 1:].t()
        T.cat([x, x]).softmax(0)
        T.nn.functional.linear(x, x)
        T.randn(3).max()
    return top(p.events())


@scenarios
def shapes_and_values(T):
    x = T.ones(2, 3)
    with T.profiler.profile(record_shapes=True) as p:
        x.relu()
        x.sum(0, keepdim=True)
        T.cat([x, x], 1)
        x.add(x, alpha=2)
        x @ x.t()
        x.transpose(0, 1)
    return [(e.name, e.input_shapes, e.concrete_inputs) for e in p.events() if e.cpu_parent is None]


@scenarios
def counted_operations(T):
    a, b = T.ones(2, 3), T.ones(3, 4)
    image, weight = T.ones(1, 3, 8, 8), T.ones(4, 3, 3, 3)
    with T.profiler.profile(with_flops=True) as p:
        a @ b
        T.bmm(T.ones(2, 2, 3), T.ones(2, 3, 2))
        T.addmm(T.ones(4), a, b)
        T.nn.functional.conv2d(image, weight, stride=2, padding=1)
        a * 2
        a + a
    wanted = ("aten::mm", "aten::bmm", "aten::addmm", "aten::conv2d", "aten::mul", "aten::add")
    return [(e.name, e.flops) for e in p.events() if e.name in wanted]


@scenarios
def backward(T):
    x = T.ones(2, 3, requires_grad=True)

    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with T.profiler.profile() as p:
        y = Double.apply(x).relu().sum()
        y.backward()
    nodes = [e for e in p.events() if "evaluate_function" in e.name or e.scope == 1]
    sequences = sorted({e.sequence_nr for e in nodes if e.sequence_nr >= 0})
    forward = {e.sequence_nr: e.name for e in p.events() if e.cpu_parent is None and e.scope == 0}
    return (
        [(e.name, e.scope, e.cpu_parent and e.cpu_parent.name) for e in nodes],
        [e.name for e in p.events() if e.name == "Double"],
        [forward[number] for number in sequences if forward[number].startswith(("aten", "Double"))],
        [e.sequence_nr == -1 for e in nodes],
    )


@scenarios
def labels(T):
    record_function = T.profiler.record_function

    @record_function("decorated")
    def decorated():
        return T.ones(1)

    with record_function("before"):
        pass
    with T.autograd.profiler.profile() as p:
        with record_function("outer", "args") as label, record_function("inner"):
            T.ones(1)
        decorated()
    found = [(e.name, e.scope, e.cpu_parent and e.cpu_parent.name) for e in p.function_events]
    return [one for one in found if one[0] != "aten::empty" and one[0] != "aten::fill_"], label.name, label.args


@scenarios
def optimizer_and_loader(T):
    model = T.nn.Linear(2, 2)
    optimizer = T.optim.SGD(model.parameters(), lr=0.1)
    model(T.ones(1, 2)).sum().backward()
    with T.profiler.profile() as p:
        optimizer.step()
        optimizer.zero_grad()
        for _ in T.utils.data.DataLoader([1, 2]):
            pass
    return [e.name for e in p.events() if e.is_user_annotation]


@scenarios
def other_threads_are_not_recorded(T):
    x = T.ones(2)
    with T.profiler.profile() as p:
        thread = threading.Thread(target=lambda: x * 2)
        thread.start()
        thread.join()
        x + x
    return top(p.events())


@scenarios
def only_within(T):
    x = T.ones(2)
    x * 2
    with T.profiler.profile() as p:
        with T.no_grad(), T.inference_mode():
            x + x
        caught(lambda: T.ones(2) @ T.ones(3, 4))
        x - x
    x / 2
    return [name for name, _, _ in top(p.events())]


@scenarios
def modes_inside(T):
    x = T.ones(2, requires_grad=True)
    with T.profiler.profile() as p:
        with T.no_grad():
            x.exp()
        with T.set_grad_enabled(False):
            x.sin()
        T.autograd.grad((x * x).sum(), x)
    return [name for name, _, _ in top(p.events())]


@scenarios.each(
    once={"wait": 1, "warmup": 1, "active": 2, "repeat": 1},
    cycles={"wait": 0, "warmup": 1, "active": 2, "repeat": 0},
    twice={"wait": 1, "warmup": 0, "active": 1, "repeat": 2, "skip_first": 1},
    always={"wait": 0, "warmup": 0, "active": 1, "repeat": 0},
    skipped={"wait": 2, "warmup": 0, "active": 1, "skip_first": 2, "skip_first_wait": 1},
)
def schedules(T, case):
    log = []
    x = T.ones(2)
    for accumulate in (False, True):

        def ready(p):
            log.append(
                (p.step_num, [(e.key, e.count) for e in p.key_averages() if e.key in ("aten::exp", "ProfilerStep*")])
            )

        with T.profiler.profile(schedule=T.profiler.schedule(**case), on_trace_ready=ready, acc_events=accumulate) as p:
            for _ in range(7):
                log.append(str(p.current_action))
                x.exp()
                p.step()
    return log


@scenarios
def schedule_errors(T):
    schedule = T.profiler.schedule
    act = schedule(wait=1, warmup=1, active=1)
    return (
        caught(lambda: schedule(wait=1, warmup=0, active=0)),
        caught(lambda: schedule(wait=-1, warmup=0, active=1)),
        caught(lambda: act(-1)),
        warned(T, lambda: schedule(wait=1, warmup=0, active=1)),
    )


@scenarios
def unusual_schedules(T):
    A = T.profiler.ProfilerAction
    found = []
    for actions in ((A.WARMUP, A.NONE), (A.NONE, A.RECORD_AND_SAVE, A.RECORD_AND_SAVE)):  # torch crashes on others
        ready = []

        def run(actions=actions, ready=ready):
            with T.profiler.profile(
                schedule=lambda step: actions[min(step, len(actions) - 1)],
                on_trace_ready=lambda p: ready.append(p.step_num),
            ) as p:
                for _ in actions[1:]:
                    T.ones(1).exp()
                    p.step()

        texts = [text for _, text in warned(T, run) if "Incorrect" in text]
        found.append((texts, ready))
    return found


@scenarios
def misuse(T):
    profile, legacy = T.profiler.profile, T.autograd.profiler.profile
    p = profile()
    before = [
        caught(call)
        for call in (p.events, p.key_averages, p.stop, lambda: p.export_chrome_trace("/nonexistent"), p.get_trace_id)
    ]
    q = legacy()
    unfinished = str(q), repr(q)
    with q:
        T.ones(1)
    return (
        before,
        caught(lambda: p.export_stacks("/nonexistent")),
        unfinished,
        caught(q.__enter__),
        caught(lambda: profile(activities=[])),
        caught(lambda: profile(activities=["cpu"])),
        caught(lambda: legacy(use_cpu=False)),
        warned(T, lambda: profile(use_cuda=False)),
        [warned(T, lambda device=device: legacy(use_device=device)) for device in ("cuda", "zzz")],
        warned(T, lambda: legacy(use_cuda=True)),
        caught(lambda: T.autograd.profiler.emit_nvtx().__enter__()),
        caught(lambda: T.autograd.profiler.emit_nvtx(enabled=False).__enter__()),
        T.profiler.supported_activities() == {T.profiler.ProfilerActivity.CPU},
    )


@scenarios
def off_switch(T):
    p = T.autograd.profiler.profile(enabled=False)
    with p as entered:
        T.ones(1)
    return entered, p.enabled


@scenarios
def pausing(T):
    x = T.ones(2)
    activity = [T.profiler.ProfilerActivity.CPU]
    with T.profiler.profile() as p:
        x + x
        p.toggle_collection_dynamic(False, activity)
        x * x
        p.toggle_collection_dynamic(True, activity)
        x / x
    return [name for name, _, _ in top(p.events())]


@scenarios
def steps_of_the_program(T):
    tracker = T.autograd.profiler.KinetoStepTracker
    first = tracker.current_step()
    tracker.init_step_count("one")
    found = [tracker.increment_step("one") - first for _ in range(2)]
    tracker.init_step_count("other")
    found.append(tracker.increment_step("other") - first)
    return found, tracker.erase_step_count("one"), tracker.erase_step_count("one"), tracker.erase_step_count("other")


def traced(T: Any, path: str) -> Any:
    x = T.ones(2, 3, requires_grad=True)
    options = {"record_shapes": True, "profile_memory": True}
    with T.profiler.profile(custom_trace_id_callback=lambda: "NAMED", **options) as p:
        p.add_metadata("text", "a")
        p.add_metadata_json("value", '{"b": 1}')
        with T.profiler.record_function("label"):
            x.relu().sum().backward()
    p.export_chrome_trace(path)
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return json.load(file), p.get_trace_id()


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_trace_files_have_torchs_form(tmp_path: Any, name: str) -> None:
    (ours, our_id), (theirs, their_id) = (
        traced(mt, str(tmp_path / name)),
        traced(torch, str(tmp_path / f"their_{name}")),
    )
    assert our_id == their_id == "NAMED"
    assert {*theirs} == {*ours}
    same = ("schemaVersion", "trace_id", "text", "value", "displayTimeUnit", "profile_memory", "record_shapes")
    assert [ours[key] for key in same] == [theirs[key] for key in same]

    def kinds(document: Any) -> Any:
        """Keys by kind of entry, and of arguments by kind of event, for events that both have."""
        found: dict[Any, Any] = {}
        for entry in document["traceEvents"]:
            if entry["ph"] in "Xsf" and entry["name"] in ("aten::relu", "label", "ReluBackward0", "fwdbwd"):
                found[entry["ph"], entry.get("cat"), entry["name"]] = (sorted(entry), sorted(entry.get("args", ())))
        return found

    assert kinds(ours) == kinds(theirs)
    relu = [next(e for e in one["traceEvents"] if e["name"] == "aten::relu")["args"] for one in (ours, theirs)]
    for key in ("Input Dims", "Input Strides", "Input type", "Concrete Inputs"):
        assert relu[0][key] == relu[1][key]
    spans = [e for e in ours["traceEvents"] if e["ph"] == "X" and e["cat"] != "Trace"]
    assert all(e["dur"] > 0 for e in spans)


def test_handler_writes_a_file_per_cycle(tmp_path: Any) -> None:
    ready = mt.profiler.tensorboard_trace_handler(str(tmp_path / "traces"), "worker", use_gzip=True)
    plan = mt.profiler.schedule(wait=0, warmup=1, active=1, repeat=2)
    with mt.profiler.profile(schedule=plan, on_trace_ready=ready) as p:
        for _ in range(4):
            mt.ones(2).exp()
            p.step()
    names = sorted(path.name for path in (tmp_path / "traces").iterdir())
    assert len(names) == 2
    assert all(name.startswith("worker.") and name.endswith(".pt.trace.json.gz") for name in names)


def test_times_are_those_of_the_work() -> None:
    small, large = mt.ones(2, 2), mt.ones(256, 256)
    small @ small, large @ large
    with mt.profiler.profile() as p:
        with mt.profiler.record_function("small"):
            small @ small
        with mt.profiler.record_function("large"):
            for _ in range(20):
                large @ large
    times = {e.key: e.cpu_time_total for e in p.key_averages()}
    assert times["large"] > times["small"] > 0
    inner = [e for e in p.events() if e.cpu_parent is not None]
    assert sum(event.name == "aten::mm" for event in inner) == 21
    for event in inner:
        assert event.cpu_parent.time_range.start <= event.time_range.start
        assert event.time_range.end <= event.cpu_parent.time_range.end


def test_memory_made_and_freed() -> None:
    x = mt.ones(100)
    with mt.profiler.profile(profile_memory=True) as p:
        with mt.profiler.record_function("kept"):
            y = x * 2
        with mt.profiler.record_function("dropped"):
            (x * 3).neg()
        view = y[1:]
        del y
        with mt.profiler.record_function("freed"):
            del view
    used = {e.key: e.cpu_memory_usage for e in p.key_averages()}
    assert used["kept"] == 400
    assert used["dropped"] == 0
    assert used["freed"] == -400
    assert {e.key: e.self_cpu_memory_usage for e in p.key_averages()}["aten::neg"] == 400


def test_frames_of_the_program() -> None:
    with mt.profiler.profile(with_stack=True) as p:
        mt.ones(1)
    stack = p.events()[0].stack
    assert "test_frames_of_the_program" in stack[0]
    assert __file__ in stack[0]
    assert "Source Location" in p.key_averages(group_by_stack_n=3).table()


def test_a_profile_keeps_no_tensor_and_leaves_nothing_on() -> None:
    from mindtorch_dispatch.state import DEFAULT_MODE, state

    x = mt.ones(10)
    mine = lambda: sum(isinstance(one, mt.Tensor) for one in gc.get_objects())  # noqa: E731
    gc.collect()
    before = mine()
    p = mt.profiler.profile(record_shapes=True, profile_memory=True)

    def fails() -> None:
        with p:
            (x * 2).exp()
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    gc.collect()
    assert mine() == before
    assert len(p.events()) >= 2
    assert state.mode is DEFAULT_MODE
    assert state.recording is None
