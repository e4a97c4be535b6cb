"""`torch.jit` as torch has it with PYTORCH_JIT=0, and the names of tracers, of which there are none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch as mt
import mindtorch._subclasses
import mindtorch.distributed
import mindtorch.fx
import mindtorch.jit

torch = pytest.importorskip("torch", reason="oracle")

CALLS = """
j.script(f) is f
j.script(f)(3)
(lambda m: j.script(m) is m)(M())
j.script(M) is M
j.script()
j.script(3)
j.trace(f, (1,)) is f
(lambda m: j.trace_module(m, {"forward": (1,)}) is m)(M())
j.is_tracing(), j.is_scripting()
j.ignore(f)(3), f._torchscript_modifier
j.ignore(drop=True)(f)(3), f._torchscript_modifier
j.ignore()(f)(3), f._torchscript_modifier
j.ignore(3)
j.ignore(drop=3)
j.ignore(drop_on_export=True)(f)(3), f._torchscript_modifier
j.unused(f) is f, f._torchscript_modifier
j.export(f) is f, f._torchscript_modifier
j.Final, j.Attribute(3, int)
j.annotate(int, 3)
j.isinstance(3, int), j.isinstance([1], List[int]), j.isinstance([1, "x"], List[int])
j.isinstance({1: 2}, Dict[int, int])
j.isinstance((1, "x"), Tuple[int, str]), j.isinstance(None, Optional[int]), j.isinstance(3, (str, int))
j.isinstance([], List[int])
j.isinstance({}, Dict[int, int])
j.isinstance((), Tuple[int])
j.isinstance([[]], List[List[int]])
j.isinstance([], Optional[List[int]])
j.isinstance([3, None], List[Optional[int]])
j.isinstance([1], list)
j.isinstance({}, dict)
j.isinstance((), tuple)
j.isinstance([1], List)
j.isinstance({}, Dict)
j.isinstance((), Tuple)
j.isinstance(3, Optional)
j.script_if_tracing(f)(3)
j.freeze(M())
j.optimize_for_inference(M())
j.ScriptModule.__mro__[0], isinstance(M(), j.ScriptModule)
j.TracerWarning.__mro__[1:], j.Error.__mro__[1:], j.ScriptWarning.__mro__[1:]
j.save(M(), "x")
j.load("/nonexistent")
j.load("/")
j.script_method(f)(2)
j.nothing
"""

SCRIPT = """
import json, sys
from typing import Dict, List, Optional, Tuple
sys.path.insert(0, {tests!r})
from module_parity import outcome
import {package} as torch
import {package}.jit as j
class M(torch.nn.Module):
    def forward(self, x):
        return x
results = []
for call in {calls!r}:
    def f(x):
        return x
    results.append(outcome(lambda: eval(call)))
print(json.dumps(results))
"""


def run(package):
    calls = CALLS.strip().splitlines()
    code = SCRIPT.format(tests=str(Path(__file__).parent), package=package, calls=calls)
    environment = {**os.environ, "PYTORCH_JIT": "0", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return dict(zip(calls, json.loads(done.stdout.splitlines()[-1]), strict=True))


def test_jit_is_torch_with_jit_off():
    mine, reference = run("mindtorch"), run("torch")
    assert mine == reference


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (mindtorch.fx.Proxy, torch.fx.Proxy),
        (mindtorch.fx.GraphModule, torch.fx.GraphModule),
        (mindtorch._subclasses.FakeTensor, torch._subclasses.FakeTensor),
        (mindtorch._subclasses.FakeTensorMode, torch._subclasses.FakeTensorMode),
        (mindtorch._subclasses.UnsupportedFakeTensorException, torch._subclasses.UnsupportedFakeTensorException),
    ],
)
def test_types_of_tracers(ours, theirs):
    assert (ours.__qualname__, ours.__module__.split(".")[:2]) == (
        theirs.__qualname__,
        theirs.__module__.split(".")[:2],
    )
    assert not isinstance(mt, ours)


@pytest.mark.parametrize("lib", [mt, torch])
def test_compiled_functions_are_made_by_compiling(lib):
    with pytest.raises(TypeError, match="ScriptFunction: No constructor defined!"):
        lib.jit.ScriptFunction()


def test_forks_have_their_older_names_too():
    future = mt.jit._fork(mt.add, mt.ones(2), mt.ones(2), alpha=3)
    assert mt.jit._wait(future).tolist() == [4.0, 4.0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("lib", [mt, torch])
def test_modules_are_prepared_before_they_are_scripted(lib):
    class Inner(lib.nn.Module):
        def forward(self, x):
            return x + 1

    class Prepared(lib.nn.Module):
        def __prepare_scriptable__(self):
            return Inner()

        def forward(self, x):
            return x * 100

    class Outer(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Prepared()
            self.others = lib.nn.Sequential(Prepared(), self.first)

        def forward(self, x):
            return self.others(self.first(x))

    outer = Outer()
    assert lib.jit.script(outer)(lib.ones(1)).item() == outer(lib.ones(1)).item() == 4
    assert lib.jit.script(Prepared())(lib.ones(1)).item() == 2
