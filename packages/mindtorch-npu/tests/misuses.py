"""Calls of the vendor's functions as a C program makes them, with nothing of this package in between."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from mindtorch_npu import simulator
from mindtorch_npu.aclnn import signatures

FLOAT, FLOAT16, INT8, INT32, UINT8, INT64, DOUBLE, BOOL = 0, 1, 2, 3, 4, 9, 11, 12
SIZES = {FLOAT: 4, FLOAT16: 2, INT8: 1, INT32: 4, UINT8: 1, INT64: 8, DOUBLE: 8, BOOL: 1}
NCHW, ND, NC1HWC0, NCL = 0, 2, 3, 47
H2D, D2H, D2D = 1, 2, 3
_P, _I64, _U64, _I32 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64, ctypes.c_int32
_SIMPLE = {
    "int64_t": _I64, "uint64_t": _U64, "int32_t": _I32, "int": _I32, "int8_t": ctypes.c_int8, "bool": ctypes.c_bool,
    "double": ctypes.c_double, "float": ctypes.c_float, "aclDataType": _I32, "char*": ctypes.c_char_p,
}  # fmt: skip


class Host:
    """A C program on a simulated host."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine
        self.acl: Any = simulator.load()
        assert self.acl.init() == 0
        assert self.acl.rt.set_device(0) == 0
        self.made: list[tuple[str, int]] = []

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """Return a C function."""
        address = simulator.libraries().address(name)
        assert address is not None, name
        return ctypes.CFUNCTYPE(result, *arguments)(address)

    def memory(self, size: int) -> int:
        """Return device memory."""
        address, code = self.acl.rt.malloc(size, 0)
        assert code == 0
        return int(address)

    def _keep(self, kind: str, handle: int | None) -> int:
        assert handle
        self.made.append((kind, handle))
        return handle

    def tensor(
        self, shape: Sequence[int] = (2, 3), dtype: int = FLOAT, *, strides: Sequence[int] | None = None, offset: int = 0,
        form: int = ND, storage: Sequence[int] | None = None, data: int | None = None,
    ) -> int:  # fmt: skip
        """Return an `aclTensor`, over new memory unless `data` says where."""
        steps, step = [], 1
        for extent in reversed(shape):
            steps.insert(0, step)
            step *= extent
        extents = list(storage) if storage is not None else [max(1, step)]
        count = 1
        for extent in extents:
            count *= extent
        address = self.memory(max(32, count * SIZES[dtype])) if data is None else data
        create = self.function("aclCreateTensor", _P, _P, _U64, _I32, _P, _I64, _I32, _P, _U64, _P)
        blocks = [(_I64 * max(1, len(numbers)))(*numbers) for numbers in (shape, strides or steps, extents)]
        places = [ctypes.addressof(block) for block in blocks]
        return self._keep(
            "Tensor",
            create(places[0], len(shape), dtype, places[1], offset, form, places[2], len(extents), address or None),
        )

    def scalar(self, value: float = 1.0) -> int:
        """Return an `aclScalar` of a double."""
        block = ctypes.c_double(value)
        return self._keep("Scalar", self.function("aclCreateScalar", _P, _P, _I32)(ctypes.addressof(block), DOUBLE))

    def ints(self, *values: int) -> int:
        """Return an `aclIntArray`."""
        block = (_I64 * max(1, len(values)))(*values)
        return self._keep(
            "IntArray", self.function("aclCreateIntArray", _P, _P, _U64)(ctypes.addressof(block), len(values))
        )

    def tensors(self, *handles: int | None) -> int:
        """Return an `aclTensorList`, which owns its elements."""
        block = (_P * max(1, len(handles)))(*handles)
        self.made = [one for one in self.made if one[1] not in handles]
        return self._keep(
            "TensorList", self.function("aclCreateTensorList", _P, _P, _U64)(ctypes.addressof(block), len(handles))
        )

    def destroy(self, kind: str, handle: int | None) -> int:
        """Call `aclDestroy<kind>`."""
        self.made = [one for one in self.made if one != (kind, handle)]
        return int(self.function(f"aclDestroy{kind}", _I32, _P)(handle))

    def plan(self, name: str, *arguments: Any) -> tuple[int, int, int]:
        """Run the first phase of `aclnn<name>`; return its code, the workspace's size and the executor."""
        kinds = [text.replace("const ", "").replace(" ", "") for text, _ in signatures()["aclnn" + name]["params"]]
        plan = self.function(f"aclnn{name}GetWorkspaceSize", _I32, *(_SIMPLE.get(kind, _P) for kind in kinds))
        found = (_U64 * 2)()
        place = ctypes.addressof(found)
        code = plan(*arguments, place, place + 8)
        return int(code), int(found[0]), int(found[1])

    def run(self, name: str, workspace: int | None, size: int, executor: int | None, stream: int = 0) -> int:
        """Run the second phase."""
        return int(self.function("aclnn" + name, _I32, _P, _U64, _P, _P)(workspace, size, executor, stream))

    def call(self, name: str, *arguments: Any) -> tuple[str, int]:
        """Run both phases and wait: the phase that refuses, and its code."""
        code, size, executor = self.plan(name, *arguments)
        if code:
            return "plan", code
        workspace = self.memory(size) if size else None
        code = self.run(name, workspace, size, executor)
        if code:
            return "run", code
        code = self.acl.rt.synchronize_stream(0)
        return ("device", code) if code else ("well", 0)

    def close(self) -> None:
        """Destroy what is left."""
        for kind, handle in list(self.made):
            assert self.destroy(kind, handle) == 0
