"""Random sequences of statements: views of views, writes into them, gradients in between, on both sides.

Single calls meet tensors that nothing has happened to. Here a few tensors go through a dozen statements; what each
statement says, and what every tensor has become at the end, is compared: elements, gradients, versions, what is a view.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from mindtorch_testing.fuzz.campaign import Campaign, Findings, Pair, Report
from mindtorch_testing.fuzz.catalog import Entry
from mindtorch_testing.fuzz.judge import Finding
from mindtorch_testing.fuzz.sides import End, Outcome, Program

SHAPES = ("()", "(3,)", "(2, 3)", "(3, 3)", "(2, 3, 4)", "(1, 3)", "(0, 3)", "(4, 1)")
FLOATS = ("float32", "float64", "bfloat16", "float16", "complex64")
OTHERS = ("int64", "int32", "uint8", "bool")
VIEWS = (
    "a.t()", "a.T", "a.mT", "a[0]", "a[..., 1:]", "a[::2]", "a[None]", "a.view(-1)", "a.reshape(-1)", "a.transpose(0, d)",
    "a.unsqueeze(d)", "a.squeeze()", "a.expand(2, *a.shape)", "a.expand_as(b)", "a.narrow(d, 0, 1)", "a.select(d, 0)",
    "a.diagonal()", "a.flatten()", "a.unbind(d)[0]", "a.split(2, d)[0]", "a.chunk(2, d)[-1]", "a.movedim(0, d)",
    "a.permute(*range(a.dim())[::-1])", "a.view_as(a)", "a.detach()", "a.real", "a.imag", "torch.view_as_real(a)", "a.conj()",
    "a.as_strided((2,), (1,))", "a.unfold(d, 2, 1)", "a.view(torch.int32)", "a.swapaxes(0, d)", "a.data", "a.positive()",
)  # fmt: skip
RESULTS = (
    "a + b", "a - b", "a * b", "a / b", "a @ b", "a ** 2", "a.sum()", "a.mean(d)", "a.sin()", "a.exp()", "a.relu()", "a.abs()",
    "a.sigmoid()", "a.softmax(d)", "a.cumsum(d)", "a.cumprod(d)", "a.prod()", "a.norm()", "a.std()", "a.var(d)", "a.sqrt()",
    "a.log()", "a.clone()", "a.contiguous()", "a.max(d)[0]", "a.amax(d)", "a.median()", "a.sort(d)[0]", "a.topk(1, d)[0]",
    "torch.cat([a, b], d)", "torch.stack([a, b])", "torch.where(a > 0, a, b)", "torch.maximum(a, b)", "torch.lerp(a, b, 0.3)",
    "a.masked_fill(a > 0, 0.5)", "a.flip(d)", "a.roll(1, d)", "a.index_select(d, torch.tensor([0, 0]))", "a[a > 0]",
    "a.gather(d, torch.zeros_like(a, dtype=torch.long))", "a.double()", "a.half()", "a.int()", "a.bool()", "a.tril()",
    "a.repeat(2, 1)", "a.clamp(-0.5, 0.5)", "torch.einsum('ij,kj->ik', a, b)", "torch.outer(a, b)", "a.logsumexp(d)",
    "torch.nn.functional.layer_norm(a, a.shape[-1:])", "torch.addmm(a, b, b)", "a.index_add(0, torch.tensor([0]), a[:1])",
    "a.scatter_add(d, torch.zeros_like(a, dtype=torch.long), a)", "torch.atan2(a, b)", "a.nan_to_num()", "a.diff()",
    "torch.nn.functional.pad(a, (1, 1))", "a.addcmul(b, b, value=0.5)", "torch.tensordot(a, b, 1)", "a.trace()", "a.new_ones(2)",
    "torch.ones_like(a, requires_grad=True)", "torch.linalg.det(a)", "a.pow(b)", "a.requires_grad_()",
)  # fmt: skip
WRITES = (
    "a.add_(b)", "a.mul_(b)", "a.copy_(b)", "a.sub_(1)", "a.div_(2)", "a.pow_(2)", "a.lerp_(b, 0.5)", "a.addcmul_(b, b)",
    "a.zero_()", "a.fill_(2)", "a.sin_()", "a.exp_()", "a.sqrt_()", "a.neg_()", "a.relu_()", "a.clamp_(min=0)", "a.tril_()",
    "a.cumsum_(d)", "a.fill_diagonal_(7)", "a[0] = b", "a[...] = 1.5", "a[a > 0] = 0.25", "a[:, :1] += 1", "a += b", "a *= 2",
    "a[0], a[1] = a[1], a[0]", "a.view(-1)[0] = 9", "a.diagonal().add_(1)", "a.unbind(0)[0].mul_(2)", "a.chunk(2)[0].zero_()",
    "a.expand(2, *a.shape).add_(1)", "a.copy_(a.flip(0))", "a.t_()", "a.unsqueeze_(0)", "a.squeeze_()", "a.transpose_(0, d)",
    "a.swapaxes_(0, d)", "a.as_strided_((2,), (1,))", "a.detach_()", "a.requires_grad_()", "a.set_(b)", "a.data = b",
    "a.data.mul_(2)", "a.masked_fill_(a > 0, 0.5)", "a.masked_scatter_(a > 0, b)", "a.index_fill_(d, torch.tensor([0]), 3)",
    "a.index_copy_(0, torch.tensor([0]), b)", "a.index_put_((torch.tensor([0]),), b)", "a.put_(torch.tensor([0]), b[:1])",
    "a.scatter_(d, torch.zeros_like(a, dtype=torch.long), 1.0)", "torch.add(a, b, out=a)", "torch.mul(a, b, out=b)", "a = b",
)  # fmt: skip
GRADIENTS = (
    "a.sum().backward()", "(a * b).sum().backward()", "a.pow(2).sum().backward(retain_graph=True)", "a.grad = None", "a.grad = b",
    "a.backward(torch.ones_like(a))", "a.grad.add_(1)", "a.retain_grad()",
    "y = torch.autograd.grad(a.sum(), b, allow_unused=True)",
    "y = torch.autograd.grad(a.pow(2).sum(), b, create_graph=True, allow_unused=True)",
    "y = torch.autograd.grad(a, b, torch.ones_like(a), retain_graph=True, allow_unused=True, materialize_grads=True)",
)  # fmt: skip
MODES = (
    "with torch.no_grad(): a.add_(b)", "with torch.no_grad(): y = a.mul_(2)", "with torch.no_grad(): y = a[0].mul_(2)",
    "with torch.no_grad(): a.copy_(b)", "with torch.no_grad(): a[0] = b", "with torch.enable_grad(): a.mul_(2)",
    "with torch.no_grad(): y = a.view(-1)", "with torch.no_grad(): y = a.unbind(0)[0].add_(1)",
)  # fmt: skip
WEIGHTED = ((VIEWS, 22), (RESULTS, 28), (WRITES, 30), (GRADIENTS, 10), (MODES, 10))
NAME = re.compile(r"\b[abd]\b")
VARIABLE = re.compile(r"\bx\d+\b")


@dataclass(frozen=True)
class Name:
    """What a sequence is told and counted under."""

    name: str


@dataclass(frozen=True)
class Sequence:
    """Statements over the variables x0, x1, …"""

    statements: tuple[str, ...]

    @property
    def entry(self) -> Name:
        """The last statement without its variables: findings that end alike are mostly of one cause."""
        return Name(f"sequence: {VARIABLE.sub('x', self.statements[-1]) if self.statements else ''}")

    def program(self) -> Program:
        """Return what a side runs: every statement by itself, then what the variables are."""
        names = sorted(set(VARIABLE.findall(" ".join(self.statements))), key=lambda name: int(name[1:]))
        lines = ["said = []", *(f"{name} = None" for name in names)]
        for number, statement in enumerate(self.statements):
            lines += ["try:", f"    {statement}", "except Exception as error:"]
            lines.append(f"    said.append(f'{number} {{type(error).__name__}}: {{error}}')")
        return "\n".join(lines), f"(said, {', '.join(f'state({name})' for name in names)})", False

    def shorter(self) -> Iterator[Sequence]:
        """Give the sequences with one statement less."""
        for index in reversed(range(len(self.statements))):
            yield replace(self, statements=self.statements[:index] + self.statements[index + 1 :])


def drawn(random: Random) -> Sequence:
    """Draw a sequence; its last statement goes back from its last variable."""
    statements: list[str] = []
    count = random.randint(1, 3)
    for number in range(count):
        statements.append(f"x{number} = {_made(random, number)}")
    for _ in range(random.randint(4, 14)):
        kind = random.choices([one for one, _ in WEIGHTED], [weight for _, weight in WEIGHTED])[0]
        text = _filled(random, random.choice(kind), count)
        if kind is VIEWS or kind is RESULTS:
            text, count = f"x{count} = {text}", count + 1
        statements.append(text)
    return Sequence((*statements, f"x{count - 1}.sum().backward()"))


def _made(random: Random, number: int) -> str:
    dtype = random.choice(FLOATS + OTHERS) if random.random() < 0.3 else random.choice(FLOATS[:2])
    text = f"made({random.choice(SHAPES)}, '{dtype}', {number})"
    return f"{text}.requires_grad_()" if dtype in FLOATS and random.random() < 0.7 else text


def _filled(random: Random, template: str, count: int) -> str:
    chosen = {
        "a": f"x{random.randrange(count)}",
        "b": f"x{random.randrange(count)}",
        "d": str(random.choice((0, 1, -1, -2))),
    }
    return NAME.sub(lambda found: chosen[found.group()], template)


class Sequences(Campaign):
    """One lane that makes random sequences in place of calls."""

    def __init__(self, pair: Pair, entries: list[Entry], findings: Findings, seed: int) -> None:
        super().__init__(pair, entries, findings, seed)
        self.causes: set[str] = set()

    def draws(self, wanted: int) -> list[Any]:
        """Draw as many sequences."""
        return [drawn(self.random) for _ in range(min(wanted, 200))]

    def count(self, call: Any, theirs: Outcome, ours: Outcome | None) -> bool:
        """Count a sequence; tell whether both sides made it."""
        if theirs.death or ours is None:
            self.tally.dropped[theirs.death or "setup"] += 1
            return False
        self.tally.answered[theirs.seen[0]] += 1
        return True

    def follow(self, call: Any, program: Program, finding: Finding, end: End | None) -> None:
        """Shrink a finding of a new sort, and keep the first of its kind with its last statement."""
        if finding.signature in self.causes:
            self.tally.dropped["known sort"] += 1
            return
        self.causes.add(finding.signature)
        small, found = self.shrunk(call, finding)
        name, program = small.entry.name, small.program()
        row = self.findings.rows.accepting(name, found, program)
        if row is not None:
            self.tally.accepted[row] += 1
            return
        self.tally.kinds[found.kind] += 1
        if self.findings.take(name, found):
            self.findings.keep(Report(name, found, ("\n".join(small.statements), program[1], False)))

    def shrunk(self, sequence: Sequence, finding: Finding) -> tuple[Sequence, Finding]:
        """Return the shortest sequence found that still differs in that way."""
        best, found = sequence, finding
        while True:
            tried = list(best.shorter())
            judged = self.pair.judge([one.program() for one in tried])
            kept = [
                (one, other)
                for one, (_, _, other) in zip(tried, judged, strict=True)
                if other is not None and other.kind == finding.kind
            ]
            if not kept:
                return best, found
            best, found = kept[0]
