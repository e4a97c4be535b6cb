"""Hostile values at every place: each argument of a call that torch answers becomes each of them in turn.

Random calls draw arguments of the kinds that a function takes; here a function gets what nobody would give it: None, bytes,
numbers beyond every dtype, objects whose methods raise, lists that contain themselves, tensors of other layouts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from mindtorch_testing.fuzz import arguments
from mindtorch_testing.fuzz.arguments import Call
from mindtorch_testing.fuzz.campaign import Campaign, Findings, Pair, Report
from mindtorch_testing.fuzz.catalog import Entry, Param
from mindtorch_testing.fuzz.judge import Finding, blurred
from mindtorch_testing.fuzz.sides import End, Program

NAMES = re.compile(r"\b\w+\(\)|'[^']*'|\b[A-Z]\w+|\b_?[a-z]+(_[a-z0-9]+)+")
"""Of functions, arguments and types, in an error's text."""
Items = tuple[tuple[Param, arguments.Value], ...]
TRIES = 20
"""Calls drawn for an entry point until torch answers one."""
VALUES = (
    "None", "True", "0", "-1", "2**31", "2**63 - 1", "-(2**63)", "2**63", "2**200", "0.5", "nan", "-inf", "1e308", "1j",
    "''", "'wrong'", "'\\x00\\ud800'", "b'a'", "()", "[]", "[1]", "[1, 2]", "(2**62, 2**62)", "[None]", "[[1], [2, 3]]", "[nan]",
    "{}", "{'a': 1}", "{1}", "range(3)", "slice(None)", "...", "object()", "int", "len", "iter([1, 2])", "[1] * 3000",
    "(lambda items: items.append(items) or items)([1])",
    "type('Raising', (), dict.fromkeys(('__index__', '__float__', '__len__', '__iter__', '__bool__'), lambda self: 1 // 0))()",
    "type('Claiming', (), {'__len__': lambda self: 2**62, '__getitem__': lambda self, at: 1})()",
    "type('Index', (), {'__index__': lambda self: 1})()", "np.float64(2.0)", "np.int64(3)", "np.array([1.0, 2.0])",
    "np.array(['a'])", "np.array([None])", "torch.float32", "torch.int64", "torch.device('cpu')", "torch.strided",
    "torch.channels_last", "torch.Generator()", "torch.Size([2])", "torch.tensor(1)", "torch.tensor(nan)", "torch.tensor([])",
    "torch.tensor([1, 2])", "torch.tensor([[True, False]])", "torch.ones(2, 2, dtype=torch.complex64)", "torch.ones((1,) * 64)",
    "torch.ones(2, 2, device='meta')", "torch.eye(2).to_sparse()", "torch.eye(2).to_sparse_csr()",
    "torch.tensor(1.0).expand(2**31, 2)", "torch.nn.Parameter(torch.ones(2))", "[torch.ones(2), None]", "torch.Tensor", "torch",
)  # fmt: skip


class Places(Campaign):
    """One lane that makes its calls in order: entry by entry, place by place, value by value."""

    def __init__(self, pair: Pair, entries: list[Entry], findings: Findings, seed: int) -> None:
        super().__init__(pair, entries, findings, seed)
        self.calls = self.every_call()
        self.causes: set[tuple[str, ...]] = set()

    def draws(self, wanted: int) -> list[Call]:
        """Return the next calls; none when all are made."""
        return [call for _, call in zip(range(wanted), self.calls, strict=False)]

    def every_call(self) -> Iterator[Call]:
        """Give the calls of every entry point."""
        for entry in self.entries:
            yield from replaced(self.answered(entry))

    def follow(self, call: Call, program: Program, finding: Finding, end: End | None) -> None:
        """Count a finding, and keep the first of its cause: what a function does with a value, most others do, too."""
        row = self.findings.rows.accepting(call.entry.name, finding, program)
        if row is not None:
            self.tally.accepted[row] += 1
            return
        self.tally.kinds[finding.kind] += 1
        cause = (finding.kind, cause_of(finding.ours), finding.theirs.partition(":")[0][:40])
        if finding.kind in self.findings.kinds and cause not in self.causes:
            self.causes.add(cause)
            self.findings.keep(Report(call.entry.name, finding, program))

    def answered(self, entry: Entry) -> Call:
        """Return a call that torch answers, with as many arguments as possible; any call where it answers none."""
        random = Random(f"{self.seed} {entry.name}")
        drawn = [plain(arguments.fresh(random, entry)) for _ in range(TRIES)]
        outcomes = self.pair.torch.run([call.program() for call in drawn])
        right = [call for call, o in zip(drawn, outcomes, strict=True) if not o.death and o.seen[0] == "value"]
        return max(right or drawn, key=lambda call: len(call.given) + len(call.inputs))


def cause_of(text: str) -> str:
    """Leave out of an error's text the names in it, and of any other outcome all but its beginning."""
    error, colon, rest = text.partition(": ")
    if not colon or not error.endswith(("Error", "Exception")):
        return blurred(text)[:40]
    return f"{error}: {blurred(NAMES.sub('…', rest))[:50]}"


def plain(call: Call) -> Call:
    """Leave out what is hostile already, and call a method by its class, so that `self` is an argument as well."""
    style = "function" if call.entry.style == "method" else call.entry.style
    given, outs = call.given, [param for param, _ in call.given if param.out]
    if outs and style != "overload":
        given = tuple((replace(p, name="out", keyword=True, out=False) if p.out else p, v) for p, v in given)
        given = given if len(outs) == 1 else tuple(item for item in given if item[0].name != "out")
    return replace(call, entry=replace(call.entry, style=style), given=given, extra="", backward=False)


def with_each_value(items: Items) -> Iterator[Items]:
    """Give the arguments with each value in place of each of them."""
    for index, (param, _) in enumerate(items):
        for value in VALUES:
            yield (*items[:index], (param, value), *items[index + 1 :])


def replaced(call: Call) -> Iterator[Call]:
    """Give the call with each value at each place, and with each after the last and by a name that is not known."""
    for items in with_each_value(call.inputs):
        yield replace(call, inputs=items)
    for items in with_each_value(call.given):
        yield replace(call, given=items)
    for value in VALUES[::6]:
        yield replace(call, extra=f"wrong={value}")
