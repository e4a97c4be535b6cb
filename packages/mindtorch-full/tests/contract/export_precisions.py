"""A fixture for tests that export beside torch."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")


@pytest.fixture
def precisions():
    """Torch asks cuDNN's settings while it exports, which fails where other tests left two of them different."""
    kinds = ("conv", "rnn")
    before = [torch._C._get_fp32_precision_getter("cuda", kind) for kind in kinds]
    torch._C._set_cudnn_allow_tf32(True)
    yield
    for kind, precision in zip(kinds, before, strict=True):
        torch._C._set_fp32_precision_setter("cuda", kind, precision)
