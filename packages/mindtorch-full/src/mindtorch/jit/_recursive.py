"""`torch.jit._recursive`: where scripted modules would share their types. Nothing is scripted, so that no type is kept."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt

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

adopt(globals())
