"""Files that are small and make what reads them deep, long or large."""

from __future__ import annotations

from typing import Any

from mindtorch_testing.hostile.families import CLASSES, FUNCTIONS, Source, storage, tensor
from mindtorch_testing.hostile.pickles import Build, Call, Name, Pairs, Raw, Remembered, Stored, stored, torch_name


def _doubling(times: int, inner: Any, code: bytes) -> Raw:
    """A value that contains the one before twice, `times` over: small to write, exponential to walk."""
    pairs = b"".join(b"h\x00h\x00" + code + b"q\x00" for _ in range(times))
    return Raw(inner + b"q\x00" + pairs)


def nesting(source: Source) -> Any:
    """A value that is very deep, contains itself or repeats itself, given to what walks, hashes or prints it."""
    depth = source.choice((10, 65, 200, 2000, 30_000))
    deep = source.choice(
        (
            Raw(b")" + b"\x85" * depth),
            Raw(b"]" * depth + b"a" * (depth - 1)),
            Raw(b"K\x01" + b"\x85" * depth),
            Raw(b"]q\x00h\x00a"),
            Raw(b"]q\x00(K\x01h\x00e"),
            Raw(b"}q\x00K\x01h\x00s"),
            Raw(b"]q\x00h\x00\x85q\x01a"),
            _doubling(source.choice((20, 60, 200)), b"G" + b"\0" * 8, b"\x86"),
            _doubling(source.choice((20, 60, 200)), b"](G" + b"\0" * 8 + b"e", b"\x86"),
            Raw(b"G" + b"\0" * 8 + b"q\x00" + b"](h\x00h\x00eq\x00" * source.choice((20, 60))),
        )
    )
    name = torch_name(source.choice((*CLASSES, *FUNCTIONS)))
    made = tensor(source, well=True)
    return source.choice(
        (
            deep,
            Call(name, (deep,)),
            Call(name, (deep, deep)),
            Call(name, deep),
            Call(torch_name("torch.Tensor"), (deep,)),
            Pairs([(deep, 1)]),
            Call(torch_name("builtins.set"), ([deep],)),
            Call(torch_name("collections.OrderedDict"), ([(deep, 1)],)),
            Stored(deep),
            Stored((deep, Name("torch", "FloatStorage"), "0", "cpu", 16)),
            Stored(("storage", Name("torch", "FloatStorage"), deep, "cpu", 16)),
            Stored(("storage", deep, "0", deep, deep)),
            Build(made, deep),
            Build(Call(torch_name("collections.OrderedDict"), ()), deep),
            Call(torch_name("torch._tensor._rebuild_from_type_v2"), (deep, deep, deep, deep)),
            Call(torch_name("torch._utils._rebuild_parameter_with_state"), (made, True, None, deep)),
            Call(torch_name("torch._utils._rebuild_tensor_v2"), (storage(source), 0, deep, deep, False, None)),
        )
    )


def _repeated(times: int, first: Any, code: bytes) -> list[Any]:
    """`times` results kept in a list, each made by `code` from what stands at memo 0."""
    return [Remembered(0, first), Raw(code * times)]


def memory(source: Source) -> Any:
    """Something small that asks for much memory, at once or again and again."""
    times = source.choice((1, 100, 3000))
    long = "x" * source.choice((10, 10_000, 100_000))
    numbers = list(range(source.choice((10, 3000, 20_000))))
    rebuild = "torch._utils._rebuild_"
    wide = source.choice((1 << 20, 1 << 24, 1 << 30, 1 << 40, 1 << 61))
    expanded = Call(torch_name(rebuild + "tensor_v2"), (stored("0", "FloatStorage", 16), 0, (wide,), (0,), False, None))
    conjugated = (stored("0", "ComplexFloatStorage", 8), 0, (wide,), (0,), False, None, {"conj": True})
    convert = torch_name(rebuild + "device_tensor_from_cpu_tensor")
    target = (torch_name("torch.complex128"), "cpu", False)
    bytes_name, set_name = b"cbuiltins\nbytearray\n", b"cbuiltins\nset\n"
    encoded = Call(torch_name("_codecs.encode"), (long, "latin1"))
    bomb = Call(
        torch_name("_codecs.encode"), (long, source.choice(("hex", "zlib", "unicode_escape", "punycode", "rot13")))
    )
    return source.choice(
        (
            Call(torch_name(source.choice(CLASSES)), (wide,)),
            Call(torch_name("torch.Size"), ((0,) * source.choice((10, 50_000)),)),
            Call(torch_name(source.choice(CLASSES)), (expanded,)),
            Call(torch_name("torch._utils._rebuild_tensor_v2"), conjugated),
            Call(convert, (expanded, *target)),
            [Remembered(0, tensor(source, well=True)), *[Call(convert, (Remembered(0), *target)) for _ in range(times)]],
            _repeated(times, numbers, set_name + b"h\x00\x85R"),
            _repeated(times, encoded, bytes_name + b"h\x00\x85R"),
            _repeated(times, long, b"c_codecs\nencode\nh\x00X\x06\x00\x00\x00latin1\x86R"),
            _repeated(times, Pairs([(f"k{n}", n) for n in numbers]), b"ccollections\nCounter\nh\x00\x85R"),
            _repeated(times, Pairs([(f"k{n}", n) for n in numbers]), b"ccollections\nOrderedDict\n)Rh\x00b"),
            _repeated(times, tuple(numbers), b"ctorch\nSize\nh\x00\x85R"),
            bomb,
            Raw(source.choice((b"]", b"}", b"\x8f", b"(", b")\x85\x85\x85", b"](")) * source.choice((1000, 1000, 400_000))),
            Raw(b"](" + b"\x8f" * source.choice((1000, 1000, 300_000)) + b"e"),
            Raw(b"X\xff\xff\xff\x7f" + b"x" * 100),
            Call(torch_name(rebuild + "sparse_tensor"), (
                Call(torch_name("torch.serialization._get_layout"), ("torch.sparse_coo",)), (expanded, expanded, (4, 4)))),
            Call(torch_name("torch._tensor._rebuild_from_type_v2"), (
                torch_name("builtins.bytearray"), torch_name("torch.Tensor"), (wide,), {})),
            Call(torch_name("torch._tensor._rebuild_from_type_v2"), (
                convert, torch_name("torch.Tensor"), (expanded, *target), {})),
            "\U0001f600" + "a" * source.choice((100, 2_000_000)),
            stored("0", "ComplexDoubleStorage", wide),
        )
    )  # fmt: skip
