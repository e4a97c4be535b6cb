"""Modules that are imported when a kernel first needs them: scipy costs as much to import as everything else here."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.lazy_import import load

from .threads import threads


class LazyFunction:
    """A function of a lazy module; the module is imported at the first call. `nin` is 1 unless given."""

    __slots__ = ("_function", "_module", "_name", "nin")

    def __init__(self, module: str, name: str, nin: int = 1) -> None:
        self._module = module
        self._name = name
        self._function: Any = None
        self.nin = nin

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self._function
        if function is None:
            function = self._function = getattr(load(self._module), self._name)
            threads.tell_blas()  # which may have been loaded just now
        return function(*args, **kwargs)


class LazyModule:
    """Attribute access gives `LazyFunction`s: `special.erf(x)` imports `scipy.special` when it is called."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> LazyFunction:
        if name.startswith("__"):
            raise AttributeError(name)
        made = LazyFunction(self._name, name)
        self.__dict__[name] = made
        return made


special = LazyModule("scipy.special")
linalg = LazyModule("scipy.linalg")
fft = LazyModule("scipy.fft")
