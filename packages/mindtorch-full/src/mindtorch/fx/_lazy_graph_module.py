"""`torch.fx._lazy_graph_module`: graph modules whose code is generated when it is first read or run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx._codegen import PythonCode
from mindtorch.fx.graph_module import GraphModule, _make_graph_module, _standing  # noqa: F401 (its home in torch)


class _LazyGraphModule(GraphModule):
    """A graph module that generates nothing when it is made or recompiled, but on the first call or look at its code."""

    @classmethod
    def from_graphmodule(cls, gm: GraphModule) -> GraphModule:
        """Return the module itself when it is lazy, else a lazy one of its graph."""
        return gm if isinstance(gm, _LazyGraphModule) else cls(gm, gm.graph)

    @staticmethod
    def force_recompile(gm: object) -> None:
        """Generate what a lazy module has put off, for those that read its `forward`."""
        if isinstance(gm, _LazyGraphModule):
            gm.real_recompile()

    def real_recompile(self) -> None:
        """Generate the code unless that of this graph is there."""
        if self._needs_recompile():
            self._real_recompile()

    def _real_recompile(self) -> PythonCode:
        return super().recompile()

    @classmethod
    def _needs_recompile(cls) -> bool:
        return cls.forward is _LazyGraphModule.forward

    def recompile(self) -> None:  # type: ignore[override]  # there is no code yet
        """Note that the graph is another one."""
        type(self).forward = _LazyGraphModule.forward  # type: ignore[method-assign]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Generate the code and run it. Who saved this method runs what stands in its place."""
        self.real_recompile()
        return type(self).forward(self, *args, **kwargs)

    @property
    def code(self) -> str:
        """The source of `forward`."""
        self.real_recompile()
        return super().code

    def __str__(self) -> str:
        self.real_recompile()
        return super().__str__()


_skipped: list[bool] = []
"""Not empty while lazy modules are out of the question."""


@contextlib.contextmanager
def _force_skip_lazy_graph_module() -> Iterator[None]:
    """Make new modules eager whatever `_use_lazy_graph_module` says inside."""
    _skipped.append(True)
    try:
        yield
    finally:
        _skipped.pop()


@contextlib.contextmanager
def _use_lazy_graph_module(should_use: bool) -> Iterator[None]:
    """Make new modules lazy, or eager, for the time of the block."""
    _standing.append(_LazyGraphModule if should_use and not _skipped else GraphModule)
    try:
        yield
    finally:
        _standing.pop()


def _get_graph_module_cls() -> type[GraphModule]:
    """Return the class of new graph modules."""
    return _standing[-1]


adopt(globals())
