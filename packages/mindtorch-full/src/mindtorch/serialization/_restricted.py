"""The unpickler behind `weights_only=True`: a small machine that cannot do more than build weights.

It knows the operations that checkpoints need and no others, looks names up in an allow list instead of importing
them, and calls nothing but what that list holds.
"""

from __future__ import annotations

import pickle
import struct
import warnings
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, BinaryIO, ClassVar

import mindtorch
from mindtorch.serialization import _allowed, _calls, _names
from mindtorch.serialization import _quantized_calls as _quantized_calls  # what it knows to call
from mindtorch.serialization._budget import PICKLE_PER_BYTE, UNLIMITED, Budget, check_key
from mindtorch.serialization._files import bytes_left
from mindtorch_storage.storage import storage_class_dtype
from mindtorch_storage.tensor_base import TensorBase

UnpicklingError = pickle.UnpicklingError
_DICTS = (dict, OrderedDict, Counter)
_LIST, _DICT, _SET, _TUPLE = 88, 80, 232, 72  # bytes of an empty one, a place on the stack included
_UINT8, _UINT16, _UINT32, _INT32, _FLOAT = map(struct.Struct, ("<B", "<H", "<I", "<i", ">d"))
_STEP = 1 << 16
_LONGEST_NAME = 1000
_DAMAGE = (
    ArithmeticError, AssertionError, AttributeError, BufferError, LookupError, RecursionError, TypeError, ValueError,
    struct.error,
)  # fmt: skip
"""What an operation on values that a damaged or hostile file chose may raise, beside RuntimeError."""
_NESTED = frozenset(
    (
        "torch.nested._internal.nested_tensor.NestedTensor",
        "torch.nested._internal.nested_tensor._rebuild_njt",
        "torch._dynamo.decorators._DimRange",
    )
)
_DISTRIBUTED = frozenset(
    (
        "torch.distributed.device_mesh.DeviceMesh",
        "torch.distributed.tensor._dtensor_spec.DTensorSpec",
        "torch.distributed.tensor._dtensor_spec.TensorMeta",
        "torch.distributed.tensor.DTensor",
        "torch.distributed.tensor.placement_types.Partial",
        "torch.distributed.tensor.placement_types.Replicate",
        "torch.distributed.tensor.placement_types.Shard",
    )
)


def python3_name(module: str, name: str) -> tuple[str, str]:
    """Names as protocol 2 writes them, in the modules Python 3 has."""
    if (module, name) in NAME_MAPPING:
        return NAME_MAPPING[module, name]
    return IMPORT_MAPPING.get(module, module), name


def _build_users(target: Any, state: Any) -> None:
    """What `pickle` does with the state of an object, for one whose class the user marked safe."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    target.__dict__.update(state or {})
    for name, value in (slots or {}).items():
        _calls.check_attribute(name)
        setattr(target, name, value)


class RestrictedUnpickler:
    """Reads one pickle. Attribute `persistent_load` resolves storages."""

    def __init__(self, stream: BinaryIO, *, encoding: str = "utf-8", budget: Budget = UNLIMITED) -> None:
        self._stream = stream
        self._encoding = encoding
        self._budget = budget
        self._start = stream.tell()
        self._made = self._counted = 0
        self._count_at = _STEP
        self._memo: dict[int, Any] = {}
        self._stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self._users = _allowed.user_globals()
        self._named: dict[int, tuple[str, Any]] = {}
        self.persistent_load: Callable[[Any], Any] = self._no_persistent_load

    @staticmethod
    def _no_persistent_load(saved_id: Any) -> Any:
        raise UnpicklingError("unsupported persistent id encountered")

    def load(self) -> Any:
        """The object that the pickle describes.

        Raises UnpicklingError or RuntimeError for what is damaged or refused, EOFError where the stream ends before the
        pickle does, and as it is what the caller's own code raises.
        """
        try:
            read, operations = self._stream.read, self._OPERATIONS
            while True:
                code = read(1)
                if not code:
                    raise EOFError
                if code == pickle.STOP:
                    return self._stack.pop()
                operation = operations.get(code)
                if operation is None:
                    raise UnpicklingError(f"Unsupported operand {code[0]}")
                operation(self)
        except _calls.RaisedByCaller as raised:
            raise raised.error from None
        except _DAMAGE as error:
            raise UnpicklingError(f"pickle data is damaged: {type(error).__name__}: {str(error)[:1000]}") from None

    def _container(self, nbytes: int, value: Any) -> Any:
        self._made += nbytes
        if self._made > self._count_at:
            self._count_containers()
        return value

    def _count_containers(self) -> None:
        # Pickles are allowed what they spell out at the usual length; the budget pays for anything denser.
        dense = self._made - PICKLE_PER_BYTE * (self._stream.tell() - self._start) - self._counted
        if dense > 0:
            self._budget.take(dense)
            self._counted += dense
        self._count_at = self._made + _STEP

    def _read(self, size: int) -> bytes:
        if size > _STEP and size > bytes_left(self._stream):  # before a buffered stream takes memory for all of it
            raise UnpicklingError("pickle data was truncated")
        data = self._stream.read(size)
        if len(data) < size:
            raise UnpicklingError("pickle data was truncated")
        return data

    def _unpack(self, form: struct.Struct) -> Any:
        return form.unpack(self._stream.read(form.size))[0]

    def _line(self) -> str:
        line = self._stream.readline(_LONGEST_NAME)
        if not line.endswith(b"\n"):
            raise UnpicklingError("pickle data was truncated")
        return line[:-1].decode("utf-8")

    def _pop_mark(self) -> list[Any]:
        items = self._stack
        self._stack = self._marks.pop()
        return items

    def _global(self) -> None:
        module, name = python3_name(self._line(), self._line())
        full_name = f"{module}.{name}"
        if module in _allowed.BLOCKED_MODULES:
            raise UnpicklingError(f"Trying to load unsupported GLOBAL {full_name} whose module {module} is blocked.")
        if full_name in _allowed.DEFAULT_NAMES or full_name in self._users:
            default = full_name in _allowed.DEFAULT_NAMES
            found = _allowed.default_global(full_name) if default else self._users[full_name]
            self._named[id(found)] = (full_name if default else "", found)
            self._stack.append(found)
            return
        if full_name in _NESTED:
            raise UnpicklingError(
                "``torch.nested`` and ``torch._dynamo`` must be imported to load nested jagged tensors (NJTs)"
            )
        if full_name in _DISTRIBUTED:
            raise UnpicklingError("``torch.distributed.tensor`` must be imported to load DTensors")
        shown = full_name.removeprefix("builtins.")
        raise UnpicklingError(
            f"Unsupported global: GLOBAL {shown} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{shown}])` or the `torch.serialization.safe_globals([{shown}])` "
            "context manager to allowlist this global if you trust this class/function."
        )

    def _may_build(self, cls: type) -> bool:
        # By identity, as equality would run code of other objects. The class of an object need not be what made it:
        # `numpy.dtype("u4")` is a `numpy.dtypes.UInt32DType`, which no file names and users mark safe.
        return any(cls is each for each in self._users.values())

    def _call(self, function: Any, args: Any, *, new: bool = False) -> Any:
        """Call what the file named and the lists allow; `new` for the constructor of a class without its `__init__`."""
        named = self._named.get(id(function))
        if named is None:
            if new:
                raise UnpicklingError(
                    "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got "
                    f"{function if isinstance(function, type) else type(function)}"
                )
            shown = function if callable(function) else f"of type {type(function).__name__}"
            text = f"Trying to call reduce for unrecognized function {shown}"
            if hasattr(function, "__self__"):
                text += f" which belongs to {function.__self__}"
            raise UnpicklingError(text)
        if type(args) is not tuple:
            raise UnpicklingError(f"the arguments of a call must be a tuple, but got {type(args).__name__}")
        name = named[0]
        if name:
            caller = _calls.CALLERS.get(name)
            if caller is None:
                raise UnpicklingError(f"Refused to call {name}: no checkpoint needs it")
            return caller(self._budget, self._call, *args)
        if isinstance(function, type) and function.__new__ is mindtorch.Tensor.__new__:
            return _calls.legacy_tensor(self._budget, function, args)
        with _calls.callers_code():
            return function.__new__(function, *args) if new else function(*args)

    def _new_object(self) -> None:
        args = self._stack.pop()
        cls = self._stack.pop()
        self._stack.append(self._call(cls, args, new=True))

    def _reduce(self) -> None:
        args = self._stack.pop()
        self._stack[-1] = self._call(self._stack[-1], args)

    def _build(self) -> None:
        state = self._stack.pop()
        target = self._stack[-1]
        _calls.charge_state(self._budget, state)
        if isinstance(target, TensorBase):
            _calls.build_tensor(target, state)
        elif type(target) is OrderedDict:
            _calls.set_attributes(target, state)
        elif not self._may_build(type(target)):
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(target)}"
            )
        else:
            with _calls.callers_code():
                _build_users(target, state)

    def _append(self) -> None:
        item = self._stack.pop()
        self._extend([item], "append to")

    def _appends(self) -> None:
        items = self._pop_mark()
        self._extend(items, "extend")

    def _extend(self, items: list[Any], verb: str) -> None:
        target = self._stack[-1]
        if type(target) is not list:
            raise UnpicklingError(f"Can only {verb} lists, but got {type(target)}")
        target.extend(items)

    def _set_item(self) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._set_items_from([key, value], "SETITEM")

    def _set_items(self) -> None:
        self._set_items_from(self._pop_mark(), "SETITEMS")

    def _set_items_from(self, items: list[Any], operation: str) -> None:
        target = self._stack[-1]
        if type(target) not in _DICTS:
            raise UnpicklingError(
                f"Can only {operation} for dict, collections.OrderedDict, collections.Counter, but got {type(target)}"
            )
        for index in range(0, len(items), 2):
            key = items[index]
            if key.__class__ is tuple:
                check_key(key)
            target[key] = items[index + 1]

    def _mark(self) -> None:
        self._marks.append(self._stack)
        self._stack = self._container(_LIST, [])

    def _tuple(self) -> None:
        items = self._pop_mark()
        self._push(self._container(_TUPLE, tuple(items)))

    def _tuple_of(self, count: int) -> None:
        if len(self._stack) < count:
            raise IndexError("pop from empty list")
        self._stack[-count:] = [self._container(_TUPLE, tuple(self._stack[-count:]))]

    def _push_text(self) -> None:
        self._stack.append(str(self._read(self._unpack(_UINT32)), "utf-8", "surrogatepass"))

    def _push_bytes(self) -> None:
        data = self._read(self._unpack(_UINT8))
        self._stack.append(data if self._encoding == "bytes" else data.decode(self._encoding, "strict"))

    def _persistent(self) -> None:
        saved_id = self._stack.pop()
        if type(saved_id) is not tuple and type(saved_id) is not int:
            raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(saved_id)}")
        kind = saved_id[0] if type(saved_id) is tuple and saved_id else "storage"
        if not (type(kind) is str and kind == "storage") and not (type(kind) is bytes and kind == b"storage"):
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(kind)}")
        self._stack.append(self.persistent_load(saved_id))

    def _protocol(self) -> None:
        protocol = self._unpack(_UINT8)
        if protocol != 2:
            warnings.warn(
                f"Detected pickle protocol {protocol} in the checkpoint, which was not the default pickle protocol "
                "used by `torch.load` (2). The weights_only Unpickler might not support all instructions implemented "
                "by this protocol, please file an issue for adding support if you encounter this.",
                stacklevel=2,
            )

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _put(self, form: struct.Struct) -> None:
        self._memo[self._unpack(form)] = self._stack[-1]

    def _get(self, form: struct.Struct) -> None:
        self._stack.append(self._memo[self._unpack(form)])

    _OPERATIONS: ClassVar[dict[bytes, Callable[[RestrictedUnpickler], None]]] = {
        pickle.GLOBAL: _global,
        pickle.NEWOBJ: _new_object,
        pickle.REDUCE: _reduce,
        pickle.BUILD: _build,
        pickle.APPEND: _append,
        pickle.APPENDS: _appends,
        pickle.SETITEM: _set_item,
        pickle.SETITEMS: _set_items,
        pickle.MARK: _mark,
        pickle.TUPLE: _tuple,
        pickle.TUPLE1: lambda self: self._tuple_of(1),
        pickle.TUPLE2: lambda self: self._tuple_of(2),
        pickle.TUPLE3: lambda self: self._tuple_of(3),
        pickle.NONE: lambda self: self._push(None),
        pickle.NEWFALSE: lambda self: self._push(False),
        pickle.NEWTRUE: lambda self: self._push(True),
        pickle.EMPTY_TUPLE: lambda self: self._push(()),
        pickle.EMPTY_LIST: lambda self: self._push(self._container(_LIST, [])),
        pickle.EMPTY_DICT: lambda self: self._push(self._container(_DICT, {})),
        pickle.EMPTY_SET: lambda self: self._push(self._container(_SET, set())),
        pickle.BININT: lambda self: self._push(self._unpack(_INT32)),
        pickle.BININT1: lambda self: self._push(self._unpack(_UINT8)),
        pickle.BININT2: lambda self: self._push(self._unpack(_UINT16)),
        pickle.LONG1: lambda self: self._push(pickle.decode_long(self._read(self._unpack(_UINT8)))),
        pickle.BINFLOAT: lambda self: self._push(self._unpack(_FLOAT)),
        pickle.BINUNICODE: _push_text,
        pickle.SHORT_BINSTRING: _push_bytes,
        pickle.BINPERSID: _persistent,
        pickle.BINGET: lambda self: self._get(_UINT8),
        pickle.LONG_BINGET: lambda self: self._get(_UINT32),
        pickle.BINPUT: lambda self: self._put(_UINT8),
        pickle.LONG_BINPUT: lambda self: self._put(_UINT32),
        pickle.PROTO: _protocol,
    }


class UnrestrictedUnpickler(pickle.Unpickler):
    """The unpickler behind `weights_only=False`: any name, with those of torch meaning ours."""

    def find_class(self, module: str, name: str) -> Any:
        """The object that a file means by `module name`."""
        if _names.is_torch_name(module):
            if storage_class_dtype(name) is not None:
                return _allowed.StorageType(name)
            return _names.resolve(*python3_name(module, name))
        return super().find_class(module, name)
