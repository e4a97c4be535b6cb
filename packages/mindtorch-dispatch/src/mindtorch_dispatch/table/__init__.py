"""The op table: rows, packets, kernels, and what is data about operators (tags, `out=` forms)."""

from .registration import registration
from .rows import (
    COPIES,
    CORE,
    DYNAMIC,
    DuplicateOpError,
    Kernel,
    OpRow,
    Packet,
    RowKind,
    find_packet,
    find_row,
    kernels,
    op,
    packets,
    register_kernel,
    set_default_dtype_plans,
)

__all__ = [
    "COPIES",
    "CORE",
    "DYNAMIC",
    "DuplicateOpError",
    "Kernel",
    "OpRow",
    "Packet",
    "RowKind",
    "find_packet",
    "find_row",
    "kernels",
    "op",
    "packets",
    "register_kernel",
    "registration",
    "set_default_dtype_plans",
]
