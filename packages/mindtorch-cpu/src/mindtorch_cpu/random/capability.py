"""Which of torch's compiled variants this machine would run: they differ in the last bit of some random numbers.

torch compiles its loops several times and picks by CPU at start; `ATEN_CPU_CAPABILITY` overrides the choice there
and here. On x86-64 the AVX2 and AVX512 builds fuse multiply-adds and compute float32 normals with vector
polynomials; the default build does neither. On other architectures there is one build, with fused multiply-adds
where the instruction set always has them, and the C library's functions.
"""

from __future__ import annotations

import os
import platform
from typing import NamedTuple

from numpy._core import _multiarray_umath


class Capability(NamedTuple):
    """`fused`: multiply-adds round once. `vector_normal`: float32 normals come from the vector polynomials."""

    fused: bool
    vector_normal: bool


_X86 = ("x86_64", "amd64", "i686", "i386")
_ALWAYS_FUSED = ("aarch64", "arm64", "ppc64le", "s390x", "riscv64")


def detect(machine: str, has_avx2: bool, override: str) -> Capability:
    """Return what torch would use on a `machine` of that name; `override` is the environment variable's value."""
    name = machine.lower()
    if name in _X86:
        vector = has_avx2 and override != "default"
        return Capability(vector, vector)
    return Capability(name in _ALWAYS_FUSED, False)


def _has_avx2() -> bool:
    features = getattr(_multiarray_umath, "__cpu_features__", {})
    return bool(features.get("AVX2") and features.get("FMA3"))


capability = detect(platform.machine(), _has_avx2(), os.environ.get("ATEN_CPU_CAPABILITY", ""))
"""The variant of this process."""
