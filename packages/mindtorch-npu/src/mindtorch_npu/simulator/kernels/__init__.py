"""What the simulated chip computes, operator by operator, with numpy.

Files by family; each calls `kernel(name, function)`. The function takes the operator's C parameters in order, less the
outputs (a parameter that is written in place is given as well), and returns what is written to the outputs. 16-bit
floats come as float32.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from mindtorch_npu.aclnn import signatures
from mindtorch_npu.simulator.dtypes import wide

_table: dict[str, Kernel] = {}


class Kernel:
    """How one operator is computed: from which parameters, into which, and whether it needs a workspace."""

    __slots__ = ("fn", "given", "name", "outputs", "sized_by_values", "values_matter", "workspace")

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        outputs: Sequence[str] | None,
        updates: Sequence[str],
        workspace: bool,
        sized_by_values: bool = False,
        values_matter: bool = False,
    ) -> None:
        params = [(text.replace(" ", ""), label) for text, label in signatures()[name]["params"][:-2]]
        if outputs is None:
            outputs = [label for text, label in params if text in ("aclTensor*", "aclTensorList*")]
            outputs = outputs or [label for text, label in params if text.endswith("aclTensor*")][-1:]  # all const
            outputs = [params[0][1]] if name.startswith("aclnnInplace") else outputs
        updates = outputs if name.startswith("aclnnInplace") else updates
        self.name = name
        self.fn = fn
        self.outputs = tuple(outputs)
        self.given = [label for _, label in params if label in updates or label not in outputs]
        self.workspace = workspace
        self.sized_by_values = sized_by_values
        self.values_matter = values_matter

    def __call__(self, values: dict[str, Any], described: dict[str, Any]) -> None:
        """Compute and write the outputs; ValueError for an output of another shape."""
        given = [_given(values[label]) for label in self.given]
        with np.errstate(all="ignore"):
            result = self.fn(*given)
        results = result if isinstance(result, tuple) else (result,)
        for label, made in zip(self.outputs, results, strict=True):
            target = values[label]
            if target is None or made is None:
                continue
            if self.sized_by_values:  # the descriptor tells the caller how much of the output is used
                target.reshape(-1)[: made.size] = made.reshape(-1)
                described[label].shape = made.shape
                continue
            if isinstance(target, list):
                for one, other in zip(target, made, strict=True):
                    write(one, other)
            else:
                write(target, made)


def _given(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return wide(value)
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return [None if item is None else wide(item) for item in value]
    return value


def write(target: Any, made: Any) -> None:
    """Write `made` to an output, converting as C casts do."""
    made = np.asarray(made)
    if target.shape == (1,) and not made.shape:  # the documents call one number a tensor of one dimension
        made = made.reshape(1)
    if made.shape != target.shape:
        raise ValueError(f"the output has shape {target.shape}, the result {made.shape}")
    if target.dtype.kind in "iu" and made.dtype.kind == "f":
        made = np.nan_to_num(made, nan=0.0, posinf=None, neginf=None)
        made = made.astype(np.int64) if target.dtype.itemsize < 8 else made
    if made.dtype.kind == "c" and target.dtype.kind != "c":
        made = made.real
    with np.errstate(all="ignore"):
        np.copyto(target, made, casting="unsafe")


def kernel(
    name: str,
    fn: Callable[..., Any],
    outputs: Sequence[str] | None = None,
    updates: Sequence[str] = (),
    workspace: bool = False,
    sized_by_values: bool = False,
    values_matter: bool = False,
) -> None:
    """Let `fn` compute the operator `aclnn<name>`; its in-place form too where there is one of the same parameters.

    `outputs` names the parameters that are written where their C types do not show it, `updates` those of them that are
    read as well; `sized_by_values`: how much of the output is used depends on the elements; `values_matter`: whether it can
    be computed at all does.
    """
    _table["aclnn" + name] = Kernel("aclnn" + name, fn, outputs, updates, workspace, sized_by_values, values_matter)
    inplace = "aclnnInplace" + name
    if inplace in signatures() and inplace not in _table and outputs is None:
        params = signatures()[inplace]["params"]
        if len(params) == len(signatures()["aclnn" + name]["params"]) - 1:
            _table[inplace] = Kernel(inplace, fn, None, (), workspace)


@cache
def table() -> dict[str, Kernel]:
    """Return the kernels by operator."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return _table
