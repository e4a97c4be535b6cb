"""The fuzz beside torch: its calls are Python, what differs is noticed, what ends a process is found and survived."""

import ast
import marshal
from argparse import Namespace
from collections import Counter
from random import Random

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="oracle")

from mindtorch_testing import record  # noqa: E402 - these need torch
from mindtorch_testing.fuzz import arguments, sides, tensors  # noqa: E402
from mindtorch_testing.fuzz.__main__ import made_again, told  # noqa: E402
from mindtorch_testing.fuzz.arguments import Call  # noqa: E402
from mindtorch_testing.fuzz.campaign import Campaign, Findings, Pair, Report, Tally  # noqa: E402
from mindtorch_testing.fuzz.catalog import catalog  # noqa: E402
from mindtorch_testing.fuzz.ends import as_end  # noqa: E402
from mindtorch_testing.fuzz.judge import SEVERE, Finding, compare  # noqa: E402
from mindtorch_testing.fuzz.places import VALUES, Places, cause_of, replaced  # noqa: E402
from mindtorch_testing.fuzz.progress import Progress, as_report, as_table  # noqa: E402
from mindtorch_testing.fuzz.report import ends  # noqa: E402
from mindtorch_testing.fuzz.rows import Row, Rows  # noqa: E402
from mindtorch_testing.fuzz.sequences import Sequence  # noqa: E402
from mindtorch_testing.fuzz.shrink import shrunk, size  # noqa: E402
from mindtorch_testing.fuzz.sides import Outcome, Side, SideDied  # noqa: E402
from mindtorch_testing.record import Record  # noqa: E402

ENTRIES = {entry.name: entry for entry in catalog()}


def outcome(*seen):
    return Outcome(marshal.dumps(seen, 2))


def described(values, dtype="torch.float32", shape=None, strides=(1,)):
    data = np.asarray(values, dtype.removeprefix("torch."))
    head = ("T", dtype, shape or data.shape, strides, 0, "cpu", False, False, False, "")
    return outcome("value", (*head, data.tobytes()), (), None)


def test_there_are_entry_points_of_every_style():
    styles = [entry.style for entry in ENTRIES.values()]
    assert {style: styles.count(style) > 100 for style in styles} == dict.fromkeys(
        ("function", "method", "overload", "module"), True
    )


def test_every_call_is_python_and_the_same_for_the_same_seed():
    for entry in list(ENTRIES.values())[::7]:
        first, second = (arguments.fresh(Random(entry.name), entry) for _ in range(2))
        assert first.program() == second.program()
        setup, call, _ = arguments.mutated(Random(5), first).program()
        ast.parse(setup)
        ast.parse(call, mode="eval")


@pytest.mark.parametrize("layout", ["", *tensors.LAYOUTS])
def test_a_tensor_has_the_shape_and_dtype_it_was_drawn_with(layout):
    names = {"torch": torch, "nan": float("nan"), "inf": float("inf")}
    for dtype in (*tensors.FLOATS, *tensors.COMPLEX[:2], *tensors.INTEGERS, "bool"):
        for shape in ((), (0,), (2, 3, 4), (2, 1, 2, 3), (1,) * 45):
            made = eval(tensors.Tensor(shape, dtype, "special", 5, layout).text(), names)
            assert tuple(made.shape) == shape
            if layout != "negated":
                assert str(made.dtype) == f"torch.{dtype}"


def test_what_differs_is_noticed():
    one = described([1.0, float("nan"), 3.0])
    assert compare(one, described([1.000001, float("nan"), 3.0])) is None
    assert compare(one, described([1.0, 2.0, 3.0])).kind == "value"
    assert compare(one, described([1.0, float("nan"), 3.0], "torch.float64")).kind == "dtype"
    assert compare(one, described([1.0, float("nan"), 3.0], shape=(1, 3), strides=(3, 1))).kind == "shape"
    assert compare(one, described([1.0, float("nan"), 3.0], strides=(2,))).kind == "stride"
    assert compare(one, outcome("error", "RuntimeError", "no", ())).kind == "extra error"
    refused = outcome("error", "RuntimeError", "no", ())
    assert compare(refused, one).kind == "missed error"
    assert compare(refused, outcome("error", "ValueError", "no", ())).kind == "error type"
    assert compare(refused, outcome("error", "RuntimeError", "not so", ())).kind == "error text"
    assert compare(one, Outcome(b"", death="crash SIGSEGV")).kind == "crash"
    assert compare(one, Outcome(b"", death="hang")).kind == "hang"
    assert compare(one, Outcome(one.payload, grown=2000.0)).kind == "memory"


def test_a_row_accepts_only_what_it_names():
    rows = Rows([Row("r", "because", ("aten.svd*",), ("value",), torch="^0")], {})
    assert rows.accepting("aten.svd.default", Finding("value", "1", "0.5"), ("", "", False)) == "r"
    assert rows.accepting("aten.svd.default", Finding("value", "1", "1.5"), ("", "", False)) is None
    assert rows.accepting("aten.svd.default", Finding("dtype", "1", "0.5"), ("", "", False)) is None
    assert rows.accepting("aten.add.Tensor", Finding("value", "1", "0.5"), ("", "", False)) is None
    with pytest.raises(ValueError, match="without a reason"):
        Rows.row({"name": "r", "reason": ""})
    assert all(row.reason and row.kinds for row in Rows.load().rows)


ORDINARY = """aten.relu.default aten.gelu.default aten.silu_.default aten.sqrt.default aten.rsqrt.out aten._weight_norm.default
Tensor.detach aten.detach_copy.default nn.functional.linear aten.linalg_svdvals.default linalg.eigvalsh torch.msort torch.cdist
aten.add.Tensor aten.std.correction special.bessel_j0 torch.unique torch.solarize""".split()


@pytest.mark.parametrize("kind", SEVERE)
@pytest.mark.parametrize("entry", ORDINARY)
def test_no_row_accepts_what_is_ordinary(entry, kind):
    rows = Rows.load()
    for setup in (
        "a0 = torch.tensor([1.0, 2.0])",
        "a0 = (torch.arange(9) * 3 % 11 - 5).reshape((3, 3)).expand((2, 3, 3))",
    ):
        finding = Finding(kind, "1.0", "0.5")
        assert rows.accepting(entry, finding, (setup, f"torch.{entry}(a0)", False)) is None


@pytest.fixture(scope="module")
def pair():
    made = Pair()
    yield made
    made.close()


def test_both_sides_agree_on_calls_that_are_right(pair):
    findings = Findings(SEVERE, Rows.load(), print)
    entries = [ENTRIES[name] for name in ("Tensor.neg", "Tensor.transpose", "aten.mul.Tensor", "nn.ReLU")]
    campaign = Campaign(pair, entries, findings, 3)
    campaign.run(200)
    assert campaign.tally.calls == 200
    assert campaign.tally.entries == {entry.name for entry in entries}
    assert campaign.tally.answered["value"] > 50
    assert campaign.tally.answered["error"] > 10
    assert [report.program for report in findings.reports.values()] == []


def test_the_time_told_is_what_both_sides_and_the_driver_computed(pair):
    campaign, told = Campaign(pair, [ENTRIES["Tensor.neg"]], Findings(SEVERE, Rows.load(), print), 3), []
    torch_before, ours_before = pair.torch.computed, pair.ours.computed
    campaign.run(20, made=lambda tally, seconds: told.append(seconds))
    torch_took, ours_took = pair.torch.computed - torch_before, pair.ours.computed - ours_before
    assert min(torch_took, ours_took) > 0
    assert torch_took + ours_took < told[0] < 60


def test_what_is_on_record_is_not_followed_up_again():
    findings = Findings(SEVERE, Rows([], {}), print)
    large, small = Finding("extra error", "RuntimeError: many", "1"), Finding("extra error", "RuntimeError: few", "1")
    findings.know([as_report(as_table(Report("aten.a", small, ("", "torch.a()", False), large.signature)))])
    assert [findings.take("aten.a", found) for found in (large, small)] == [False, False]
    assert findings.take("aten.b", large)


def test_both_sides_agree_on_a_sequence_that_is_right(pair):
    statements = (
        "x0 = made((2, 3), 'float32', 0).requires_grad_()",
        "x1 = x0.t()",
        "x1[0] = 5",
        "(x0 * x1).sum().backward()",
    )
    wrong = ("said = [made((2,), 'float32', 0) * len(torch.__name__)]", "(said,)", False)
    (theirs, _, found), (_, _, other) = pair.judge([Sequence(statements).program(), wrong])
    assert found is None
    said, *states = theirs.seen[1][3]
    assert "2 RuntimeError: a view of a leaf Variable" in said[3][0][2]
    assert len(states) == 2
    assert other is not None
    assert other.kind == "value"


def test_a_run_goes_on_where_a_side_itself_ended(pair, monkeypatch):
    judge, ends = pair.judge, iter([True])
    told, counted = [], []

    def judged(programs):
        if next(ends, False):
            raise SideDied("mindtorch: ended")
        return judge(programs)

    monkeypatch.setattr(pair, "judge", judged)
    monkeypatch.setattr("mindtorch_testing.fuzz.campaign.BATCH", 10)
    before = pair.ours.process.pid
    campaign = Campaign(pair, [ENTRIES["Tensor.neg"]], Findings(SEVERE, Rows.load(), told.append), 3)
    campaign.run(20, made=lambda tally, seconds: counted.append((tally.calls, tally.dropped["side ended"])))
    assert counted == [(0, 10), (10, 0)]
    assert told == ["a side ended, 10 calls are dropped: mindtorch: ended"]
    assert pair.ours.process.pid != before


def test_hostile_values_stand_at_every_place(pair):
    findings = Findings((*SEVERE, "error type"), Rows.load(), print)
    lane = Places(pair, [ENTRIES["Tensor.neg"], ENTRIES["torch.neg"]], findings, 3)
    calls = list(replaced(lane.answered(ENTRIES["Tensor.neg"])))
    assert len(calls) == len(VALUES) + len(VALUES[::6])
    assert calls[0].program() == ("", "torch.Tensor.neg(None)", False)
    lane.run(10**6)
    assert lane.tally.entries == {"Tensor.neg", "torch.neg"}
    assert lane.tally.answered["value"] > 10
    assert lane.tally.answered["error"] > 80
    assert [report.program for report in findings.reports.values()] == []


def test_a_cause_is_the_same_for_every_function():
    one, other = "TypeError: neg(): argument 'input' must be Tensor", "TypeError: cov(): argument 'a' must be Tensor"
    assert cause_of(one) == cause_of(other) != cause_of("TypeError: neg() takes 1 argument")
    assert cause_of("tensor torch.float32 (2,)") == cause_of("tensor torch.float64 (3,)")


def test_runs_add_up_until_there_are_as_many_calls_as_wanted(tmp_path):
    accepting = Rows([Row("r", "because", ("aten.b",), ("value",))], {})
    for seed in (5, 6):
        findings = Findings(SEVERE, Rows([], {}), print)
        findings.keep(Report("aten.a", Finding("value", "1", "0", "[1]"), ("a0 = 1", "torch.a(a0)", False)))
        findings.keep(Report("aten.b", Finding("value", "1", "0"), ("", "torch.b()", False)))
        progress = Progress(Record(tmp_path / "record"), seed, findings, print)
        progress.add(Tally(10, {"aten.a", f"aten.{seed}"}, Counter(value=9), kinds=Counter(value=2)), 1.5)
        progress.add(Tally(5, {"aten.a"}, Counter(error=1)), 0.5)
    total = progress.tally()
    assert (total.calls, total.entries) == (30, {"aten.a", "aten.5", "aten.6"})
    assert (total.answered, total.kinds) == (Counter(value=18, error=2), Counter(value=4))
    assert (progress.seeds(), progress.seconds()) == ([5, 6], 4.0)
    assert [report.entry for report in progress.reports()] == ["aten.a", "aten.b"]
    later = Progress(Record(tmp_path / "record"), 7, Findings(SEVERE, accepting, print), print)
    assert [report.finding.where for report in later.reports()] == ["[1]"]


def test_a_run_without_a_call_fails_and_writes_no_page(tmp_path, monkeypatch):
    options = Namespace(write=True, save=None, entry=None)
    pages = []
    monkeypatch.setattr("mindtorch_testing.fuzz.__main__.write_page", lambda *parts: pages.append(parts))
    for name, calls, status in (("none", 0, 1), ("some", 3, 0)):
        findings = Findings(SEVERE, Rows([], {}), print)
        progress = Progress(Record(tmp_path / name), 1, findings, print)
        progress.add(Tally(calls, {"aten.a"}, Counter(value=calls)), 1.0)
        assert told(options, progress, findings, 0) == status
        assert len(pages) == calls // 3


def test_a_process_that_ends_is_told_and_the_next_call_is_made(pair):
    ending = ("", "__import__('os').abort()", False)
    right = ("a0 = torch.ones(2)", "a0.add_(1)", False)
    ours = pair.ours.run([right, ending, right])
    assert [o.death.split()[:2] for o in ours] == [[], ["crash", "SIGABRT"], []]
    assert ours[2].payload == pair.torch.run([right])[0].payload
    later = ("", "torch.ended", False)
    assert pair.culprits([right, ("", "setattr(torch, 'ended', 1)", False), right, right, later]) == []
    breaking = ("", "setattr(torch, 'ones', lambda size: __import__('os').abort())", False)
    assert pair.culprits([right, ("", "torch.zeros(2)", False), breaking, right]) == [breaking, right]


RIGHT = ("a0 = torch.ones(2, 3).t()", "a0.add_(1)", False)
ABORT = "__import__('os').abort()"


def test_an_end_tells_the_calls_of_its_process_and_where_it_was(pair):
    first, second = ("a0 = torch.ones(2)", ABORT, False), ("a0 = torch.ones(2, 3).t()", ABORT, True)
    ends = [outcome.end for outcome in pair.ours.run([RIGHT, first, RIGHT, RIGHT, second, RIGHT])]
    assert [end is not None for end in ends] == [False, True, False, False, True, False]
    assert (ends[1].calls, ends[4].calls) == ((RIGHT, first), (RIGHT, RIGHT, second))
    assert (ends[1].stage, ends[4].stage) == ("call of call 1", "call of call 2")
    assert ends[4].operands == "a0: cpu torch.float32 (3, 2) (1, 3) at 0"
    assert "Fatal Python error: Aborted" in ends[4].log
    assert " in outcome" in ends[4].log
    during = "type('Tensor', (torch.Tensor,), {'grad_fn': property(lambda self: " + ABORT + ")})(torch.ones(1))"
    (early, late) = pair.ours.run([(f"a0 = {ABORT}", "a0", False), ("", f"{during}.requires_grad_()", True)])
    assert (early.end.stage, late.end.stage) == ("setup of call 0", "backward of call 0")


def test_an_end_is_tried_again_alone_and_from_the_start_of_its_process(pair, tmp_path):
    ending = ("", ABORT, False)
    once = ("", f"torch.ones(2) if __import__('os').path.exists('{tmp_path}/made') else "
                f"(open('{tmp_path}/made', 'w').close(), {ABORT})", False)  # fmt: skip
    breaking = ("", "setattr(torch, 'ones', lambda size: __import__('os').abort())", False)
    told = {}
    for name, calls in {
        "alone": [RIGHT, ending],
        "after": [breaking, ("", "torch.ones(2)", False)],
        "never": [once],
    }.items():
        outcome = pair.ours.run(calls)[-1]
        told[name] = as_end(pair.ours, name, 7, outcome.death, outcome.end)
    assert [end["again"] for end in told.values()] == ["alone", "after the 1 calls before it", "never"]
    text = ends(list(told.values()), 5)
    assert "5 ended or hung; 2 of them before their calls were kept." in text
    assert "1 came again by the last call alone, 1 never." in text
    assert text.count("Fatal Python error: Aborted") == 3
    assert ends([], 0) == ""


def test_ends_are_on_record(pair, tmp_path, monkeypatch):
    monkeypatch.setattr(
        pair.torch, "run", lambda programs: [outcome("value", ("S", "int", 1), (), None)] * len(programs)
    )
    findings = Findings((), Rows([], {}), print)
    progress = Progress(Record(tmp_path / "record"), 5, findings, print)
    campaign = Campaign(pair, [ENTRIES["Tensor.neg"]], findings, 5)
    drawn = [Call(ENTRIES["Tensor.neg"], ()) for _ in range(2)]
    monkeypatch.setattr(Call, "program", lambda call: ("", ABORT if call is drawn[1] else "1", False))
    monkeypatch.setattr(campaign, "draws", lambda wanted: drawn)
    campaign.run(2, made=progress.add)
    (end,) = Progress(Record(tmp_path / "record"), 6, findings, print).tally().ends
    assert (end["entry"], end["death"].split()[:2], end["before"]) == ("Tensor.neg", ["crash", "SIGABRT"], 1)
    assert [call[1] for call in end["calls"]] == ["1", ABORT]


def test_an_end_that_does_not_come_again_is_told_and_a_finding(pair, tmp_path, monkeypatch):
    monkeypatch.setattr(
        pair.torch, "run", lambda programs: [outcome("value", ("S", "int", 1), (), None)] * len(programs)
    )
    once = f"1 if __import__('os').path.exists('{tmp_path}/made') else (open('{tmp_path}/made', 'w').close(), {ABORT})"
    said = []
    findings = Findings(("crash",), Rows([], {}), said.append)
    campaign = Campaign(pair, [ENTRIES["Tensor.neg"]], findings, 5)
    drawn = [Call(ENTRIES["Tensor.neg"], ()) for _ in range(2)]
    monkeypatch.setattr(Call, "program", lambda call: ("a0 = 1", once if call is drawn[1] else "1", False))
    monkeypatch.setattr(campaign, "draws", lambda wanted: drawn)
    campaign.run(2)
    (report,) = findings.reports.values()
    assert (report.finding.kind, report.program) == ("crash", ("a0 = 1", once, False))
    assert any("again: never" in text and "before: a0 = 1; 1" in text and "Aborted" in text for text in said)
    assert campaign.tally.dropped["not reproduced"] == 0


def test_a_call_that_takes_too_long_is_ended(pair, monkeypatch):
    monkeypatch.setattr(pair.ours, "waiting", 0.5)
    monkeypatch.setattr(sides, "STARTING", 0.5)
    monkeypatch.setattr(sides, "ENDING", 0.5)
    sleeping = ("", "__import__('time').sleep(60)", False)
    deaf = ("", "__import__('signal').pthread_sigmask(0, [6]) and 0 or __import__('time').sleep(60)", False)
    ours = pair.ours.run([sleeping, deaf, ("", "torch.ones(2)", False)])
    assert [o.death for o in ours] == ["hang", "hang", ""]
    assert "Fatal Python error: Aborted" in ours[0].end.log
    assert ours[1].end.log == ""


def test_a_call_that_computes_too_long_is_ended():
    side = Side("mindtorch", 0.3)
    endless = ("", "any(False for _ in iter(int, 1))", False)
    ours = side.run([endless, ("", "torch.ones(2)", False)])
    side.close()
    assert [o.death for o in ours] == ["hang", ""]
    assert " in outcome" in ours[0].end.log


def test_what_other_sources_gave_counts_but_its_findings_are_made_again(tmp_path, monkeypatch, pair):
    monkeypatch.setattr(record, "state_of_sources", lambda: "yesterday's")
    findings = Findings(SEVERE, Rows([], {}), print)
    mended = Report("aten.a", Finding("value", "1", "0"), ("a0 = torch.ones(2)", "a0.add(1)", False))
    differs = Report("aten.b", Finding("value", "1", "0"), ("", "torch.__file__", False))
    for report in (mended, differs):
        findings.keep(report)
    Progress(Record(tmp_path / "record"), 5, findings, print).add(Tally(10, {"aten.a"}, kinds=Counter(value=2)), 1.0)
    monkeypatch.setattr(record, "state_of_sources", lambda: "today's")
    today = Findings(SEVERE, Rows([], {}), print)
    progress = Progress(Record(tmp_path / "record"), 6, today, print)
    assert progress.reports() == []
    made_again(pair, progress, today)
    assert [report.entry for report in progress.reports()] == ["aten.b"]  # without a call of these sources
    progress.add(Tally(3, {"aten.b"}, kinds=Counter(value=1)), 1.0)
    assert [report.entry for report in progress.reports()] == ["aten.b"]
    assert (progress.tally().calls, progress.today().calls, progress.states()) == (13, 3, 2)
    assert (progress.tally().kinds, progress.today().kinds) == (Counter(value=3), Counter(value=1))
    assert progress.tally().entries == {"aten.a", "aten.b"}
    assert [report.entry for report in progress.earlier()] == ["aten.a"]


def test_memory_beyond_the_headroom_is_refused_on_both_sides(pair):
    for side in (pair.torch, pair.ours):
        assert side.run([("", "torch.ones(2**31)", False)])[0].seen[0] == "error"


def test_a_finding_is_shrunk():
    entry = ENTRIES["Tensor.add"]
    params = next(p for p in entry.overloads if len(p) == 3)
    values = (tensors.Tensor((2, 3, 4), "float64"), tensors.Tensor((2, 3, 4), "float64", layout="flipped"), "2")
    call = Call(entry, tuple(zip(params, values, strict=True)), backward=True)
    found = Finding("value", "1", "0")

    def judge(programs):
        return [(outcome(), outcome(), found if "float64" in setup else None) for setup, _, _ in programs]

    small, finding = shrunk(judge, call, found)
    assert finding is found
    assert size(small) < size(call) / 2
    assert "float64" in small.program()[0]
    assert shrunk(lambda programs: [(outcome(), outcome(), None)], call, found) is None
