"""What a failed comparison says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch

Identifier = str | Callable[[str], str] | None


class UnsupportedInputs(Exception):
    """Raised by a pair that cannot compare these inputs; the next kind of pair is tried."""


class ErrorMeta(Exception):
    """A failure before it is raised: type, text, and the path of the item that failed."""

    def __init__(self, type: type[Exception], msg: str, *, id: tuple[Any, ...] = ()) -> None:
        super().__init__(
            "If you are a user and see this message during normal operation "
            "please file an issue at https://github.com/pytorch/pytorch/issues. "
            "If you are a developer and working on the comparison functions, please `raise ErrorMeta.to_error()` "
            "for user facing errors."
        )
        self.type = type
        self.msg = msg
        self.id = id

    def to_error(self, msg: str | Callable[[str], str] | None = None) -> Exception:
        """The exception to raise, with the user's text if there is one."""
        generated = self.msg
        if self.id:
            generated += f"\n\nThe failure occurred for item {path_text(self.id)}"
        return self.type(msg(generated) if callable(msg) else msg or generated)


def path_text(path: tuple[Any, ...]) -> str:
    """A path as subscripts."""
    return "".join(str([item]) for item in path)


def _named(default: str, identifier: Identifier) -> str:
    if identifier is None:
        return default
    return identifier(default) if callable(identifier) else identifier


def _make_mismatch_msg(
    *,
    default_identifier: str,
    identifier: Identifier = None,
    extra: str | None = None,
    abs_diff: float,
    abs_diff_idx: Any = None,
    atol: float,
    rel_diff: float,
    rel_diff_idx: Any = None,
    rtol: float,
) -> str:
    exact = rtol == 0 and atol == 0

    def line(kind: str, difference: float, index: Any, tolerance: float) -> str:
        if index is None:
            text = f"{kind.title()} difference: {difference}"
        else:
            text = f"Greatest {kind} difference: {difference} at index {index}"
        return text + ("" if exact else f" (up to {tolerance} allowed)") + "\n"

    text = f"{_named(default_identifier, identifier)} are not {'equal' if exact else 'close'}!\n\n"
    if extra:
        text += f"{extra.strip()}\n"
    text += line("absolute", abs_diff, abs_diff_idx, atol)
    text += line("relative", rel_diff, rel_diff_idx, rtol)
    return text.strip()


def make_scalar_mismatch_msg(
    actual: Any, expected: Any, *, rtol: float, atol: float, identifier: Identifier = None
) -> str:
    """The text for two numbers that differ."""
    difference = abs(actual - expected)
    return _make_mismatch_msg(
        default_identifier="Scalars",
        identifier=identifier,
        extra=f"Expected {expected} but got {actual}.",
        abs_diff=difference,
        atol=atol,
        rel_diff=float("inf") if expected == 0 else difference / abs(expected),
        rtol=rtol,
    )


def _index_of(position: int, shape: Any) -> Any:
    """A position in row-major order as an index."""
    index: list[int] = []
    for size in reversed(shape):
        position, rest = divmod(position, size)
        index.insert(0, rest)
    return tuple(index)


def make_tensor_mismatch_msg(
    actual: Any, expected: Any, matches: Any, *, rtol: float, atol: float, identifier: Identifier = None
) -> str:
    """The text for two tensors that differ where ``matches`` is false."""
    count = matches.numel()
    wrong = count - int(torch.sum(matches).item())
    a, e, same = actual.flatten(), expected.flatten(), matches.flatten()
    if not a.dtype.is_floating_point and not a.dtype.is_complex:
        # Differences of short integers may not fit their own type.
        a, e = a.to(torch.int64), e.to(torch.int64)
    difference = torch.abs(a - e)
    difference[same] = 0
    largest, where = torch.max(difference, 0)
    relative = difference / torch.abs(e)
    relative[same] = 0
    largest_relative, where_relative = torch.max(relative, 0)
    return _make_mismatch_msg(
        default_identifier="Tensor-likes",
        identifier=identifier,
        extra=f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})",
        abs_diff=largest.item(),
        abs_diff_idx=_index_of(int(where), matches.shape),
        atol=atol,
        rel_diff=largest_relative.item(),
        rel_diff_idx=_index_of(int(where_relative), matches.shape),
        rtol=rtol,
    )
