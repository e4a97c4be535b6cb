"""Padding."""

from ..decomp import pad as composed
from ..meta import pad as rules
from ..table import CORE, op

op(
    "constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
    rules.constant,
    tags={CORE},
    variants="function",
)
op(
    'pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor',
    composite=composed.pad,
    variants="nn",
)
op("_pad_circular(Tensor self, SymInt[] pad) -> Tensor", composite=composed.circular, variants="nn")
for _dims in (1, 2, 3):
    for _mode, _rules, _backward_rules in (
        ("reflection", rules.reflection, rules.reflection_backward),
        ("replication", rules.replication, rules.replication_backward),
    ):
        op(f"{_mode}_pad{_dims}d(Tensor self, SymInt[{2 * _dims}] padding) -> Tensor", _rules[_dims], variants="nn")
        op(
            f"{_mode}_pad{_dims}d_backward(Tensor grad_output, Tensor self, SymInt[{2 * _dims}] padding) -> Tensor",
            _backward_rules[_dims],
            variants="nn",
        )
