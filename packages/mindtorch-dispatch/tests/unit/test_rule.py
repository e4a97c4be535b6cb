"""A meta rule made of another one keeps all of its options."""

from mindtorch_dispatch.apart import NOTHING_SHARED
from mindtorch_dispatch.meta.pointwise import checked, placed, row_major
from mindtorch_dispatch.meta.rule import MetaRule
from mindtorch_dispatch.meta.support import limited


def rule_of_its_own():
    """A rule none of whose options is the default."""
    return MetaRule(
        lambda *values: None,
        inplace=True,
        out=True,
        view=True,
        mixed_devices=True,
        aliases_ok=True,
        exact=True,
        adopts=True,
        apart=NOTHING_SHARED,
        leading=lambda ndim, values: ndim,
        counted=True,
        repeats_ok=True,
    )


def options(rule):
    return {name: getattr(rule, name) for name in MetaRule.__slots__ if name != "fn"}


def test_wrapped_rules_keep_every_option():
    plain, rule = options(MetaRule(lambda: None)), rule_of_its_own()
    assert all(value != plain[name] for name, value in options(rule).items())
    for wrapped in (checked(rule, print), limited(rule, "kernel"), placed(rule, row_major), rule.with_function(print)):
        assert wrapped.fn is not rule.fn
        assert options(wrapped) == options(rule)
