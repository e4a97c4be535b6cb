"""`dir` of a module lists what torch's lists, names that are made when they are first asked for among them.

Libraries look through `dir(torch)` to take names over, and editors complete from it.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="oracle")

MODULES = (
    "torch torch.nn torch.optim torch.utils torch.nn.parallel torch.distributions torch.func torch.fft torch.linalg"
)
LIST = """
import functools, json, sys
lib = __import__(sys.argv[1])
modules = {name: functools.reduce(getattr, name.split(".")[1:], lib) for name in sys.argv[2].split()}
listed = {name: dir(module) for name, module in modules.items()}
wrong = {name: [one for one in names if not hasattr(modules[name], one)] for name, names in listed.items()}
print(json.dumps([listed, wrong]))
"""

LEFT_OUT = set(
    "AVG AggregationType LoggerBase PRIVATE_OPS SUM USE_GLOBAL_DEPS USE_RTLD_GLOBAL_WITH_LIBTORCH TYPE_CHECKING Tensor "
    "ThroughputBenchmark builtins classes classproperty common_args common_notes compiled_with_cxx11_abi copyreg cpp "
    "cpp_backtrace ctypes deprecated factory_common_args functools get_file_path glob inspect math os platform "
    "prepare_multiprocessing_environment profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 quantized_gru quantized_lstm "
    "resize_as_sparse_ saddmm textwrap threading torch throughput_benchmark warnings weakref windows cmake_prefix_path "
    "backcompat comm scatter_gather DistributedDataParallelCPU".split()
)
"""What torch's modules import for themselves, and what stands in missing_names.txt or raises for its name."""


def _listed(lib: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    command = [sys.executable, "-W", "ignore", "-c", LIST, lib, MODULES]
    return tuple(
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    )


def test_names_are_listed_and_are_there() -> None:
    (ours, wrong), (theirs, _) = _listed("mindtorch"), _listed("torch")
    missing = {
        name: sorted(one for one in set(theirs[name]) - set(ours[name]) - LEFT_OUT if not one.startswith("_"))
        for name in theirs
    }
    assert {name: names for name, names in missing.items() if names} == {}
    assert {name: names for name, names in wrong.items() if names} == {}
