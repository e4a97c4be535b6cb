"""`torch.backends`: settings and answers beside torch's, and random sequences of the precision settings."""

import random

import pytest

import mindtorch.backends as ours

from .module_parity import assert_same_call, outcome

torch = pytest.importorskip("torch", reason="oracle")

theirs = torch.backends


@pytest.fixture(autouse=True)
def _flags_may_change(monkeypatch):
    """torch's own test package, which the op sweep imports, freezes the flags for the whole process."""
    monkeypatch.setitem(theirs.flags_frozen.__globals__, "__allow_nonbracketed_mutation_flag", True)


SETTINGS = [
    ("", "fp32_precision"),
    ("cudnn", "fp32_precision"),
    ("cudnn.conv", "fp32_precision"),
    ("cudnn.rnn", "fp32_precision"),
    ("cuda.matmul", "fp32_precision"),
    ("mkldnn", "fp32_precision"),
    ("mkldnn.conv", "fp32_precision"),
    ("mkldnn.rnn", "fp32_precision"),
    ("mkldnn.matmul", "fp32_precision"),
    ("cudnn", "allow_tf32"),
    ("cuda.matmul", "allow_tf32"),
]


def owner(module, path):
    for name in filter(None, path.split(".")):
        module = getattr(module, name)
    return module


SWITCHES = [
    (path, name)
    for path, names in (("cudnn", "enabled benchmark deterministic"), ("mkldnn", "enabled deterministic"))
    for name in names.split()
]


def said(module):
    return [(path, name, getattr(owner(module, path), name)) for path, name in SETTINGS[:9] + SWITCHES]


BEFORE = [(module, said(module)) for module in (ours, theirs)]
"""What both sides say when this file is collected, before any test."""


@pytest.fixture(autouse=True)
def _settings_stay(_flags_may_change):
    """Other tests ask torch how it convolves and exports, which follows these settings."""
    yield
    for module, before in BEFORE:
        for path, name, value in before:
            setattr(owner(module, path), name, value)
        assert said(module) == before


def put(holder, name, value):
    setattr(holder, name, value)
    return getattr(holder, name)


CALLS = """
c.fp32_precision
put(c, "fp32_precision", "bad")
c.cudnn.enabled, c.cudnn.benchmark, c.cudnn.deterministic, c.cudnn.benchmark_limit, c.cudnn.allow_tf32
put(c.cudnn, "enabled", False), put(c.cudnn, "enabled", True)
put(c.cudnn, "benchmark", True), put(c.cudnn, "benchmark", False)
put(c.cudnn, "deterministic", True), put(c.cudnn, "deterministic", False)
put(c.cudnn, "enabled", 3)
put(c.cudnn, "benchmark", "x")
put(c.cudnn, "deterministic", None)
put(c.cudnn, "allow_tf32", 1)
put(c.cudnn.conv, "fp32_precision", "bf16")
put(c.cudnn.conv, "fp32_precision", "bad")
put(c.cudnn, "an_attribute_of_the_test", 3)
c.cudnn.nonexistent
c.cudnn.is_available(), c.cudnn.version()
c.cudnn.is_acceptable(None)
put(c.cudnn, "benchmark_limit", 7)
put(c.cudnn, "depthwise_kernel", "native"), put(c.cudnn, "depthwise_kernel", "auto")
put(c.cudnn, "depthwise_kernel", "bad")
put(c.cudnn, "depthwise_kernel", 3)
c.cudnn.set_flags(True, False, None, False, True, "none")
c.cudnn.set_flags()
entered(c.cudnn.flags(enabled=True)), c.cudnn.enabled
entered(c.cudnn.flags(enabled=3))
c.cuda.is_built(), c.cuda.is_flash_attention_available(), c.cuda.is_ck_sdpa_available()
c.cuda.flash_sdp_enabled(), c.cuda.math_sdp_enabled(), c.cuda.mem_efficient_sdp_enabled(), c.cuda.cudnn_sdp_enabled()
c.cuda.enable_flash_sdp(False), c.cuda.flash_sdp_enabled(), c.cuda.enable_flash_sdp(True)
c.cuda.enable_math_sdp(False), c.cuda.math_sdp_enabled(), c.cuda.enable_math_sdp(True)
c.cuda.enable_flash_sdp(3)
c.cuda.allow_fp16_bf16_reduction_math_sdp(True), c.cuda.fp16_bf16_reduction_math_sdp_allowed()
c.cuda.allow_fp16_bf16_reduction_math_sdp(False), c.cuda.fp16_bf16_reduction_math_sdp_allowed()
c.cuda.matmul.allow_tf32, c.cuda.matmul.allow_fp16_reduced_precision_reduction, c.cuda.matmul.allow_fp16_accumulation
put(c.cuda.matmul, "allow_fp16_reduced_precision_reduction", False)
put(c.cuda.matmul, "allow_fp16_reduced_precision_reduction", True)
put(c.cuda.matmul, "allow_tf32", 3)
put(c.cuda.matmul, "nonexistent", True)
c.cuda.matmul.nonexistent
c.cuda.cufft_plan_cache
c.cuda.cufft_plan_cache[0]
c.cuda.cufft_plan_cache["cuda:0"]
c.cuda.cufft_plan_cache.size
c.cuda.cufft_plan_cache.max_size
c.cuda.cufft_plan_cache.clear()
c.cuda.preferred_linalg_library()
c.cuda.preferred_linalg_library("magma")
c.cuda.preferred_linalg_library("bad")
c.cuda.preferred_blas_library()
c.cuda.preferred_blas_library("bad")
c.cuda.cublas_workspace_size()
c.mps.is_available(), c.mps.is_built()
c.mps.is_macos13_or_newer()
c.mps.is_macos_or_newer(13, 0)
c.mps.get_name()
c.mps.get_core_count()
c.mkl.VERBOSE_OFF, c.mkl.VERBOSE_ON
entered(c.mkl.verbose(0))
c.mkldnn.enabled, c.mkldnn.deterministic, c.mkldnn.allow_tf32, c.mkldnn.is_acl_available()
c.mkldnn.set_flags()
c.mkldnn.set_flags(True)
put(c.mkldnn, "enabled", False), put(c.mkldnn, "enabled", True)
put(c.mkldnn, "enabled", 3)
c.mkldnn.VERBOSE_OFF, c.mkldnn.VERBOSE_ON, c.mkldnn.VERBOSE_ON_CREATION
entered(c.mkldnn.verbose(0))
c.nnpack.set_flags(True)
entered(c.nnpack.flags(False))
c.opt_einsum.is_available(), c.opt_einsum.enabled, c.opt_einsum.strategy, c.opt_einsum.get_opt_einsum()
entered(c.opt_einsum.flags(enabled=False))
c.opt_einsum.set_flags(_strategy="auto")
c.mha.get_fastpath_enabled(), c.mha.set_fastpath_enabled(False), c.mha.get_fastpath_enabled()
c.mha.set_fastpath_enabled(True)
put(c.quantized, "engine", "bad")
c.kleidiai.is_available(), c.cusparselt.is_available(), c.cusparselt.version(), c.cusparselt.get_max_alg_id()
c.flags_frozen()
entered(c.flags("ieee")), c.fp32_precision
c.set_flags("none")
c.nothing
c.mps.nothing
c.cuda.nothing
type(c), type(c.cudnn), type(c.cudnn.conv), type(c.mkldnn), type(c.quantized), type(c.opt_einsum)
c.cudnn.CUDNN_TENSOR_DTYPES == set(c.cudnn.CUDNN_TENSOR_DTYPES)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_call(call):
    assert_same_call(call, ours, theirs, put=put)


# What torch's wheel contains and we do not; being honest here is the point.
def test_libraries_that_are_not_part_of_this_one():
    assert not ours.mkl.is_available()
    assert not ours.mkldnn.is_available()
    assert not ours.nnpack.is_available()
    assert ours.quantized.supported_engines == [one for one in theirs.quantized.supported_engines if one != "qnnpack"]
    assert ours.cpu.get_cpu_capability() == "DEFAULT"
    with pytest.raises(RuntimeError, match="MKLDNN into verbose mode"), ours.mkldnn.verbose(1):
        pass
    with pytest.raises(RuntimeError, match="MKL into verbose mode"), ours.mkl.verbose(1):
        pass


def everything(module, matmul_precision):
    read = [outcome(lambda path=path, name=name: getattr(owner(module, path), name)) for path, name in SETTINGS]
    return [*read, outcome(matmul_precision)]


def test_random_sequences_of_precision_settings():
    """The old and the new names of the same settings, in any order, read alike after every step."""
    from mindtorch.backends import _precision

    rng = random.Random(2)
    for step in range(1500):
        if rng.random() < 0.15:
            word = rng.choice(["highest", "high", "medium"])
            torch.set_float32_matmul_precision(word)
            _precision.set_float32_matmul_precision(word)
        else:
            path, name = rng.choice(SETTINGS)
            value = rng.choice([True, False] if name == "allow_tf32" else ["ieee", "tf32", "bf16", "none", "none"])
            done = [outcome(lambda m=m: setattr(owner(m, path), name, value)) for m in (ours, theirs)]  # noqa: B023
            assert done[0] == done[1]
        read = everything(ours, _precision.get_float32_matmul_precision)
        assert read == everything(theirs, torch.get_float32_matmul_precision), f"after step {step}"


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.cuda.preferred_linalg_library(0),
        lambda lib: lib.cuda.preferred_blas_library(0),
        lambda lib: lib.cuda.cublas_workspace_size(),
        lambda lib: lib.cuda.cublas_workspace_size(1),
        lambda lib: lib.cuda.enable_cudnn_sdp("yes"),
    ],
)
def test_wrong_arguments_of_cuda_settings(call):
    assert outcome(lambda: call(ours)) == outcome(lambda: call(theirs))
