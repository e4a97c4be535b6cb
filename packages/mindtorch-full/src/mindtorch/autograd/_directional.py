"""`gradcheck(fast_mode=True)`: one random direction per input and one weighting per output instead of every element.

With u the direction and v the weights, v' J u by differences is compared with what backward (v' J, times u) and forward
mode (J u) give. Directions are positive, so that errors do not cancel, and the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_autograd.backward import grad
from mindtorch_cpu.generator import Generator
from mindtorch_dispatch.call import aten
from mindtorch_storage.dtype import float32, float64

from ._forward_check import differences_along, tangents_along
from ._mismatch import Failure
from ._numerical import part_of

Close = Callable[[Any, Any, float], bool]
"""Compares two results; the last argument is what to multiply the absolute tolerance with."""


class Directions:
    """The directions of the inputs and the weights of the outputs in one check, the same in every run.

    Complex inputs also move along the imaginary axis: in the check of forward mode as far as along the real one, in that
    of backward as far as `turned` says.
    """

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        generator = Generator()
        self.inputs: list[Any] = []
        self.turned: list[Any] = []
        self.along_i: list[Any] = []
        for one in inputs:
            self.inputs.append(_vector(one, generator).to(one.dtype))
            self.turned.append(_vector(one, generator) * 1j if one.dtype.is_complex else None)
            self.along_i.append(self.inputs[-1] * 1j if one.dtype.is_complex else None)
        self.outputs = [_vector(one, generator) for one in outputs]


def _vector(like: Any, generator: Any) -> Any:
    """Return a positive real vector of length one, shaped like a tensor."""
    made = aten.rand(list(like.shape), generator=generator, dtype=float32).to(float64)
    return made / aten.linalg_vector_norm(made) if like.numel() else made


def _slack(*vectors: Any) -> float:
    """Return how much more than an element a sum weighted by `vectors` may be off, when every element is off as much."""
    product = 1.0
    for one in vectors:
        product *= float(one.sum()) if one.numel() else 1.0
    return product


class Differences:
    """The central differences of all outputs along an input's direction, computed when first asked for."""

    def __init__(self, func: Callable[..., Any], inputs: Any, targets: Sequence[Any], chosen: Directions, eps: float):
        self.func, self.inputs, self.targets, self.directions, self.eps = func, inputs, targets, chosen, eps
        self._known: dict[tuple[int, int], list[Any]] = {}

    def complete(self) -> None:
        """Compute what the check of backward compares with."""
        for place, directions in enumerate(zip(self.directions.inputs, self.directions.turned, strict=True)):
            for direction in directions:
                if direction is not None:
                    self.of(place, direction)

    def of(self, place: int, direction: Any) -> list[Any]:
        """Return the outputs' differences along `direction`, a vector that belongs to input `place`."""
        key = place, id(direction)
        if key not in self._known:
            self._known[key] = differences_along(self.func, self.inputs, self.targets[place], direction, self.eps)
        return self._known[key]


Pass = tuple[int, Any, Any, Any]
"""A weighted backward: the output's number, the output, the gradient it was given, the gradients of the inputs."""


def weighted_backward(outputs: Sequence[Any], differences: Differences, imaginary: bool) -> list[Pass]:
    """Return the gradients of the inputs for each weighted output; of complex ones only, for their imaginary part."""
    passes = []
    for number, output in enumerate(outputs):
        if imaginary and not output.dtype.is_complex:
            continue
        weights = differences.directions.outputs[number]
        cotangent = weights * 1j if imaginary else weights.to(output.dtype)
        found = grad(output, differences.targets, cotangent, retain_graph=True, allow_unused=True)
        passes.append((number, output, cotangent, [None if one is None else one.to_dense() for one in found]))
    return passes


def backward_failure(
    passes: Sequence[Pass], numbers: Sequence[int], differences: Differences, imaginary: bool, close: Close
) -> Failure | None:
    """Return the first output and input whose weighted backward is not that of differences, None when all agree.

    `numbers` are the places of the recorded outputs among all; `imaginary` chooses the part of complex outputs.
    """
    chosen = differences.directions
    for number, _, _, found in passes:
        at, weights = numbers[number], chosen.outputs[number]
        for place, one in enumerate(found):
            direction, turned = chosen.inputs[place], chosen.turned[place]
            want = (weights * part_of(differences.of(place, direction)[at], imaginary)).sum()
            have = aten.zeros_like(want) if one is None else (aten.real(one.detach()) * aten.real(direction)).sum()
            slack = _slack(weights, aten.real(direction))
            if turned is not None:
                want = aten.complex(want, (weights * part_of(differences.of(place, turned)[at], imaginary)).sum())
                along = have if one is None else (aten.imag(one.detach()) * aten.imag(turned)).sum()
                have = aten.complex(have, along)
            if not close(have, want, slack):
                return number, place, want.item(), have.item()
    return None


def forward_failure(numbers: Sequence[int], differences: Differences, imaginary: bool, close: Close) -> Failure | None:
    """Return the first output and input whose tangent is not that of differences, None when all agree."""
    chosen = differences.directions
    for place, target in enumerate(differences.targets):
        direction = chosen.along_i[place] if imaginary else chosen.inputs[place]
        if direction is None:
            continue
        found = tangents_along(differences.func, differences.inputs, target, direction)
        wanted = differences.of(place, direction)
        for number, at in enumerate(numbers):
            have, want = found[at], wanted[at]
            if not close(have, want, _slack(aten.real(chosen.inputs[place]))):
                return number, place, want.reshape(-1), have.reshape(-1)
    return None


def weighted_backward_again(passes: Sequence[Pass], targets: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return pairs of gradients: those of a pass, and those of another one with the same weights."""
    pairs = []
    for _, output, cotangent, first in passes:
        second = grad(output, targets, cotangent, retain_graph=True, allow_unused=True)
        pairs += [(one, again.to_dense()) for one, again in zip(first, second, strict=True) if one is not None]
    return pairs
