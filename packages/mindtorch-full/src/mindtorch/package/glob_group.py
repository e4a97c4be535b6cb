"""`torch.package.glob_group`: patterns of names of modules."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mindtorch._naming import adopt

__all__ = ["GlobGroup"]

GlobPattern = str | Iterable[str]


def _segment(segment: str, separator: str) -> str:
    mark, inside = re.escape(separator), f"[^{separator}]"
    if segment == "**":
        return f"({mark}{inside}+)*"
    if "**" in segment:
        raise ValueError("** can only appear as an entire path segment")
    return mark + f"{inside}*".join(map(re.escape, segment.split("*")))


class GlobGroup:
    """Names that match one of the patterns in `include` and none in `exclude`.

    In a pattern `*` stands for any text without the separator, and a segment `**` for any number of segments.

    >>> from torch.package.glob_group import GlobGroup
    >>> GlobGroup("torch.**", exclude="torch.nn").matches("torch.fx")
    True
    """

    def __init__(self, include: GlobPattern, *, exclude: GlobPattern = (), separator: str = ".") -> None:
        self._dbg = f"GlobGroup(include={include}, exclude={exclude})"
        self.include = self._glob_list(include, separator)
        self.exclude = self._glob_list(exclude, separator)
        self.separator = separator

    def __str__(self) -> str:
        return self._dbg

    __repr__ = __str__

    def matches(self, candidate: str) -> bool:
        """Whether a name is in the group."""
        text = self.separator + candidate  # so that the first segment is as the others
        included = any(pattern.fullmatch(text) for pattern in self.include)
        return included and not any(pattern.fullmatch(text) for pattern in self.exclude)

    @staticmethod
    def _glob_list(elems: GlobPattern, separator: str = ".") -> list[re.Pattern[str]]:
        return [GlobGroup._glob_to_re(one, separator) for one in ([elems] if isinstance(elems, str) else elems)]

    @staticmethod
    def _glob_to_re(pattern: str, separator: str = ".") -> re.Pattern[str]:
        return re.compile("".join(_segment(one, separator) for one in pattern.split(separator)))


adopt(globals())
