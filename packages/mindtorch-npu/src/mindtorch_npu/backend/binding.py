"""Calls of the vendor's operators in two phases, made from the signature table."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from ctypes import addressof
from typing import Any

import numpy as np

from mindtorch_npu import damage, runtime, switches, tracing
from mindtorch_npu.acl.errors import check
from mindtorch_npu.aclnn import signatures
from mindtorch_npu.allocator import allocator_of
from mindtorch_npu.backend.dtypes import BOOL, COMPLEX128, DOUBLE, INT64, code_of
from mindtorch_npu.backend.fitting import fitting_of
from mindtorch_npu.backend.planned import REPEATABLE, Kept, planned, tensors_of
from mindtorch_npu.libraries import symbols
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
    **REPEATABLE,
}
FORMATS = {3: 47, 4: 0, 5: 30}
"""`aclFormat` by rank: NCL, NCHW, NCDHW; ND otherwise."""
ND = 2

launches: dict[str, int] = {}
"""How often each operator was launched in this process."""

_lock = threading.Lock()
_bound: dict[Any, dict[Any, Any]] = {}
_FOUND = _U64 * 2  # a workspace's size, and the executor


class MissingOperatorError(NotImplementedError):
    """The installed libraries lack an operator."""


def _table() -> dict[Any, Any]:
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


def kind_of(text: str) -> str:
    """Return a C type of the signature table without `const` and blanks."""
    return text.replace("const ", "").replace(" ", "")


_ONE = _U64(1)
_GEOMETRIES = 4096
_geometries: dict[Any, tuple[Any, ...]] = {}


def _geometry(array: Any, elements: int) -> tuple[Any, ...]:
    """Return what `aclCreateTensor` is told of arrays of one geometry: it copies what the addresses lead to."""
    key = (array.shape, array.steps, array.dtype, elements)
    found = _geometries.get(key)
    if found is None:
        if len(_geometries) >= _GEOMETRIES:
            _geometries.clear()
        rank = len(array.shape)
        dims, steps = (_I64 * rank)(*array.shape), (_I64 * rank)(*array.steps)
        # One dimension of all the storage's elements: the library checks that the view lies within it.
        extent = (_I64 * 1)(max(1, elements))
        places = [_P(ctypes.addressof(block)) for block in (dims, steps, extent)]
        # As ctypes' objects, which are passed on as they are: converting numbers takes longer than the call.
        found = (*places, _U64(rank), _I32(code_of(array.dtype)), _I32(FORMATS.get(rank, ND)), (dims, steps, extent))
        _geometries[key] = found
    return found


class _Makers:
    """What makes descriptors of arguments, by their C types, with the functions of one set of libraries.

    Every maker returns a descriptor, which the function beside it in `by_kind` destroys.
    """

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._function = function
        self._create_tensor = function("aclCreateTensor")
        self._create_scalar = function("aclCreateScalar")
        self.by_kind = {
            f"acl{kind}*": (make, kind)
            for kind, make in (
                ("Tensor", self.tensor),
                ("Scalar", self.scalar),
                ("IntArray", self.ints),
                ("FloatArray", self.floats),
                ("BoolArray", self.bools),
                ("TensorList", self.tensors),
                ("ScalarList", self.scalars),
            )
        }

    def tensor(self, array: Any) -> int:
        """`aclTensor` of a device array."""
        storage = array.storage
        dims, steps, extent, rank, code, form, _ = _geometry(array, storage.nbytes() // array.dtype.itemsize)
        made: int = self._create_tensor(
            dims, rank, code, steps, array.offset, form, extent, _ONE, storage._allocation.pointer()
        )
        return made

    def scalar(self, value: Any) -> int:
        """`aclScalar` of a Python or numpy number."""
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
        made: int = self._create_scalar(ctypes.addressof(block), code)
        return made

    def _c_array(self, kind: str, element: Any, values: Sequence[Any]) -> int:
        block = (element * max(1, len(values)))(*values)
        made: int = self._function(f"aclCreate{kind}")(ctypes.addressof(block), len(values))
        return made

    def ints(self, values: Any) -> int:
        """`aclIntArray`."""
        return self._c_array("IntArray", _I64, [values] if isinstance(values, int) else list(values))

    def bools(self, values: Any) -> int:
        """`aclBoolArray`."""
        return self._c_array("BoolArray", ctypes.c_bool, values)

    def floats(self, values: Any) -> int:
        """`aclFloatArray`."""
        return self._c_array("FloatArray", ctypes.c_float, values)

    def tensors(self, arrays: Any) -> int:
        """`aclTensorList`; destroying it destroys its elements."""
        return self._c_array("TensorList", _P, [self.tensor(array) for array in arrays])

    def scalars(self, values: Any) -> int:
        """`aclScalarList`; destroying it destroys its elements."""
        return self._c_array("ScalarList", _P, [self.scalar(value) for value in values])


class _Operator:
    """An operator of one set of libraries: its two phases, what makes its arguments in order, and what launches it again."""

    __slots__ = ("arguments", "kinds", "native", "plan", "run")

    def __init__(self, name: str) -> None:
        kinds = [kind_of(text) for text, _ in signatures()[name]["params"]]
        self.plan = _function(f"{name}GetWorkspaceSize", _I32, [PLAIN.get(kind, _P) for kind in kinds])
        self.run = _function(name, _I32, (_P, _U64, _P, _P))
        table = _table()
        makers = table.get(_Makers)
        if makers is None:
            makers = table[_Makers] = _Makers(_descriptor)
        self.kinds = kinds[:-2]
        self.arguments = tuple(self._argument(makers, kind) for kind in self.kinds)
        self.native = planned.operator(name, self.kinds, fitting_of(name), symbols().address)

    def again(self, arguments: Sequence[Any]) -> bool | None:
        """Launch what was planned for such arguments: True when done, False where their plan is worth keeping."""
        return None if self.native is None else self.native(arguments)

    def outlives(self, executor: int, owned: list[tuple[Any, Any]]) -> bool:
        """Let an executor that was just planned outlive its launch, owned from now on; false where it can't, as most."""
        if planned.closed or _descriptor("aclSetAclOpExecutorRepeatable")(executor):
            return False
        owned.append((_descriptor("aclDestroyAclOpExecutor"), executor))
        return True

    def keep(self, arguments: Sequence[Any], given: list[Any], size: int, owned: list[tuple[Any, Any]]) -> bool:
        """Keep an executor that was launched, the last that is owned, with its descriptors; false where it is not kept.

        From here on other threads give it other addresses, so that the launch it was planned for comes before.
        """
        *descriptors, (destroy, executor) = owned
        kept = Kept(executor, descriptors, destroy)
        found: bool = self.native.keep(arguments, executor, size, tensors_of(self.kinds, arguments, given), kept)
        return found

    @staticmethod
    def _argument(makers: _Makers, kind: str) -> Any:
        """Return what makes and what destroys an argument, None for what is passed as it is."""
        if kind in PLAIN:
            return None
        make, name = makers.by_kind[kind]
        return make, _descriptor(f"aclDestroy{name}")


def _device_of(arguments: Sequence[Any]) -> int:
    for value in arguments:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            storage = getattr(item, "storage", None)
            if storage is not None:
                device: int = storage._allocation.device
                return device
    raise ValueError("no argument is on a device")


def operator_of(name: str) -> _Operator:
    """Return an operator of the libraries in use."""
    table = _bound.get(symbols()) or _table()
    found: _Operator = table.get((name,)) or table.setdefault((name,), _Operator(name))
    return found


def launch(name: str, arguments: Sequence[Any], *, shape_of: int | None = None) -> tuple[int, ...]:
    """Plan and launch operator `name` with its C parameters in order; it returns before the device has computed.

    With `shape_of`, the place of an output whose shape depends on values, it waits and returns that output's shape.

    Raises AclError when the operator refuses, MissingOperatorError when the libraries lack it.
    """
    operator = operator_of(name)
    if damage.checking["on"]:
        damage.check(name, arguments, fitting_of(name).written)
    later: Sequence[tuple[Any, Any]] = ()
    again = None if shape_of is not None or switches.blocking else operator.again(arguments)
    if again:
        return ()
    fitting = fitting_of(name)
    if fitting.needed(arguments):
        arguments, later = fitting(arguments)
        again = None if shape_of is not None or switches.blocking else operator.again(arguments)
    shape = () if again else _launch_anew(operator, name, arguments, shape_of, again is False)
    for target, source in later:
        launch("aclnnInplaceCopy", (target, source))
    return shape


def _launch_anew(
    operator: _Operator, name: str, arguments: Sequence[Any], shape_of: int | None, keep: bool
) -> tuple[int, ...]:
    """Run both phases, and keep what was planned where that is asked for and possible."""
    device = _device_of(arguments)
    acl = runtime.on(device)
    stream = current_stream(device).npu_stream
    given: list[Any] = []
    owned: list[tuple[Any, Any]] = []
    try:
        _describe(operator, arguments, given, owned)
        found = _FOUND()
        place = addressof(found)
        code = operator.plan(*given, place, place + 8)
        if code:
            check(code, f"{name}GetWorkspaceSize({_described(name, arguments)})", acl)
        size, executor = found
        keep = keep and operator.outlives(executor, owned)
        _enqueue(operator, name, device, stream, found)
        if keep and operator.keep(arguments, given, size, owned):
            owned.clear()
        shape = () if shape_of is None else _shape_of(given[shape_of], acl, stream)
    finally:
        for destroy, handle in owned:
            destroy(handle)
    launches[name] = launches.get(name, 0) + 1
    return shape


def _describe(operator: _Operator, arguments: Sequence[Any], given: list[Any], owned: list[tuple[Any, Any]]) -> None:
    """Append to `given` what the first phase is given, and to `owned` what of it has to be destroyed, and how."""
    for parts, value in zip(operator.arguments, arguments, strict=True):
        if parts is None:
            given.append(value.encode() if type(value) is str else value)
        elif value is None:
            given.append(None)
        else:
            made = parts[0](value)
            owned.append((parts[1], made))
            given.append(made)


def _enqueue(operator: _Operator, name: str, device: int, stream: int, found: Any) -> None:
    """Run the second phase with a workspace for it."""
    size, executor = found
    acl = runtime.on(device)
    tracing.tell("acl_start_execution", name)
    if size:
        allocator = allocator_of(device)
        # The workspace goes back at once: whoever gets it next on this stream comes after this operator.
        workspace = allocator.malloc(size, stream)
        try:
            code = operator.run(workspace, size, executor, stream)
        finally:
            allocator.free(workspace)
    else:
        code = operator.run(None, 0, executor, stream)
    if code:
        check(code, name, acl)
    switches.launched.append(name)
    tracing.tell("acl_finish_execution", name)
    if switches.blocking:
        check(acl.rt.synchronize_stream(stream), name, acl)


def _shape_of(descriptor: int, acl: Any, stream: int) -> tuple[int, ...]:
    """Return the shape that an operator gave its output, when it has run."""
    if switches.sync_debug["mode"]:
        switches.waiting()
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


__all__ = ["MissingOperatorError", "kind_of", "launch", "launches", "np", "operator_of"]
