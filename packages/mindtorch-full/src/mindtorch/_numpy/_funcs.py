"""All functions of arrays, under numpy's names."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from mindtorch._naming import adopt

from . import _creation, _diagonals, _products, _reductions, _shapes, _statistics, _values

__all__ = ["index_exp", "s_"]


def _offer() -> None:
    for module in (_creation, _shapes, _diagonals, _products, _values, _statistics, _reductions):
        for name, value in vars(module).items():
            if inspect.isfunction(value) and _is_function_of_arrays(name, value, module):
                value.__qualname__ = value.__name__ = name
                globals()[name] = value
                __all__.append(name)


def _is_function_of_arrays(name: str, value: Any, module: ModuleType) -> bool:
    return inspect.unwrap(value).__globals__ is vars(module) and not name.startswith("_")


_offer()


class IndexExpression:
    """Gives back the index that it is asked with, as a tuple always or as it is."""

    def __init__(self, maketuple: bool) -> None:
        self.maketuple = maketuple

    def __getitem__(self, item: Any) -> Any:
        return (item,) if self.maketuple and not isinstance(item, tuple) else item


index_exp = IndexExpression(maketuple=True)
s_ = IndexExpression(maketuple=False)

adopt(globals())
