"""Random arguments by kind and name, and the calls made of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random

from mindtorch_testing.fuzz import tensors
from mindtorch_testing.fuzz.catalog import Entry, Param
from mindtorch_testing.fuzz.sides import Program
from mindtorch_testing.fuzz.tensors import Context, Tensor

Value = Tensor | str | list[Tensor]
"""A tensor, several of them, or the text of anything else."""

HUGE = (2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64, 10**6)
STRINGS = {
    "reduction": ("mean", "sum", "none", "wrong"), "rounding_mode": ("floor", "trunc", "wrong"),
    "mode": ("bilinear", "nearest", "bicubic", "linear", "trilinear", "area", "constant", "reflect", "replicate",
             "circular", "reduced", "complete", "r", "max", "sum", "mean", "fan_in", "wrong"),
    "padding_mode": ("zeros", "border", "reflection", "replicate", "reflect", "circular", "wrong"),
    "reduce": ("sum", "prod", "mean", "amax", "amin", "add", "multiply", "wrong"), "indexing": ("ij", "xy", "wrong"),
    "UPLO": ("L", "U", "wrong"), "driver": ("gelsy", "gels", "gelsd", "gelss", "wrong"), "side": ("left", "right", "x"),
    "norm": ("forward", "backward", "ortho", "wrong"), "ord": ("fro", "nuc", "wrong"), "p": ("fro", "nuc"),
    "equation": ("ij,jk->ik", "ii->i", "i,j->ij", "bij,bjk->bik", "...i->...", "ij->ji", "ij,", "->", "i..j"),
    "approximate": ("none", "tanh", "wrong"), "padding": ("same", "valid", "wrong"), "swap": ("x",),
    "scale": ("none",), "distribution": ("normal",), "nonlinearity": ("relu", "tanh", "x"),
}  # fmt: skip
DTYPES = (*tensors.FLOATS, *tensors.COMPLEX, *tensors.INTEGERS, "bool", *tensors.WIDE, *tensors.SMALL_FLOATS)
FLOAT_TEXTS = ("0.5", "1.0", "0.0", "2.0", "-1.0", "1e-5", "0.1", "3.0", "-0.5")
WILD_FLOATS = ("nan", "inf", "-inf", "-0.0", "1e38", "1e308", "5e-324", "1e-320", "-1e20")
INDEX_NAMES = {"index", "indices", "offsets", "pivots", "LU_pivots", "target", "targets", "input_lengths", "indexes",
               "target_lengths", "lengths", "batch_sizes", "sorted_sequence_indices", "repeats", "perm"}  # fmt: skip
BOOL_NAMES = {"mask", "condition", "key_padding_mask"}
SIZES = {"size", "shape", "sizes", "repeats", "dims", "split_sizes", "output_size", "normalized_shape", "s", "n"}


@dataclass(frozen=True)
class Call:
    """One call: the entry, the chosen parameters with their values, and the inputs of a module."""

    entry: Entry
    given: tuple[tuple[Param, Value], ...]
    inputs: tuple[tuple[Param, Value], ...] = ()
    backward: bool = False
    extra: str = ""

    def program(self) -> Program:
        """Return the text that makes the arguments, the call's, and whether to go back from its result."""
        lines: list[str] = []
        inputs = [written(value, lines) for _, value in self.inputs]
        texts = [(param, written(value, lines)) for param, value in self.given]
        outs = [text for param, text in texts if param.out]
        texts = [(param, text) for param, text in texts if not param.out or self.entry.style == "overload"]
        receiver = texts.pop(0)[1] if self.entry.style == "method" and texts else ""
        parts, by_name = [], False
        for param, text in texts:
            by_name = by_name or param.keyword
            parts.append(f"{param.name}={text}" if by_name else text)
        if self.entry.style == "module":
            return "\n".join(lines), f"{self.entry.path}({', '.join(parts)})({', '.join(inputs)})", self.backward
        if outs and self.entry.style != "overload":
            parts.append(f"out={outs[0]}" if len(outs) == 1 else f"out=({', '.join(outs)})")
        if self.extra:
            parts.append(self.extra)
        name = self.entry.path if self.entry.style != "method" else f"{receiver}.{self.entry.name.split('.', 1)[1]}"
        return "\n".join(lines), f"{name}({', '.join(parts)})", self.backward


def written(value: Value, lines: list[str]) -> str:
    """Return the text of a value; tensors get a line and a name."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "[" + ", ".join(written(item, lines) for item in value) + "]"
    lines.append(f"a{len(lines)} = {value.text()}")
    return f"a{len(lines) - 1}"


class Drawer:
    """Draws the arguments of one call."""

    def __init__(self, random: Random, about: Context | None = None) -> None:
        self.random = random
        self.about = about or tensors.context(random)
        self.made = 0

    def tensor(self, param: Param) -> Value:
        """Draw a tensor, at times something else in its place."""
        random = self.random
        chance = random.random()
        if chance < 0.025:
            return random.choice((self.number(), "None", "np.float64(2.0)", "[1, 2]", "'a'", "True"))
        if self.made and chance < (0.2 if param.out else 0.07):
            return tensors.aliased(random, f"a{random.randrange(self.made)}")
        first, self.made = not self.made, self.made + 1
        if param.name in INDEX_NAMES:
            drawn = tensors.draw(random, self.about, wanted=("int64", "int64", "int64", "int32"))
            small = random.random() < 0.8 and drawn.dtype in tensors.EXTREMES
            return replace(drawn, values="index" if small else drawn.values)
        if param.name in BOOL_NAMES or param.name.endswith("mask"):
            return tensors.draw(random, self.about, wanted=("bool",))
        drawn = tensors.draw(random, self.about, first=first)
        return replace(drawn, gradient=False) if param.out and random.random() < 0.95 else drawn

    def number(self) -> str:
        """Draw a number."""
        return self.random.choice((self.integer("", plain=True), self.real(), self.real(), "True", "1j", "2"))

    def real(self) -> str:
        """Draw a float."""
        return self.random.choice(FLOAT_TEXTS if self.random.random() < 0.88 else WILD_FLOATS)

    def integer(self, name: str, plain: bool = False) -> str:
        """Draw an integer."""
        random, rank = self.random, len(self.about.shape)
        if random.random() < (0.02 if plain else 0.05):
            return str(random.choice(HUGE))
        if name.startswith("dim") or name.endswith("dim"):
            return str(random.randint(-min(rank, 5) - 1, min(rank, 5)) if random.random() < 0.3 else self.axis())
        if random.random() < 0.15:
            return str(random.randint(-4, 8))
        if name.endswith("channels") or name.endswith("features"):
            return str(self.about.shape[-1] if self.about.shape and random.random() < 0.7 else random.randint(1, 4))
        return str(random.choice((0, 1, 1, 2, 2, 3, 4)))

    def axis(self) -> int:
        """Draw a dimension that exists."""
        rank = len(self.about.shape)
        return self.random.randint(-rank, rank - 1) if rank else self.random.choice((0, -1))

    def integers(self, param: Param) -> str:
        """Draw a list of integers."""
        random, shape = self.random, self.about.shape
        chance = random.random()
        if param.name in SIZES and chance < 0.6:
            items = [str(size) for size in tensors.related(random, shape)]
        elif param.name.startswith("dim") and chance < 0.8:
            rank = len(shape)
            items = [str(i) for i in random.sample(range(rank), random.randint(0, rank))] if rank < 9 else ["0"]
        else:
            count = param.size if param.size and chance < 0.9 else random.choice((0, 1, 2, 2, 3, len(shape) % 8))
            items = [self.integer(param.name) for _ in range(count)]
        if param.size and chance < 0.15:
            return self.integer(param.name)
        return random.choice(("[{}]", "[{}]", "({})")).format(", ".join(items) + ("," if len(items) == 1 else ""))

    def indexer(self) -> str:
        """Draw what stands between brackets."""
        random = self.random
        items = []
        for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
            items.append(random.choice((
                self.integer(""), self.integer(""), ":", "...", "None", "True", "False", "::2", "1:", ":-1", "0:0", "::-1",
                f"{self.integer('')}:{self.integer('')}", "[0, 1]", "[True, False]", "torch.tensor([0, -1])",
                "torch.tensor(1)", "torch.tensor([True, False])", "torch.tensor([[0], [1]])", "1.5", "'a'",
            )))  # fmt: skip
        return f"np.s_[{', '.join(items)}]"

    def value(self, param: Param) -> Value:
        """Draw a value of a parameter's kind."""
        random = self.random
        if param.nullable and random.random() < 0.3:
            return "None"
        kind = param.kind
        if kind == "Tensor":
            return self.tensor(param)
        if kind == "Tensor[]":
            if random.random() < 0.05:
                return random.choice(("[]", "None", "[1, 2]", "()"))
            drawn = [self.tensor(param) for _ in range(random.choice((1, 2, 2, 2, 3)))]
            return [item for item in drawn if isinstance(item, Tensor)]
        if random.random() < 0.012:
            return random.choice(("None", "'a'", "1.5", "[1]", "torch.tensor(1)", "object", "True", "torch.float32"))
        return self.plain(param, kind)

    def plain(self, param: Param, kind: str) -> str:
        """Draw a value that is no tensor."""
        random = self.random
        if kind.endswith("[]"):
            if kind == "int[]":
                return self.integers(param)
            drawn = [self.plain(param, kind[:-2]) for _ in range(param.size or random.randint(0, 3))]
            return f"[{', '.join(drawn)}]"
        match kind:
            case "int" | "SymInt":
                return self.integer(param.name)
            case "float":
                return self.real()
            case "bool":
                return random.choice(("True", "False"))
            case "number" | "complex":
                return self.number()
            case "str":
                return repr(random.choice(STRINGS.get(param.name, ("sum", "mean", "none", "wrong"))))
            case "ScalarType":
                return f"torch.{random.choice((*DTYPES, self.about.dtype, self.about.dtype, 'float32', 'float64'))}"
            case "Layout":
                return random.choice(("torch.strided", "torch.strided", "torch.strided", "torch.sparse_coo"))
            case "Device":
                return repr(random.choice(("cpu", "cpu", "cpu", "cpu:0", "meta", "wrong")))
            case "MemoryFormat":
                return f"torch.{random.choice(('contiguous_format', 'preserve_format', 'channels_last'))}"
            case "Generator":
                return "torch.Generator()"
            case "index":
                return self.indexer()
        return "None"


def fresh(random: Random, entry: Entry) -> Call:
    """Make a call of new arguments."""
    drawer = Drawer(random)
    params: Iterable[Param] = random.choice(entry.overloads)
    inputs = tuple((param, drawer.value(param)) for param in entry.inputs)
    given: list[tuple[Param, Value]] = []
    skipped = False
    with_out = random.random() < 0.5
    generous = random.random() < 0.3
    for param in params:
        if param.out and entry.style != "overload" and not with_out:
            continue
        if param.default and not param.out and random.random() > (0.7 if generous else 0.3):
            skipped = True
            continue
        if not param.default and not given and entry.style == "method":
            value: Value = tensors.draw(random, drawer.about, first=True)
            drawer.made += 1
        else:
            value = drawer.value(param)
        given.append((replace(param, keyword=param.keyword or skipped), value))
    extra = ""
    if random.random() < 0.012:
        if random.random() < 0.5 and len(given) > 1:
            given.pop()
        else:
            extra = random.choice(("wrong=1", "out=None", "out=1"))
    return Call(entry, tuple(given), inputs, drawer.about.gradient, extra)


def mutated(random: Random, call: Call) -> Call:
    """Make a call like another one, with one or two of its arguments changed."""
    known = [value for _, value in (*call.inputs, *call.given) if isinstance(value, Tensor) and not value.alias]
    about = tensors.context(random)
    if known:
        about.shape, about.dtype = known[0].shape, known[0].dtype
        about.giants = False
    drawer = Drawer(random, about)
    given, inputs = list(call.given), list(call.inputs)
    for _ in range(random.choice((1, 1, 2))):
        part = inputs if inputs and (not given or random.random() < 0.5) else given
        if not part:
            break
        index = random.randrange(len(part))
        param, value = part[index]
        if part is given and index and param.default and random.random() < 0.2 and index == len(part) - 1:
            part.pop()
        else:
            part[index] = (param, changed(random, drawer, param, value))
    made = replace(call, given=tuple(given), inputs=tuple(inputs), backward=about.gradient)
    return with_gradients(random, made) if about.gradient else made


def with_gradients(random: Random, call: Call) -> Call:
    """Let float tensors that are no outputs require gradients."""

    def marked(param: Param, value: Value) -> tuple[Param, Value]:
        if (
            isinstance(value, Tensor)
            and not (param.out or value.alias or value.device)
            and value.dtype in tensors.FLOATS + tensors.COMPLEX
            and random.random() < 0.8
        ):
            return param, replace(value, gradient=True)
        return param, value

    return replace(
        call, given=tuple(marked(*item) for item in call.given), inputs=tuple(marked(*item) for item in call.inputs)
    )  # fmt: skip


def changed(random: Random, drawer: Drawer, param: Param, value: Value) -> Value:
    """Change an argument a little, or draw it anew."""
    drawer.made = 0
    if not isinstance(value, Tensor) or value.alias or random.random() < 0.3:
        drawn = drawer.value(param)
        return drawn
    choice = random.randrange(7)
    if choice == 0:
        return replace(value, dtype=tensors.dtype(random), gradient=False)
    if choice == 1:
        return replace(value, shape=tensors.related(random, value.shape))
    if choice == 2:
        return replace(value, layout=random.choice(tensors.LAYOUTS))
    if choice == 3:
        return replace(value, values="special", seed=random.randrange(1000))
    if choice == 4 and value.shape:
        sizes = list(value.shape)
        sizes[random.randrange(len(sizes))] = random.choice((0, 1, 2, 3, 4, 7))
        return replace(value, shape=tuple(sizes))
    if choice == 5:
        return replace(value, seed=random.randrange(1000))
    return replace(value, shape=(1,) * random.choice((1, 2, 45)) + value.shape if len(value.shape) < 5 else value.shape)
