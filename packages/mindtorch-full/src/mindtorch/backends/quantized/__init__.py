"""`torch.backends.quantized`: whose numbers the operators on quantized tensors have."""

from types import ModuleType
from typing import Any

from mindtorch._naming import adopt
from mindtorch.backends._flags import give_class

_ENGINES = ("fbgemm", "none", "onednn", "qnnpack", "x86")
_SUPPORTED = ["onednn", "x86", "fbgemm"]
_chosen = {"engine": "x86"}


class QuantizedEngine(ModuleType):
    """The type of this module: `engine` is one of `supported_engines`, and layers that are made later have its numbers."""

    @property
    def engine(self) -> str:
        """The engine in use."""
        return _chosen["engine"]

    @engine.setter
    def engine(self, value: Any) -> None:
        if value not in _ENGINES:
            raise RuntimeError(f"{value} is not a valid value for quantized engine")
        if value not in _SUPPORTED:
            raise RuntimeError(f"quantized engine {value.upper()} is not supported")
        _chosen["engine"] = value

    @property
    def supported_engines(self) -> list[str]:
        """The engines that are there."""
        return list(_SUPPORTED)


adopt(globals())
give_class(__name__, QuantizedEngine)
