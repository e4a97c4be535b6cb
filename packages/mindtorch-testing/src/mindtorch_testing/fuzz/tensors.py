"""Random tensors as Python text: shapes, dtypes, values and memory layouts that programs rarely make."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from random import Random

FLOATS = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128", "complex32")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
WIDE = ("uint16", "uint32", "uint64")
SMALL_FLOATS = ("float8_e4m3fn", "float8_e5m2")
LAYOUTS = (
    "transposed", "sliced", "offset", "flipped", "expanded", "overlapping", "conjugated", "negated", "channels_last",
    "stepped",
)  # fmt: skip
ORDINARY = ("0.5", "1.0", "-1.0", "2.0", "-0.25", "3.0", "0.0", "1.5", "-2.5", "0.75", "-3.25", "4.0", "0.125")
SPECIAL = ("nan", "inf", "-inf", "-0.0", "1e-42", "5e-324", "1e30", "-1e30", "65504.0", "1e300", "3.4e38", "0.0", "1.0")
EXTREMES = {
    "int64": (-(2**63), 2**63 - 1, 2**31, 2**53 + 1), "int32": (-(2**31), 2**31 - 1), "int16": (-(2**15), 2**15 - 1),
    "int8": (-128, 127), "uint8": (255, 128), "uint16": (65535, 32768), "uint32": (2**32 - 1, 2**31),
    "uint64": (2**64 - 1, 2**63, 2**63 - 1),
}  # fmt: skip
LITERALS = 40
GIANTS = (2**31 - 1, 2**31, 2**31 + 1, 2**32, 2**62, 2**63 - 1)


@dataclass(frozen=True)
class Tensor:
    """A tensor to be made: what `text` writes down."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    values: str = "ordinary"
    seed: int = 0
    layout: str = ""
    gradient: bool = False
    device: str = ""
    alias: str = ""

    def text(self) -> str:
        """Return the expression that makes it."""
        if self.alias:
            return self.alias
        if self.device:
            made = f"torch.empty({self.shape!r}, dtype=torch.{self.dtype}, device={self.device!r})"
        else:
            made = laid_out(self)
        return made + (".requires_grad_()" if self.gradient else "")


@dataclass
class Context:
    """What the tensors of one call have in common."""

    shape: tuple[int, ...]
    dtype: str
    gradient: bool
    special: bool
    giants: bool


def context(random: Random) -> Context:
    """Choose what the tensors of a call have in common."""
    return Context(
        shape(random), dtype(random), random.random() < 0.25, random.random() < 0.12, random.random() < 0.0015
    )  # fmt: skip


def dtype(random: Random) -> str:
    """Choose a dtype."""
    chance = random.random()
    for limit, names in (
        (0.42, ("float32",)), (0.55, ("float64",)), (0.66, ("float16", "bfloat16")), (0.76, ("int64",)),
        (0.84, INTEGERS), (0.89, ("bool",)), (0.95, ("complex64", "complex128")), (0.97, ("complex32",)), (0.995, WIDE),
    ):  # fmt: skip
        if chance < limit:
            return random.choice(names)
    return random.choice(SMALL_FLOATS)


def shape(random: Random) -> tuple[int, ...]:
    """Choose a shape."""
    chance = random.random()
    if chance < 0.08:
        return ()
    if chance < 0.11:
        sizes = [1] * random.randint(41, 70)
        for _ in range(random.randint(0, 2)):
            sizes[random.randrange(len(sizes))] = random.choice((2, 3, 0))
        return tuple(sizes)
    rank = random.choice((1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5))
    if chance < 0.3:
        return (random.choice((1, 2, 3, 4)),) * rank
    sizes = [random.choice((1, 2, 2, 3, 3, 3, 4, 5)) for _ in range(rank)]
    if chance < 0.4:
        sizes[random.randrange(rank)] = 0
    elif chance < 0.46:
        sizes[random.randrange(rank)] = random.choice((7, 8, 16, 17, 33, 64, 100))
    return tuple(sizes)


def related(random: Random, base: tuple[int, ...]) -> tuple[int, ...]:
    """Choose a shape that may go with another one."""
    chance = random.random()
    if chance < 0.55:
        return base
    if chance < 0.7:
        return tuple(1 if random.random() < 0.4 else size for size in base[random.randint(0, len(base)) :])
    if chance < 0.76:
        return tuple(reversed(base))
    if chance < 0.8:
        return base[:-1]
    if chance < 0.84:
        return base[-1:]
    if chance < 0.88:
        return ()
    if chance < 0.9:
        return (0,)
    return shape(random)


def draw(random: Random, about: Context, *, first: bool = False, wanted: tuple[str, ...] = ()) -> Tensor:
    """Choose a tensor of a call."""
    sizes = about.shape if first else related(random, about.shape)
    if wanted and random.random() < 0.85:
        kind = random.choice(wanted)
    else:
        kind = about.dtype if random.random() < 0.85 else dtype(random)
    if about.giants and random.random() < 0.7:
        sizes = (*(random.choice((2, 1)) for _ in sizes[:2]), random.choice(GIANTS))
        return Tensor(sizes, kind, "ordinary", random.randrange(1000), "giant")
    layout = random.choice(LAYOUTS) if random.random() < 0.25 else ""
    gradient = about.gradient and kind in FLOATS + COMPLEX and random.random() < 0.8
    values = "special" if about.special and random.random() < 0.7 else "ordinary"
    device = "meta" if random.random() < 0.01 else ""
    return Tensor(sizes, kind, values, random.randrange(1000), layout, gradient, device)


def elements(seed: int, count: int, dtype: str, values: str) -> list[str]:
    """Return the literals of a tensor's elements."""
    random = Random(seed)
    special = values == "special"
    if dtype == "bool":
        return [random.choice(("True", "False")) for _ in range(count)]
    if dtype in EXTREMES:
        low = 0 if dtype.startswith("u") else -3
        if values == "index":
            return [str(random.choice((0, 0, 1, 1, 2, 0))) for _ in range(count)]
        plain = [str(random.randint(low, 6)) for _ in range(count)]
        if special:
            plain = [str(random.choice(EXTREMES[dtype])) if random.random() < 0.4 else item for item in plain]
        return plain
    if values in ("zero", "one"):
        return ["0.0" if values == "zero" else "1.0"] * count
    pool = SPECIAL if special else ORDINARY
    if dtype in COMPLEX:
        return [f"complex({random.choice(pool)}, {random.choice(pool)})" for _ in range(count)]
    return [random.choice(pool) for _ in range(count)]


def filled(tensor: Tensor, sizes: tuple[int, ...]) -> str:
    """Return the expression of a contiguous tensor."""
    count = math.prod(sizes)
    base = {"complex32": "complex64", "float8_e4m3fn": "float32", "float8_e5m2": "float32"}.get(
        tensor.dtype, tensor.dtype
    )
    cast = f".to(torch.{tensor.dtype})" if base != tensor.dtype else ""
    if len(sizes) > 5 and all(size == 1 for size in sizes):
        size_text = f"(1,) * {len(sizes)}"
    else:
        size_text = repr(sizes)
    if count > LITERALS:
        least = 0 if base.startswith("u") else 5
        numbers = f"(torch.arange({count}) * {tensor.seed % 7 + 3} % 11 - {least})"
        return f"{numbers}.to(torch.{tensor.dtype}).reshape({size_text})"
    items = elements(tensor.seed, count, tensor.dtype, tensor.values)
    if not sizes:
        return f"torch.tensor({items[0]}, dtype=torch.{base}){cast}"
    made = f"torch.tensor([{', '.join(items)}], dtype=torch.{base}){cast}"
    return made if len(sizes) == 1 else f"{made}.reshape({size_text})"


def laid_out(tensor: Tensor) -> str:
    """Return the expression of a tensor with its memory layout."""
    sizes, layout = tensor.shape, tensor.layout
    rank = len(sizes)
    if layout == "giant":
        return f"{filled(tensor, ())}.expand({sizes!r})"
    if layout == "transposed" and rank > 1:
        return f"{filled(tensor, (sizes[-1], *sizes[1:-1], sizes[0]))}.transpose(0, -1)"
    if layout == "sliced" and rank and math.prod(sizes) < 200:
        return f"{filled(tensor, (*sizes[:-1], sizes[-1] * 2))}[..., ::2]"
    if layout == "stepped" and rank and math.prod(sizes) < 200:
        return f"{filled(tensor, (sizes[0] * 2, *sizes[1:]))}[1::2]"
    if layout == "offset" and rank:
        return f"{filled(tensor, (sizes[0] + 1, *sizes[1:]))}[1:]"
    if layout == "flipped" and rank:
        return f"{filled(tensor, sizes)}.flip(0)"
    if layout == "expanded" and rank:
        narrow = tuple(1 if (tensor.seed >> i) & 1 else size for i, size in enumerate(sizes))
        return f"{filled(tensor, narrow)}.expand({sizes!r})"
    if layout == "overlapping" and rank:
        strides = tuple((tensor.seed >> i) & 1 for i in range(rank))
        reach = sum(max(size - 1, 0) * stride for size, stride in zip(sizes, strides, strict=True)) + 1
        return f"{filled(tensor, (reach,))}.as_strided({sizes!r}, {strides!r})"
    if layout == "conjugated" and tensor.dtype in COMPLEX:
        return f"{filled(tensor, sizes)}.conj()"
    if layout == "negated" and tensor.dtype in COMPLEX[:2]:
        return f"{filled(replace(tensor, values='ordinary'), sizes)}.conj().imag"
    if layout == "channels_last" and rank == 4:
        return f"{filled(tensor, sizes)}.contiguous(memory_format=torch.channels_last)"
    return filled(tensor, sizes)


def aliased(random: Random, name: str) -> Tensor:
    """Choose a tensor that is another argument or shares its memory."""
    form = random.choice(("{}", "{}", "{}", "{}.t()", "{}[1:]", "{}[..., :1]", "{}.detach()", "{}.view(-1)", "{}.mT"))
    return Tensor((), alias=form.format(name))
