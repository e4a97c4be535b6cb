"""What the device answers: which functions there are, codes of errors made on purpose, and results of operators.

`python -m mindtorch_npu.backend.answers` prints it as one JSON object. `mindtorch-npu selftest` asks the device and the
simulator, and compares.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mindtorch_npu import runtime
from mindtorch_npu.acl.errors import AclError, check
from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend import rows
from mindtorch_npu.backend.arrays import DeviceArray, from_host
from mindtorch_npu.backend.binding import DESCRIPTORS, MissingOperatorError
from mindtorch_npu.libraries import symbols

H2D = 1
UNARY = (
    "Abs Neg Exp Expm1 Log Log1p Sqrt Rsqrt Sin Cos Tanh Sigmoid Erf Floor Ceil Trunc Sign Reciprocal Square Relu Silu Mish"
).split()
BINARY = "Mul Div Maximum Minimum Atan2 PowTensorTensor FmodTensor".split()
COMPARISONS = "Eq Ne Lt Le Gt Ge".split()
SHAPES = ((), (1,), (7,), (3, 5), (2, 1, 4))
DTYPES = ("float32", "float16")


def _draw(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    return (np.random.default_rng(seed).random(shape) + 0.25).astype(dtype)


def _run(fn: Callable[..., DeviceArray], given: list[Any]) -> DeviceArray:
    return fn(*(from_host(x, 0) for x in given))


def _widened(x: DeviceArray) -> DeviceArray:
    return x.astype(np.dtype(np.float32))


def _softmax(x: DeviceArray) -> DeviceArray:
    return on.each("Softmax", x, 1)


def _turned(x: DeviceArray) -> DeviceArray:
    return on.each("Neg", on.permuted(x, (1, 0)))


def _samples() -> dict[str, Callable[[], DeviceArray]]:
    """Return the samples by name."""
    found: dict[str, Callable[[], DeviceArray]] = {}
    for dtype in DTYPES:
        for shape in SHAPES:
            given = [_draw(shape, dtype, seed) for seed in (1, 2)]
            tail = f"{dtype}{list(shape)}"
            for name in UNARY:
                found[f"{name} {tail}"] = partial(_run, partial(on.each, name), given[:1])
            for name in BINARY:
                found[f"{name} {tail}"] = partial(_run, partial(on.both, name), given)
            for name in COMPARISONS:
                found[f"{name} {tail}"] = partial(_run, partial(on.compare, name), given)
            found[f"Add {tail}"] = partial(_run, on.add, given)
            found[f"Cast {tail}"] = partial(_run, _widened, given[:1])
        found[f"Matmul {dtype}"] = partial(_run, on.matmul, [_draw((3, 4), dtype, 3), _draw((4, 5), dtype, 4)])
        wide = [_draw((4, 6), dtype, 5)]
        found[f"Softmax {dtype}"] = partial(_run, _softmax, wide)
        found[f"strided {dtype}"] = partial(_run, _turned, wide)
    return found


def _errors(acl: Any) -> dict[str, int]:
    """Return the codes of calls that must fail."""
    block = ctypes.create_string_buffer(64)
    room, code = acl.rt.malloc(32, 0)
    check(code, "acl.rt.malloc", acl)
    found = {
        "set_device(99)": acl.rt.set_device(99),
        "malloc(0)": acl.rt.malloc(0, 0)[1],
        "free(0)": acl.rt.free(0),
        "memcpy beyond the target": acl.rt.memcpy(room, 32, ctypes.addressof(block), 64, H2D),
        "memcpy from address 0": acl.rt.memcpy(room, 32, 0, 32, H2D),
        "malloc of 1 EiB": acl.rt.malloc(1 << 60, 0)[1],
    }
    check(acl.rt.free(room), "acl.rt.free", acl)
    return {name: int(code) for name, code in found.items()}


def _answer(sample: Callable[[], DeviceArray]) -> Any:
    try:
        made = sample().to_host()
    except (AclError, MissingOperatorError, KeyError) as error:
        code = getattr(error, "code", None)
        return {"error": code if code is not None else type(error).__name__}
    return np.asarray(made, np.float64).reshape(-1).tolist()


def answers() -> dict[str, Any]:
    """Return everything that the device answers."""
    acl = runtime.on(0)
    names = sorted({*rows.values(), *DESCRIPTORS})
    found = symbols()
    suffix = {name: name if name in DESCRIPTORS else f"{name}GetWorkspaceSize" for name in names}
    return {
        "chip": acl.get_soc_name(),
        "missing": [name for name in names if found.address(suffix[name]) is None],
        "errors": _errors(acl),
        "results": {name: _answer(sample) for name, sample in _samples().items()},
    }


if __name__ == "__main__":
    json.dump(answers(), sys.stdout)
