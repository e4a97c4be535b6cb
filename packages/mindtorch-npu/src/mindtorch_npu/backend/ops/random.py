"""Random numbers from the device's own stream."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray, new_array
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import written
from mindtorch_npu.generator import NpuGenerator, RecordedDraws, default_generator


def stream_of(out: DeviceArray, generator: object) -> NpuGenerator:
    """Return the stream that a call draws from, the device's own by default. RuntimeError for a host's generator."""
    stream = getattr(generator, "device_stream", generator)
    if stream is not None and not isinstance(stream, NpuGenerator):
        raise RuntimeError("Expected a 'npu' device type for generator but found 'cpu'")
    return stream or default_generator(out.device)


def draw(out: DeviceArray, generator: object, unsigned: bool = False, count: int | None = None) -> tuple[int, int]:
    """Return seed and offset for the numbers of `out`, or for so many, and move the stream on."""
    seed, offset = stream_of(out, generator).draw(out.size if count is None else count)
    return (seed % 2**64 if unsigned else seed), offset


def _places(draws: RecordedDraws, device: int) -> tuple[DeviceArray, DeviceArray]:
    """Return where a graph's operators find seed and first offset, which each replay writes anew."""
    if draws.places is None:
        draws.places = tuple(new_array((1,), np.dtype(np.int64), device) for _ in range(2))

        def fill(*values: int) -> None:
            for place, value in zip(draws.places, values, strict=True):
                launch("aclnnInplaceFillScalar", [place, value])

        draws.fill = fill
    found: tuple[DeviceArray, DeviceArray] = draws.places
    return found


def launch_drawing(
    name: str,
    before: Sequence[Any],
    out: DeviceArray,
    generator: object,
    after: Sequence[Any] = (),
    count: int | None = None,
    recorded: str | None = None,
) -> None:
    """Launch an operator that takes seed and offset between its other arguments.

    In a graph it is the one that reads both from memory: `recorded`, by default the operator with `Tensor` at its end.
    """
    unsigned = name == "aclnnInplaceUniform"
    draws = stream_of(out, generator).recorded_draws()
    if draws is None:
        launch(name, [*before, *draw(out, generator, unsigned, count), *after])
        return
    places = _places(draws, out.device)
    if unsigned:
        places = tuple(DeviceArray(one.storage, one.shape, np.dtype(np.uint64), one.steps) for one in places)  # type: ignore[assignment]
    launch(recorded or name + "Tensor", [*before, *places, draws.draw(out.size if count is None else count), *after])


def is_recorded(out: DeviceArray, generator: object) -> bool:
    """Return whether a graph is being recorded that will draw anew at every replay."""
    return stream_of(out, generator).recorded_draws() is not None


def _uniform(out: DeviceArray, self: DeviceArray | None, low: float, high: float, generator: object) -> None:
    launch_drawing("aclnnInplaceUniform", [out, float(low), float(high)], out, generator)


def _normal(out: DeviceArray, self: DeviceArray | None, mean: float, std: float, generator: object) -> None:
    if out.dtype.kind == "c":  # real and imaginary parts share the variance
        for imaginary in (False, True):
            centre = complex(mean).imag if imaginary else complex(mean).real
            _normal(on.component(out, imaginary), None, centre, std / math.sqrt(2), generator)
        return
    launch_drawing("aclnnInplaceNormal", [out, float(mean), float(std)], out, generator)


def _compared(out: DeviceArray, p: Any, generator: object) -> None:
    """Draw true with chance `p` by way of uniform numbers, as the operators that draw it read no seed from memory."""
    numbers = new_array(out.shape, np.dtype(np.float32), out.device)
    _uniform(numbers, None, 0.0, 1.0, generator)
    on.copied(out, on.compare("Lt", numbers, p))


def _bernoulli(out: DeviceArray, self: DeviceArray, p: float, generator: object) -> None:
    if is_recorded(out, generator):
        _compared(out, float(p), generator)
        return
    launch("aclnnInplaceBernoulli", [out, float(p), *draw(out, generator)])


def _bernoulli_each(out: DeviceArray, self: DeviceArray, p: object, generator: object) -> None:
    if is_recorded(out, generator):
        _compared(out, p, generator)
        return
    launch("aclnnInplaceBernoulliTensor", [out, p, *draw(out, generator)])


def _integers(out: DeviceArray, span: tuple[int, int | None], generator: object) -> None:
    low, count = span
    high = 2**63 - 1 if count is None else min(low + count, 2**63 - 1)
    launch_drawing("aclnnInplaceRandom", [out, low, high], out, generator)


def _whole_numbers(dtype: Any) -> int:
    """Return how many whole numbers from 0 on a type has without gaps."""
    if dtype.kind == "b":
        return 2
    return int(np.iinfo(dtype).max) + 1 if dtype.kind in "iu" else 2 ** (ml_dtypes.finfo(dtype).nmant + 1) + 1  # type: ignore[no-untyped-call]


written("uniform_", "InplaceUniform", _uniform)
written("normal_", "InplaceNormal", _normal)
written(("bernoulli_.float", "bernoulli.p"), "InplaceBernoulli", _bernoulli)
written(("bernoulli_.Tensor", "bernoulli.Tensor"), "InplaceBernoulliTensor", _bernoulli_each)
written("bernoulli", "BernoulliTensor", lambda out, self, generator: _bernoulli_each(out, self, self, generator))
written("rand", "InplaceUniform", lambda out, *options: _uniform(out, None, 0.0, 1.0, None))
written("rand_like", "InplaceUniform", lambda out, *options: _uniform(out, None, 0.0, 1.0, None))
written(
    ("rand.generator", "rand_like.generator"),
    "InplaceUniform",
    lambda out, given, generator, *options: _uniform(out, None, 0.0, 1.0, generator),
)
written("randn", "InplaceNormal", lambda out, *options: _normal(out, None, 0.0, 1.0, None))
written("randn_like", "InplaceNormal", lambda out, *options: _normal(out, None, 0.0, 1.0, None))
written(
    ("randn.generator", "randn_like.generator"),
    "InplaceNormal",
    lambda out, given, generator, *options: _normal(out, None, 0.0, 1.0, generator),
)
written(("randint", "randint.low"), "InplaceRandom", lambda out, span, *options: _integers(out, span, None))
written(
    "randint.generator",
    "InplaceRandom",
    lambda out, span, size, generator, *options: _integers(out, span, generator),
)
written(
    "randint.low_generator",
    "InplaceRandom",
    lambda out, span, high, size, generator, *options: _integers(out, span, generator),
)
written(
    ("randint_like", "randint_like.low_dtype"),
    "InplaceRandom",
    lambda out, self, span, *rest: _integers(out, span, None),
)
written(
    "randint_like.generator",
    "InplaceRandom",
    lambda out, self, span, generator, *options: _integers(out, span, generator),
)
written(
    "randint_like.low_generator_dtype",
    "InplaceRandom",
    lambda out, self, span, high, generator, *options: _integers(out, span, generator),
)
written(
    "random_", "InplaceRandom", lambda out, self, generator: _integers(out, (0, _whole_numbers(out.dtype)), generator)
)
written("random_.to", "InplaceRandom", lambda out, self, span, generator: _integers(out, span, generator))
written(
    "random_.from", "InplaceRandom", lambda out, self, low, count, generator: _integers(out, (low, count), generator)
)
written("randperm", "Randperm", lambda out, n, *options: launch("aclnnRandperm", [n, *draw(out, None), out]))
written(
    "randperm.generator",
    "Randperm",
    lambda out, n, generator, *options: launch("aclnnRandperm", [n, *draw(out, generator), out]),
)
