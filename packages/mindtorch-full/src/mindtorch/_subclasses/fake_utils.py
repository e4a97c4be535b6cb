"""`torch._subclasses.fake_utils`: fake tensors beside real ones: do an operator's results agree?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._subclasses._fake_errors import MetadataMismatchError, UnsupportedFakeTensorException
from mindtorch._subclasses._fake_errors import UnsupportedOperatorException as UnsupportedOperatorException
from mindtorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from mindtorch.utils._python_dispatch import TorchDispatchMode
from mindtorch.utils._pytree import tree_leaves, tree_map_only

__all__ = [
    "CrossRefFakeMode",
    "output_alias_each_other",
    "outputs_alias_inputs",
    "outputs_are_inputs",
    "try_convert_fake_to_real",
]

_NOT_COMPARED = frozenset(("lift_fresh", "lift_fresh_copy", "set_"))
_DATA = (torch.Tag.dynamic_output_shape, torch.Tag.inplace_view, torch.Tag.data_dependent_output)


def _tensors(values: Any) -> list[Any]:
    return [one for one in tree_leaves(values) if isinstance(one, torch.Tensor)]


def _storages(values: Any) -> list[int]:
    return [one.untyped_storage()._cdata for one in _tensors(values) if one.layout is torch.strided]


def outputs_alias_inputs(outputs: Any, inputs: Any) -> bool:
    """Return whether a result shares memory with an argument."""
    return not set(_storages(inputs)).isdisjoint(_storages(outputs))


def outputs_are_inputs(outputs: Any, inputs: Any) -> bool:
    """Return whether a result is an argument."""
    return not {id(one) for one in _tensors(inputs)}.isdisjoint(id(one) for one in _tensors(outputs))


def output_alias_each_other(outputs: Any) -> bool:
    """Return whether two results share memory."""
    found = _storages(outputs)
    return len(set(found)) < len(found)


def try_convert_fake_to_real(ten_list: list[Any]) -> list[Any]:
    """Return copies of the real tensors whose memory fakes stand for, fakes where that is not known any more."""
    return [_real_of(one) if isinstance(one, FakeTensor) else one for one in ten_list]


def _real_of(fake: Any) -> Any:
    if fake.layout is not torch.strided:
        return fake
    storage = fake.fake_mode.fake_tensor_converter.meta_converter.original_of(fake.untyped_storage())
    if storage is None:
        return fake
    real = torch.empty(0, dtype=fake.dtype, device=storage.device)
    return real.set_(storage, fake.storage_offset(), tuple(fake.shape), fake.stride()).clone()


class CrossRefFakeMode(TorchDispatchMode):
    """Runs every operator on real tensors and on fakes of them, and raises MetadataMismatchError where results differ.

    Args:
        ignore_op_fn: tells which operators are not compared.
        check_strides: compare strides, too.
        check_aliasing: compare which results share memory with arguments, or among themselves.
        only_check_ops_with_meta: leave out operators whose results nothing describes, which raise otherwise.
    """

    def __init__(
        self,
        ignore_op_fn: Callable[[Any], bool] | None = None,
        *,
        check_strides: bool = True,
        check_aliasing: bool = True,
        only_check_ops_with_meta: bool = True,
    ) -> None:
        super().__init__()
        self.ignore_op_fn = ignore_op_fn or (lambda func: False)
        self.check_strides = check_strides
        self.check_aliasing = check_aliasing
        self.only_check_ops_with_meta = only_check_ops_with_meta

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        fake = self._on_fakes(func, args, kwargs)
        made = func(*args, **kwargs)
        if fake is not None:
            self._compare(func, made, (args, kwargs), *fake)
        return made

    def _on_fakes(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Return results and arguments on fakes; None where the operator is not compared."""
        if func._opname in _NOT_COMPARED or any(tag in func.tags for tag in _DATA) or self.ignore_op_fn(func):
            return None
        try:
            with FakeTensorMode() as mode:
                given = tree_map_only(torch.Tensor, mode.from_tensor, (args, kwargs))
                return func(*given[0], **given[1]), given
        except UnsupportedFakeTensorException:
            return None
        except UnsupportedOperatorException:
            if self.only_check_ops_with_meta:
                return None
            raise

    def _compare(self, func: Any, real: Any, real_given: Any, fake: Any, fake_given: Any) -> None:
        context = f"When comparing the output of {func} on FakeTensor and concrete Tensors, found"
        reals, fakes = tree_leaves(real), tree_leaves(fake)
        if len(reals) != len(fakes):
            raise AssertionError(f"{context} mismatch in number of returns {len(fakes)} != {len(reals)}")
        if self.check_aliasing:
            _compare_sharing(context, (real, real_given), (fake, fake_given))
        for place, (one, other) in enumerate(zip(reals, fakes, strict=True)):
            if isinstance(one, torch.Tensor) != isinstance(other, torch.Tensor):
                raise AssertionError(f"{context} mismatched number of tensor outputs")
            if isinstance(one, torch.Tensor):
                which = "" if len(reals) == 1 else f" for output[{place}]"
                try:
                    self._compare_one(one, other)
                except Exception as error:
                    text = f"{context} mismatched tensor metadata{which}: {error}"
                    raise MetadataMismatchError(text) from error

    def _compare_one(self, real: Any, fake: Any) -> None:
        if real.requires_grad != fake.requires_grad:
            raise MetadataMismatchError(
                " mismatched requires_grad-ness of outputs. This usually means that you have added autograd support for your "
                "operator at a dispatch key other than Autograd, which will lead to problems"
            )
        if real.layout is torch.strided and real.storage_offset() != fake.storage_offset():
            raise MetadataMismatchError(" mismatched storage offset")
        torch._prims_common.compare_tensor_meta(real, fake, check_strides=self.check_strides)


def _compare_sharing(context: str, real: Any, fake: Any) -> None:
    for name, question in (
        ("outputs_alias_inputs", outputs_alias_inputs),
        ("outputs_are_inputs", outputs_are_inputs),
        ("outputs_alias_each_other", lambda outputs, inputs: output_alias_each_other(outputs)),
    ):
        found, expected = question(*fake), question(*real)
        if found != expected:
            raise MetadataMismatchError(f"{context} mismatch in {name} check {found} != {expected}")


adopt(globals())
