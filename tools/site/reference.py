"""The reference of the site: every public name, the operator table, environment variables; made when the site is built.

python tools/site/reference.py FOLDER     write the pages into a folder, to look at them without building the site
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pkgutil
import re
import sys
import tomllib
import types
from pathlib import Path

from mindtorch import _absence

ROOT = Path(__file__).resolve().parents[2]
BOARDS = ROOT / "packages/mindtorch-testing/src/mindtorch_testing/scoreboard"
MISSING = ROOT / "packages/mindtorch-full/tests/contract/missing_names.txt"
UNSUPPORTED = ROOT / "packages/mindtorch-full/src/mindtorch/data/unsupported.toml"
EXTRA = ("nn.functional", "linalg", "fft", "special", "sparse", "npu", "cuda", "random", "hub", "onnx", "export")
DTYPES = ("ops", "ops-float64", "ops-bfloat16", "ops-int32", "ops-complex64", "ops-npu")


def public_modules() -> list[str]:
    """Return the namespaces of `torch` that say what is public in them, and a few that hold operators."""
    top = importlib.import_module("mindtorch")
    found = ["mindtorch"]
    for one in pkgutil.walk_packages(top.__path__, "mindtorch.", onerror=lambda name: None):
        parts = one.name.split(".")[1:]
        if any(part.startswith("_") for part in parts) or parts[0] in ("ops_table", "functions", "tensor", "data"):
            continue
        try:
            module = importlib.import_module(one.name)
        except ImportError:  # a back end or library that this machine lacks
            continue
        if hasattr(module, "__all__") or one.name.removeprefix("mindtorch.") in EXTRA:
            found.append(one.name)
    return sorted(found)


def names_of(module: types.ModuleType) -> list[str]:
    """Return the public names of a module that are not modules."""
    listed = getattr(module, "__all__", None)
    names = listed if listed is not None and len(listed) > 1 else [name for name in dir(module) if name[0] != "_"]
    if module.__name__ == "mindtorch.nn.functional":
        names = sorted({*names, *(name for name in dir(module) if name[0] != "_")})
    return sorted({name for name in names if not isinstance(getattr(module, name, None), types.ModuleType)})


def absent_names() -> dict[str, list[str]]:
    """Return by namespace the public names that are there and raise when they are used."""
    found = {}
    for space in _absence.table():
        if any(part.startswith("_") for part in space.split(".")):
            continue
        names = sorted(name for name in _absence.names(space) if not name.startswith("_") and _raises(space, name))
        if names:
            found[space] = names
    return found


def _raises(space: str, name: str) -> bool:
    module = importlib.import_module(space.replace("torch", "mindtorch", 1))
    value = getattr(module, name, None)
    return not isinstance(value, types.ModuleType) and _absence.reason_of(value) is not None


def working_names(module: types.ModuleType) -> list[str]:
    """Return the public names of a module that can be used."""
    return [name for name in names_of(module) if _absence.reason_of(getattr(module, name, None)) is None]


def signature_of(value: object) -> str:
    """Return the signature of a callable, empty for others."""
    if not callable(value):
        return ""
    try:
        return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(value)).replace("'", ""))
    except (TypeError, ValueError):
        return "(...)"


def words_of(value: object) -> str:
    """Return documentation as Markdown: operators' is Markdown; of others the first paragraph is, the rest as it stands."""
    if not callable(value) and not isinstance(value, property):
        return "" if isinstance(value, types.ModuleType) else f"A constant: `{_short(repr(value))}`."
    text = inspect.getdoc(value) or ""
    if "The operator `" in text:
        return text
    first, _, rest = text.partition("\n\n")
    rest = f"\n\n```text\n{rest.rstrip()}\n```" if rest.strip() else ""
    return _plain(first) + rest


def _plain(text: str) -> str:
    text = re.sub(r"``(.+?)``", r"`\1`", " ".join(text.split()))
    return "".join(
        part if part.startswith("`") else re.sub(r"([\[\]<>*_|])", r"\\\1", part)
        for part in re.split(r"(`[^`]*`)", text)
    )


def _short(text: str) -> str:
    text = re.sub(r" at 0x[0-9a-f]+", "", " ".join(text.split())).replace("`", "'")
    return text if len(text) < 60 else text[:57] + "..."


def entry(path: str, name: str, value: object, level: str = "##") -> str:
    """Return the piece of a page that documents one name."""
    signature = signature_of(value)
    kind = "class " if isinstance(value, type) else ""
    shown = f"```python\n{kind}{path}.{name}{signature}\n```\n\n" if signature else ""
    return f"{level} {name} {{ #{name} }}\n\n{shown}{words_of(value)}\n"


def module_page(name: str) -> str:
    """Return the page of a namespace."""
    module = importlib.import_module(name)
    path = name.replace("mindtorch", "torch", 1)
    parts = [f"# {path}\n", f"{_plain((inspect.getdoc(module) or '').partition(chr(10) * 2)[0])}\n"]
    for one in names_of(module):
        value = getattr(module, one, None)
        parts.append(entry(path, one, value))
    return "\n".join(parts)


def class_page(name: str, value: type) -> str:
    """Return the page of a class with all its public methods."""
    parts = [f"# {name}\n", f"{words_of(value)}\n"]
    parts += [entry(name, one, getattr(value, one, None)) for one in sorted(dir(value)) if one[0] != "_"]
    return "\n".join(parts)


def described(module: types.ModuleType, name: str) -> str:
    """Return signature and words of a member's name; those that compare with torch cannot be read without it."""
    try:
        value = getattr(module, name, None)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return f"`{name}(...)`\n\nNeeds torch, the oracle, beside it."
    return f"`{name}{signature_of(value)}`\n\n{words_of(value)}"


def member_page() -> str:
    """Return the page of the members' own public names."""
    parts = [
        "# Packages\n",
        "Every distribution can be installed alone. These are the names that it promises: its `__all__`.\n",
    ]
    for folder in sorted((ROOT / "packages").glob("*/src/*")):
        if folder.name == "mindtorch" or not (folder / "__init__.py").exists():
            continue
        module = importlib.import_module(folder.name)
        parts.append(f"## {folder.name}\n\n{_plain((inspect.getdoc(module) or '').partition(chr(10) * 2)[0])}\n")
        for one in sorted(getattr(module, "__all__", ())):
            parts.append(f"### {one} {{ #{folder.name}.{one} }}\n\n{described(module, one)}\n")
    return "\n".join(parts)


def missing_names() -> dict[str, list[str]]:
    """Return the names of torch that are not offered, by namespace."""
    found: dict[str, list[str]] = {}
    for line in MISSING.read_text().split():
        space, _, name = line.rpartition(".")
        found.setdefault(f"torch.{space}" if space else "torch", []).append(name)
    return found


def board(name: str) -> dict[str, dict[str, str]]:
    """Return a scoreboard: of each entry of torch's database of samples what passes and what does not."""
    return json.loads((BOARDS / f"{name}.json").read_text())["entries"]


def failing_entries() -> dict[str, list[str]]:
    """Return by namespace the entries of which values, errors, gradients or forms differ."""
    found: dict[str, list[str]] = {}
    for name, record in board("ops").items():
        space = next(
            (
                one
                for one in ("nn.functional", "linalg", "fft", "special", "signal.windows", "sparse")
                if name.startswith(one + ".")
            ),
            "",
        )
        if any(value != "pass" for value in record.values()):
            found.setdefault(f"torch.{space}" if space else "torch", []).append(name)
    return found


def compatibility_page(modules: list[str]) -> str:
    """Return the table of namespaces: what is there, what differs, what raises."""
    missing, failing, absent = missing_names(), failing_entries(), absent_names()
    parts = [
        "# Compatibility with torch 2.13.0\n",
        "What *works* does so as in torch, call by call: values, dtypes, error texts. *Differs* counts entries of torch's own "
        "database of samples of which some field does not agree (the [scoreboard](../status/ops.md) says which). *Raises* "
        "counts names that can be imported and raise NotImplementedError with the reason when they are used, *missing* those "
        "that torch has and that raise AttributeError here. The lists are kept by tests.\n",
        "| namespace | works | differs | raises | missing |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    spaces = {name.replace("mindtorch", "torch", 1): name for name in modules}
    for space in sorted({*spaces, *missing, *failing, *absent}):
        works = len(working_names(importlib.import_module(spaces[space]))) if space in spaces else 0
        label = f"[`{space}`]({space}.md)" if space in spaces else f"`{space}`"
        counts = [len(names.get(space, ())) for names in (failing, absent, missing)]
        parts.append(f"| {label} | {works} | {' | '.join(map(str, counts))} |")
    parts.append("\n## What is not offered, and why\n")
    tables = tomllib.loads(UNSUPPORTED.read_text())
    parts += [f"- `{name}`: {_plain(reason)}" for table in tables.values() for name, reason in table.items()]
    for title, names in (
        ("Samples that differ", failing),
        ("Names that raise", absent),
        ("Names that are missing", missing),
    ):
        parts.append(f"\n## {title}\n")
        parts += [f"- `{space}`: {_listed(found)}" for space, found in sorted(names.items())]
    return "\n".join(parts) + "\n"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def operators_page() -> str:
    """Return the table of operators by dtype and device, from the scoreboards."""
    boards = {name: board(name) for name in DTYPES}
    heads = ("float32", "float64", "bfloat16", "int32", "complex64", "npu")
    parts = [
        "# Operators by dtype and device\n",
        "From the committed scoreboards: ✓ where the values of every sample of torch's database agree with torch's on the CPU "
        "(`npu`: on the simulated device, float32), *differs* where some sample does not, *raises* where the operator is "
        "not offered there, empty where torch has no samples of the dtype.\n",
        f"| operator | {' | '.join(heads)} |",
        f"| --- |{' :---: |' * len(heads)}",
    ]
    for name in sorted(set().union(*boards.values())):
        marks = [_mark(boards[board].get(name)) for board in DTYPES]
        parts.append(f"| `{name}` | {' | '.join(marks)} |")
    return "\n".join(parts) + "\n"


def _mark(record: dict[str, str] | None) -> str:
    value = (record or {}).get("forward")
    return {None: "", "pass": "✓", "missing": "raises"}.get(value, "differs")


def pages() -> dict[str, str]:
    """Return all pages of the reference by their paths."""
    torch = importlib.import_module("mindtorch")
    modules = public_modules()
    found = {f"reference/{name.replace('mindtorch', 'torch', 1)}.md": module_page(name) for name in modules}
    found["reference/torch.Tensor.md"] = class_page("torch.Tensor", torch.Tensor)
    found["reference/packages.md"] = member_page()
    found["reference/compatibility.md"] = compatibility_page(modules)
    found["reference/operators.md"] = operators_page()
    return found


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for path, text in pages().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


if __name__ == "__main__":
    sys.exit(main())
