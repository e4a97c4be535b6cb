"""Every module of torch's module database: repr, state, initial bits, outputs, gradients."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="oracle")
common_modules = pytest.importorskip("torch.testing._internal.common_modules", reason="oracle")

import mindtorch as mt  # noqa: E402 (after the check that torch is there)

# Not offered: the fused linear and cross entropy layer that came with torch 2.13.
LEFT_OUT = {"LinearCrossEntropyLoss"}
MODULES = [info for info in common_modules.module_db if info.module_cls.__name__ not in LEFT_OUT]


def mapped(value, convert):
    """Return nested data with `convert` applied to what is no container."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(item, convert) for item in value))
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return type(value)(mapped(item, convert) for item in value)
    if isinstance(value, dict):
        return {key: mapped(item, convert) for key, item in value.items()}
    return convert(value)


def one_of_ours(value):
    if isinstance(value, torch.dtype):
        return getattr(mt, str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return mt.device(str(value))
    if isinstance(value, torch.Tensor):
        made = mt.tensor(value.detach().numpy(), dtype=one_of_ours(value.dtype))
        return made.requires_grad_(value.requires_grad)
    return value


def to_ours(value):
    return mapped(value, one_of_ours)


def copied(value):
    def copy(leaf):
        return leaf.detach().clone().requires_grad_(leaf.requires_grad) if isinstance(leaf, torch.Tensor) else leaf

    return mapped(value, copy)


def leaves(value, cls):
    if isinstance(value, cls):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [leaf for item in items for leaf in leaves(item, cls)]


def close(theirs, ours, rtol=1e-4, atol=1e-5):
    assert tuple(theirs.shape) == tuple(ours.shape)
    expected = theirs.detach().to(torch.float64).numpy()
    np.testing.assert_allclose(ours.detach().to(mt.float64).numpy(), expected, rtol=rtol, atol=atol)


def run(library, module, args, kwargs):
    library.manual_seed(5)
    return module(*args, **kwargs)


def check(info, sample, training):
    built, called = sample.constructor_input, sample.forward_input
    if any(callable(value) for value in (*built.args, *built.kwargs.values())):
        return False  # made of torch's own modules or functions
    torch.manual_seed(3)
    theirs = info.module_cls(*built.args, **built.kwargs).train(training).float()
    mt.manual_seed(3)
    cls = getattr(mt.nn, info.module_cls.__name__)
    ours = cls(*to_ours(built.args), **to_ours(built.kwargs))
    ours = ours.train(training).float()
    assert cls.__module__ == info.module_cls.__module__
    assert repr(ours) == repr(theirs)
    theirs_args = (copied(called.args), copied(called.kwargs))
    ours_args = (to_ours(called.args), to_ours(called.kwargs))
    try:
        expected = run(torch, theirs, *theirs_args)
    except RuntimeError:
        return False  # a sample for another dtype
    result = run(mt, ours, *ours_args)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for name, value in theirs.state_dict().items():
        close(value, ours.state_dict()[name], atol=1e-7)
    wanted, got = leaves(expected, torch.Tensor), leaves(result, mt.Tensor)
    assert len(wanted) == len(got)
    for one, other in zip(wanted, got, strict=True):
        close(one, other)
    if wanted[0].requires_grad:
        sum(t.sum() for t in wanted if t.requires_grad).backward()
        sum(t.sum() for t in got if t.requires_grad).backward()
        pairs = [*zip(theirs.parameters(), ours.parameters(), strict=True)]
        pairs += zip(leaves(theirs_args, torch.Tensor), leaves(ours_args, mt.Tensor), strict=True)
        for one, other in pairs:
            assert (one.grad is None) == (other.grad is None)
            if one.grad is not None:
                close(one.grad, other.grad, rtol=1e-3, atol=1e-4)
    return True


@pytest.mark.parametrize("info", MODULES, ids=lambda info: info.name)
def test_module(info):
    checked = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for training in (True, False):
            samples = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=True, training=training
            )
            for sample in samples[:8]:
                if sample.forward_input is None:
                    continue
                try:
                    checked += check(info, sample, training)
                except AttributeError as missing:
                    if "aten" in str(missing) or "module 'torch'" in str(missing):
                        pytest.skip(f"the op is not offered yet: {missing}")
                    raise
    assert checked or info.name in {"nn.TransformerEncoder"}


WITH_ERRORS = [info for info in MODULES if info.module_error_inputs_func is not None]


@pytest.mark.parametrize("info", WITH_ERRORS, ids=lambda info: info.name)
def test_errors(info):
    samples = info.module_error_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=False, training=False
    )
    for sample in samples:
        built, called = sample.module_error_input.constructor_input, sample.module_error_input.forward_input

        def use(cls, convert, built=built, called=called):
            module = cls(*convert(built.args), **convert(built.kwargs))
            if called is not None:
                module(*convert(called.args), **convert(called.kwargs))

        with pytest.raises(Exception) as expected:  # noqa: PT011 (its text is compared below)
            use(info.module_cls, copied)
        with pytest.raises(Exception) as raised:  # noqa: PT011
            use(getattr(mt.nn, info.module_cls.__name__), to_ours)
        if isinstance(raised.value, AttributeError) and "aten" in str(raised.value):
            pytest.skip(f"the op is not offered yet: {raised.value}")
        assert type(raised.value) is type(expected.value)
        assert str(raised.value) == str(expected.value)
