"""What an expression does, in a form in which ours and torch's can be compared."""

import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def outcome(call: Callable[[], Any]) -> tuple[str, str, list[tuple[str, str]]]:
    """Return the kind and text of the result or of the exception, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
            kind, text = "returns", repr(result)
        except Exception as error:  # noqa: BLE001 - any exception is what is compared
            kind, text = type(error).__name__, str(error)
    shown = [(w.category.__name__, str(w.message)) for w in caught]
    return kind, ADDRESS.sub("", text).replace("mindtorch", "torch"), shown


def entered(manager: Any) -> Any:
    """Enter and leave a context manager; return what it gave."""
    with manager as value:
        return value


def assert_same_call(expression: str, ours: Any, theirs: Any, **names: Any) -> None:
    """``expression``, with the module as ``c``, does the same on both sides."""

    def run(module: Any) -> tuple[str, str, list[tuple[str, str]]]:
        return outcome(lambda: eval(expression, {"entered": entered, "c": module, **names}))

    assert run(ours) == run(theirs)


def assert_same_interface(name: str, ours: Any, theirs: Any) -> None:
    """The function or class ``name`` has the same parameters, defaults, module and qualified name on both sides."""
    mine, reference = getattr(ours, name), getattr(theirs, name)
    if not (inspect.isfunction(reference) or isinstance(reference, type)):
        assert inspect.ismodule(mine) == inspect.ismodule(reference)
        return
    assert mine.__module__ == reference.__module__
    assert mine.__qualname__ == reference.__qualname__
    if inspect.isfunction(reference):
        shown = [
            [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]
            for function in (mine, reference)
        ]
        assert shown[0] == shown[1]
