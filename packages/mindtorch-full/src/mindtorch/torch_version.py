"""`torch.torch_version`: a version that compares with texts and tuples by the rules of Python packaging (PEP 440)."""

import re
from collections.abc import Iterable
from functools import total_ordering
from typing import Any

from mindtorch import version
from mindtorch._naming import adopt

__all__ = ["TorchVersion"]

_PATTERN = re.compile(
    r"""\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_n>\d+)?)?
    (?P<post>-(?P<post_implicit>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_n>\d+)?)?
    (?P<dev>[-_.]?dev[-_.]?(?P<dev_n>\d+)?)?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_FIRST, _LAST = (-1,), (1,)  # around the key of any pre-release, post-release or development number


class InvalidVersion(ValueError):
    """A text that is no version."""


@total_ordering
class Version:
    """A version, ordered as PEP 440 says."""

    def __init__(self, version: str) -> None:
        match = _PATTERN.fullmatch(version)
        if match is None:
            raise InvalidVersion(f"Invalid version: {version!r}")
        self._text = version.strip()
        self._key = _key(match.groupdict())

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Version({self._text!r})>"

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._key < other._key if isinstance(other, Version) else NotImplemented


def _key(parts: dict[str, str | None]) -> tuple[Any, ...]:
    """Return what orders a version: final releases after pre-releases, development before either, post after."""
    release = tuple(map(int, parts["release"].split(".")))
    while len(release) > 1 and release[-1] == 0:
        release = release[:-1]
    has_dev, has_post = parts["dev"] is not None, parts["post"] is not None
    if parts["pre"]:
        name = parts["pre"].lower()
        pre: tuple[Any, ...] = (0, _PRE.get(name, name), int(parts["pre_n"] or 0))
    else:
        pre = _FIRST if has_dev and not has_post else _LAST
    post = (0, int(parts["post_implicit"] or parts["post_n"] or 0)) if has_post else _FIRST
    dev = (0, int(parts["dev_n"] or 0)) if has_dev else _LAST
    local: tuple[Any, ...] = ()
    if parts["local"]:
        words = re.split(r"[-_.]", parts["local"].lower())
        local = tuple((1, int(word), "") if word.isdigit() else (0, 0, word) for word in words)
    return (int(parts["epoch"] or 0), release, pre, post, dev, local)


class TorchVersion(str):
    """A version as a text that compares as a version, with versions, texts and sequences of numbers.

    A text that is no version compares as a text.

    >>> (
    ...     torch.torch_version.TorchVersion("2.13.0+cpu") > (2, 9),
    ...     torch.torch_version.TorchVersion("2.13.0") < "2.14",
    ... )
    (True, True)
    """

    def _to_version(self, other: Any) -> Any:
        if isinstance(other, Version):
            return other
        if isinstance(other, str):
            return Version(other)
        if isinstance(other, Iterable):
            return Version(".".join(str(item) for item in other))
        raise InvalidVersion(f"Can't convert {other} into Version.")

    def _compare(self, other: Any, method: str) -> Any:
        try:
            return getattr(Version(self), method)(self._to_version(other))
        except InvalidVersion:
            return getattr(super(), method)(other)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, "__gt__")

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, "__lt__")

    def __eq__(self, other: object) -> Any:
        return self._compare(other, "__eq__")

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, "__ge__")

    def __le__(self, other: Any) -> Any:
        return self._compare(other, "__le__")

    __hash__ = str.__hash__


__version__ = TorchVersion(version.__version__)

adopt(globals())
