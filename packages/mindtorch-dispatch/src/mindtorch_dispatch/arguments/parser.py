"""`ArgumentParser`: from a Python call to the overload it means."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mindtorch_storage.cached import cached_property

from ..frames import frames_to_caller
from ..schema import Schema
from ..typing import Tensor
from ..warn_once import is_always
from .messages import invalid_combination_error
from .order import sort_signatures
from .signature import Parsed, PythonSignature, deprecated_signature, python_signature
from .tables import DEPRECATED, FUNCTION_ONLY_OVERLOADS, HIDDEN_OVERLOADS

Overload = Schema | tuple[Schema, Schema | None]

_told: list[str] = []
"""The warning of a deprecated overload, once one was given."""


class ArgumentParser:
    """Parses calls of one Python name. Making one costs nothing; signatures are built at the first call.

    Args:
        name: as messages print it, without parentheses: "add", "add_", "linalg_norm".
        overloads: for each overload its schema, or (schema, schema of its `out=` form). Overloads that Python does
            not offer (`add.Scalar`, methods without `self`) may be among them; they are left out.
        is_method: parse calls `(self, *args)` of a method; messages then count without `self`.
    """

    rows_seen: int
    """How many overloads there were when it was made; set by who keeps it."""

    def __init__(self, name: str, overloads: Iterable[Overload], *, is_method: bool = False) -> None:
        self.name = name
        self.is_method = is_method
        self._overloads = overloads

    @cached_property
    def signatures(self) -> tuple[PythonSignature, ...]:
        """The Python signatures in the order they are tried."""
        made: list[PythonSignature] = []
        for index, overload in enumerate(self._overloads):
            schema, out = (overload, None) if isinstance(overload, Schema) else overload
            if self._offers(schema):
                signature = python_signature(
                    self.name, index, schema, None if self.is_method else out, method=self.is_method
                )
                made.extend([signature] if signature is not None else [])
        current = tuple(made)
        for order in DEPRECATED.get(self.name.removesuffix("_"), ()):
            old = (deprecated_signature(signature, order.split()) for signature in current)
            made.extend(signature for signature in old if signature is not None)
        return tuple(sort_signatures(made))

    def _offers(self, schema: Schema) -> bool:
        short = schema.qualified_name.rpartition("::")[2]
        return short not in HIDDEN_OVERLOADS and not (self.is_method and short in FUNCTION_ONLY_OVERLOADS)

    @cached_property
    def printed(self) -> tuple[str, ...]:
        """The signatures that messages list."""
        return tuple(str(signature) for signature in self.signatures if not signature.deprecated)

    def parse(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Parsed:
        """Bind a call to the first overload that takes it; torch's TypeError when none does."""
        self_value = None
        if self.is_method:
            self_value, args = args[0], args[1:]
        signatures = self.signatures
        if len(signatures) == 1:
            self._check_no_arguments(signatures[0], self_value, args, kwargs)
        errors = []
        for signature in signatures:
            bound = signature.bind(args, kwargs)
            if not isinstance(bound, TypeError):
                if signature.deprecated:
                    self._warn(signature)
                parsed = signature.finish(bound, kwargs, len(args), self_value)
                parsed.cacheable = parsed.cacheable and not (signature.deprecated and is_always())
                return parsed
            errors.append(bound)
        raise self._error(errors, args, kwargs)

    def _check_no_arguments(
        self, signature: PythonSignature, self_value: Tensor | None, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """The interpreter itself refuses arguments to a method that takes none, in its own words."""
        if not self.is_method or signature.parameters:
            return
        name = f"TensorBase.{self.name}"
        if kwargs:
            raise TypeError(f"{name}() takes no keyword arguments")
        if args:
            raise TypeError(f"{name}() takes no arguments ({len(args)} given)")

    def _error(self, errors: Sequence[TypeError], args: Sequence[Any], kwargs: Mapping[str, Any]) -> TypeError:
        """The error of the only signature with room for so many arguments, or the list of all signatures."""
        if len(errors) == 1:
            return errors[0]
        count = len(args) + len(kwargs)
        plausible = [
            error
            for signature, error in zip(self.signatures, errors, strict=True)
            if not signature.deprecated and signature.required <= count <= len(signature.parameters)
        ]
        return plausible[0] if len(plausible) == 1 else invalid_combination_error(self.name, args, kwargs, self.printed)

    def _warn(self, signature: PythonSignature) -> None:
        listed = "".join(f"\n\t{self.name}{text}" for text in self.printed)
        text = (
            f"This overload of {self.name} is deprecated:\n\t{self.name}{signature}"
            f"\nConsider using one of the following signatures instead:{listed}"
        )
        # torch says it of one overload in a process, of the first that is called
        if is_always() or not _told:
            _told.append(text)
            warnings.warn(text, UserWarning, stacklevel=frames_to_caller())
