"""`torch.backends.quantized`: there is no engine for quantized operators."""

from types import ModuleType
from typing import Any

from mindtorch._naming import adopt
from mindtorch.backends._flags import give_class

_ENGINES = ("fbgemm", "none", "onednn", "qnnpack", "x86")


class QuantizedEngine(ModuleType):
    """The type of this module: `engine` is "none", the only one of `supported_engines`."""

    @property
    def engine(self) -> str:
        """The engine in use."""
        return "none"

    @engine.setter
    def engine(self, value: Any) -> None:
        if value not in _ENGINES:
            raise RuntimeError(f"{value} is not a valid value for quantized engine")
        if value != "none":
            raise RuntimeError(f"quantized engine {value.upper()} is not supported")

    @property
    def supported_engines(self) -> list[str]:
        """The engines that are there."""
        return ["none"]


adopt(globals())
give_class(__name__, QuantizedEngine)
