"""The sweep judges torch itself as faultless, tells the kinds of failure apart, and its scoreboard only improves."""

import itertools
import types

import pytest

pytest.importorskip("torch", reason="oracle")

import torch
from torch.testing._internal.common_methods_invocations import op_db

from mindtorch_testing.sweep import board
from mindtorch_testing.sweep.driver import select_names, sweep
from mindtorch_testing.sweep.entry import EntryRunner
from mindtorch_testing.sweep.outcome import reason_key
from mindtorch_testing.sweep.rebind import MissingName, Rebinder
from mindtorch_testing.sweep.runner import Limits, spread
from mindtorch_testing.sweep.suites import SUITES

ENTRIES = {info.full_name: info for info in op_db}
SEEN = ("add", "max.reduction_with_dim", "nn.functional.dropout", "linalg.svd", "empty_like", "index_put", "T")


@pytest.mark.parametrize("name", SEEN)
def test_torch_against_itself_passes(name):
    fields = EntryRunner(torch, Limits(4, 2, 30.0)).run(ENTRIES[name]).to_json()["fields"]
    assert fields["forward"]["total"] > 0
    assert {name: found["status"] for name, found in fields.items()} == dict.fromkeys(fields, "pass")


def test_a_function_of_the_test_files_is_rebuilt_on_the_target():
    target = types.ModuleType("other")
    target.polygamma = lambda n, x: ("ours", n, x)
    rebind = Rebinder(target)
    assert rebind(ENTRIES["polygamma.polygamma_n_1"].op)("x", 1) == ("ours", 1, "x")
    with pytest.raises(MissingName, match=r"missing torch\.sin"):
        rebind(torch.sin)(1)
    assert rebind(torch.ops.aten.sin) is not torch.ops.aten.sin


def test_wrong_results_are_told_apart(monkeypatch):
    runner = EntryRunner(torch, Limits(2, 1, 30.0))
    wrong = {"add": lambda a, b, **k: torch.mul(a, b), "sin": lambda a: torch.sin(a).double()}
    monkeypatch.setattr(runner, "rebind", lambda value: wrong.get(getattr(value, "__name__", ""), value))
    assert runner.run(ENTRIES["add"]).outcomes["forward"].reason.startswith("value")
    assert runner.run(ENTRIES["sin"]).outcomes["forward"].reason.startswith("dtype")


def test_overlaps_of_out_that_torch_refuses_are_found(monkeypatch):
    runner = SUITES["ops-overlap"].make_runner("torch", Limits(4, 2, 30.0))
    for name in ("cumsum", "stack", "sort", "index_add"):
        fields = runner.run(ENTRIES[name]).to_json()["fields"]
        assert {field: found["status"] for field, found in fields.items()} == dict.fromkeys(runner.fields, "pass")

    def unaware(value, *rest, out, **options):
        return out.resize_(value.shape).copy_(torch.cumsum(value.clone(), *rest, **options))

    def backwards(value, *rest, out, **options):
        found = torch.cumsum(value, *rest, **options)
        return out.copy_(found + 1 if out is value else found)

    found = {}
    for wrong in (unaware, backwards):
        monkeypatch.setattr(runner, "rebind", lambda value, wrong=wrong: wrong)
        found[wrong] = runner.run(ENTRIES["cumsum"]).outcomes
    assert found[unaware]["partial"].reason.startswith("partial of operand 0 and result 0: no error where torch raises")
    assert found[unaware]["full"].status == "pass"
    assert found[backwards]["full"].reason.startswith("full of operand 0 and result 0: value")


def test_operands_in_another_layout_are_told_apart(monkeypatch):
    runner = SUITES["ops-layouts"].make_runner("torch", Limits(2, 2, 30.0))
    for name in ("add", "native_group_norm", "nn.functional.glu"):
        fields = runner.run(ENTRIES[name]).to_json()["fields"]
        assert {field: found["status"] for field, found in fields.items()} == dict.fromkeys(fields, "pass")
        assert fields.keys() >= {"forward", "strides", "backward"}
    assert runner.run(ENTRIES["native_group_norm"]).outcomes["errors"].total

    monkeypatch.setattr(runner, "rebind", lambda value: lambda *args, **options: value(*args, **options).contiguous())
    found = runner.run(ENTRIES["nn.functional.glu"]).outcomes
    assert found["forward"].status == "pass"
    assert found["strides"].reason.startswith("stride")


@pytest.mark.slow
def test_a_crash_costs_one_entry(monkeypatch, tmp_path):
    (tmp_path / "crashing.py").write_text(
        "import ctypes\nfrom torch import *\nfrom torch import Tensor, nn, autograd, manual_seed\n"
        "def sin(*a, **k): ctypes.string_at(0)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    results = sweep("crashing", Limits(1, 1, 30.0), ["sin", "sinh"])
    assert results["sin"]["fields"]["forward"]["reason"] == "crashed the process: SIGSEGV"
    assert results["sinh"]["fields"]["forward"]["total"] > 0


def test_scoreboard_is_diff_friendly_and_only_improves(tmp_path):
    path = tmp_path / "ops.json"
    entries = {"b": {"forward": "pass"}, "a": {"forward": "fail", "errors": "pass"}}
    board.save_board({"lowered": [], "entries": entries}, path)
    assert board.load_board(path)["entries"] == entries
    assert sum(line.startswith("    ") for line in path.read_text().splitlines()) == 2
    assert board.regressions(entries, {"b": {"forward": "missing"}, "a": {"forward": "pass", "errors": "pass"}}) == [
        "b forward: was pass, now missing"
    ]


def test_names_and_reasons():
    assert select_names(["add", "addmm", "add.x", "mul"], ["add"]) == ["add", "add.x"]
    assert select_names(["add", "addmm"], ["a*"]) == ["add", "addmm"]
    assert reason_key("shape: (2, 3) != (4,)") == reason_key("shape: () != (1, 2, 3)")
    assert spread(list(range(50)), 2) == spread(list(range(50)), 8)[:2]


@pytest.mark.parametrize(
    ("suite", "name"),
    [("modules", "nn.Linear"), ("modules", "nn.GRU"), ("modules", "nn.LazyConv1d"), ("optimizers", "SGD")],
)
def test_torch_against_itself_passes_in_the_other_suites(suite, name):
    runner = SUITES[suite].make_runner("torch", Limits(3, 2, 30.0))
    fields = runner.run(SUITES[suite].entries()[name]).to_json()["fields"]
    assert set(fields) >= set(SUITES[suite].fields) - {"errors", "schedulers"}
    assert {name: found["status"] for name, found in fields.items()} == dict.fromkeys(fields, "pass")


def test_a_wrong_module_and_a_wrong_optimizer_are_found(monkeypatch):
    linear, sgd = (SUITES[s].make_runner("torch", Limits(2, 1, 30.0)) for s in ("modules", "optimizers"))

    class Biased(torch.nn.Linear):
        def forward(self, input):
            return super().forward(input) * 2

    monkeypatch.setattr(linear, "rebind", lambda value: Biased if value is torch.nn.Linear else value)
    found = linear.run(SUITES["modules"].entries()["nn.Linear"]).outcomes
    assert found["forward"].reason.startswith("value")
    assert found["backward"].reason.startswith("value")
    assert found["repr"].status == "fail"
    entry = SUITES["optimizers"].entries()["SGD"]
    theirs = entry.optim_cls

    class Eager(theirs):
        def step(self, closure=None):
            super().step(closure)
            return super().step(closure)

    answers = itertools.cycle((theirs, Eager))
    monkeypatch.setattr(sgd, "_class", lambda info, side: next(answers))
    assert sgd.run(entry).outcomes["steps"].reason.startswith("value")
