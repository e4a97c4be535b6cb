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

from mindtorch.serialization import _allowed, _names
from mindtorch.tensor.pickling import restore_from_legacy_state
from mindtorch_storage.storage import TypedStorage, UntypedStorage, storage_class_dtype

UnpicklingError = pickle.UnpicklingError
_SIZED = (bytearray, UntypedStorage, TypedStorage)
_DICTS = (dict, OrderedDict, Counter)
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


def _check_memory(function: Any, args: Any) -> None:
    """Refuse calls that would take as much memory as a number in the file says, without data that fills it."""
    makes = any(function is kind for kind in _SIZED) or getattr(function, "__name__", "") == "Tensor"
    if makes and any(isinstance(arg, int) for arg in args):
        raise UnpicklingError(f"Refused to make a {function.__name__} of a given size: no checkpoint needs it")


class RestrictedUnpickler:
    """Reads one pickle. Attribute `persistent_load` resolves storages."""

    def __init__(self, stream: BinaryIO, *, encoding: str = "utf-8") -> None:
        self._stream = stream
        self._encoding = encoding
        self._memo: dict[int, Any] = {}
        self._stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self._users = _allowed.user_globals()
        self._named: dict[str, Any] = {}
        self.persistent_load: Callable[[Any], Any] = self._no_persistent_load

    @staticmethod
    def _no_persistent_load(saved_id: Any) -> Any:
        raise UnpicklingError("unsupported persistent id encountered")

    def load(self) -> Any:
        """The object that the pickle describes."""
        try:
            while True:
                code = self._stream.read(1)
                if not code:
                    raise EOFError
                if code == pickle.STOP:
                    return self._stack.pop()
                operation = self._OPERATIONS.get(code)
                if operation is None:
                    raise UnpicklingError(f"Unsupported operand {code[0]}")
                operation(self)
        except (IndexError, KeyError, struct.error, UnicodeDecodeError) as error:
            # The operations index the stack and the memo as the file says; a damaged file says anything.
            raise UnpicklingError(f"pickle data is damaged: {type(error).__name__}: {error}") from None

    def _read(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise UnpicklingError("pickle data was truncated")
        return data

    def _unpack(self, form: str) -> Any:
        return struct.unpack(form, self._read(struct.calcsize(form)))[0]

    def _line(self) -> str:
        line = self._stream.readline()
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
            self._named[full_name] = found
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

    def _may_call(self, value: Any) -> bool:
        # Only what the file named and the lists allowed; by identity, as equality would run code of other objects.
        return any(value is each for each in self._named.values())

    def _may_build(self, cls: type) -> bool:
        # The class of an object need not be what made it: `numpy.dtype("u4")` is a `numpy.dtypes.UInt32DType`, which no
        # file names and users mark safe.
        return self._may_call(cls) or any(cls is each for each in self._users.values())

    def _new_object(self) -> None:
        args = self._stack.pop()
        cls = self._stack.pop()
        _check_memory(cls, args)
        if cls is self._named.get("torch.nn.parameter.Parameter", self):
            self._stack.append(cls(*args))
        elif self._may_call(cls):
            self._stack.append(cls.__new__(cls, *args))
        else:
            raise UnpicklingError(
                "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got "
                f"{cls}"
            )

    def _reduce(self) -> None:
        args = self._stack.pop()
        function = self._stack[-1]
        if not self._may_call(function):
            text = f"Trying to call reduce for unrecognized function {function}"
            if hasattr(function, "__self__"):
                text += f" which belongs to {function.__self__}"
            raise UnpicklingError(text)
        _check_memory(function, args)
        self._stack[-1] = function(*args)

    def _build(self) -> None:
        state = self._stack.pop()
        target = self._stack[-1]
        if type(target) is self._named.get("torch.Tensor"):
            restore_from_legacy_state(target, state)
        elif type(target) is self._named.get("torch.nn.parameter.Parameter"):
            target.__setstate__(state)
        elif type(target) is OrderedDict:
            target.__dict__.update(state)
        elif not self._may_build(type(target)):
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(target)}"
            )
        elif hasattr(target, "__setstate__"):
            target.__setstate__(state)
        else:
            slots = None
            if isinstance(state, tuple) and len(state) == 2:
                state, slots = state
            target.__dict__.update(state or {})
            for name, value in (slots or {}).items():
                setattr(target, name, value)

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
            target[items[index]] = items[index + 1]

    def _mark(self) -> None:
        self._marks.append(self._stack)
        self._stack = []

    def _tuple(self) -> None:
        items = self._pop_mark()
        self._stack.append(tuple(items))

    def _tuple_of(self, count: int) -> None:
        if len(self._stack) < count:
            raise IndexError("pop from empty list")
        self._stack[-count:] = [tuple(self._stack[-count:])]

    def _push_text(self) -> None:
        self._stack.append(str(self._read(self._unpack("<I")), "utf-8", "surrogatepass"))

    def _push_bytes(self) -> None:
        data = self._read(self._unpack("<B"))
        self._stack.append(data if self._encoding == "bytes" else data.decode(self._encoding, "strict"))

    def _persistent(self) -> None:
        saved_id = self._stack.pop()
        if type(saved_id) is not tuple and type(saved_id) is not int:
            raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(saved_id)}")
        if type(saved_id) is tuple and saved_id and saved_id[0] not in ("storage", b"storage"):
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(saved_id[0])}")
        self._stack.append(self.persistent_load(saved_id))

    def _protocol(self) -> None:
        protocol = self._unpack("<B")
        if protocol != 2:
            warnings.warn(
                f"Detected pickle protocol {protocol} in the checkpoint, which was not the default pickle protocol "
                "used by `torch.load` (2). The weights_only Unpickler might not support all instructions implemented "
                "by this protocol, please file an issue for adding support if you encounter this.",
                stacklevel=2,
            )

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _put(self, form: str) -> None:
        self._memo[self._unpack(form)] = self._stack[-1]

    def _get(self, form: str) -> None:
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
        pickle.EMPTY_LIST: lambda self: self._push([]),
        pickle.EMPTY_DICT: lambda self: self._push({}),
        pickle.EMPTY_SET: lambda self: self._push(set()),
        pickle.BININT: lambda self: self._push(self._unpack("<i")),
        pickle.BININT1: lambda self: self._push(self._unpack("<B")),
        pickle.BININT2: lambda self: self._push(self._unpack("<H")),
        pickle.LONG1: lambda self: self._push(pickle.decode_long(self._read(self._unpack("<B")))),
        pickle.BINFLOAT: lambda self: self._push(self._unpack(">d")),
        pickle.BINUNICODE: _push_text,
        pickle.SHORT_BINSTRING: _push_bytes,
        pickle.BINPERSID: _persistent,
        pickle.BINGET: lambda self: self._get("<B"),
        pickle.LONG_BINGET: lambda self: self._get("<I"),
        pickle.BINPUT: lambda self: self._put("<B"),
        pickle.LONG_BINPUT: lambda self: self._put("<I"),
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
