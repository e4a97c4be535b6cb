"""The examples of torch's docstrings: what counts as the same, and that a part of them is the same."""

import subprocess
import sys

import pytest

from mindtorch_testing.docstrings import __main__ as docstrings

pytest.importorskip("torch", reason="the examples are read from it")


def ok(text, *warnings):
    return ["ok", text, list(warnings)]


@pytest.mark.parametrize(
    ("theirs", "ours", "same"),
    [
        (ok("tensor([1.0000, 2.])"), ok("tensor([1.0001, 2.])"), True),
        (ok("tensor([1.0000, 2.])"), ok("tensor([1.1000, 2.])"), False),
        (ok("tensor([1.0000])"), ok("tensor([1.0000], grad_fn=<A>)"), False),
        (ok("tensor([nan])"), ok("tensor([nan])"), True),
        (ok("tensor([inf])"), ok("tensor([-inf])"), False),
        (ok("1", "UserWarning: a"), ok("1"), False),
        (ok("1", "DeprecationWarning: `torch.jit.script` is deprecated."), ok("1"), True),
        (["error", "ValueError: a", []], ["error", "ValueError: b", []], False),
        (ok(""), ["error", "ValueError: b", []], False),
    ],
)
def test_what_counts_as_the_same(theirs, ours, same):
    assert docstrings.agree(theirs, ours) is same


def test_the_first_statement_that_differs_is_told():
    statements = ["a\n", "b\n", "c\n"]
    found = docstrings.difference(statements, [ok("1"), ok("2"), ok("3")], [ok("1"), ok("5"), ok("6")])
    assert found["statement"] == "b"
    assert docstrings.difference(statements, [["died", "-14", []]], [ok("1")]) is None


def test_every_accepted_row_has_a_reason():
    assert all(reason.strip() for reason in docstrings.accepted().values())
    assert docstrings.reason_of("torch.Tensor.new_empty", docstrings.accepted())
    assert docstrings.reason_of("torch.add", docstrings.accepted()) is None


def test_the_losses_of_the_library_show_what_torchs_docstrings_say():
    command = [sys.executable, "-m", "mindtorch_testing.docstrings", "--only", "torch.nn.*Loss"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[0]) > 15
