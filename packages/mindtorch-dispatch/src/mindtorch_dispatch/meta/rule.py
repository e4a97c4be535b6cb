"""What a meta function is and what it answers.

A meta function takes the op's arguments in schema order with every tensor replaced by its `Spec` (lists of tensors
by lists of specs) and returns the geometry of the outputs, raising torch's errors for wrong arguments. It is the
only place that knows shapes, strides, dtypes and argument errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec

from ..apart import ANYWHERE, ELEMENTWISE, Apart


class Outputs:
    """A meta function's answer where a bare `Spec` (or tuple or list of them) does not say enough.

    Args:
        specs: one spec, or a tuple/list of them (a list is a `Tensor[]` return), None in a tuple for an output that
            this call does not make.
        cast: dtype to which every tensor operand is converted before the kernel runs, or a mapping from argument
            index to dtype.
        values: the kernel's arguments, when they differ from the call's (normalised dims, filled-in defaults);
            tensor arguments keep their places.

    `refused` is what a device with memory raises because its kernel lacks the dtype, after all that is wrong with shapes and
    with tensors that are written to.
    """

    __slots__ = ("cast", "refused", "specs", "values")

    def __init__(self, specs: Any, cast: Dtype | dict[int, Dtype] | None = None, values: Sequence[Any] | None = None):
        self.specs = specs
        self.cast = cast
        self.values = values
        self.refused: Exception | None = None


class View:
    """Geometry of a view: its spec and where it starts, in elements from its input's first element.

    `offset` may be a function of the call's values when an int argument only moves the start.
    """

    __slots__ = ("offset", "spec")

    def __init__(self, spec: Spec, offset: int | Callable[..., int] = 0) -> None:
        self.spec = spec
        self.offset = offset


class Start:
    """Where a view starts whose offset depends on one int of the call: `step` elements for every position.

    The int is argument number `place`; negative ones count from the end of `extent`. One that lies outside is `refused`,
    or, with nothing to refuse it, moved to the nearest end, and None is the start.
    """

    __slots__ = ("clamped", "extent", "place", "refused", "step")

    def __init__(self, place: int, extent: int, step: int, refused: Callable[[int], Exception] | None = None) -> None:
        self.place = place
        self.extent = extent
        self.step = step
        self.refused = refused
        self.clamped = refused is None

    def __call__(self, *values: Any) -> int:
        """Return the offset for a call's values; raises what refuses a position."""
        given = values[self.place]
        position = 0 if given is None else given
        position = position + self.extent if position < 0 else position
        if self.refused is not None and not 0 <= position < self.extent:
            raise self.refused(given)
        return min(max(position, 0), self.extent) * self.step


class MetaRule:
    """A meta function with its family's defaults: whether in-place and out forms exist, whether it makes views.

    `exact`: tensors written to must have the result's dtype, as in ops that are not elementwise; others convert. It may
    be a function of the result's spec and the target's dtype that words the error.
    `apart`: how far operands have to lie apart from what is written, or a function of the call's values that says so;
    elementwise ops (`aliases_ok`) may read the elements that they write, but no others of them.
    `adopts`: without `dtype=`, the result has the dtype of `out=`.
    `leading`: `leading(ndim, values)` is how many of an operand's first dimensions may be cut into blocks that the kernel
    computes one by one, `values` being the kernel's arguments; None where a result depends on all of an operand.
    `counted`: an `out=` tensor of as many elements as the result keeps its own shape.
    `repeats_ok`: elements of an `out=` tensor may share memory.
    """

    __slots__ = (
        "adopts",
        "aliases_ok",
        "apart",
        "counted",
        "exact",
        "fn",
        "inplace",
        "leading",
        "mixed_devices",
        "out",
        "repeats_ok",
        "view",
    )

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        inplace: bool = False,
        out: bool = False,
        view: bool = False,
        mixed_devices: bool = False,
        aliases_ok: bool = False,
        exact: bool | Callable[[Spec, Dtype], str] = False,
        adopts: bool = False,
        apart: Apart | Callable[..., Apart] | None = None,
        leading: Callable[[int, Sequence[Any]], int] | None = None,
        counted: bool = False,
        repeats_ok: bool = False,
    ) -> None:
        self.fn = fn
        self.inplace = inplace
        self.out = out
        self.view = view
        self.mixed_devices = mixed_devices
        self.aliases_ok = aliases_ok
        self.exact = exact
        self.adopts = adopts
        self.apart = apart or (ELEMENTWISE if aliases_ok else ANYWHERE)
        self.leading = leading
        self.counted = counted
        self.repeats_ok = repeats_ok

    def __call__(self, *values: object) -> Any:
        return self.fn(*values)

    def with_function(self, fn: Callable[..., Any]) -> MetaRule:
        """Return a rule like this one whose meta function is `fn`."""
        changed = copy(self)
        changed.fn = fn
        return changed


def every_dim(ndim: int, values: Sequence[Any]) -> int:
    """The `leading` of elementwise ops."""
    return ndim


def before_dim(place: int) -> Callable[[int, Sequence[Any]], int]:
    """Return the `leading` of ops that work along one dimension, which is the kernel's argument at `place`."""
    return lambda ndim, values: values[place] if ndim else 0


def before_kept_dims(ndim: int, values: Sequence[Any]) -> int:
    """The `leading` of reductions, whose kernels get (self, dims, keepdim)."""
    return min(values[1], default=ndim) if values[2] else 0


def meta_rule(**options: Any) -> Callable[[Callable[..., Any]], MetaRule]:
    """Decorator: make a function a `MetaRule` with the given family defaults."""
    return lambda fn: MetaRule(fn, **options)
