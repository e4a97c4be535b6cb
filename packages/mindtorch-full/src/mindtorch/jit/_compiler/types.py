"""Types of TorchScript: what annotations, schemas and values say, and which of them go for which."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    """A type by its name, with the types inside of it. A class of the program has its qualified name."""

    name: str
    args: tuple[Type, ...] = ()

    def __str__(self) -> str:
        """The text of code: `Optional[Tensor]`."""
        if self.name == "Tuple" and not self.args:
            return "Tuple[()]"
        return self.name if not self.args else f"{self.name}[{', '.join(map(str, self.args))}]"

    @property
    def in_graphs(self) -> str:
        """The text of graphs: `Tensor?`, `int[]`, `(Tensor, int)`."""
        inner = [one.in_graphs for one in self.args]
        if self.name == "Optional":
            return f"{inner[0]}?"
        if self.name == "List":
            return f"{inner[0]}[]"
        if self.name == "Tuple":
            return f"({', '.join(inner)})"
        name = "Scalar" if self.name == "number" else self.name
        return name if not inner else f"{name}({', '.join(inner)})"

    @property
    def element(self) -> Type:
        """What a list or an optional is of."""
        return self.args[0]


TENSOR, INT, FLOAT, BOOL, STR = Type("Tensor"), Type("int"), Type("float"), Type("bool"), Type("str")
COMPLEX, NUMBER, NONE, DEVICE, ANY = Type("complex"), Type("number"), Type("NoneType"), Type("Device"), Type("Any")
GENERATOR = Type("Generator")
NUMBERS = (INT, FLOAT, COMPLEX, NUMBER)
_ALIASES = {"Scalar": NUMBER, "SymInt": INT, "ScalarType": INT, "Layout": INT, "MemoryFormat": INT, "None": NONE}


def list_of(kind: Type) -> Type:
    """Return the type of lists of `kind`."""
    return Type("List", (kind,))


def optional(kind: Type) -> Type:
    """Return the type of `kind` or None."""
    return kind if kind.name in ("Optional", "NoneType", "Any") else Type("Optional", (kind,))


def tuple_of(*kinds: Type) -> Type:
    """Return the type of tuples of these."""
    return Type("Tuple", kinds)


def parse(text: str) -> Type:
    """Return the type of its text in code or in a schema."""
    return _of_syntax(ast.parse(text, mode="eval").body)


def _of_syntax(node: ast.expr) -> Type:
    if isinstance(node, ast.Constant):
        return NONE
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Type(ast.unparse(node.value), tuple(map(_of_syntax, inner)))
    name = ast.unparse(node)
    return _ALIASES.get(name, Type(name))


def goes_for(given: Type, wanted: Type) -> bool:
    """Whether a value of one type can stand where another is wanted, as it is."""
    if given == wanted or wanted == ANY:
        return True
    if wanted.name == "Optional":
        return given == NONE or goes_for(given.element if given.name == "Optional" else given, wanted.element)
    if wanted.name == "Union":
        kinds = given.args if given.name == "Union" else (given,)
        return all(any(goes_for(kind, one) for one in wanted.args) for kind in kinds)
    if wanted == NUMBER:
        return given in NUMBERS
    if wanted.name == "Tuple" and given.name == "Tuple" and len(wanted.args) == len(given.args):
        return all(map(goes_for, given.args, wanted.args))
    return False


def unify(first: Type, second: Type) -> Type | None:
    """Return the type of a variable that is the one on one path and the other on another; None when there is none."""
    if goes_for(first, second):
        return second
    if goes_for(second, first):
        return first
    if NONE in (first, second):
        return optional(second if first == NONE else first)
    if first.name == second.name == "Tuple" and len(first.args) == len(second.args):
        inner = [unify(one, other) for one, other in zip(first.args, second.args, strict=True)]
        return None if None in inner else Type("Tuple", tuple(one for one in inner if one is not None))
    if first.name == "Optional" or second.name == "Optional":
        bare = unify(*(one.element if one.name == "Optional" else one for one in (first, second)))
        return None if bare is None else optional(bare)
    return None
