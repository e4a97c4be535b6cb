"""What `dynamic_shapes` says of a call's arguments: which dimensions vary, under which name, between which bounds."""

from __future__ import annotations

import dataclasses
from typing import Any

import mindtorch as torch
from mindtorch._dynamo.exc import UserError, UserErrorType
from mindtorch.export.dynamic_shapes import Dim, _DerivedDim, _DimHint, _DimHintType, _int_oo
from mindtorch.fx.experimental.symbolic_shapes import ConstraintViolationError
from mindtorch.utils import _pytree as pytree

_PAGE = (
    "For more information about this error, see: "
    "https://pytorch.org/docs/main/generated/exportdb/index.html#dynamic-shapes-validation"
)
MORE = (
    "\n\nThe error above occurred when calling torch.export.export. If you would like to view some more information about "
    "this error, and get a list of all other errors that may occur in your export call, you can replace your `export()` call "
    "with `draft_export()`."
)


@dataclasses.dataclass
class Varying:
    """A dimension of an argument that may vary: `times * root + plus`, where `root` is a named dimension or itself.

    `path` is what a program writes for the argument: `x`, `d['a']`; `said` is the same by parameters, as `rest[0]`.
    """

    path: str
    place: int
    size: int
    dim: Dim | _DimHint
    said: str

    @property
    def source(self) -> str:
        """What torch writes for the size: `L['x'].size()[0]`."""
        name = self.said.split("[")[0]
        return f"L['{name}']{self.said[len(name) :]}.size()[{self.place}]"

    @property
    def text(self) -> str:
        """The size in a guard: `x.size()[0]`."""
        return f"{self.path}.size()[{self.place}]"

    @property
    def linear(self) -> tuple[int, int]:
        """What the root is multiplied with, and what is added."""
        return (self.dim._factor, self.dim._more) if isinstance(self.dim, _DerivedDim) else (1, 0)

    @property
    def root(self) -> str:
        """The name of the dimension that this one follows, for one without a name its source."""
        if isinstance(self.dim, _DimHint):
            return self.source
        return self.dim.root.__name__ if isinstance(self.dim, _DerivedDim) else self.dim.__name__

    @property
    def bounds(self) -> tuple[int, Any]:
        """The bounds that were given for the root, those that there are where none were."""
        if isinstance(self.dim, _DimHint):
            return 2 if self.dim.min is None else self.dim.min, _int_oo if self.dim.max is None else self.dim.max
        root = self.dim.root if isinstance(self.dim, _DerivedDim) else self.dim
        return root.min, root.max

    @property
    def may_be_fixed(self) -> bool:
        """Whether the program may decide that the dimension does not vary."""
        return isinstance(self.dim, _DimHint) and self.dim.type is _DimHintType.AUTO


def refused(kind: UserErrorType, text: str) -> UserError:
    """Return torch's error for what an export was told."""
    return UserError(kind, text + MORE)


def _invalid(text: str) -> UserError:
    return refused(UserErrorType.INVALID_INPUT, text)


def varying(given: dict[str, Any], dynamic_shapes: Any) -> list[Varying]:
    """Return the dimensions of a call's arguments that may vary, in order.

    Args:
        given: the arguments by the names of the parameters, those of `*rest` and `**more` as one value each.

    Raises:
        UserError: `dynamic_shapes` does not fit the arguments.
    """
    found: list[Varying] = []
    if dynamic_shapes is None or not given:
        return found
    if isinstance(dynamic_shapes, dict):
        if dynamic_shapes and set(dynamic_shapes) != set(given):
            raise _invalid(
                f"When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names {list(given)} of "
                f"`inputs`, but here they are {list(dynamic_shapes)}. Alternatively, you could also ignore arg names "
                f"entirely and specify `dynamic_shapes` as a list/tuple matching `inputs`. {_PAGE}"
            )
        for name, value in given.items():
            _walk(value, dynamic_shapes.get(name), name, f"dynamic_shapes['{name}']", found)
        return found
    if len(dynamic_shapes) != len(given):
        raise _invalid(
            "Detected mismatch between the structure of `inputs` and `dynamic_shapes`: `inputs` has "
            f"{len(given)} elements, but `dynamic_shapes` has {len(dynamic_shapes)} elements\n{_PAGE}"
        )
    for place, (name, value) in enumerate(given.items()):
        _walk(value, dynamic_shapes[place], name, f"dynamic_shapes[{place}]", found)
    return found


def _walk(value: Any, shapes: Any, path: str, said: str, found: list[Varying]) -> None:
    if isinstance(value, torch.Tensor):
        if shapes is not None:
            _dimensions(value, shapes, path, said, found)
    elif isinstance(value, dict | list | tuple):
        for key, one, below in _below(value, shapes, said):
            _walk(one, below, f"{path}[{key!r}]", f"{said}[{key!r}]", found)
    elif type(value) is int and shapes is not None and not isinstance(shapes, int | _DimHint):
        raise AssertionError(f"expected dynamic_shape to be None, int, or _DimHint for _IntWrapper, got {type(shapes)}")
    elif pytree.tree_leaves(shapes) and not isinstance(value, int | float | str | None):
        raise _invalid(
            f"Cannot associate shape {shapes} specified at `{said}` to non-tensor type {type(value)} at `inputs` (expected "
            f"None)\n{_PAGE}"
        )


def _below(value: Any, shapes: Any, said: str) -> list[tuple[Any, Any, Any]]:
    """Return of every item of a container its key, the item, and what is said of it."""
    start = "Detected mismatch between the structure of `inputs` and `dynamic_shapes`: "
    inputs = said.replace("dynamic_shapes", "inputs")
    if type(shapes) is not type(value):
        other = f"a {type(shapes)}" if isinstance(shapes, dict | list | tuple) else "not"
        raise _invalid(f"{start}`{inputs}` is a {type(value)}, but `{said}` is {other}\n{_PAGE}")
    if len(value) != len(shapes):
        raise _invalid(f"{start}`{inputs}` has {len(value)} elements, but `{said}` has {len(shapes)} elements\n{_PAGE}")
    if not isinstance(value, dict):
        return [(place, one, shape) for place, (one, shape) in enumerate(zip(value, shapes, strict=True))]
    if set(value) != set(shapes):
        raise _invalid(f"{start}`{inputs}` has keys {list(value)}, but `{said}` has keys {list(shapes)}\n{_PAGE}")
    return [(key, one, shapes[key]) for key, one in value.items()]


def _dimensions(value: torch.Tensor, shapes: Any, path: str, said: str, found: list[Varying]) -> None:
    if isinstance(shapes, dict):
        given = dict(shapes)
    elif isinstance(shapes, list | tuple):
        if len(shapes) != value.dim():
            raise _invalid(
                f"Expected dynamic shape spec {shapes} specified at `{said}` to have the same length as the actual tensor "
                f"shape {value.shape} (expected {value.dim()}, but got {len(shapes)} instead)\n{_PAGE}"
            )
        given = dict(enumerate(shapes))
    else:
        raise _invalid(
            f"Unexpected input tensor shape {shapes} specified at `{said}` (expected either a list/tuple of dimensions, or "
            f"a dict mapping indices to dimensions, where each dimension is an int, a Dim, Dim.AUTO, Dim.STATIC, or "
            f"Dim.DYNAMIC)\n{_PAGE}"
        )
    for place, dim in sorted(given.items()):
        one = Varying(path, place, 0, dim, path)
        if (isinstance(dim, _DimHint) and dim.type is _DimHintType.STATIC) or dim is None:
            continue
        if type(dim) is not int and not isinstance(dim, Dim | _DimHint):
            raise _invalid(
                f"Unexpected dimension mapped to index {place} in input tensor shape {shapes} specified at `{said}` "
                f"(expected None, an int, a Dim, Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC,  but got {dim!r} instead)\n{_PAGE}"
            )
        if not 0 <= place < value.dim():
            raise IndexError("list assignment index out of range")
        one.size = int(value.shape[place])
        if type(dim) is not int:
            found.append(one)
        elif dim != one.size:
            raise ConstraintViolationError(
                f"Static shape constraint of {dim} does not match input size of {one.size}, for {one.source}{MORE}"
            )
