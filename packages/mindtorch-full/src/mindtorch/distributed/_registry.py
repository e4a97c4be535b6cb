"""What is remembered of groups: in the process, or in what a program puts into its place."""

from __future__ import annotations

import threading
from typing import Any


class World:
    """Everything that is remembered of groups."""

    def __init__(self) -> None:
        self.default_pg: Any = None
        self.pg_map: dict[Any, tuple[str, Any]] = {}
        self.pg_names: dict[Any, str] = {}
        self.pg_group_ranks: dict[Any, dict[int, int]] = {}
        self.pg_backend_config: dict[Any, str] = {}
        self.group_count = 0
        self.tags_to_pg: dict[str, list[Any]] = {}
        self.pg_to_tag: dict[Any, str] = {}
        self.pg_coalesce_state: dict[Any, list[Any]] = {}
        self.comms: list[Any] = []

    @property
    def pg_config_info(self) -> list[dict[str, Any]]:
        """Names, backends and ranks of all groups."""
        everybody = self.default_pg.size()
        return [
            {
                "pg_name": self.pg_names[pg],
                "pg_desc": pg.group_desc,
                "backend_config": self.pg_backend_config[pg],
                "ranks": [] if len(self.pg_group_ranks[pg]) == everybody else list(self.pg_group_ranks[pg]),
                "group_size": len(self.pg_group_ranks[pg]),
                "group_count": self.group_count,
            }
            for pg in self.pg_map
        ]


class Current:
    """The world in use: this process's, or what a program puts into its place, such as one for every thread."""

    held: Any

    def __init__(self, world: Any) -> None:
        self.__dict__["held"] = world

    def __getattr__(self, name: str) -> Any:
        return getattr(self.held, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.held, name, value)

    def replace(self, world: Any) -> None:
        """Put another world into the place of the one in use."""
        self.__dict__["held"] = world

    def forget(self, pg: Any) -> None:
        """Remove a group."""
        for table in (self.pg_map, self.pg_names, self.pg_group_ranks, self.pg_backend_config):
            del table[pg]
        tag = self.pg_to_tag.pop(pg, None)
        for name in ("", tag):
            if name is not None and pg in self.tags_to_pg.get(name, ()):
                self.tags_to_pg[name].remove(pg)

    def clear(self) -> None:
        """Remove all groups."""
        self.default_pg, self.group_count = None, 0
        for table in (
            self.pg_map, self.pg_names, self.pg_group_ranks, self.pg_backend_config, self.pg_to_tag, self.tags_to_pg,
            self.pg_coalesce_state,
        ):  # fmt: skip
            table.clear()


class Names:
    """Groups by name: of the process, or of each thread when threads are isolated."""

    def __init__(self) -> None:
        self._shared: dict[str, Any] = {}
        self._own = threading.local()
        self.isolated = False

    @property
    def known(self) -> dict[str, Any]:
        """The groups that the calling thread knows."""
        if not self.isolated:
            return self._shared
        found: dict[str, Any] = self._own.__dict__.setdefault("known", {})
        return found
