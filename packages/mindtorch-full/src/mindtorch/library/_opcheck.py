"""`opcheck`: is an operator registered as its schema, its gradients and its geometry promise?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from mindtorch_dispatch.extend.overloads import OpOverload, OpOverloadPacket
from mindtorch_storage.tensor_base import TensorBase

from .._subclasses.fake_tensor import FakeTensorMode
from ..utils import _pytree as pytree
from ._custom import CustomOpDef
from ._names import has_kernel


class OpCheckError(Exception):
    """A test of `opcheck` found something; its cause says what."""


class MetadataMismatchError(Exception):
    """The geometry rule promised another tensor than the operator makes."""


def _tensors(tree: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, TensorBase)]


def _copied(tree: Any, requires_grad: bool = True) -> Any:
    """Return the arguments with a fresh leaf for every tensor."""

    def copy(leaf: Any) -> Any:
        if not isinstance(leaf, TensorBase):
            return leaf
        made = leaf.detach().clone()  # type: ignore[attr-defined]
        return made.requires_grad_(leaf._sig.requires_grad and requires_grad)

    return pytree.tree_map(copy, tree)


def _shares(one: Any, other: Any) -> bool:
    return one is other or one.untyped_storage()._cdata == other.untyped_storage()._cdata


def _named(op: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    names = [argument.name for argument in op.declared.arguments]
    return dict(zip(names, args, strict=False)) | kwargs


def _same_values(one: Any, other: Any) -> bool:
    if one.shape != other.shape:
        return False
    equal = one.eq(other)
    if one.dtype.is_floating_point or one.dtype.is_complex:
        equal = equal | (one.isnan() & other.isnan())
    return bool(equal.all())


def test_schema(op: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raise RuntimeError for an argument that is written, or shares memory with a result, against the schema."""
    args, kwargs = _copied((args, kwargs), requires_grad=False)
    given, before = _named(op, args, kwargs), _named(op, *_copied((args, kwargs)))
    results = op(*args, **kwargs)
    outputs = list(results) if isinstance(results, tuple) else [results]
    declared = {argument.name: argument for argument in op.declared.arguments}
    for name, value in given.items():
        pairs = zip(_tensors(value), _tensors(before[name]), strict=True)
        if not declared[name].is_write and not all(_same_values(one, other) for one, other in pairs):
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")
    for name, value in given.items():
        aliased = any(_shares(one, other) for one in _tensors(value) for other in _tensors(outputs))
        if aliased and declared[name].alias is None:
            raise RuntimeError(f"Argument {name} is not defined to alias output but was aliasing")
    returns = op.declared.returns
    for (i, one), (j, other) in combinations(enumerate(outputs), 2):
        shared = any(_shares(a, b) for a in _tensors(one) for b in _tensors(other))
        if shared and (returns[i].alias is None or returns[j].alias is None):
            raise RuntimeError(f"Outputs {i} and {j} alias unexpectedly")


_RECORDING = ("Autograd", "AutogradCPU", "AutogradNPU", "CompositeImplicitAutograd")


def test_autograd_registration(op: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raise AssertionError for results that require grad although no kernel records the operator."""
    if not any(tensor._sig.requires_grad for tensor in _tensors((args, kwargs))):
        return
    if not op._defined_in_python or has_kernel(op.name(), _RECORDING):
        return
    results = op(*args, **kwargs)
    if any(tensor._sig.requires_grad for tensor in _tensors(results)):
        raise AssertionError(
            f"{op.name()}: at least one output of this operator has requires_grad=True but the operator does not have an "
            "autograd kernel defined at an autograd key (e.g. DispatchKey::Autograd). This could mean that you have "
            "incorrectly registered an autograd kernel to a non-Autograd DispatchKey, which may lead to silently incorrect "
            "results. If your operator consists of regular PyTorch operations, consider not using an operator at all or "
            "registering your operator as CompositeImplicitAutograd. If you have an autograd.Function registered to a "
            "backend (CPU/CUDA/XPU) key, the correct location for it is the Autograd key."
        )


def _compare(op: OpOverload, real: Any, fake: Any) -> None:
    found = ""
    if tuple(real.shape) != tuple(fake.shape):
        found = f"Shapes {real.shape} and {fake.shape} are not equal!"
    elif real.dtype != fake.dtype:
        found = f"Dtypes {real.dtype} and {fake.dtype} are not equal!"
    elif real.numel() and real.stride() != fake.stride():
        place = next(i for i, (a, b) in enumerate(zip(real.stride(), fake.stride(), strict=True)) if a != b)
        found = f"Stride mismatch! Strides are {real.stride()} and {fake.stride()} (mismatched at {place})!"
    if found:
        raise MetadataMismatchError(
            f"When comparing the output of {op} on FakeTensor and concrete Tensors, found mismatched tensor metadata: "
            f"{found}"
        )


def test_faketensor(op: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raise MetadataMismatchError where the geometry rule promises another result; whatever the rule itself raises."""
    copies = _copied((args, kwargs))
    mode = FakeTensorMode()

    def fake(leaf: Any) -> Any:
        return mode.from_tensor(leaf) if isinstance(leaf, TensorBase) else leaf

    fake_args, fake_kwargs = pytree.tree_map(fake, copies)
    with mode:
        promised = op(*fake_args, **fake_kwargs)
    real_args, real_kwargs = _copied((args, kwargs))
    made = op(*real_args, **real_kwargs)
    reals, fakes = _tensors(made), _tensors(promised)
    if len(reals) != len(fakes):
        raise MetadataMismatchError(f"{op} made {len(reals)} tensors, its fake impl {len(fakes)}")
    for real, one in zip(reals, fakes, strict=True):
        _compare(op, real, one)


def test_aot_dispatch_dynamic(op: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raise where the operator has no geometry rule, cannot be run backward, or gives other gradients a second time."""
    test_faketensor(op, args, kwargs)
    first = _gradients(op, args, kwargs)
    # A backend's kernel runs below autograd where programs are captured: what only it records is lost there.
    unrecorded = op._defined_in_python and not has_kernel(op.name(), _RECORDING)
    second = [None] * len(first) if unrecorded else _gradients(op, args, kwargs)
    for one, other in zip(first, second, strict=True):
        if (one is None) != (other is None) or (one is not None and not _same_values(one, other)):
            raise AssertionError(
                "Gradients of the operator are different in eager-mode PyTorch vs AOTDispatcher. This means the operator "
                "will have incorrect gradients underneath torch.compile. This could be because the operator's backward is "
                "incorrectly registered or not traceable."
            )


def _gradients(op: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    args, kwargs = _copied((args, kwargs))
    written = {argument.name for argument in op.declared.arguments if argument.is_write}
    if any(tensor._sig.requires_grad for name in written for tensor in _tensors(_named(op, args, kwargs).get(name))):
        return []  # a leaf is not written in place
    results = [one for one in _tensors(op(*args, **kwargs)) if one._sig.requires_grad]
    leaves = [one for one in _tensors((args, kwargs)) if one._sig.requires_grad]
    if results:
        sum(one.sum() for one in results).backward()
    return [leaf.grad for leaf in leaves]


_TESTS: dict[str, Callable[[OpOverload, Sequence[Any], dict[str, Any]], None]] = {
    "test_schema": test_schema,
    "test_autograd_registration": test_autograd_registration,
    "test_faketensor": test_faketensor,
    "test_aot_dispatch_static": test_aot_dispatch_dynamic,
    "test_aot_dispatch_dynamic": test_aot_dispatch_dynamic,
}
DEFAULT_TESTS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = DEFAULT_TESTS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Run an operator's registrations against what it does; test name to "SUCCESS" or, without `raise_exception`, error.

    Raises OpCheckError for the first test that fails, ValueError for what is no operator or no test. Gradients are
    compared exactly, whatever `atol` and `rtol` allow.
    """
    if isinstance(op, CustomOpDef):
        op = op._opoverload
    if isinstance(op, OpOverloadPacket):
        op = op.default
    if not isinstance(op, OpOverload):
        raise ValueError(
            f"opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. torch.ops.aten.sin.default, got {type(op)}"
        )
    chosen = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if not set(chosen) <= set(_TESTS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={test_utils}), expected test_utils to be subset of {tuple(_TESTS)} but it was not"
        )
    found: dict[str, Any] = {}
    for name in chosen:
        try:
            _TESTS[name](op, args, kwargs or {})
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            found[name] = error
        else:
            found[name] = "SUCCESS"
    return found
