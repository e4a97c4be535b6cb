"""One library's side: every docstring in a process of its own, and what each of its statements showed."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import os
import random
import re
import signal
import tempfile
import warnings
from typing import Any

import numpy as np

import mindtorch_proxy

SECONDS = 20
_ALWAYS = (
    "torch.distributions", "torch.fft", "torch.func", "torch.fx", "torch.linalg", "torch.nn.utils.parametrize",
    "torch.nn.utils.prune", "torch.nn.utils.rnn", "torch.optim.lr_scheduler", "torch.profiler", "torch.special",
    "torch.utils.data",
)  # fmt: skip


def run(library: str, examples: dict[str, list[str]]) -> dict[str, list[list[Any]]]:
    """Return (outcome, text, warnings) of each statement, by docstring; one that ends its process has `died`."""
    if library == "mindtorch":
        mindtorch_proxy.install()
    torch = importlib.import_module("torch")
    for name in _ALWAYS:
        importlib.import_module(name)
    torch.set_num_threads(1)  # threads do not survive the fork
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, statements in examples.items():
            answers[name] = _in_a_child(torch, statements)
        os.chdir("/")
    return answers


def _in_a_child(torch: Any, statements: list[str]) -> list[list[Any]]:
    with tempfile.TemporaryFile("w+") as log:
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                json.dump(_shown(torch, statements), log)
                log.flush()
            finally:
                os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        log.seek(0)
        text = log.read()
    answer: list[list[Any]] = json.loads(text) if text else [["died", str(status), []]]
    return answer


def _shown(torch: Any, statements: list[str]) -> list[list[Any]]:
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    names: dict[str, Any] = {
        "__name__": "__main__", "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "optim": torch.optim,
        "np": np, "numpy": np, "math": importlib.import_module("math"), "Tensor": torch.Tensor,
    }  # fmt: skip
    return [_of_one(statement, names) for statement in statements]


def _of_one(statement: str, names: dict[str, Any]) -> list[Any]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            tree = ast.parse(statement)
            last = tree.body.pop().value if isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
            exec(compile(tree, "<example>", "exec"), names)
            value = None if last is None else eval(compile(ast.Expression(last), "<example>", "eval"), names)
            if value is not None:
                printed.write(repr(value))
        except BaseException as error:  # noqa: BLE001 - it is what is compared
            return ["error", f"{type(error).__name__}: {_plain(str(error))}", []]
    told = [f"{one.category.__name__}: {_plain(str(one.message))}" for one in given]
    return ["ok", _plain(printed.getvalue()), told]


def _plain(text: str) -> str:
    """Take out addresses and what tells the libraries apart by name."""
    text = re.sub(r"\s*\(Triggered internally.*?\)", "", text, flags=re.DOTALL)
    return re.sub(r"0x[0-9a-f]+", "0x", text).replace("mindtorch", "torch").strip()
