"""Calls of the vendor's operators in two phases, made from the signature table."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_npu import runtime
from mindtorch_npu.acl.errors import check
from mindtorch_npu.aclnn import signatures
from mindtorch_npu.allocator import allocator_of
from mindtorch_npu.backend.dtypes import BOOL, COMPLEX128, DOUBLE, INT64, code_of
from mindtorch_npu.backend.libraries import symbols
from mindtorch_npu.stream import current_stream

_P, _I64, _U64, _I32 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64, ctypes.c_int32
PLAIN: dict[str, Any] = {
    "int64_t": _I64, "uint64_t": _U64, "int32_t": _I32, "int": _I32, "int8_t": ctypes.c_int8, "bool": ctypes.c_bool,
    "double": ctypes.c_double, "float": ctypes.c_float, "aclDataType": _I32, "char*": ctypes.c_char_p,
}  # fmt: skip
"""C types that are passed by value; all others are handles."""

DESCRIPTORS: dict[str, tuple[Any, Sequence[Any]]] = {
    "aclCreateTensor": (_P, (_P, _U64, _I32, _P, _I64, _I32, _P, _U64, _P)),
    "aclCreateScalar": (_P, (_P, _I32)),
    "aclCreateIntArray": (_P, (_P, _U64)),
    "aclCreateFloatArray": (_P, (_P, _U64)),
    "aclCreateBoolArray": (_P, (_P, _U64)),
    "aclGetViewShape": (_I32, (_P, _P, _P)),
    "aclCreateTensorList": (_P, (_P, _U64)),
    "aclCreateScalarList": (_P, (_P, _U64)),
    **{
        f"aclDestroy{kind}": (_I32, (_P,))
        for kind in ("Tensor", "Scalar", "IntArray", "FloatArray", "BoolArray", "TensorList", "ScalarList")
    },
}
FORMATS = {3: 47, 4: 0, 5: 30}
"""`aclFormat` by rank: NCL, NCHW, NCDHW; ND otherwise."""
ND = 2

launches: dict[str, int] = {}
"""How often each operator was launched in this process."""

_lock = threading.Lock()
_bound: dict[Any, dict[str, Any]] = {}


class MissingOperatorError(NotImplementedError):
    """The installed libraries lack an operator."""


def _table() -> dict[str, Any]:
    """Return the functions bound so far of the libraries in use."""
    source = symbols()
    with _lock:
        return _bound.setdefault(source, {})


def _function(name: str, result: Any, arguments: Sequence[Any]) -> Any:
    table = _table()
    made = table.get(name)
    if made is None:
        address = symbols().address(name)
        if address is None:
            raise MissingOperatorError(f"{name} is not in the operator libraries of this CANN installation")
        made = table[name] = ctypes.CFUNCTYPE(result, *arguments)(address)
    return made


def _descriptor(name: str) -> Any:
    return _function(name, *DESCRIPTORS[name])


class _Call:
    """The arguments of one call as C sees them, and what has to be destroyed after it."""

    def __init__(self) -> None:
        self.owned: list[tuple[str, int]] = []
        self.kept: list[Any] = []

    def argument(self, kind: str, value: Any) -> Any:
        """Return `value` as an argument of C type `kind`."""
        if kind in PLAIN:
            return value.encode() if isinstance(value, str) else value
        if value is None:
            return None
        return getattr(self, _MAKERS[kind])(value)

    def _own(self, kind: str, handle: int) -> int:
        self.owned.append((kind, handle))
        return handle

    def tensor(self, array: Any) -> int:
        """`aclTensor` of a device array."""
        handle: int = self._make_tensor(array)
        return self._own("Tensor", handle)

    def _make_tensor(self, array: Any) -> int:
        rank, itemsize = array.ndim, array.dtype.itemsize
        dims, steps = (_I64 * rank)(*array.shape), (_I64 * rank)(*array.steps)
        # One dimension of all the storage's elements: the library checks that the view lies within it.
        extent = (_I64 * 1)(max(1, array.storage.nbytes() // itemsize))
        create = _descriptor("aclCreateTensor")
        form = FORMATS.get(rank, ND)
        address = array.storage.data_ptr()
        made: int = create(dims, rank, code_of(array.dtype), steps, array.offset, form, extent, 1, address)
        return made

    def scalar(self, value: Any) -> int:
        """`aclScalar` of a Python or numpy number."""
        return self._own("Scalar", self._make_scalar(value))

    def _make_scalar(self, value: Any) -> int:
        value = value.item() if hasattr(value, "item") else value
        block: Any
        if isinstance(value, bool):
            block, code = ctypes.c_bool(value), BOOL
        elif isinstance(value, int):
            block, code = _I64(value), INT64
        elif isinstance(value, complex):
            block, code = (ctypes.c_double * 2)(value.real, value.imag), COMPLEX128
        else:
            block, code = ctypes.c_double(value), DOUBLE
        made: int = _descriptor("aclCreateScalar")(ctypes.addressof(block), code)
        return made

    def ints(self, values: Any) -> int:
        """`aclIntArray`."""
        values = [values] if isinstance(values, int) else list(values)
        made = _descriptor("aclCreateIntArray")((_I64 * max(1, len(values)))(*values), len(values))
        return self._own("IntArray", made)

    def bools(self, values: Any) -> int:
        """`aclBoolArray`."""
        made = _descriptor("aclCreateBoolArray")((ctypes.c_bool * len(values))(*values), len(values))
        return self._own("BoolArray", made)

    def floats(self, values: Any) -> int:
        """`aclFloatArray`."""
        made = _descriptor("aclCreateFloatArray")((ctypes.c_float * len(values))(*values), len(values))
        return self._own("FloatArray", made)

    def tensors(self, arrays: Any) -> int:
        """`aclTensorList`; destroying it destroys its elements."""
        handles = [self._make_tensor(array) for array in arrays]
        made = _descriptor("aclCreateTensorList")((_P * max(1, len(handles)))(*handles), len(handles))
        return self._own("TensorList", made)

    def scalars(self, values: Any) -> int:
        """`aclScalarList`; destroying it destroys its elements."""
        handles = [self._make_scalar(value) for value in values]
        made = _descriptor("aclCreateScalarList")((_P * max(1, len(handles)))(*handles), len(handles))
        return self._own("ScalarList", made)

    def destroy(self) -> None:
        """Destroy every descriptor."""
        for kind, handle in self.owned:
            _descriptor(f"aclDestroy{kind}")(handle)


_MAKERS = {
    "aclTensor*": "tensor",
    "aclScalar*": "scalar",
    "aclIntArray*": "ints",
    "aclBoolArray*": "bools",
    "aclFloatArray*": "floats",
    "aclTensorList*": "tensors",
    "aclScalarList*": "scalars",
}


def kind_of(text: str) -> str:
    """Return a C type of the signature table without `const` and blanks."""
    return text.replace("const ", "").replace(" ", "")


def _phases(name: str) -> tuple[Any, Any, list[str]]:
    table = _table()
    made = table.get(("phases", name))  # type: ignore[call-overload]
    if made is None:
        kinds = [kind_of(text) for text, _ in signatures()[name]["params"]]
        types = [PLAIN.get(kind, _P) for kind in kinds]
        plan = _function(f"{name}GetWorkspaceSize", _I32, types)
        run = _function(name, _I32, (_P, _U64, _P, _P))
        made = table["phases", name] = (plan, run, kinds[:-2])  # type: ignore[index]
    found: tuple[Any, Any, list[str]] = made
    return found


def _device_of(arguments: Sequence[Any]) -> int:
    for value in arguments:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if hasattr(item, "storage"):
                return int(item.device)
    raise ValueError("no argument is on a device")


def launch(name: str, arguments: Sequence[Any], *, shape_of: int | None = None) -> tuple[int, ...]:
    """Plan and launch operator `name` with its C parameters in order; it returns before the device has computed.

    With `shape_of`, the place of an output whose shape depends on values, it waits and returns that output's shape.

    Raises AclError when the operator refuses, MissingOperatorError when the libraries lack it.
    """
    plan, run, kinds = _phases(name)
    device = _device_of(arguments)
    acl = runtime.on(device)
    stream = current_stream(device).npu_stream
    call = _Call()
    try:
        given = [call.argument(kind, value) for kind, value in zip(kinds, arguments, strict=True)]
        size, executor = _U64(), _P()
        code = plan(*given, ctypes.addressof(size), ctypes.addressof(executor))
        check(code, f"{name}GetWorkspaceSize({_described(name, arguments)})", acl)
        allocator = allocator_of(device)
        # The workspace goes back at once: whoever gets it next on this stream comes after this operator.
        workspace = allocator.malloc(size.value, stream)
        try:
            check(run(workspace or None, size.value, executor, stream), name, acl)
        finally:
            allocator.free(workspace)
        shape = () if shape_of is None else _shape_of(given[shape_of], acl, stream)
    finally:
        call.destroy()
    launches[name] = launches.get(name, 0) + 1
    return shape


def _shape_of(descriptor: int, acl: Any, stream: int) -> tuple[int, ...]:
    """Return the shape that an operator gave its output, when it has run."""
    check(acl.rt.synchronize_stream(stream), "acl.rt.synchronize_stream", acl)
    dims, count = _P(), _U64()
    code = _descriptor("aclGetViewShape")(descriptor, ctypes.addressof(dims), ctypes.addressof(count))
    check(code, "aclGetViewShape", acl)
    # The dims are C++'s to free, with delete[]: they are left.
    return tuple((_I64 * count.value).from_address(dims.value or 0)) if count.value else ()


def _described(name: str, arguments: Sequence[Any]) -> str:
    """Return the arguments in words, for error texts."""
    labels = [label for _, label in signatures()[name]["params"]]

    def shown(value: Any) -> str:
        if hasattr(value, "storage"):
            return f"{value.dtype.name}{list(value.shape)}"
        if isinstance(value, (list, tuple)) and value and hasattr(value[0], "storage"):
            return "[" + ", ".join(map(shown, value)) + "]"
        return repr(value)

    return ", ".join(f"{label}={shown(value)}" for label, value in zip(labels, arguments, strict=False))


Adapter = Callable[..., Sequence[Any]]
__all__ = ["MissingOperatorError", "kind_of", "launch", "launches", "np"]
