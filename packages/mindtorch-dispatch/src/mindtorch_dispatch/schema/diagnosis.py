"""What is wrong with a text that is no signature, in torch's words and with torch's marker under the place.

The parser in `grammar` is fast and only knows that it failed. This one walks the text token by token and is asked
afterwards; it also knows which types exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from .model import DTYPE_NUMBERS

_TOKEN = re.compile(
    r"""\s*(->|\.\.\.|[A-Za-z_]\w*|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\S|$)"""
)
_PUNCTUATION = "()[]{}:,.=*?!|-+<>/%@&^~"
_WORDS = ("None", "True", "False")
_CONTAINERS = {"Dict": 2, "Future": 1, "Await": 1, "RRef": 1, "Union": 0}
_TYPES = frozenset(
    [
        "Any",
        "AnyClassType",
        "AnyEnumType",
        "AnyListType",
        "AnyTupleType",
        "Capsule",
        "ConstQuantizerPtr",
        "Device",
        "DeviceIndex",
        "DeviceObjType",
        "Dimname",
        "DispatchKeySet",
        "Generator",
        "Layout",
        "MemoryFormat",
        "NoneType",
        "QScheme",
        "Quantizer",
        "Scalar",
        "ScalarType",
        "Storage",
        "Stream",
        "StreamObjType",
        "SymBool",
        "SymInt",
        "Tensor",
        "bool",
        "complex",
        "float",
        "int",
        "number",
        "str",
    ]
)
_UNKNOWN_TYPE = (
    "unknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full "
    "list, please see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func "
)
_INNER = frozenset("AnyListType AnyTupleType DeviceObjType Dimname DispatchKeySet StreamObjType number".split())
"""Types that torch's own schemas name, and those of programs may not."""
_OTHER_NAMES = {
    "int64_t": "Use `SymInt` or `int` instead of `int64_t` in an operator's schema string. `SymInt` corresponds to "
    "c10::SymInt in C++ while `int` in schema corresponds to the int64_t type in C++.",
    "double": "Use `float` instead of `double` in an operator's schema string. `float` in schema corresponds to the double "
    "type in C++",
}
"""What is said of types of C++ where there are no type variables."""


def is_known_type(name: str) -> bool:
    """Whether `name` is a type of the grammar; lower-case names are type variables, dotted ones script classes."""
    return name in _TYPES or name in _CONTAINERS or name[0].islower() or name.startswith("__torch__")


class _DiagnosisError(Exception):
    """Carries torch's text."""


class _Walker:
    """A recursive descent over the tokens; the first token that does not fit raises."""

    def __init__(self, text: str, type_variables: bool) -> None:
        self.text = text
        self.type_variables = type_variables
        self.tokens: list[tuple[str, int]] = []
        position = 0
        while position <= len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                break
            self.tokens.append((match.group(1), match.start(1)))
            if not match.group(1):
                break
            position = match.end()
        self.at = 0

    @property
    def token(self) -> str:
        """The current token, empty at the end."""
        return self.tokens[self.at][0]

    @property
    def kind(self) -> str:
        """The token's kind as messages call it."""
        token = self.token
        if not token:
            return "eof"
        if token == "->":
            return "arrow"
        if token in _WORDS:
            return token
        if token[0].isalpha() or token[0] == "_":
            return "ident"
        if token[0].isdigit():
            return "number"
        if len(token) > 1 and token[0] in "\"'":
            return "string_literal"
        if token != "..." and token not in _PUNCTUATION:
            self.marked("expected a valid token but found '%s' here", token, leading="")
        return token

    def marked(self, message: str, *parts: str, leading: str = "\n") -> NoReturn:
        """Raise `message` with the text and a marker under the current token."""
        token, start = self.tokens[self.at]
        shown = f"{leading}{message % parts if parts else message}:\n{self.text}"
        if token:
            line = self.text.rfind("\n", 0, start) + 1
            shown += f"\n{' ' * (start - line)}{'~' * len(token)} <--- HERE\n"
        raise _DiagnosisError(shown)

    def expect(self, kind: str) -> str:
        """The current token, which must be of `kind`; step over it."""
        if self.kind != kind:
            self.marked("expected %s but found '%s' here", kind, self.kind, leading="")
        self.at += 1
        return self.tokens[self.at - 1][0]

    def take(self, kind: str) -> bool:
        """Step over the current token if it is of `kind`."""
        if self.kind != kind:
            return False
        self.at += 1
        return True

    def declaration(self) -> None:
        """Walk a whole signature."""
        self.expect("ident")
        if self.kind == ":" and self.tokens[self.at + 1][0] == ":":
            self.at += 2
            self.expect("ident")
        if self.take(".") and self.expect("ident") == "default":
            raise _DiagnosisError("default is not a legal overload name for aten operators")
        if self.kind == "eof":
            raise _DiagnosisError("Tried to parse a function schema but only the operator name was given")
        if self.kind != "(":
            self.expect("eof")
        self.arguments()
        self.expect("arrow")
        if not self.take("..."):
            if self.take("("):
                self.listed(")", self.returned)
            else:
                self.returned()
        self.expect("eof")

    def arguments(self) -> None:
        """Walk the parenthesised parameters."""
        self.expect("(")
        ended = False

        def one() -> None:
            nonlocal ended
            if ended:
                self.marked("... must be the last element of the argument list")
            if self.take("..."):
                ended = True
            elif not self.take("*"):
                self.argument()

        self.listed(")", one)

    def listed(self, end: str, item: Callable[[], object]) -> None:
        """Walk items up to `end`, separated by commas."""
        if self.take(end):
            return
        while True:
            item()
            if not self.take(","):
                self.expect(end)
                return

    def argument(self) -> None:
        """Walk `type name=default`."""
        kind, is_list, size, optional = self.type()
        self.expect("ident")
        if self.take("="):
            self.default(kind, is_list, size, optional)

    def returned(self) -> None:
        """Walk `type` or `type name` after the arrow."""
        self.type()
        self.take("ident")

    def type(self) -> tuple[str, bool, bool, bool]:
        """Walk a type; the answer is its name, whether it is a list, sized, optional."""
        if self.take("("):
            self.listed(")", self.type)
            name = "tuple"
        else:
            if self.kind == "ident" and not self._is_type(self.token):
                self.marked(_UNKNOWN_TYPE if self.type_variables else _OTHER_NAMES.get(self.token, _UNKNOWN_TYPE))
            name = self.expect("ident")
            while name.startswith("__torch__") and self.take("."):
                self.expect("ident")
            self.parameters(name)
        is_list = size = optional = False
        while True:
            if not size and self.take("["):
                is_list, optional = True, False
                size = self.kind != "]"
                if size:
                    self.expect("number")
                self.expect("]")
            elif self.take("?"):
                optional = True
            elif self.kind == "(":
                self.alias()
            elif not self.take("!"):
                return name, is_list, size, optional

    def _is_type(self, name: str) -> bool:
        if self.type_variables:
            return is_known_type(name)
        return name not in _INNER and is_known_type(name) and (name in _TYPES or not name[0].islower())

    def parameters(self, name: str) -> None:
        """Walk what follows `Dict`, `Future` and the like."""
        if name not in _CONTAINERS:
            return
        self.expect("(")
        self.type()
        if _CONTAINERS[name] == 2:
            self.expect(",")
            self.type()
        while not _CONTAINERS[name] and self.take(","):
            self.type()
        self.expect(")")

    def alias(self) -> None:
        """Walk `(a! -> b)`."""
        self.expect("(")
        while True:
            if not self.take("*"):
                self.expect("ident")
                while self.take("|"):
                    self.expect("ident")
            self.take("!")
            if not self.take("arrow"):
                break
        self.expect(")")

    def default(self, kind: str, is_list: bool, size: bool, optional: bool) -> None:
        """Walk the default of a parameter of the given type."""
        if optional and self.take("None"):
            return
        if is_list and not (size and self.kind != "["):
            if kind not in ("int", "SymInt", "float", "complex", "bool", "str"):
                if self.kind != "[":
                    self.expect("[")
                self.marked("lists are only supported for float, int and complex types")
            self.expect("[")
            self.listed("]", lambda: self.constant(kind))
        elif (
            kind in ("Tensor", "Generator")
            and not is_list
            and not (optional and self.kind in ("number", "string_literal"))
        ):
            self.expect("None")
        else:
            self.constant(kind)

    def constant(self, kind: str) -> None:
        """Walk one value."""
        # A schema is printed with the bare name of a device, which is read again.
        if kind == "Device" and self.token != "cpu":
            self.expect("string_literal")
        elif self.kind in ("True", "False", "None", "string_literal"):
            self.at += 1
        elif self.kind == "ident":
            known = self.token in ("Mean", "contiguous_format", "strided", "long", "float", "complex")
            known = (
                known
                or (kind == "ScalarType" and self.token in DTYPE_NUMBERS)
                or (kind == "Device" and self.token == "cpu")
            )
            self.at += 1
            if not known:
                self.marked("invalid numeric default value")
        else:
            self.take("-")
            self.expect("number")


def diagnose(text: str, type_variables: bool = True) -> str | None:
    """Torch's message for a text that is no signature; None where the text has the right form."""
    try:
        _Walker(text, type_variables).declaration()
    except _DiagnosisError as error:
        return str(error)
    return None
