"""`torch._C._linalg`: the operators behind `torch.linalg`, under the names that generated code calls them by."""

from typing import Any

from mindtorch._naming import missing_attribute
from mindtorch.tensor.absent_ops import absent
from mindtorch_dispatch.call import function

_missing = missing_attribute(__name__)


def __getattr__(name: str) -> Any:
    found = function(name) if name.startswith("linalg_") else None
    found = found if found is not None else absent(name, "_linalg")
    return found if found is not None else _missing(name)
