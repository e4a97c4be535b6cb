"""From a bound call to its plan the way leads through the stages in order, with little going back and forth."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

mt = pytest.importorskip("mindtorch", reason="plans are made for calls on real tensors")
from mindtorch_dispatch.plan import planner  # noqa: E402
from mindtorch_dispatch.table import packets  # noqa: E402

ROOT = Path(planner.__file__).parents[1]
META = ROOT / "meta"
"""Meta functions walk among themselves, the further the more results they describe."""

STAGES = (
    "find_keys",
    "choose_kernel",
    "describe_results",
    "route_values",
    "attach_recorder",
    "check_target",
    "deferred",
)

A, B, G = mt.ones(4, 3), mt.ones(4, 3), mt.ones(4, 3, requires_grad=True)
CALLS = {
    "functional": lambda: A + B,
    "recorded": lambda: G * B,
    "several results": lambda: G.max(0),
    "in place": lambda: A.clone().add_(B),
    "out": lambda: mt.add(A, B, out=mt.empty(4, 3)),
    "view": lambda: G[1:3],
    "views": lambda: G.unbind(),
    "view in place": lambda: A.clone().t_(),
    "factory": lambda: mt.zeros(3, device="meta"),
    "composite": lambda: mt.nn.functional.linear(A, B),
    "composite out": lambda: mt.take_along_dim(A, mt.zeros(4, 3, dtype=mt.int64), 1, out=mt.empty(4, 3)),
    "dynamic": lambda: A.nonzero(),
    "lists": lambda: mt._foreach_add_([A.clone()], 1.0),
}


def walk(function):
    """Return the functions entered and, for each plan made, how often the walk came back to a file that it had left."""
    entered, returns = [], []
    inside = [0]

    def profile(frame, event, argument):
        code = frame.f_code
        if code is planner.plan_call.__code__:
            inside[0] += 1 if event == "call" else -1 if event == "return" else 0
            if event == "call":
                returns.append([set(), code.co_filename, 0])
        place = Path(code.co_filename)
        if event != "call" or not inside[0] or not place.is_relative_to(ROOT) or place.parent == META:
            return
        entered.append(code.co_name)
        seen, last, count = returns[-1]
        if code.co_filename != last:
            returns[-1][2] = count + (code.co_filename in seen)
            returns[-1][1] = code.co_filename
        seen.add(code.co_filename)

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return entered, [count for _, _, count in returns]


def walk_anew(name):
    """Walk with plans forgotten, in a process where nobody has registered anything: that makes the way longer."""
    for packet in list(packets.values()):
        packet.forget_plans()
    return walk(CALLS[name])


@pytest.fixture(scope="module")
def walks():
    """What every call entered, and its returns, as a fresh process tells."""
    program = "import json, runpy, sys; here = runpy.run_path(sys.argv[1]); " + (
        "print(json.dumps({name: here['walk_anew'](name) for name in here['CALLS']}))"
    )
    said = subprocess.run([sys.executable, "-c", program, __file__], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)


@pytest.mark.parametrize("call", CALLS)
def test_the_walk_from_a_bound_call_to_its_plan_is_short(call, walks):
    _, returns = walks[call]
    assert returns, "nothing was planned"
    assert max(returns) <= 22


def test_the_stages_run_in_order(walks):
    entered, _ = walks["functional"]
    assert [name for name in entered if name in STAGES] == list(STAGES)
