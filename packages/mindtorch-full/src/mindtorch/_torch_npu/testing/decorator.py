"""`torch_npu.testing.decorator`: one test for each dtype and format."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import partialmethod, wraps
from itertools import product
from typing import TypeVar

import mindtorch as torch

__all__ = [
    "Dtypes", "Formats", "feed_data", "gen_op_input", "gen_ops_testcase", "instantiate_ops_tests", "instantiate_tests",
]  # fmt: skip

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., object])


def feed_data(func: Callable[..., object], new_name: str, *args: object, **kwargs: object) -> Callable[..., object]:
    """Return a test of a name that calls another one with some arguments."""

    @wraps(func)
    def run(self: object) -> object:
        return func(self, *args, **kwargs)

    run.__name__ = new_name
    return run


def _named(value: object) -> str:
    return str(value).rpartition(".")[2]


def instantiate_tests(arg: C) -> C:
    """Decorator of a class: a test with `Dtypes` or `Formats` becomes one test for each of them."""
    for name, func in list(vars(arg).items()):
        kinds = {"dtype": getattr(func, "dtypes", None), "format": getattr(func, "formats", None)}
        given = {kind: values for kind, values in kinds.items() if values is not None}
        if not given:
            continue
        parameters = inspect.getfullargspec(func).args
        wanted = {}
        for kind in given:
            fitting = [one for one in parameters if kind in one]
            if len(fitting) != 1:
                raise RuntimeError(f"Multiple matches for {kind}" if fitting else f"No match for {kind}")
            wanted[kind] = fitting[0]
        more = {"device": "npu"} if "device" in parameters else {}
        for values in product(*given.values()):
            test_name = "_".join([name, *map(_named, values)])
            arguments = {wanted[kind]: value for kind, value in zip(given, values, strict=True)}
            setattr(arg, test_name, feed_data(func, test_name, **more, **arguments))
        delattr(arg, name)
    return arg


def gen_op_input(testcase: str, func: Callable[..., object], op_info: object) -> dict[str, Iterable[object]]:
    """Return the dtypes and formats that a test of an operator runs with: its own, or those of the operator."""
    dtypes = getattr(func, "dtypes", None) or op_info.dtypesIfNPU  # type: ignore[attr-defined]
    if "test_variant_consistency_eager" in testcase:
        dtypes = {torch.float32} if torch.float32 in dtypes else {list(dtypes)[-1]}
    return {"dtype": dtypes, "npu_format": getattr(func, "formats", None) or op_info.formats}  # type: ignore[attr-defined]


def gen_ops_testcase(
    cls: type, func: Callable[..., object], name: str, keys: Iterable[str], value: Sequence[object], op_info: object
) -> None:
    """Put a test of an operator with one dtype and format into a class."""
    given = dict(zip(keys, value, strict=True))
    test_name = "_".join([func.__name__, name, *map(_named, given.values())])
    test = partialmethod(func, **given, op=op_info)
    setattr(cls, test_name, test)
    for decorator in op_info.get_decorators(cls.__name__, func.__name__, "cpu", value[0], {}):  # type: ignore[attr-defined]
        setattr(cls, test_name, decorator(test))


def instantiate_ops_tests(op_db: Iterable[object]) -> Callable[[C], C]:
    """Return a decorator of a class: each of its tests becomes one for every operator, dtype and format."""

    def put(cls: C) -> C:
        for testcase in [name for name in dir(cls) if name.startswith("test_")]:
            func = getattr(cls, testcase)
            for op_info in op_db:
                data = gen_op_input(testcase, func, op_info)
                for value in product(*data.values()):
                    gen_ops_testcase(cls, func, op_info.name, data, value, op_info)  # type: ignore[attr-defined]
            delattr(cls, testcase)
        return cls

    return put


class Dtypes:
    """Decorator: the dtypes that a test is for."""

    def __init__(self, *args: torch.dtype) -> None:
        if not args:
            raise RuntimeError("No dtypes given")
        if not all(isinstance(arg, torch.dtype) for arg in args):
            raise RuntimeError(f"Unknown dtype in {args}")
        self.args = args

    def __call__(self, fn: F) -> F:
        fn.dtypes = self.args  # type: ignore[attr-defined]
        return fn


class Formats:
    """Decorator: the formats that a test is for."""

    def __init__(self, *args: int) -> None:
        if not args:
            raise RuntimeError("No formats given")
        self.args = args

    def __call__(self, fn: F) -> F:
        fn.formats = self.args  # type: ignore[attr-defined]
        return fn
