"""The host's time for an operator on the NPU, where the vendor's functions return at once.

    python tools/npu_launch.py

Makes a library whose functions do nothing, in place of the simulator's, and prints the least mean time of a launch and of
whole operators among many short runs, in microseconds. Needs a C compiler.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("MINDTORCH_NPU_SIMULATOR", "Ascend910B3:1,memory=1GiB")

import mindtorch as mt
from mindtorch_npu import switches
from mindtorch_npu.backend import binding

OPERATORS = {"Mul": 3, "Add": 4, "Exp": 2, "InplaceMul": 2}
"""How many arguments the vendor's functions take before the size and the executor."""

RUNS, CALLS = 200, 100


def source() -> str:
    """Return the library in C."""
    lines = ["#include <stdint.h>"]
    lines += [f"void *aclCreate{kind}() {{ return (void *)8; }}" for kind in ("Tensor", "Scalar")]
    lines += [f"int aclDestroy{kind}(void *made) {{ return 0; }}" for kind in ("Tensor", "Scalar")]
    lines += [
        "int aclSetAclOpExecutorRepeatable(void *executor) { return 0; }",
        "int aclDestroyAclOpExecutor(void *executor) { return 0; }",
        "int aclSetTensorAddr(void *executor, uint64_t index, void *made, void *address) { return 0; }",
        "int aclSetDynamicTensorAddr(void *executor, uint64_t index, uint64_t item, void *made, void *address)",
        "{ return 0; }",
    ]
    for name, count in OPERATORS.items():
        arguments = ", ".join(f"void *a{place}" for place in range(count))
        lines += [
            f"int aclnn{name}GetWorkspaceSize({arguments}, uint64_t *size, void **executor)",
            "{ *size = 0; *executor = (void *)16; return 0; }",
            f"int aclnn{name}(void *space, uint64_t size, void *executor, void *stream) {{ return 0; }}",
        ]
    return "\n".join(lines) + "\n"


class Symbols:
    """The functions of the library by name."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def address(self, symbol: str) -> int | None:
        """Return where a function is, None when it is not there."""
        if not hasattr(self._library, symbol):
            return None
        return ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value


def load(folder: str) -> Symbols:
    """Return the library, compiled in a folder."""
    code, made = Path(folder, "vendor.c"), Path(folder, "vendor.so")
    code.write_text(source())
    subprocess.run(["cc", "-O2", "-w", "-shared", "-fPIC", "-o", made, code], check=True)
    return Symbols(ctypes.CDLL(os.fspath(made)))


def least(call: Callable[[], Any]) -> float:
    """Return the least mean time of a call among runs, in microseconds."""
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        found.append((time.perf_counter() - start) / CALLS)
    return min(found) * 1e6


def main() -> None:
    """Measure and print."""
    x = mt.ones(4, 4, device="npu")
    x.mul(x).cpu()
    array = x._array
    with tempfile.TemporaryDirectory() as folder:
        vendor = load(folder)
        binding.symbols = lambda: vendor
        switches.forget_plans()
        cases = {
            "a launch of 3 tensors": lambda: binding.launch("aclnnMul", [array, array, array]),
            "a launch of 2 tensors": lambda: binding.launch("aclnnExp", [array, array]),
            "x.mul_(x)": lambda: x.mul_(x),
            "x * x, with its memory": lambda: x * x,
        }
        for name, call in cases.items():
            print(f"{name:24} {least(call):6.1f} µs")


if __name__ == "__main__":
    main()
