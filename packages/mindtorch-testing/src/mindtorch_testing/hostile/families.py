"""What hostile files try, family by family: each function draws the value, the pickle or the file of one attempt."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

import mindtorch as mt
from mindtorch.serialization import _allowed
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage
from mindtorch_testing.hostile.pickles import (
    Build,
    Call,
    Name,
    Pairs,
    Raw,
    Stored,
    stored,
    torch_name,
)

Source = random.Random
BOUNDS = (
    0, 1, 2, 3, 16, 17, 63, 64, 65, 127, 1 << 10, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 60,
    (1 << 61) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, 1 << 64, 1 << 200, -1, -2, -16, -(1 << 31), -(1 << 63), -(1 << 64),
)  # fmt: skip
"""Integers at which something overflows, wraps or is compared wrongly."""
KINDS = sorted(LEGACY_CLASSES)
DTYPES = sorted(name for name in _allowed.DEFAULT_NAMES if isinstance(_allowed._KNOWN.get(name), mt.dtype))
FUNCTIONS = sorted(name for name in _allowed.DEFAULT_NAMES if "._rebuild" in name or "_get_layout" in name)
CLASSES = (
    "collections.OrderedDict", "collections.Counter", "builtins.set", "builtins.bytearray", "builtins.complex",
    "_codecs.encode", "torch.Size", "torch.device", "torch.Tensor", "torch.nn.parameter.Parameter",
    "torch.storage.UntypedStorage", "torch.storage.TypedStorage", "torch.FloatStorage",
)  # fmt: skip
FORBIDDEN = (
    "os.system", "posix.system", "nt.system", "os.popen", "os.execv", "sys.exit", "sys.setrecursionlimit",
    "builtins.eval", "builtins.exec", "builtins.compile", "builtins.getattr", "builtins.setattr", "builtins.open",
    "builtins.__import__", "builtins.print", "builtins.input", "builtins.globals", "builtins.list", "builtins.dict",
    "builtins.range", "builtins.memoryview", "builtins.frozenset", "builtins.type", "builtins.object", "__builtin__.eval",
    "__builtin__.apply", "__builtin__.xrange", "copy_reg._reconstructor", "copyreg._reconstructor", "copyreg.__newobj__",
    "subprocess.Popen", "subprocess.check_output", "commands.getoutput", "importlib.import_module", "runpy.run_path",
    "pickle.loads", "_pickle.loads", "marshal.loads", "ctypes.CDLL", "ctypes.string_at", "socket.socket", "pty.spawn",
    "webbrowser.open", "shutil.rmtree", "operator.attrgetter", "operator.methodcaller", "functools.partial",
    "functools.reduce", "itertools.repeat", "types.FunctionType", "types.CodeType", "code.interact", "timeit.timeit",
    "torch.load", "torch.save", "torch.from_file", "torch.empty", "torch.zeros", "torch.hub.load", "torch.serialization.load",
    "torch.storage._load_from_bytes", "torch.storage.UntypedStorage.from_file", "torch.UntypedStorage", "torch.compile",
    "torch._utils._import_dotted_name", "torch._utils._set_obj_state", "torch._utils._get_obj_state",
    "torch._utils.ExceptionWrapper", "torch._utils._rebuild_qtensor", "torch._utils._rebuild_wrapper_subclass",
    "torch.Tensor.__class__", "torch.Tensor.set_", "torch.Tensor.__setstate__", "torch.ops.load_library", "torch._C.dtype",
    "torch.jit.load", "torch.utils.cpp_extension.load", "torch.fx.graph_module.reduce_graph_module", "mindtorch.load",
    "mindtorch._utils._rebuild_tensor_v2", "mindtorch.serialization._calls.CALLERS", "mindtorch_storage.size.Size",
    "mindtorch_storage.tensor_base.make_tensor", "mindtorch_cpu._native.call", "numpy.core.multiarray._reconstruct",
    "numpy._core.multiarray._reconstruct", "numpy.ndarray", "numpy.dtype", "numpy.load", "numpy.fromfile", "numpy.memmap",
    "mindtorch_testing.hostile.judge.canary", "mindtorch_testing.hostile.judge.Canary", "", ".", "..", "torch.", ".Tensor",
    "torch..Tensor", "torch.Size.numel", "torch.Size\r", "torch .Size", "tоrch.Size", "torch.\ud800", "a" * 5000 + ".b",
)  # fmt: skip


def storage(source: Source) -> Any:
    """A storage of the archive, mostly as it should be."""
    if source.random() < 0.85:
        return stored("0", "FloatStorage", 16)
    key = source.choice(("0", "0", "1", 0, "../data.pkl", "", b"0", None, ("0",)))
    count = source.choice((16, 64, *BOUNDS, 2.5, None, True, "16"))
    return stored(
        key, source.choice(KINDS), count, source.choice(("cpu", "meta", "cuda:0", "mps", "npu:9", "x", 7, None))
    )


def extents(source: Source) -> Any:
    """A size or stride: of any length, with any numbers, and at times no tuple of numbers at all."""
    if source.random() < 0.05:
        return source.choice((None, 3, "abc", {}, 2.5, Call(torch_name("torch.Size"), ((1, 2),)), [4], (1.5,), ("1",)))
    ndim = source.choice((0, 1, 1, 2, 2, 3, 4, 8, 39, 40, 41, 63, 64, 65, 70))
    small = source.random() < 0.7
    return tuple(source.choice((0, 1, 1, 2) if small else BOUNDS) for _ in range(ndim))


def geometry(source: Source) -> tuple[Any, Any, Any, Any]:
    """Storage, offset, size and stride: any, or right but for one number."""
    size = extents(source)
    if source.random() < 0.3 or not isinstance(size, tuple):
        return storage(source), source.choice((0, 0, 0, *BOUNDS, None, 1.0)), size, extents(source)
    kind = source.random()
    most = 1 if len(size) > 4 else 2
    shape = [source.choice((1, most)) for _ in size]
    stride = [source.choice((0, 1, most, 4)) for _ in size]
    offset = source.choice((0, 1, 4, 15))
    if kind < 0.3 and shape:
        shape[source.randrange(len(shape))] = source.choice(BOUNDS)
    elif kind < 0.6 and stride:
        stride[source.randrange(len(stride))] = source.choice(BOUNDS)
    elif kind < 0.7:
        offset = source.choice(BOUNDS)
    elif kind < 0.85 and shape:  # no element, and then any number may stand elsewhere
        shape = [source.choice((1, 2, *BOUNDS[11:21])) for _ in shape]
        shape[source.randrange(len(shape))] = 0
    return storage(source), offset, tuple(shape), tuple(stride)


def tensor(source: Source, *, well: bool = False) -> Any:
    """A tensor over the archive's storage, by one of the rebuild functions."""
    parts = (stored("0", "FloatStorage", 16), 0, (4, 4), (4, 1)) if well else geometry(source)
    kind = source.random()
    grad = source.random() < 0.5 if well or source.random() < 0.95 else source.choice((1, None, "x"))
    hooks = Call(torch_name("collections.OrderedDict"), ())
    strange = ({"conj": True},), ({"neg": True},), ({"x": True},), ({"conj": 1 << 40},)
    metadata = source.choice(strange) if source.random() < 0.2 else ()
    if kind < 0.55 or well:
        return Call(torch_name("torch._utils._rebuild_tensor_v2"), (*parts, grad, hooks, *(() if well else metadata)))
    dtype = torch_name(source.choice(DTYPES))
    if kind < 0.7:
        return Call(torch_name("torch._utils._rebuild_tensor_v3"), (*parts, grad, hooks, dtype, *metadata))
    if kind < 0.8:
        return Call(torch_name("torch._utils._rebuild_tensor"), parts)
    if kind < 0.9:
        return Call(torch_name("torch._utils._rebuild_meta_tensor_no_storage"), (dtype, *parts[2:], grad))
    made = Call(torch_name("torch.Tensor"), (), new=source.random() < 0.5)
    return Build(made, parts)


def plain(source: Source, depth: int = 2) -> Any:
    """Any value that a file can hold."""
    kind = source.randrange(12 if depth else 8)
    if kind < 3:
        return source.choice((*BOUNDS, 0.5, float("nan"), float("inf"), -0.0, True, False, None))
    if kind < 5:
        return source.choice(
            ("", "cpu", "latin1", "torch.strided", "torch.sparse_coo", "0", "\U0001f600" * 9, b"bytes")
        )
    if kind < 7:
        return torch_name(source.choice((*CLASSES, *FUNCTIONS, *DTYPES)))
    if kind < 8:
        return tensor(source, well=source.random() < 0.7)
    items = [plain(source, depth - 1) for _ in range(source.randrange(4))]
    if kind == 8:
        return items
    return tuple(items) if kind < 11 else Pairs([(plain(source, 0), item) for item in items])


def forbidden(source: Source) -> Any:
    """A name that no file may mention: called, made, kept, or hidden where names are expected."""
    if source.random() < 0.3:
        module = source.choice(sorted(name for name in sys.modules if source.random() < 0.5) or ["os"])
        found = [
            n for n, v in vars(sys.modules[module]).items() if isinstance(v, FunctionType | BuiltinFunctionType | type)
        ]
        name = Name(module, source.choice(sorted(found) or ["x"]))
    else:
        text = source.choice(FORBIDDEN)
        name = Name(*(text.rsplit(".", 1) if "." in text else (text, "")))
    args = source.choice(((), ("true",), ("1+1",), (1,), (Raw(b"]"),), (name, ("true",)), (tensor(source, well=True),)))
    return source.choice(
        (
            name,
            Call(name, args),
            Call(name, args, new=True),
            Build(Call(name, (), new=True), {"a": 1}),
            Stored((name, name, "0", "cpu", 16)),
            Stored(("storage", name, "0", "cpu", 16)),
            Stored(("module", name, "file", "source")),
            Call(torch_name("torch._tensor._rebuild_from_type_v2"), (name, torch_name("torch.Tensor"), args, {})),
            Call(Call(torch_name("collections.OrderedDict"), ()), args),
            Call(tensor(source, well=True), args),
        )
    )


ATTRIBUTES = sorted(
    {*dir(mt.Tensor), *dir(mt.nn.Parameter), *dir(UntypedStorage), *dir(TypedStorage), *dir(dict)}
    | {"a", "_is_param", "_is_buffer", "my attribute", "", "__a__", "_metadata"}
)


def state(source: Source) -> Any:
    """A state that names a slot, a property, a method or anything else of a tensor, parameter, storage or dictionary."""
    items = Pairs([(source.choice(ATTRIBUTES), plain(source)) for _ in range(source.choice((1, 1, 2, 5)))])
    if source.random() < 0.05:
        items.items.append((plain(source, 0), 1))
    form = source.choice(
        (items, items, items, (None, items), (items, None), (items, items), (items,), (1, 2, 3), 5, "x")
    )
    made = tensor(source, well=True)
    from_type = torch_name("torch._tensor._rebuild_from_type_v2")
    parameter = torch_name("torch.nn.parameter.Parameter")
    arguments = (made, True, Call(torch_name("collections.OrderedDict"), ()))
    return source.choice(
        (
            Call(torch_name("torch._utils._rebuild_parameter_with_state"), (*arguments, form)),
            Call(from_type, (made.function, torch_name("torch.Tensor"), made.args, form)),
            Call(from_type, (made.function, parameter, made.args, form)),
            Build(Call(from_type, (made.function, parameter, made.args, items)), form),
            Build(made, form),
            Build(Call(parameter, (made,), new=True), form),
            Build(Call(parameter, (made,), new=True), (plain(source), plain(source), plain(source))),
            Build(Call(parameter, (made,), new=True), tuple(plain(source) for _ in range(5))),
            Build(Call(torch_name("collections.OrderedDict"), ()), form),
            Build(Call(torch_name("collections.Counter"), ()), form),
            Build(source.choice((storage(source), torch_name(source.choice((*CLASSES, *FUNCTIONS, *DTYPES))))), form),
            Build(Call(torch_name(source.choice(CLASSES)), ()), form),
        )
    )


_RIGHT: dict[str, tuple[str, ...]] = {
    "collections.OrderedDict": ("pairs",), "collections.Counter": ("dict",), "builtins.set": ("list",),
    "builtins.bytearray": ("text", "encoding"), "builtins.complex": ("number", "number"),
    "_codecs.encode": ("text", "encoding"), "torch.Size": ("ints",), "torch.device": ("device", "int"),
    "torch.Tensor": ("list",), "torch.nn.parameter.Parameter": ("tensor", "bool"),
    "torch.serialization._get_layout": ("text",),
    "torch._utils._rebuild_tensor": ("storage", "int", "ints", "ints"),
    "torch._utils._rebuild_tensor_v2": ("storage", "int", "ints", "ints", "bool", "dict"),
    "torch._utils._rebuild_tensor_v3": ("storage", "int", "ints", "ints", "bool", "dict", "dtype"),
    "torch._utils._rebuild_meta_tensor_no_storage": ("dtype", "ints", "ints", "bool"),
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": ("tensor", "dtype", "device", "bool"),
    "torch._utils._rebuild_device_tensor_from_numpy": ("tensor", "dtype", "device", "bool"),
    "torch._utils._rebuild_parameter": ("tensor", "bool", "dict"),
    "torch._utils._rebuild_parameter_with_state": ("tensor", "bool", "dict", "dict"),
    "torch._utils._rebuild_sparse_tensor": ("layout", "list"),
}  # fmt: skip
"""What each callable expects, roughly."""


def _argument(source: Source, kind: str) -> Any:
    if source.random() < 0.15:
        return plain(source)
    items = [source.choice((0, 1, 2.5, True, "k", None)) for _ in range(source.randrange(5))]
    return {
        "pairs": lambda: [(item, plain(source, 0)) for item in items],
        "dict": lambda: Pairs([(item, plain(source, 0)) for item in items if source.random() < 0.3]),
        "list": lambda: source.choice((items, [items, items], [1.0, 2.0])),
        "text": lambda: source.choice(("", "torch.sparse_coo", "abc\xff", "x" * 300)),
        "encoding": lambda: source.choice(("latin1", "latin1", "utf-8", "hex", "idna", "os", "../x", "mbcs")),
        "number": lambda: source.choice((0.5, float("inf"), 1 << 2000, *BOUNDS)),
        "int": lambda: source.choice((0, 0, 1, 2, *BOUNDS)),
        "ints": lambda: source.choice(((2,), (2, 2), (), (1,), extents(source))),
        "device": lambda: source.choice(
            ("cpu", "cpu", "meta", "cuda", "cpu:99999999999", "npu:0", "x" * 999, "mkldnn")
        ),
        "tensor": lambda: source.choice((tensor(source, well=True), tensor(source), sparse(source))),
        "bool": lambda: source.random() < 0.5,
        "storage": lambda: storage(source),
        "dtype": lambda: torch_name(source.choice(DTYPES)),
        "layout": lambda: Call(torch_name("torch.serialization._get_layout"), ("torch.sparse_coo",)),
    }[kind]()


def calls(source: Source) -> Any:
    """An allowed function or class with arguments that are nearly, or not at all, what it expects."""
    if source.random() < 0.1:
        name = torch_name(source.choice((*CLASSES, *FUNCTIONS, *source.choices(DTYPES, k=2))))
        args = tuple(plain(source) for _ in range(source.choice((0, 1, 1, 2, 3, 4, 6, 7, 8))))
        return Call(name, args if source.random() < 0.9 else plain(source), new=source.random() < 0.3)
    full_name, kinds = source.choice(sorted(_RIGHT.items()))
    args = tuple(_argument(source, kind) for kind in kinds)
    if source.random() < 0.2:
        args = args[: source.randrange(len(args) + 1)]
    made = Call(torch_name(full_name), args, new=source.random() < 0.1)
    if source.random() < 0.3:
        classes = ("torch.Tensor", "torch.Tensor", "torch.nn.parameter.Parameter", source.choice(CLASSES))
        wrapped = (made.function, torch_name(source.choice(classes)), args, {"a": 1})
        return Call(torch_name("torch._tensor._rebuild_from_type_v2"), wrapped)
    return made


def sparse(source: Source) -> Any:
    """A sparse tensor whose indices, values, size or flag are wrong."""
    whole = source.choice(("LongStorage", "LongStorage", "IntStorage", "FloatStorage"))
    count = 16 * 4 // {"LongStorage": 8}.get(whole, 4)
    shape = source.choice(((2, 4), (2, 4), (2, 4), (1, 8), (0, 3), (2, 0), (8, 1), extents(source)))
    step = tuple(source.choice((0, 1, 1, 1)) for _ in shape) if isinstance(shape, tuple) else shape
    rebuild = torch_name("torch._utils._rebuild_tensor_v2")
    indices = Call(rebuild, (stored("0", whole, count), 0, shape, step, False, None))
    values = Call(
        rebuild, (stored("1", "FloatStorage", 16), 0, *source.choice((((4,), (1,)), ((8,), (0,)))), False, None)
    )
    if source.random() < 0.2:
        indices, values = tensor(source), tensor(source)
    size = source.choice(
        ((4, 4), (100, 100), (1 << 31, 1 << 32), (1 << 62, 1 << 62), (0, 0), (-1, 4), (4,), extents(source))
    )
    layout = Call(
        torch_name("torch.serialization._get_layout"), (source.choice(("torch.sparse_coo", "torch.sparse_csr")),)
    )
    flag = source.choice(((), (True,), (False,), (None,), (7,)))
    return Call(torch_name("torch._utils._rebuild_sparse_tensor"), (layout, (indices, values, size, *flag)))


def well_formed(source: Source) -> Any:
    """A file as `torch.save` writes it, for the families that damage bytes."""
    made = tensor(source, well=True)
    parameter = Call(torch_name("torch._utils._rebuild_parameter"), (made, True, None))
    return Pairs([("w", made), ("p", parameter), ("n", [1, 2.5, None, "text", (True, {"k": [plain(source, 0)]})])])


VALUES: dict[str, Callable[[Source], Any]] = {
    "forbidden names": forbidden,
    "states": state,
    "geometries": lambda source: [tensor(source) for _ in range(source.choice((1, 1, 3)))],
    "sparse tensors": sparse,
    "calls": calls,
}
"""The families that this module makes."""
