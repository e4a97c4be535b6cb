"""How products of matrices and vectors keep tensors spread."""

from __future__ import annotations

from mindtorch.distributed.tensor._choices import Answer
from mindtorch.distributed.tensor._rules import Call, R, along, rule
from mindtorch.distributed.tensor.placement_types import Partial, Placement, Shard

_LETTERS = {
    "mm": ("mk", "kn", "mn"), "addmm": ("mk", "kn", "mn"), "bmm": ("bmk", "bkn", "bmn"),
    "baddbmm": ("bmk", "bkn", "bmn"), "mv": ("mk", "k", "m"), "addmv": ("mk", "k", "m"), "dot": ("k", "k", ""),
}  # fmt: skip
"""The dimensions of both factors and of the product, by letters: what the product has not is summed over."""


@rule(*_LETTERS)
def _product(call: Call) -> Answer:
    left, right, out = _LETTERS[call.name]
    sizes = dict(zip(left + right, (*call.shapes[-2], *call.shapes[-1]), strict=True))
    whole = tuple(sizes[letter] for letter in out)
    bias = call.shapes[:-2]

    def choice(factors: list[Placement], result: Placement) -> Answer:
        added = [along(shape, whole, result.dim) if isinstance(result, Shard) else result for shape in bias]
        return [*added, *factors], result

    choices = [choice([_cut(left, letter), _cut(right, letter)], Shard(out.index(letter))) for letter in out]
    choices.append(choice([_cut(left, "k"), _cut(right, "k")], Partial()))
    terms = next((p for p in call.placements[-2:] if isinstance(p, Partial) and p.reduce_op in ("sum", "avg")), None)
    if terms is not None:
        choices += [choice([terms, R], terms), choice([R, terms], terms)]
    return call.cheapest(choices)


def _cut(letters: str, letter: str) -> Placement:
    return Shard(letters.index(letter)) if letter in letters else R
