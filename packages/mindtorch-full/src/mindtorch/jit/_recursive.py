"""What is done with a module before it is scripted, and `torch.jit._recursive`, where scripted modules would share their types.

Nothing is scripted, so that no type is kept.
"""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.nn.modules.module import Module

__all__: list[str] = []


class ConcreteTypeStore:
    """The types of scripted modules by the class of the module: none, and whoever wants one made is refused."""

    type_store: dict[type, list[Any]]
    methods_compiled: set[Any]

    def __init__(self) -> None:
        self.type_store = {}
        self.methods_compiled = set()

    def get_or_create_concrete_type(self, nn_module: Any) -> Any:
        """Raise: there is no TorchScript."""
        raise NotImplementedError(
            "torch.jit._recursive.ConcreteTypeStore: there is no TorchScript: scripted and traced functions run as Python"
        )


concrete_type_store = ConcreteTypeStore()


def _prepare_scriptable(module: Any, prepared: dict[int, Any]) -> Any:
    """Return what a module's `__prepare_scriptable__` puts in its place, which is done to its children, too.

    `prepared` has the modules that were seen, by their id.
    """
    if id(module) in prepared:
        return prepared[id(module)]
    made = module.__prepare_scriptable__() if hasattr(module, "__prepare_scriptable__") else module
    prepared[id(module)] = prepared[id(made)] = made
    if isinstance(made, Module):
        for name, child in made._modules.items():
            if child is not None:
                made._modules[name] = _prepare_scriptable(child, prepared)
    return made


adopt(globals())
