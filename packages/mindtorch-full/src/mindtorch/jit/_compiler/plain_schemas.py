"""Operators that compiled code calls on plain values, and those on tensors that are no operators of ATen here."""

from __future__ import annotations

from .schemas import Argument, Schema, schemas_of
from .types import BOOL, INT, STR, TENSOR, Type, list_of, parse, tuple_of

_TEXTS = """
size(Tensor self) -> List[int]
size(Tensor self, int dim) -> int
stride(Tensor self) -> List[int]
stride(Tensor self, int dim) -> int
dim(Tensor self) -> int
len(Tensor t) -> int
numel(Tensor self) -> int
item(Tensor self) -> number
is_floating_point(Tensor self) -> bool
is_complex(Tensor self) -> bool
is_contiguous(Tensor self) -> bool
storage_offset(Tensor self) -> int
element_size(Tensor self) -> int
get_device(Tensor self) -> int
cpu(Tensor self) -> Tensor
cuda(Tensor self) -> Tensor
backward(Tensor self) -> NoneType
requires_grad_(Tensor self, bool requires_grad=True) -> Tensor
is_grad_enabled() -> bool
manual_seed(int seed) -> NoneType
device(str a) -> Device
warn(str message, int stacklevel=2) -> NoneType
split(Tensor self, List[int] split_sizes, int dim=0) -> List[Tensor]
tensor(Any data, *, Optional[int] dtype=None, Optional[Device] device=None, bool requires_grad=False) -> Tensor
as_tensor(Any data, *, Optional[int] dtype=None, Optional[Device] device=None) -> Tensor
to(Tensor self, Optional[Device] device, Optional[int] dtype=None, bool non_blocking=False, bool copy=False) -> Tensor
to(Tensor self, Optional[int] dtype=None, bool non_blocking=False, bool copy=False) -> Tensor
upper(str self) -> str
lower(str self) -> str
strip(str self, str chars=" \\n\\t\\f\\v") -> str
lstrip(str self, str chars=" \\n\\t\\f\\v") -> str
rstrip(str self, str chars=" \\n\\t\\f\\v") -> str
capitalize(str self) -> str
title(str self) -> str
swapcase(str self) -> str
startswith(str self, str substr, int start=0, int end=-1) -> bool
endswith(str self, str substr, int start=0, int end=-1) -> bool
find(str self, str substr, int start=0, int end=-1) -> int
rfind(str self, str substr, int start=0, int end=-1) -> int
count(str self, str substr, int start=0, int end=-1) -> int
replace(str self, str old, str new, int max=-1) -> str
split(str self, Optional[str] separator=None, int max=-1) -> List[str]
splitlines(str self, bool keepends=False) -> List[str]
join(str self, List[str] values) -> str
isdigit(str self) -> bool
isalpha(str self) -> bool
isalnum(str self) -> bool
isspace(str self) -> bool
isupper(str self) -> bool
islower(str self) -> bool
zfill(str self, int width) -> str
center(str self, int width, str fillchar=" ") -> str
ljust(str self, int width, str fillchar=" ") -> str
rjust(str self, int width, str fillchar=" ") -> str
len(str s) -> int
any(List[bool] self) -> bool
all(List[bool] self) -> bool
floor(number a) -> int
ceil(number a) -> int
round(number a) -> float
sqrt(number a) -> float
exp(number a) -> float
log(number a) -> float
log2(number a) -> float
log10(number a) -> float
log1p(number a) -> float
sin(number a) -> float
cos(number a) -> float
tan(number a) -> float
tanh(number a) -> float
asin(number a) -> float
acos(number a) -> float
atan(number a) -> float
atan2(number a, number b) -> float
degrees(number a) -> float
radians(number a) -> float
fabs(number a) -> float
fmod(number a, number b) -> float
isnan(float a) -> bool
isinf(float a) -> bool
isfinite(float a) -> bool
gcd(int a, int b) -> int
factorial(int a) -> int
"""


def _parsed() -> dict[str, list[Schema]]:
    found: dict[str, list[Schema]] = {}
    for line in _TEXTS.strip().splitlines():
        name, _, rest = line.partition("(")
        given, _, result = rest.rpartition(") -> ")
        arguments, by_name = [], False
        for one in given.split(", ") if given else []:
            if one == "*":
                by_name = True
                continue
            kind, _, said = one.partition(" ")
            word, has, default = said.partition("=")
            arguments.append(Argument(word, parse(kind), eval(default) if has else None, not has, by_name))
        found.setdefault(name, []).append(Schema(f"{name}({given}) -> {result}", arguments, [parse(result)]))
    return found


PLAIN = _parsed()
"""Overloads by the name of the operator."""


def overloads(name: str, namespace: str) -> list[Schema]:
    """Return all overloads of an operator; those of ATen come first."""
    found = list(schemas_of(name, namespace))
    if namespace == "aten":
        found += PLAIN.get(name, [])
    return found


def method_of_list(name: str, kind: Type) -> tuple[list[Type], Type | None, int] | None:
    """Return what a method of lists takes, what it gives and how many arguments it needs; None for no such method."""
    of = kind.element
    table: dict[str, tuple[list[Type], Type | None, int]] = {
        "append": ([of], kind, 1), "extend": ([kind], None, 1), "insert": ([INT, of], None, 2), "pop": ([INT], of, 0),
        "clear": ([], None, 0), "reverse": ([], None, 0), "sort": ([BOOL], None, 0), "index": ([of], INT, 1),
        "count": ([of], INT, 1), "copy": ([], kind, 0), "remove": ([of], None, 1),
    }  # fmt: skip
    return table.get(name)


def method_of_dict(name: str, kind: Type) -> tuple[list[Type], Type | None, int] | None:
    """Return the same of a method of dicts."""
    key, value = kind.args
    table: dict[str, tuple[list[Type], Type | None, int]] = {
        "keys": ([], list_of(key), 0), "values": ([], list_of(value), 0), "items": ([], list_of(tuple_of(key, value)), 0),
        "get": ([key, value], value, 1), "pop": ([key, value], value, 1), "setdefault": ([key, value], value, 2),
        "update": ([kind], None, 1), "clear": ([], None, 0), "copy": ([], kind, 0),
    }  # fmt: skip
    return table.get(name)


ATTRIBUTES = {
    "dtype": INT, "device": Type("Device"), "layout": INT, "is_cuda": BOOL, "is_cpu": BOOL, "is_sparse": BOOL,
    "is_quantized": BOOL, "is_meta": BOOL, "is_mkldnn": BOOL, "is_nested": BOOL, "requires_grad": BOOL, "data": TENSOR,
    "grad": Type("Optional", (TENSOR,)), "itemsize": INT, "nbytes": INT, "T": TENSOR, "H": TENSOR, "mT": TENSOR, "mH": TENSOR,
    "is_mps": BOOL, "is_xpu": BOOL, "name": STR,
}  # fmt: skip
"""Attributes of tensors, which are operators of `prim`."""
