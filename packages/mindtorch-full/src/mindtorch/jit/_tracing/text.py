"""The text of a method in TorchScript."""

from __future__ import annotations

import keyword
import math
from typing import Any

from mindtorch.jit._overloads import number_of
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype
from mindtorch_storage.layout import layout, memory_format

from .methods import Method
from .values import Call, Constant, Number, Value

_RESERVED = frozenset(("self", "torch", "ops", "prims", "CONSTANTS", "fork", "annotate", "inf", "nan", "infj", "nanj",
    "uninitialized", "unchecked_cast", "isinstance", "int", "float", "bool", "str", "complex", "range", "len", "wait",
    "getattr", "setattr", "device", "print", "Tensor", "List", "Tuple", "Dict", "Optional", "NoneType", "Any"))  # fmt: skip


def is_plain_name(name: str) -> bool:
    """Whether code can say `self.name`."""
    return name.isidentifier() and name.isascii() and not keyword.iskeyword(name)


def literal(value: str) -> str:
    """Return a string as code writes it."""
    kept = "".join(one if one.isprintable() and one.isascii() and one not in '"\\' else _escape(one) for one in value)
    return f'"{kept}"'


def _escape(one: str) -> str:
    return f"\\{one}" if one in '"\\' else "".join(f"\\{byte:03o}" for byte in one.encode())


def number(value: Any) -> str:
    """Return a number as code writes it."""
    if isinstance(value, complex):
        return f"complex({number(value.real)}, {number(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return repr(float(value)) if isinstance(value, float) else repr(int(value))


def attribute(owner: str, path: str) -> str:
    """Return code for an attribute below `owner`, by its dotted path."""
    for name in path.split("."):
        owner = f"{owner}.{name}" if is_plain_name(name) else f"getattr({owner}, {literal(name)})"
    return owner


class MethodText:
    """Writes one method. Constants that it names are added to `constants`."""

    def __init__(
        self, method: Method, owner: str | None, constants: list[Any], result: Any = None, result_kind: str = ""
    ) -> None:
        self._method = method
        self._owner = owner
        self._constants = constants
        self._result, self._result_kind = result, result_kind
        self._names: dict[int, str] = {}
        self._taken: set[str] = set(_RESERVED)
        self._count = 0
        self.lines: list[str] = []

    def write(self) -> str:
        """Return the definition."""
        method = self._method
        given = [f"{self._name(one, one.hint or f'argument_{place}')}: {one.kind}" for place, one in
                 enumerate(method.takes, 1)]  # fmt: skip
        for value in method.attributes:
            name = self._name(value, value.hint)
            self.lines.append(f"{name} = {attribute('self', method.frame.relative(value.path or ''))}")
        for step in method.body:
            if isinstance(step, Call):
                self._write_call(step)
            else:
                self._write_method(step)
        kind = self._result_kind
        if self._result is not None:
            self.lines.append(f"return {self.expression(self._result)}")
        elif method.gives:
            kind = "Tensor" if len(method.gives) == 1 else f"Tuple[{', '.join('Tensor' for _ in method.gives)}]"
            names = ", ".join(self._names[id(one)] for one in method.gives)
            self.lines.append(f"return {names if len(method.gives) == 1 else f'({names})'}")
        else:
            kind = "NoneType"
            self.lines.append("return None")
        return self._definition(given, kind)

    def _definition(self, given: list[str], kind: str) -> str:
        first = [] if self._owner is None else [f"self: {self._owner}"]
        parameters = ",\n    ".join([*first, *given])
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"def {self._method.name}({parameters}) -> {kind}:\n{body}"

    def _name(self, value: Value, hint: str = "") -> str:
        hint = hint if is_plain_name(hint) and not hint.startswith("__") else ""
        name = hint
        while not name or name in self._taken:
            name = f"{hint}{self._count}" if hint else f"_{self._count}"
            self._count += 1
        self._taken.add(name)
        self._names[id(value)] = name
        return name

    def _write_method(self, inner: Method) -> None:
        owner = attribute("self", self._method.frame.relative(inner.frame.path))
        given = "".join(f"{self._names[id(one)]}, " for one in inner.takes)
        call = f"({owner}).{inner.name}({given})"
        names = ", ".join(self._name(one) for one in inner.gives)
        self.lines.append(f"{names} = {call}" if names else f"_{self._fresh()} = {call}")

    def _fresh(self) -> int:
        self._count += 1
        return self._count - 1

    def _write_call(self, call: Call) -> None:
        code = self._call(call)
        names = ", ".join(self._name(one, one.hint) for one in call.outputs)
        if not names:
            names = f"_{self._fresh()}"
        elif call.spread and len(call.outputs) == 1:
            names += ","
        self.lines.append(f"{names} = {code}")

    def _compiled(self, call: Call) -> str:
        args, owner = list(call.args), ""
        if call.name == "prim::CallMethod":
            owner = f"({self.expression(args.pop(0))})."
        given = [self.expression(one, kind) for one, kind in zip(args, call.kinds, strict=True)]
        return f"{owner}{call.target}({''.join(f'{one}, ' for one in given)})"

    def _call(self, call: Call) -> str:
        if call.target:
            return self._compiled(call)
        if call.name == "prim::unpack":
            return self.expression(call.args[0])
        if call.name == "prim::PythonOp":
            return f"{self.expression(call.args[0])}({', '.join(self.expression(one) for one in call.args[1:])})"
        namespace, _, name = call.name.partition("::")
        function = f"torch.{name}" if namespace == "aten" else f"ops.{namespace}.{name}"
        if call.overload is None:
            code = f"{function}({', '.join(self.expression(one) for one in call.args)})"
            return f"ops.prim.NumToTensor({code})" if name in ("size", "numel") else code
        declared = call.overload._schema.arguments
        kinds = {one.name: str(one.real_type) for one in declared}
        places = [str(one.real_type) for one in declared if not one.kwarg_only]
        given = [self.expression(one, kind) for one, kind in zip(call.args, places, strict=False)]
        if given and places[len(given) - 1] == "ScalarType":  # by place it would be any number
            given[-1] = f"{declared[len(given) - 1].name}={given[-1]}"
        given += [f"{key}={self.expression(one, kinds[key])}" for key, one in call.kwargs.items()]
        return f"{function}({', '.join(given)})"

    def expression(self, value: Any, kind: str = "") -> str:
        """Return code for an argument of a declared type."""
        if isinstance(value, Value):
            return self._names[id(value)]
        if isinstance(value, Constant):
            return f"CONSTANTS.c{self._number(value)}"
        if isinstance(value, Number):
            return f"{value.word}({self._names[id(value.value)]})"
        if isinstance(value, Device):
            return f"torch.device({literal(str(value))})"
        if value is None or isinstance(value, bool):
            return str(value)
        if isinstance(value, (dtype, layout, memory_format)):
            return str(number_of(value))
        if isinstance(value, str):
            return literal(value)
        if isinstance(value, (int, float, complex)):
            return number(float(value) if isinstance(value, int) and "float" in kind else value)
        return self._container(value, kind)

    def _number(self, constant: Constant) -> int:
        """Return the place of a constant among those that code names, which are all that are kept."""
        known = next((place for place, one in enumerate(self._constants) if one is constant.value), None)
        if known is None:
            self._constants.append(constant.value)
        return len(self._constants) - 1 if known is None else known

    def _container(self, value: Any, kind: str) -> str:
        if isinstance(value, dict) and not value and kind:
            return f"annotate({kind}, {{}})"
        if isinstance(value, dict):
            return (
                "{" + ", ".join(f"{self.expression(key)}: {self.expression(one)}" for key, one in value.items()) + "}"
            )
        if isinstance(value, tuple):
            return f"({''.join(f'{self.expression(one)}, ' for one in value)})"
        if not isinstance(value, list):
            raise RuntimeError(f"torch.jit.trace: {type(value).__name__} is no value that TorchScript can keep")
        declared = kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Optional[") else kind
        inner = declared[5:-1] if declared.startswith("List[") else "Tensor"
        code = f"[{', '.join(self.expression(one, inner) for one in value)}]"
        if value and not inner.startswith("Optional["):
            return code
        return f"annotate(List[{inner.replace('SymInt', 'int').replace('Scalar', 'number')}], {code})"
