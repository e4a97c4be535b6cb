"""`assert_close`: are two values, or two containers of them, close enough."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.tensor import DTensor

from ._messages import (
    ErrorMeta,
    UnsupportedInputs,
    make_scalar_mismatch_msg,
    make_tensor_mismatch_msg,
    path_text,
)
from ._pairs import BooleanPair, NonePair, NumberPair, ObjectPair, Pair
from ._tensor_pair import TensorLikePair
from ._tolerances import LEGACY_PRECISIONS, default_tolerances, get_tolerances

__all__ = [
    "BooleanPair",
    "ErrorMeta",
    "NonePair",
    "NumberPair",
    "ObjectPair",
    "Pair",
    "TensorLikePair",
    "UnsupportedInputs",
    "assert_allclose",
    "assert_close",
    "default_tolerances",
    "get_tolerances",
    "make_scalar_mismatch_msg",
    "make_tensor_mismatch_msg",
    "not_close_error_metas",
    "originate_pairs",
]

_UNEXPECTED = (
    "resulted in the unexpected exception above. "
    "If you are a user and see this message during normal operation "
    "please file an issue at https://github.com/pytorch/pytorch/issues. "
    "If you are a developer and working on the comparison functions, "
    "please except the previous error and raise an expressive `ErrorMeta` instead."
)


def _unwrap_dtensor_for_comparison(actual: Any, expected: Any) -> tuple[Any, Any]:
    """Return the local parts of two DTensors that are spread alike, and anything else as it is."""
    spread = [isinstance(value, DTensor) for value in (actual, expected)]
    if not any(spread):
        return actual, expected
    if not all(spread):
        raise TypeError(
            "Comparing a DTensor to a non-DTensor is ambiguous. Call .full_tensor() to compare the full logical tensor "
            "or .to_local() to compare the local shard."
        )
    for name, shown in (("placements", "placements"), ("device_mesh", "device meshes")):
        first, second = getattr(actual, name), getattr(expected, name)
        if first != second:
            raise AssertionError(f"DTensor {shown} do not match: {first} != {second}")
    return actual.to_local(), expected.to_local()


def originate_pairs(
    actual: Any,
    expected: Any,
    *,
    pair_types: Sequence[type[Pair]],
    sequence_types: tuple[type, ...] = (Sequence,),
    mapping_types: tuple[type, ...] = (Mapping,),
    id: tuple[Any, ...] = (),
    **options: Any,
) -> list[Pair]:
    """The pairs of all leaves of two containers of equal structure."""
    nested = {"pair_types": pair_types, "sequence_types": sequence_types, "mapping_types": mapping_types, **options}
    both_text = isinstance(actual, str) and isinstance(expected, str)
    if isinstance(actual, sequence_types) and isinstance(expected, sequence_types) and not both_text:
        if len(actual) != len(expected):  # type: ignore[arg-type]
            raise ErrorMeta(
                AssertionError,
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}",  # type: ignore[arg-type]
                id=id,
            )
        pairs: list[Pair] = []
        for index in range(len(actual)):  # type: ignore[arg-type]
            pairs += originate_pairs(actual[index], expected[index], id=(*id, index), **nested)  # type: ignore[index]
        return pairs
    if isinstance(actual, mapping_types) and isinstance(expected, mapping_types):
        pairs = []
        for key in _common_keys(actual, expected, id):
            pairs += originate_pairs(actual[key], expected[key], id=(*id, key), **nested)  # type: ignore[index]
        return pairs
    return [_originate_pair(actual, expected, pair_types, id, options)]


def _common_keys(actual: Any, expected: Any, path: tuple[Any, ...]) -> Collection[Any]:
    have, want = set(actual.keys()), set(expected.keys())
    if have != want:
        raise ErrorMeta(
            AssertionError,
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(want - have)}\n"
            f"Additional keys in the actual mapping: {sorted(have - want)}",
            id=path,
        )
    try:
        return sorted(have)
    except TypeError:  # keys without an order are taken as they come
        return have


def _originate_pair(
    actual: Any, expected: Any, pair_types: Sequence[type[Pair]], path: tuple[Any, ...], options: dict[str, Any]
) -> Pair:
    for pair_type in pair_types:
        try:
            return pair_type(actual, expected, id=path, **options)
        except UnsupportedInputs:  # the next kind of pair is tried
            continue
        except ErrorMeta:
            raise
        except Exception as error:
            raise RuntimeError(
                f"Originating a {pair_type.__name__}() at item {path_text(path)} with\n\n"
                f"{type(actual).__name__}(): {actual}\n\nand\n\n"
                f"{type(expected).__name__}(): {expected}\n\n{_UNEXPECTED}"
            ) from error
    raise ErrorMeta(
        TypeError,
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.",
        id=path,
    )


def not_close_error_metas(
    actual: Any,
    expected: Any,
    *,
    pair_types: Sequence[type[Pair]] = (ObjectPair,),
    sequence_types: tuple[type, ...] = (Sequence,),
    mapping_types: tuple[type, ...] = (Mapping,),
    **options: Any,
) -> list[ErrorMeta]:
    """Every difference between two values or containers."""
    __tracebackhide__ = True
    try:
        pairs = originate_pairs(
            actual,
            expected,
            pair_types=pair_types,
            sequence_types=sequence_types,
            mapping_types=mapping_types,
            **options,
        )
    except ErrorMeta as error:
        raise error.to_error() from None
    found: list[ErrorMeta] = []
    for pair in pairs:
        try:
            pair.compare()
        except ErrorMeta as error:
            found.append(error)
        except Exception as error:
            raise RuntimeError(f"Comparing\n\n{pair}\n\n{_UNEXPECTED}") from error
    return found


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless ``|actual - expected| <= atol + rtol * |expected|`` everywhere.

    >>> torch.testing.assert_close(torch.ones(1), torch.ones(1) + 1e-7)
    """
    __tracebackhide__ = True
    found = not_close_error_metas(
        actual,
        expected,
        pair_types=(NonePair, BooleanPair, NumberPair, TensorLikePair),
        allow_subclasses=allow_subclasses,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=check_device,
        check_dtype=check_dtype,
        check_layout=check_layout,
        check_stride=check_stride,
    )
    if found:
        raise found[0].to_error(msg)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older form: converts its inputs and checks values only.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.testing.assert_allclose(torch.ones(2), torch.ones(3))
    Traceback (most recent call last):
        ...
    AssertionError: The values for attribute 'shape' do not match: torch.Size([2]) != torch.Size([3]).
    """
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use `torch.testing.assert_close()` instead. "
        "You can find detailed upgrade instructions in https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    if not isinstance(actual, torch.Tensor):
        actual = torch.tensor(actual)
    if not isinstance(expected, torch.Tensor):
        expected = torch.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected, dtype_precisions=LEGACY_PRECISIONS)
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )


adopt(globals())
