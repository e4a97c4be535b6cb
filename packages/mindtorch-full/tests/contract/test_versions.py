"""Versions order as torch's do, which is as Python packaging orders them."""

import itertools
import operator

import pytest

from mindtorch import torch_version, version

from .module_parity import outcome

torch = pytest.importorskip("torch", reason="oracle")

TEXTS = """
1.0 1.0.0 1.0.1 1.1 1.10 1.9 2 2.0a 2.0a1 2.0b2 2.0rc1 2.0c1 2.0.dev3 2.0a1.dev2 2.0.post1 2.0.post1.dev2 2.0-1 1!1.0
2.13.0+cpu 2.13.0+cu121 2.13.0+2 2.13.0+2.1 2.13.0 v2.13 2.13.0a0+gitabc 2.13.0.dev20260101+cpu parrot 2.x
""".split()


@pytest.mark.parametrize("name", ["lt", "le", "eq", "ne", "ge", "gt"])
def test_all_pairs(name):
    compare = getattr(operator, name)
    for left, right in itertools.product(TEXTS, TEXTS):
        mine = compare(torch_version.TorchVersion(left), right)
        assert mine == compare(torch.torch_version.TorchVersion(left), right), (left, right)


@pytest.mark.parametrize("other", [(2, 13), (2, 13, 1), [1], (2, "x"), 3, None, 2.5, object])
@pytest.mark.parametrize("name", ["lt", "le", "eq", "ge", "gt"])
def test_other_types(name, other):
    compare = getattr(operator, name)
    mine, reference = (
        outcome(lambda v=v: compare(v("2.13.0"), other))
        for v in (torch_version.TorchVersion, torch.torch_version.TorchVersion)
    )
    assert mine == reference


def test_version_module():
    assert version.__version__.split("+")[0] == torch.version.__version__.split("+")[0]
    assert set(torch.version.__all__) == set(version.__all__)
    for name in ("debug", "cuda", "hip", "rocm", "xpu"):
        assert getattr(version, name) == getattr(torch.version, name)
    assert torch_version.__version__ > "2.6"
    assert repr(torch_version.TorchVersion("1.2")) == "'1.2'"
    assert hash(torch_version.TorchVersion("1.2")) == hash("1.2")
