"""`torch.utils._dtype_abbrs`: short names of dtypes, for logs."""

import re
from typing import Any

from mindtorch._dtypes import DTYPES
from mindtorch._naming import adopt

__all__ = ["dtype_abbrs"]

_KINDS = {"bfloat": "bf", "float": "f", "complex": "c", "int": "i", "uint": "u", "bool": "b8", "bits": "b"}


def _short(name: str) -> str:
    kind = re.match("[a-z]+", name)[0]  # type: ignore[index]
    size = name[len(kind) :].replace("_", "")
    if kind == "bits" and "x" not in size:
        size += "x1"
    return _KINDS[kind] + size


def _is_quantized(dtype: Any) -> bool:
    return str(dtype).startswith("torch.q")


dtype_abbrs = {
    dtype: _short(str(dtype).removeprefix("torch.")) for dtype in DTYPES.values() if not _is_quantized(dtype)
}

adopt(globals())
