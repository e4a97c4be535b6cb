"""What torch has bound once a package is imported is reached here by its name alone."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import mindtorch as mt
from mindtorch._bound_submodules import BOUND

MORE = {
    "torch._custom_op": "autograd impl",
    "torch._dispatch": "python",
    "torch._export": "wrappers",
    "torch._vendor": "packaging",
    "torch._vendor.packaging": "version",
}


def test_submodules_are_reached_without_an_import_of_their_own():
    code = "import types\n" + "".join(
        f"import {package}\nassert isinstance({package}.{name}, types.ModuleType), '{package}.{name}'\n"
        for package, names in (BOUND | MORE).items()
        for name in names.split()
    )
    code += "assert 'utils' in dir(torch._dynamo)\n"
    done = subprocess.run([sys.executable, "-m", "mindtorch", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("package", [*BOUND, *MORE])
def test_torch_has_these_modules(package):
    names = BOUND.get(package) or MORE[package]
    for name in names.split():
        __import__(f"{package}.{name}")


def test_a_name_of_no_module_is_still_missing():
    code = "import torch; print(hasattr(torch._dynamo, 'never'), hasattr(torch, 'utilities'))"
    done = subprocess.run([sys.executable, "-m", "mindtorch", "-c", code], capture_output=True, text=True)
    assert done.stdout == "False False\n"


def _doubled(T, seen):
    class Doubled(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            engine = T.autograd.Variable._execution_engine
            seen.append((T.autograd._is_checkpoint_valid(), engine.is_checkpoint_valid()))
            return grad * 2

    return Doubled.apply


def test_a_backward_pass_of_chosen_inputs_is_told_from_one_of_all():
    answers = []
    for T in (mt, torch):
        seen = [(T.autograd._is_checkpoint_valid(), T.autograd.Variable._execution_engine.is_checkpoint_valid())]
        double, x = _doubled(T, seen), T.ones(2, requires_grad=True)
        double(x).sum().backward()
        T.autograd.grad(double(x).sum(), x)
        double(x).sum().backward(inputs=[x])
        answers.append(seen)
    assert answers[0] == answers[1] == [(True, True), (True, True), (False, False), (False, False)]
