"""Programs brought together in one: what a trace calls of scripts, and scripts of traces and archives."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mindtorch.jit._script_module import CompiledModule, ScriptObject

_WORDS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|__torch__(?:\.\w+)+|CONSTANTS\.c\d+")
"""Texts in quotes, which stay, and the names of the program: of classes and functions, and of constants."""


class Linker:
    """Takes programs into one. Names that something else has become new ones; constants get new numbers.

    Args:
        constants: those of the program that others are brought into; theirs are added.
        free_name: gives a name that nothing has, for one that something may have.
        has: whether something has a name.
    """

    def __init__(self, constants: list[Any], free_name: Callable[[str], str], has: Callable[[str], bool]) -> None:
        self._constants = constants
        self._free_name, self._has = free_name, has
        self._brought: dict[int, tuple[Any, dict[str, str]]] = {}
        self.definitions: dict[str, str] = {}
        self.kinds: dict[str, type] = {}

    def bring(self, program: Any) -> dict[str, str]:
        """Return the names that what a program defines has here."""
        if id(program) not in self._brought:
            self._brought[id(program)] = program, self._take(program)
        return self._brought[id(program)][1]

    def _take(self, program: Any) -> dict[str, str]:
        texts = dict(program.definitions())
        words = {name: set(_WORDS.findall(text)) for name, text in texts.items()}
        clashing = {name for name, text in texts.items() if self._has(name) and self.definitions.get(name) != text} | {
            name for name in texts if self._has(name) and any(one.startswith("CONSTANTS") for one in words[name])
        }
        before = -1
        while before != len(clashing):
            before = len(clashing)
            clashing |= {name for name in texts if self._has(name) and words[name] & clashing}
        names = {name: self._free_name(name) if name in clashing or not self._has(name) else name for name in texts}
        places = {f"CONSTANTS.c{old}": f"CONSTANTS.c{self._place(one)}" for old, one in enumerate(program.constants)}
        for name, text in texts.items():
            self.definitions[names[name]] = _WORDS.sub(lambda found: _renamed(found.group(), names, places), text)
        for name, kind in program.kinds.items():
            self.kinds[names.get(name, name)] = kind
        return names

    def _place(self, constant: Any) -> int:
        known = next((place for place, one in enumerate(self._constants) if one is constant), None)
        if known is None:
            self._constants.append(constant)
        return len(self._constants) - 1 if known is None else known


def _renamed(word: str, names: dict[str, str], places: dict[str, str]) -> str:
    if word[0] in "\"'":
        return word
    if word in places:
        return places[word]
    owner, rest = word, ""
    while owner not in names and "." in owner:  # a member of a class: its name is the longest that is known
        owner, _, last = owner.rpartition(".")
        rest = f".{last}{rest}"
    return names[owner] + rest if owner in names else word


def linked_module(module: CompiledModule, program: Any, names: dict[str, str]) -> Any:
    """Return a module of another program as one of `program`, with the same tensors."""
    return _linked(module, program, names, {})


def _linked(value: Any, program: Any, names: dict[str, str], known: dict[int, Any]) -> Any:
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_linked(one, program, names, known) for one in value)
    if isinstance(value, dict):
        return type(value)((key, _linked(one, program, names, known)) for key, one in value.items())
    if not isinstance(value, (CompiledModule, ScriptObject)):
        return value
    kind = program.find(names[value._qualified_name])
    made = known[id(value)] = kind.__new__(kind)
    for name, one in vars(value).items():
        vars(made)[name] = _linked(one, program, names, known)
    return made
