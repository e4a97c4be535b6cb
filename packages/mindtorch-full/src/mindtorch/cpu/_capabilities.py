"""What the processor can do, as its operating system tells it."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import re
from pathlib import Path
from typing import Any

_CPUINFO = Path("/proc/cpuinfo")
_FEATURES = """
sse sse2 sse3:pni ssse3 sse4_1 sse4_2 sse4a avx avx2 avx_vnni avx512_f:avx512f avx512_cd:avx512cd avx512_dq:avx512dq
avx512_bw:avx512bw avx512_vl:avx512vl avx512_ifma:avx512ifma avx512_vbmi:avx512vbmi avx512_vbmi2 avx512_bitalg
avx512_vpopcntdq avx512_vnni avx512_bf16 avx512_fp16 avx512_vp2intersect avx512_4vnniw avx512_4fmaps amx_bf16 amx_tile
amx_int8 amx_fp16 avx_vnni_int8 avx_vnni_int16 avx_ne_convert avx10_1 avx10_2 fma3:fma fma4 f16c bmi:bmi1 bmi2 popcnt
lzcnt:abm aes sha:sha_ni clflush clflushopt clwb
""".split()
_ARM = "neon:asimd fp16_arith:asimdhp rdm:asimdrdm dot:asimddp jscvt fcma i8mm bf16 sve sve2 sme".split()


@functools.cache
def capabilities() -> dict[str, Any]:
    """Return the features of the processor by the names torch gives them, and its kind and number of cores."""
    text = _CPUINFO.read_text() if _CPUINFO.exists() else ""
    line = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE)
    flags = set(line[1].split()) if line else set()
    name = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    sockets = {found for found in re.findall(r"^physical id\s*:\s*(\d+)$", text, re.MULTILINE)}
    cores = set(re.findall(r"^core id\s*:\s*(\d+)$", text, re.MULTILINE))
    logical = os.cpu_count() or 1
    arm = platform.machine() in ("aarch64", "arm64")
    found: dict[str, Any] = {}
    for entry in _ARM if arm else _FEATURES:
        ours, _, theirs = entry.partition(":")
        found[ours] = (theirs or ours) in flags
    return {
        **found,
        "architecture": platform.machine(),
        "cpu_name": name[1] if name else platform.processor(),
        "num_sockets": max(len(sockets), 1),
        "num_physical_cores": max(len(sockets), 1) * len(cores) if cores else logical,
        "num_logical_cores": logical,
    }


_ARCH_PRCTL, _REQUEST, _TILE_DATA = 158, 0x1023, 18


def request_tiles() -> bool:
    """Ask Linux to let this process use the processor's tiles; False where it has none."""
    if not capabilities().get("amx_tile") or platform.system() != "Linux":
        return False
    return bool(ctypes.CDLL(None).syscall(_ARCH_PRCTL, _REQUEST, _TILE_DATA) == 0)
