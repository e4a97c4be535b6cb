"""Type stubs of what is bound from the op table when `mindtorch` is imported: functions, methods of tensors, named results.

    python tools/stubs.py write FOLDER    the package `mindtorch._operators`, which only type checkers and editors read
    python tools/stubs.py check           write it beside a copy of the sources, and let mypy say what types it sees

Building or installing mindtorch-full writes them into its sources (packages/mindtorch-full/hatch_build.py), and so does the
check of types; none is committed (docs/decisions/0006-no-generated-code.md).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from keyword import iskeyword
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(ROOT.glob("packages/*/src"))
HEAD = '"""Made by tools/stubs.py from the op table."""\n\n# mypy: ignore-errors\n\n'
NAMESPACES = {"linalg": "linalg", "special": "special", "fft": "fft", "nn_functional": "nn.functional"}
"""Modules whose functions are bound when they are first asked for, by the names of their stubs."""
WORDS = re.compile(
    r"\b(Any|Generator|Number|Sequence|Tensor|bool|complex|device|dtype|float|int|layout|memory_format|return_types|str|tuple)\b"
)
TYPES = """\
from builtins import bool as bool
from builtins import complex as complex
from builtins import float as float
from builtins import int as int
from builtins import str as str
from builtins import tuple as tuple
from collections.abc import Sequence as Sequence
from typing import Any as Any
from typing import TypeAlias

from mindtorch._operators import return_types as return_types
from mindtorch.random import Generator as Generator
from mindtorch.tensor.tensor import Tensor as Tensor
from mindtorch_storage.device import device as device
from mindtorch_storage.dtype import dtype as dtype
from mindtorch_storage.layout import layout as layout
from mindtorch_storage.layout import memory_format as memory_format

Number: TypeAlias = int | float | complex
"""
OPENING = "from typing import overload as _overload\n\nfrom mindtorch._operators import types as _types\n\n"


class Surface:
    """The parts of the library that describe what is bound; imported when stubs are made."""

    def __init__(self) -> None:
        self.torch: Any = importlib.import_module("mindtorch")
        self.annotations: Any = importlib.import_module("mindtorch_dispatch.arguments.annotations")
        self.description: Any = importlib.import_module("mindtorch_dispatch.arguments.description")
        self.packs: dict[str, Any] = importlib.import_module("mindtorch_dispatch.meta.packs").pack_classes

    def signature_of(self, value: Any) -> Any:
        """Return what the op table says of a callable, None for others."""
        found = getattr(value, "__signature__", None)
        return found if isinstance(found, self.description.PacketSignature) else None

    def callables(self, names: Iterable[str], owner: Any) -> Iterator[tuple[str, Any]]:
        """Yield the names of an owner that are bound from the op table, with their signatures."""
        for name in sorted(names):
            signature = self.signature_of(getattr(owner, name, None))
            if signature is not None and name.isidentifier() and not iskeyword(name):
                yield name, signature


def typed(text: str) -> str:
    """Return an annotation whose names are looked up in the module of types, as `int` may be an operator's name here."""
    return WORDS.sub(r"_types.\1", text)


def definition(surface: Surface, name: str, signature: Any) -> str:
    """Return the definitions of one function or method: an overload for each form, with its documentation."""
    forms = surface.description.python_forms(signature.packet, signature.method)
    lines = list(dict.fromkeys(line for form in forms for line in _lines(surface, name, signature, form)))
    documentation = surface.description.describe(signature.packet, signature.method)
    first = f'{lines[0]}:\n    r"""{documentation}"""\n'
    if len(lines) == 1:
        return first
    return "".join(f"@_overload\n{text}" for text in [first, *(f"{line}: ...\n" for line in lines[1:])])


def _lines(surface: Surface, name: str, signature: Any, form: Any) -> Iterator[str]:
    row = signature.packet.rows[form.index]
    pack = (row.base or row).pack
    returned = typed(surface.annotations.return_annotation(form.schema, None if pack is None else pack.__name__))
    start = ["self"] if signature.method else []
    positional, named = form.parameters[: form.positional], form.parameters[form.positional :]
    if any(iskeyword(parameter.name) for parameter in form.parameters):
        yield f"def {name}({', '.join([*start, '*args: _types.Any', '**kwargs: _types.Any'])}) -> {returned}"
        return
    keywords = [_parameter(surface, parameter) for parameter in named]
    places = [_parameter(surface, parameter) for parameter in positional]
    yield f"def {name}({', '.join([*start, *places, *(['*', *keywords] if keywords else [])])}) -> {returned}"
    if len(positional) == 1 and positional[0].takes_varargs:
        yield f"def {name}({', '.join([*start, f'*{positional[0].name}: _types.int', *keywords])}) -> {returned}"


def _parameter(surface: Surface, parameter: Any) -> str:
    text = f"{parameter.name}: {typed(surface.annotations.annotation_of(parameter))}"
    return f"{text} = ..." if parameter.optional else text


def functions(surface: Surface, names: Iterable[str], owner: Any) -> tuple[str, str]:
    """Return the names of a module's functions as an open list, and their definitions."""
    found = list(surface.callables(names, owner))
    exported = "__all__ = [\n" + "".join(f'    "{name}",\n' for name, _ in found)
    return exported, "".join(f"{definition(surface, name, signature)}\n" for name, signature in found)


def methods(surface: Surface) -> str:
    """Return the stub of the class of the tensors' methods."""
    tensor = surface.torch.Tensor
    text = "".join(f"{definition(surface, *found)}\n" for found in surface.callables(dir(tensor), tensor))
    for name in importlib.import_module("mindtorch.tensor.conversion").NAMED_DTYPES:
        text += f"def {name}(self, memory_format: _types.memory_format = ...) -> _types.Tensor: ...\n"
    body = "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())
    return f'{HEAD}{OPENING}class Methods:\n    """The methods of tensors that the op table gives."""\n\n{body}'


def values(surface: Surface) -> dict[str, str]:
    """Return the types of the values that `mindtorch` has by computed names: dtypes, layouts, memory formats."""
    kinds = {surface.torch.dtype: "dtype", surface.torch.layout: "layout", surface.torch.memory_format: "memory_format"}
    return {
        name: f"_types.{kinds[type(value)]}"
        for name, value in sorted(vars(surface.torch).items())
        if type(value) in kinds and not name.startswith("_")
    }


def lazy_names() -> dict[str, str]:
    """Return the public names that `mindtorch` imports when they are first asked for, with the modules they lie in."""
    homes = importlib.import_module("mindtorch._surface").HOMES
    return {name: f"mindtorch.{home}" for name, home in sorted(homes.items()) if not name.startswith("_")}


def submodules() -> list[str]:
    """Return the public submodules that `mindtorch` imports when they are first asked for."""
    names = importlib.import_module("mindtorch._surface").SUBMODULES
    found = (name for name in sorted(names) if not name.startswith("_"))
    return [name for name in found if importlib.util.find_spec(f"mindtorch.{name}") is not None]


def return_types(surface: Surface) -> str:
    """Return the stub of the classes of named results."""
    lines = ["from mindtorch.tensor.tensor import Tensor as _Tensor\n\n"]
    for name, cls in sorted(surface.packs.items()):
        items = ", ".join("_Tensor" for _ in cls.__match_args__)
        lines.append(f"class {name}(tuple[{items}]):\n")
        lines += [f"    @property\n    def {field}(self) -> _Tensor: ...\n" for field in cls.__match_args__]
        lines.append("\n")
    return HEAD + "".join(lines)


def write(folder: Path) -> None:
    """Write the package of stubs into a folder, which is emptied first."""
    surface = Surface()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    torch = surface.torch
    exported, text = functions(surface, dir(torch), torch)
    homes = {name: home for name, home in lazy_names().items() if f'    "{name}",\n' not in exported}
    constants, modules = values(surface), submodules()
    exported += "".join(f'    "{name}",\n' for name in dict.fromkeys([*constants, *modules, *homes]))
    text += "".join(f"from mindtorch import {name} as {name}\n" for name in modules)
    text += "".join(f"from {home} import {name} as {name}\n" for name, home in homes.items())
    text += "".join(f"{name}: {kind}\n" for name, kind in constants.items())
    files = {
        "__init__": HEAD,
        "types": HEAD + TYPES,
        "return_types": return_types(surface),
        "methods": methods(surface),
        "functions": f"{HEAD}{OPENING}{exported}]\n\n{text}",
    }
    for name, shown in NAMESPACES.items():
        module = importlib.import_module(f"mindtorch.{shown}")
        exported, text = functions(surface, dir(module), module)
        files[name] = f"{HEAD}{OPENING}{exported}]\n\n{text}"
    for name, content in files.items():
        (folder / f"{name}.pyi").write_text(content, encoding="utf-8")


PROGRAM = """\
import mindtorch as torch

a, b = torch.ones(2, 3), torch.zeros((2, 3), dtype=torch.float32)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 4, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.relu(self.layer(x)).sum(-1, keepdim=True) * 0.5


@torch.no_grad()
def plain(x: torch.Tensor) -> torch.Tensor:
    return x


net = Net().to("cpu")
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
with torch.no_grad():
    a[0, :2] = torch.tensor([1.0, 2.0])
loss = torch.nn.functional.mse_loss(net(a), b[:, :1])
loss.backward()
optimizer.step()
print(loss.item(), a.shape[0] + a.size(1), -a, a @ b.mT, 2 ** a, a[None].mean((0, 1)), len(a), float(a.sum()))
"""
TENSORS = """\
torch.add(a, b) | a + b | 2 * a | a - 1 | -a | a / b | a @ b.T | a == b | a > 0 | a[0] | a[:, None] | a.T | a.mT | a.real | a.data
a.detach() | a.clone() | a.to("cpu") | a.to(torch.float64) | a.cuda() | a.cpu() | a.float() | a.half() | a.reshape(2, 3) | a.sum()
a.view(3, 2) | a.mean(dim=0) | a.max() | torch.max(a, b) | torch.max(a, 0).values | torch.topk(a, 2).indices | a.add_(b)
a.requires_grad_() | torch.cat([a, b]) | torch.where(a > 0, a, b) | torch.einsum("ij,kj->ik", a, b) | torch.tensor([1.0])
torch.zeros_like(a) | torch.arange(3) | torch.randn(2, 3) | torch.from_numpy(a.numpy()) | next(iter(a))
torch.linalg.inv(a) | torch.fft.fft(a) | torch.special.erf(a) | net.layer.weight | torch.nn.init.xavier_uniform_(a)
torch.nn.functional.relu(a) | torch.nn.functional.linear(a, b) | torch.nn.functional.conv2d(a, b)
torch.nn.functional.softmax(a, dim=-1) | torch.nn.functional.scaled_dot_product_attention(a, b, b)
torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
torch.distributions.Normal(0.0, 1.0).sample() | torch.distributions.Normal(0.0, 1.0).log_prob(a) | plain(a)"""
"""Expressions that are tensors, as mypy is to see."""
SEEN = {
    **dict.fromkeys(TENSORS.replace("\n", " | ").split(" | "), "mindtorch.tensor.tensor.Tensor"),
    "a.grad": "mindtorch.tensor.tensor.Tensor | None",
    "a.shape": "mindtorch_storage.size.Size",
    "a.shape[0]": "int",
    "a.size()": "mindtorch_storage.size.Size",
    "a.size(0)": "int",
    "a.split(1)": "tuple[mindtorch.tensor.tensor.Tensor, ...]",
    "a.item()": "int | float",
    "torch.manual_seed(0)": "mindtorch_cpu.generator.Generator",
    "torch.no_grad()": "mindtorch_autograd.mode.no_grad",
    "torch.save(a, 'file')": "None",
    "torch.autocast('cpu')": "mindtorch.amp.autocast_mode.autocast",
    "net.train()": "program.Net",
    "net.to('cpu').eval()": "program.Net",
    "torch.nn.Sequential(net)[0]": "mindtorch.nn.modules.module.Module",
    "torch.nn.ModuleList([net])[:1]": "mindtorch.nn.modules.container.ModuleList",
    "a.register_hook(print)": "mindtorch_autograd.hooks.RemovableHandle",
    "torch.add(a, b)": "mindtorch.tensor.tensor.Tensor",
    "torch.add(a, 2.5, alpha=2)": "mindtorch.tensor.tensor.Tensor",
    "a": "mindtorch.tensor.tensor.Tensor",
    "b": "mindtorch.tensor.tensor.Tensor",
    "a.matmul(b.t())": "mindtorch.tensor.tensor.Tensor",
    "a + b": "mindtorch.tensor.tensor.Tensor",
    "2 * a": "mindtorch.tensor.tensor.Tensor",
    "a.add_(b)": "mindtorch.tensor.tensor.Tensor",
    "a.view(3, 2)": "mindtorch.tensor.tensor.Tensor",
    "torch.max(a, 0).indices": "mindtorch.tensor.tensor.Tensor",
    "a.topk(2).values": "mindtorch.tensor.tensor.Tensor",
    "a.half()": "mindtorch.tensor.tensor.Tensor",
    "a.equal(b)": "bool",
    "torch.split_with_sizes(a, [1, 1])": "tuple[mindtorch.tensor.tensor.Tensor, ...]",
    "torch.float16": "mindtorch_storage.dtype.dtype",
    "torch.linalg.inv(a)": "mindtorch.tensor.tensor.Tensor",
    "torch.fft.fft(a)": "mindtorch.tensor.tensor.Tensor",
}
"""Expressions and the types that mypy is to see."""
REFUSED = {
    'torch.add(a, "2")': "No overload variant|Argument 2 to .add. has incompatible type",
    "a.no_such_method()": "has no attribute .no_such_method.",
    "torch.topk(a)": "Missing positional argument|No overload variant",
}
"""Expressions that mypy is to refuse, and what it says of them."""


def check() -> int:
    """Let mypy read the stubs as a user's would; print what it sees otherwise than expected and return how much."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        shutil.copytree(ROOT / "packages/mindtorch-full/src/mindtorch", folder / "src" / "mindtorch")
        write(folder / "src" / "mindtorch" / "_operators")
        program = folder / "program.py"
        shown = [f"reveal_type({text})" for text in SEEN]
        absent = importlib.import_module("mindtorch.tensor.absent_ops").names(
            "methods"
        )  # an editor does not offer them
        attributes = [
            f"a.{name}"
            for name in sorted(dir(importlib.import_module("mindtorch").Tensor))
            if name[0] != "_" and name not in absent
        ]
        program.write_text("\n".join([PROGRAM, *shown, *REFUSED, *attributes, ""]))
        paths = [str(folder / "src"), *(str(path) for path in SOURCES if path.parent.name != "mindtorch-full")]
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--follow-imports=silent", "--config-file=", "--no-error-summary", str(program)],
            env={**os.environ, "MYPYPATH": os.pathsep.join(paths)}, cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    first = len(PROGRAM.splitlines()) + 2
    said = {int(line.split(":")[1]): line for line in done.stdout.splitlines() if line.startswith("program.py:")}
    wrong = sum(_differs("the program", "^$", line) for number, line in said.items() if number < first)
    for number, (text, kind) in enumerate(SEEN.items(), first):
        wrong += _differs(text, f'Revealed type is "{re.escape(kind)}"', said.get(number, done.stderr))
    for number, (text, words) in enumerate(REFUSED.items(), first + len(SEEN)):
        wrong += _differs(text, words, said.get(number, done.stderr))
    for number, text in enumerate(attributes, first + len(SEEN) + len(REFUSED)):
        wrong += _differs(text, "^$", said.get(number, ""))
    print(f"stubs: {len(SEEN) + len(REFUSED) + len(attributes)} expressions, {wrong} seen otherwise")
    return wrong


def _differs(text: str, pattern: str, said: str) -> bool:
    if re.search(pattern, said):
        return False
    print(f"{text}: expected {pattern}, mypy says: {said or 'nothing'}")
    return True


def main(argv: list[str]) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write").add_argument("folder", type=Path)
    commands.add_parser("check")
    options = parser.parse_args(argv)
    sys.path[:0] = [str(path) for path in SOURCES]
    if options.command == "check":
        return 1 if check() else 0
    write(options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
