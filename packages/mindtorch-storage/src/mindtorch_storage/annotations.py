"""Annotations of classes that users know under the name of another module."""

from inspect import get_annotations
from typing import Any, ForwardRef


def bind_annotations(kind: type, module_name: str) -> None:
    """Let `typing.get_type_hints` look up the names in a class's annotations where they are written.

    It looks into the module that `__module__` names, which is torch's name for the module and may not be imported.
    """
    if written := get_annotations(kind):
        kind.__annotations__ = {name: _bound(value, module_name) for name, value in written.items()}


def _bound(annotation: Any, module_name: str) -> Any:
    if isinstance(annotation, ForwardRef) and annotation.__forward_module__ is None:  # of a named tuple
        annotation = annotation.__forward_arg__
    if not isinstance(annotation, str):
        return annotation
    return ForwardRef(annotation, is_argument=False, module=module_name, is_class=True)
