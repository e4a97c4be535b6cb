"""The error raised when a function of the vendor's runtime does not return success."""

from collections.abc import Callable

from mindtorch_npu.acl.codes import SUCCESS, lookup

notes: list[Callable[["AclError"], str | None]] = []
"""What else is known when an error is made, added to its text."""


class AclError(RuntimeError):
    """A function of ACL returned an error code.

    Attributes:
        code: the number.
        name: its name in the vendor's headers, None when the table does not know it.
        meaning: the name in words, with the kind of error and the component that its digits tell.
        hint: what usually causes it or what to do; None when we know nothing useful.
        call: the call that returned it, such as ``acl.rt.set_device(99)``.
        detail: the vendor's message for this error, None when there was none.

    >>> issubclass(torch.npu.AclError, RuntimeError)
    True
    """

    def __init__(self, code: int, call: str, detail: str | None = None) -> None:
        known = lookup(code)
        self.code, self.name, self.meaning, self.hint = known.code, known.name, known.meaning, known.hint
        self.call = call
        self.detail = detail.strip() if detail and detail.strip() else None
        super().__init__(self._text())

    def _text(self) -> str:
        parts = [f"{self.call} failed with {self.code} {self.name or '(unknown code)'}: {self.meaning}"]
        if self.hint:
            parts.append(self.hint)
        if self.detail:
            parts.append(f"The runtime says: {self.detail}")
        parts += [text for note in notes if (text := note(self)) is not None]
        return "\n".join(parts)

    def __reduce__(self) -> tuple[type["AclError"], tuple[int, str, str | None]]:
        return type(self), (self.code, self.call, self.detail)


def check(code: int, call: str, acl: object = None) -> None:
    """Raise :class:`AclError` unless ``code`` is success.

    Args:
        code: what the call returned.
        call: the call, for the text.
        acl: pyACL; when given, the vendor's message for this thread is fetched, which also clears it.
    """
    if code == SUCCESS:
        return
    recent = getattr(acl, "get_recent_err_msg", None)
    message = recent() if recent is not None else None
    raise AclError(code, call, message if isinstance(message, str) else None)
