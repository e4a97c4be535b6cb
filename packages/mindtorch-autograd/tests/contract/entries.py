"""torch's op entries as derivative checks: small samples on our side, with torch's own wrappers and tolerances."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import mindtorch as mt
from mindtorch_testing.convert import Converter, Unconvertible, map_structure
from mindtorch_testing.sweep.rebind import Rebinder

SAMPLES = 2
POOL = 40
"""How many of an entry's samples are looked at, to find `SAMPLES` small ones evenly spread."""

ELEMENTS = {True: 500, False: 40}
"""The most elements of the inputs, in fast mode and where every element is checked: larger samples take longer."""

FIRST = ("TestBwdGradients", "test_fn_grad")
SECOND = ("TestBwdGradients", "test_fn_gradgrad")
FORWARD = ("TestFwdGradients", "test_forward_mode_AD")
OVER = ("TestFwdGradients", "test_fn_fwgrad_bwgrad")
"""torch's own tests of the same properties: what their suite leaves out is found by these names."""

TOLERANCE = {"cholesky_inverse": 1e-4}
"""How near to torch's tangents: as near as torch's own are to differences."""

_rebind = Rebinder(mt)


class Refused(Exception):
    """The check does not apply to an entry; the text says why."""


def entries(dtype: torch.dtype) -> list[Any]:
    """Return the entries that torch differentiates in a dtype."""
    return [
        info
        for info in op_db
        if info.supports_autograd and dtype in info.dtypes and dtype in info.supported_backward_dtypes("cpu")
    ]


def left_out(info: Any, suite: tuple[str, str], dtype: torch.dtype) -> bool:
    """True when torch's own suite skips an entry in a test, or expects it to fail there."""
    for one in info.decorators:
        if not (hasattr(one, "is_active") and one.is_active(*suite, "cpu", dtype, {})):
            continue
        for decorator in one.decorators:
            name = getattr(decorator, "__qualname__", "")
            if getattr(decorator, "__module__", "") == "unittest.case" and name.startswith(("skip", "expectedFailure")):
                return True
    return False


def is_tracked(one: Any) -> bool:
    """True for a tensor of ours that requires grad."""
    return isinstance(one, mt.Tensor) and one.requires_grad


def tensors(value: Any, wanted: Callable[[Any], bool]) -> list[Any]:
    """Return the tensors inside nested containers that are `wanted`, each once."""
    found: dict[int, Any] = {}
    map_structure(value, lambda one: found.setdefault(id(one), one) if wanted(one) else None)
    return list(found.values())


def samples(info: Any, dtype: torch.dtype, fast: bool) -> list[Any]:
    """Return small samples of an entry, evenly spread and the same in every run; the smallest when all are large."""
    torch.manual_seed(0)
    np.random.seed(0)
    sizes = []
    for number, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=True)):
        if number >= POOL and sizes:
            break
        tracked = tensors(
            (sample.input, sample.args, sample.kwargs),
            lambda one: isinstance(one, torch.Tensor) and one.requires_grad,
        )
        size = sum(one.numel() for one in tracked)
        if size:
            sizes.append((size, sample))
    fitting = [sample for size, sample in sizes if size <= ELEMENTS[fast]]
    if not fitting:
        return [min(sizes, key=lambda pair: pair[0])[1]] if sizes else []
    return fitting[:: max(1, len(fitting) // SAMPLES)][:SAMPLES]


def _function(one: Any) -> Any:
    return _rebind(one) if callable(one) and not isinstance(one, type) else one


class Call:
    """A sample's call as a function of its tracked tensors, on one side; `inputs` are those tensors."""

    def __init__(self, T: Any, info: Any, sample: Any) -> None:
        ours = T is mt
        args, kwargs = Converter(T).to_target(((sample.input, *sample.args), dict(sample.kwargs)))
        if ours:
            args, kwargs = map_structure((args, kwargs), _function)
        self.inputs = tensors((args, kwargs), lambda one: isinstance(one, T.Tensor) and one.requires_grad)
        self._seed = T.manual_seed
        self._args, self._kwargs = args, kwargs
        side = _rebind if ours else lambda one: one
        self._op, self._wrapper = side(info.op), side(info.gradcheck_wrapper)
        self._process = side(sample.output_process_fn_grad)
        self._tensor = T.Tensor

    def __call__(self, *given: Any) -> Any:
        replaced = dict(zip(map(id, self.inputs), given, strict=True))
        args, kwargs = map_structure((self._args, self._kwargs), lambda one: replaced.get(id(one), one))
        self._seed(0)
        result = self._process(self._wrapper(self._op, *args, **kwargs))
        if isinstance(result, (list, tuple)):
            return tuple(one for one in result if isinstance(one, self._tensor))
        return result


def calls(info: Any, dtype: torch.dtype) -> Iterator[tuple[Any, Call]]:
    """Yield (sample, call on our side) for samples whose result can be differentiated.

    Raises Refused when the entry is not here, or no sample is left.
    """
    fast = info.gradcheck_fast_mode is not False
    ran = False
    for sample in samples(info, dtype, fast):
        try:
            call = Call(mt, info, sample)
            result = call(*call.inputs)
        except (AttributeError, NotImplementedError, Unconvertible) as error:
            if type(error) is AttributeError and "'Tensor' object has no attribute" not in str(error):
                raise
            raise Refused(f"not here: {error}") from error
        if tensors(result, is_tracked):
            ran = True
            yield sample, call
    if not ran:
        raise Refused("no small differentiable sample")


def _options(info: Any) -> dict[str, Any]:
    return {
        "nondet_tol": info.gradcheck_nondet_tol,
        "fast_mode": info.gradcheck_fast_mode is not False,
        "check_grad_dtypes": True,
    }


def check_first(info: Any, dtype: torch.dtype) -> None:
    """Compare gradients with differences; raises what fails, Refused where there is nothing to check."""
    for _, call in calls(info, dtype):
        mt.autograd.gradcheck(call, call.inputs, **_options(info))


def check_second(info: Any, dtype: torch.dtype) -> None:
    """Compare gradients of gradients with differences; raises what fails, Refused where there is nothing to check."""
    if not info.supports_gradgrad:
        raise Refused("torch has no second derivative")
    for _, call in calls(info, dtype):
        mt.autograd.gradgradcheck(call, call.inputs, **_options(info))


def check_over(info: Any, dtype: torch.dtype) -> None:
    """Compare tangents of gradients with differences; raises what fails, Refused where there is nothing to check."""
    if not info.supports_fwgrad_bwgrad:
        raise Refused("torch has no forward derivative of the gradient")
    for _, call in calls(info, dtype):
        mt.autograd.gradgradcheck(
            call,
            call.inputs,
            check_fwd_over_rev=True,
            check_rev_over_rev=False,
            check_undefined_grad=False,
            **_options(info),
        )


def _tangents(T: Any, info: Any, sample: Any, directions: Any) -> list[Any]:
    """Return the outputs' tangents on one side, None where an output has none."""
    call = Call(T, info, sample)
    fw = T.autograd.forward_ad
    with fw.dual_level(), T.no_grad():
        given = Converter(T).to_target(directions)
        result = call(*[fw.make_dual(one.detach(), along) for one, along in zip(call.inputs, given, strict=True)])
        results = result if isinstance(result, (list, tuple)) else (result,)
        return [fw.unpack_dual(one).tangent for one in results if one.is_floating_point() or one.is_complex()]


def check_forward(info: Any, dtype: torch.dtype) -> None:
    """Compare tangents with torch's, and with differences; raises what fails, Refused where there is nothing."""
    if not info.supports_forward_ad:
        raise Refused("torch has no forward derivative")
    for sample, call in calls(info, dtype):
        oracle = Call(torch, info, sample)
        generator = torch.Generator().manual_seed(0)
        directions = [torch.randn(one.shape, generator=generator, dtype=one.dtype) for one in oracle.inputs]
        if left_out(info, FORWARD, dtype):
            wanted, found = (), ()
        else:
            wanted = _tangents(torch, info, sample, directions)
            found = _tangents(mt, info, sample, directions)
        for number, (want, have) in enumerate(zip(wanted, found, strict=True)):
            if want is None or have is None:
                some = have if want is None else want
                assert some is None or not bool((some != 0).any()), f"output {number}: one side has no tangent"
                continue
            near = TOLERANCE.get(info.name, 1e-6)
            want = want.resolve_conj().resolve_neg()
            torch.testing.assert_close(Converter(mt).to_oracle(have), want, rtol=near, atol=near, equal_nan=True)
        mt.autograd.gradcheck(call, call.inputs, check_forward_ad=True, check_backward_ad=False, **_options(info))


CHECKS = {FIRST: check_first, SECOND: check_second, FORWARD: check_forward, OVER: check_over}


def check(info: Any, suite: tuple[str, str], dtype: torch.dtype) -> None:
    """Run one check of an entry: raises what fails, Refused where the check does not apply."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CHECKS[suite](info, dtype)


def entry(name: str) -> Any:
    """Return torch's entry called `name`, variant included."""
    return next(info for info in op_db if info.full_name == name)


def sweep(suite: tuple[str, str], dtype: torch.dtype, known: Any) -> tuple[int, dict[str, str]]:
    """Check every entry that is not in `known`; return how many passed, and what the others raised."""
    passed, failed = 0, {}
    for info in entries(dtype):
        if info.full_name in known:
            continue
        try:
            check(info, suite, dtype)
            passed += 1
        except Refused:
            continue
        except Exception as error:  # noqa: BLE001 - whatever an entry raises is a finding, shown with all others
            failed[info.full_name] = f"{type(error).__name__}: {str(error)[:200]}"
    return passed, failed
