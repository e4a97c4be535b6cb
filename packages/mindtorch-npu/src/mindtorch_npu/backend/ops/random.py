"""Random numbers from the device's own stream."""

from __future__ import annotations

import math

from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import written
from mindtorch_npu.generator import NpuGenerator, default_generator


def draw(out: DeviceArray, generator: object, unsigned: bool = False, count: int | None = None) -> tuple[int, int]:
    """Return seed and offset for the numbers of `out`, or for so many, and move the stream on.

    RuntimeError for a host's generator.
    """
    stream = getattr(generator, "device_stream", generator)
    if stream is not None and not isinstance(stream, NpuGenerator):
        raise RuntimeError("Expected a 'npu' device type for generator but found 'cpu'")
    seed, offset = (stream or default_generator(out.device)).draw(out.size if count is None else count)
    return (seed % 2**64 if unsigned else seed), offset


def _uniform(out: DeviceArray, self: DeviceArray | None, low: float, high: float, generator: object) -> None:
    launch("aclnnInplaceUniform", [out, float(low), float(high), *draw(out, generator, unsigned=True)])


def _normal(out: DeviceArray, self: DeviceArray | None, mean: float, std: float, generator: object) -> None:
    if out.dtype.kind == "c":  # real and imaginary parts share the variance
        for imaginary in (False, True):
            centre = complex(mean).imag if imaginary else complex(mean).real
            _normal(on.component(out, imaginary), None, centre, std / math.sqrt(2), generator)
        return
    launch("aclnnInplaceNormal", [out, float(mean), float(std), *draw(out, generator)])


def _bernoulli(out: DeviceArray, self: DeviceArray, p: float, generator: object) -> None:
    launch("aclnnInplaceBernoulli", [out, float(p), *draw(out, generator)])


def _bernoulli_each(out: DeviceArray, self: DeviceArray, p: object, generator: object) -> None:
    launch("aclnnInplaceBernoulliTensor", [out, p, *draw(out, generator)])


def _integers(out: DeviceArray, span: tuple[int, int | None], generator: object) -> None:
    low, count = span
    high = 2**63 - 1 if count is None else low + count
    launch("aclnnInplaceRandom", [out, low, high, *draw(out, generator)])


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
