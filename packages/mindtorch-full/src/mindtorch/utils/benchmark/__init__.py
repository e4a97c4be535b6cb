"""`torch.utils.benchmark`: timing snippets with care, and comparing them."""

from mindtorch._naming import adopt
from mindtorch.utils.benchmark.utils import common, compare
from mindtorch.utils.benchmark.utils.common import (
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    set_torch_threads,
    trim_sigfig,
    unit_to_english,
)
from mindtorch.utils.benchmark.utils.compare import Compare
from mindtorch.utils.benchmark.utils.fuzzer import FuzzedParameter, FuzzedTensor, Fuzzer, ParameterAlias
from mindtorch.utils.benchmark.utils.sparse_fuzzer import FuzzedSparseTensor
from mindtorch.utils.benchmark.utils.timer import Language, Timer, timer

__all__ = [
    "Compare",
    "FuzzedParameter",
    "FuzzedSparseTensor",
    "FuzzedTensor",
    "Fuzzer",
    "Language",
    "Measurement",
    "ParameterAlias",
    "TaskSpec",
    "Timer",
    "common",
    "compare",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "timer",
    "trim_sigfig",
    "unit_to_english",
]

adopt(globals())
