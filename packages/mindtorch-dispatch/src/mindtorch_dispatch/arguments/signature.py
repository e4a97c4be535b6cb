"""Python signatures: what `torch.add` and `Tensor.add` take, made from schemas, and the binding of a call to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..schema import Argument, EnumName, Schema, Type
from ..typing import Tensor
from .messages import missing_error, quantity_error
from .parameter import Converted, Parameter, enum_value, printed_default
from .tables import DEPRECATED_WITHOUT_OUT, FACTORY_LIKE, NOT_FACTORIES, NUMBERS_AS_TENSORS, PYTHON_NAMES

_SCHEMA_NAMES = {(function, name): argument for (function, argument), name in PYTHON_NAMES.items()}
_OPTIONS = ("dtype", "layout", "device", "pin_memory")
_OPTION_PARAMETERS = (
    ("dtype", Type("ScalarType", optional=True), "None"),
    ("layout", Type("Layout", optional=True), "None"),
    ("device", Type("Device", optional=True), "None"),
    ("pin_memory", Type("bool", optional=True), "False"),
    ("requires_grad", Type("bool", optional=True), "False"),
)
_CPP_KINDS = {"int": "int64_t", "float": "double", "str": "c10::string_view"}
_CPP_LISTS = {
    "Scalar": "ScalarList",
    "SymInt": "SymIntArrayRef",
    "Tensor": "TensorList",
    "float": "ArrayRef<double>",
    "int": "IntArrayRef",
}


class Parsed:
    """A call bound to an overload.

    Attributes:
        index: position of the overload in the sequence the parser was made of.
        schema: that overload's schema.
        values: one value per schema argument, in order, defaults filled in, converted.
        sources: where each value stands in `(*args, *kwargs.values())`; None for defaults and converted values.
        places: the same with converted values, `...` for a list that all positional arguments make; by argument.
        out, out_source: the `out=` argument (a tensor, a tuple of tensors, or None) and where it stands.
        extras: keywords of the Python signature that the schema does not have (`requires_grad`, `pin_memory`).
        cacheable: False when a value was read out of a tensor, so that it may differ at the next such call.
    """

    __slots__ = ("cacheable", "extras", "index", "out", "out_source", "places", "schema", "sources", "values")

    def __init__(self, index: int, schema: Schema) -> None:
        self.index = index
        self.schema = schema
        self.values: list[Any] = []
        self.sources: list[int | None] = []
        self.places: dict[str, Any] = {}
        self.out: Any = None
        self.out_source: int | None = None
        self.extras: dict[str, Any] = {}
        self.cacheable = True


class PythonSignature:
    """The Python form of one overload. Messages show `str(signature)` unless it is deprecated."""

    __slots__ = (
        "argument_names",
        "deprecated",
        "index",
        "method",
        "name",
        "parameters",
        "positional",
        "required",
        "schema",
    )

    def __init__(
        self, name: str, index: int, schema: Schema, parameters: Sequence[Parameter], *, method: bool, deprecated: bool
    ) -> None:
        self.name = name
        self.index = index
        self.schema = schema
        self.parameters = tuple(parameters)
        self.method = method
        self.deprecated = deprecated
        self.positional = sum(not parameter.keyword_only for parameter in parameters)
        self.required = sum(not parameter.optional for parameter in parameters)
        self.argument_names = tuple([self._argument_name(parameter.name) for parameter in parameters])

    def _argument_name(self, parameter: str) -> str:
        """Return the schema's name of a parameter."""
        name = "self" if parameter == "input" and not self.method else parameter
        return _SCHEMA_NAMES.get((self.name, name), name)

    def __str__(self) -> str:
        parts = [str(parameter) for parameter in self.parameters]
        if self.positional < len(parts):
            parts.insert(self.positional, "*")
        return f"({', '.join(parts)})"

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[tuple[Any, Any] | None] | TypeError:
        """Pair each parameter with (value, place), None for one that keeps its default; or say why it does not fit.

        The place is a position, a keyword, or `...` for all positional arguments.
        """
        given = len(args)
        varargs = self.positional == 1 and self.parameters[0].takes_varargs
        if given > self.positional and not varargs:
            return quantity_error(self.name, self.required, self.positional, given)
        bound: list[tuple[Any, Any] | None] = []
        position, named = 0, 0
        for index, parameter in enumerate(self.parameters):
            place: Any = None
            value = None
            if position < given:
                if parameter.keyword_only:
                    return quantity_error(self.name, self.required, self.positional, given)
                value, place = args[position], position
            elif kwargs:
                place = next((key for key in (parameter.name, *parameter.numpy_names) if key in kwargs), None)
                value = kwargs[place] if place is not None else None
            if place is None:
                if not parameter.optional:
                    return missing_error(self.name, [p.name for p in self.parameters[index:] if not p.optional])
                bound.append(None)
            elif (value is None and parameter.allow_none) or parameter.accepts(value, index):
                bound.append((value, place))
            elif varargs and place == 0 and _starts_list(parameter, value):
                bound.append((tuple(args), ...))
                position = given
                continue
            elif varargs and place == 0 and given > 1:
                return quantity_error(self.name, self.required, self.positional, given)
            else:
                return parameter.rejection(value, place + 1 if type(place) is int else None)
            if type(place) is int:
                position += 1
            elif place is not None:
                named += 1
        if position < given:
            return quantity_error(self.name, self.required, self.positional, given)
        if named < len(kwargs):
            return self._unexpected(kwargs, given)
        return bound

    def _unexpected(self, kwargs: Mapping[str, Any], given: int) -> TypeError:
        names = [parameter.name for parameter in self.parameters]
        for keyword in kwargs:
            if keyword not in names:
                return TypeError(f"{self.name}() got an unexpected keyword argument '{keyword}'")
            if names.index(keyword) < given:
                return TypeError(f"{self.name}() got multiple values for argument '{keyword}'")
        return TypeError("invalid keyword arguments")

    def finish(self, bound: Sequence[Any], kwargs: Mapping[str, Any], given: int, self_value: Tensor | None) -> Parsed:
        """Convert the values of a successful `bind` and put them in schema order."""
        offset = 1 if self.method else 0
        keywords = {name: given + offset + position for position, name in enumerate(kwargs)} if kwargs else {}
        parsed = Parsed(self.index, self.schema)
        found: dict[str, tuple[Any, int | None]] = {}
        if self.method:
            found["self"] = (self_value, 0)
        for parameter, name, item in zip(self.parameters, self.argument_names, bound, strict=True):
            if item is None or (item[0] is None and not parameter.type.optional):
                continue
            value, place = item
            at: Any = place if place is ... else keywords[place] if isinstance(place, str) else place + offset
            source: int | None = None if place is ... else at
            if value is not None:
                value = parameter.convert(value)
                if isinstance(value, Converted):
                    parsed.cacheable = parsed.cacheable and not value.from_tensor
                    value, source = value.value, None
            found[name] = (value, source)
            if source is None:
                parsed.places[name] = at
        values, sources = parsed.values, parsed.sources
        for argument in self.schema.arguments:
            value, source = found.pop(argument.name) if argument.name in found else self._default(argument, found)
            values.append(value)
            sources.append(source)
        if not found:
            return parsed
        out = next((name for name in found if name not in ("requires_grad", *_OPTIONS)), None)
        if out is not None:
            parsed.out, parsed.out_source = found.pop(out)
        parsed.extras = {name: value for name, (value, _) in found.items()}
        return parsed

    def _default(self, argument: Argument, found: dict[str, tuple[Any, int | None]]) -> tuple[Any, int | None]:
        # A schema that calls its first argument `input` has it renamed from `self` above.
        if argument.name == "input" and "self" in found:
            return found.pop("self")
        value = argument.default
        if isinstance(value, EnumName):
            value = enum_value(argument.type.kind, value)
        return value, None


def _starts_list(parameter: Parameter, value: int | None) -> bool:
    return parameter.accepts((value,), 0)


def python_signature(
    name: str, index: int, schema: Schema, out: Schema | None, *, method: bool
) -> PythonSignature | None:
    """The Python form of a schema and its `out=` schema; None where the method form does not exist."""
    if method and not any(a.name == "self" and a.type.is_tensor for a in schema.arguments):
        return None
    numbers = name in NUMBERS_AS_TENSORS
    factory = takes_tensor_options(name, schema)
    parameters = [
        _parameter(name, argument, method, numbers)
        for argument in schema.arguments
        if not (method and argument.name == "self")
        and not (argument.kwarg_only and argument.name in _OPTIONS and factory)
    ]
    if out is not None:
        parameters.append(_out_parameter(name, out, numbers))
    if factory:
        parameters.extend(Parameter(name, key, kind, text, keyword_only=True) for key, kind, text in _OPTION_PARAMETERS)
    return PythonSignature(name, index, schema, parameters, method=method, deprecated=False)


def takes_tensor_options(name: str, schema: Schema) -> bool:
    """Whether Python offers dtype, layout, device, pin_memory and requires_grad: factories, `new_*`, `*_like`."""
    if name in NOT_FACTORIES:
        return False
    if name in FACTORY_LIKE or name.startswith("new_") or name.endswith("_like"):
        return True
    reads = any(a.type.kind == "Tensor" for a in schema.arguments if not (a.is_write and a.kwarg_only))
    return not reads and any(r.type.kind == "Tensor" for r in schema.returns)


def _parameter(function: str, argument: Argument, method: bool, numbers: bool) -> Parameter:
    # Python's name of `self` is `input` where it is a Tensor; numbers keep `self` in messages.
    rename = argument.name == "self" and argument.type.is_tensor and not argument.type.optional and not method
    text = printed_default(argument) if argument.has_default else None
    return Parameter(
        function,
        "input" if rename else PYTHON_NAMES.get((function, argument.name), argument.name),
        argument.type,
        text,
        keyword_only=argument.kwarg_only,
        numbers=numbers,
    )


def _out_parameter(function: str, out: Schema, numbers: bool) -> Parameter:
    outs = out.out_arguments
    if len(outs) == 1:
        return Parameter(function, outs[0].name, outs[0].type, "None", keyword_only=True, numbers=numbers)
    kind = Type("Tensor", True, len(outs))
    return Parameter(function, "out", kind, "None", keyword_only=True, numbers=numbers)


def deprecated_signature(base: PythonSignature, order: Sequence[str]) -> PythonSignature | None:
    """The old positional order `order` of schema argument names, for `base`'s overload; None where it has no such."""
    arguments = {argument.name: argument for argument in base.schema.arguments}
    others = (a for name, a in arguments.items() if name not in order)
    if not all(name in arguments for name in order) or not all(a.has_default for a in others):
        return None
    numbers = base.name in NUMBERS_AS_TENSORS
    parameters = [
        _parameter(base.name, Argument(name, arguments[name].type), base.method, numbers)
        for name in order
        if not (base.method and name == "self")
    ]
    if base.name not in DEPRECATED_WITHOUT_OUT:
        schema_names = {"input", *arguments}
        parameters.extend(p for p in base.parameters if p.keyword_only and p.name not in schema_names)
    return PythonSignature(base.name, base.index, base.schema, parameters, method=base.method, deprecated=True)


def sort_text(signature: PythonSignature) -> str:
    """The signature in C++ types; torch sorts overloads by this text."""
    parts = []
    for parameter in signature.parameters:
        text = f"{_cpp_type(parameter.type)} {parameter.name}"
        parts.append(text if parameter.text is None else f"{text}={parameter.text}")
    if signature.positional < len(parts):
        parts.insert(signature.positional, "*")
    return f"{signature.name}({', '.join(parts)}){'|deprecated' if signature.deprecated else ''}"


def _cpp_type(type: Type) -> str:
    if type.is_list:
        text = "c10::List<::std::optional<Tensor>>" if type.elem_optional else _CPP_LISTS.get(type.kind, type.kind)
        if type.kind == "bool":
            text = f"::std::array<bool,{type.size}>"
        elif type.size is not None and type.kind != "float":
            text += f"[{type.size}]"
    else:
        text = _CPP_KINDS.get(type.kind, type.kind)
    return text + "?" if type.optional else text
