"""What torch has not, MindTorch has not either: programs ask by `hasattr`, and star imports fill their namespaces."""

import importlib
import types
import warnings

import pytest

import mindtorch
from mindtorch._absence import placeholder

torch = pytest.importorskip("torch", reason="oracle")

OURS = {
    "npu": "the device's module, as torch_npu puts it there",
    "torch_npu": "programs for Ascend import it",
    "pipeline": "delayed evaluation, docs/guides/pipelines.md",
    "functions": "the modules behind torch's functions",
    "ops_table": "the operators by name",
    "data": "tables of the surface",
    "Tensor.npu": "as torch_npu",
    "Tensor.is_npu": "as torch_npu",
    "nn.Module.npu": "as torch_npu",
    "nn.Parameter.npu": "as torch_npu",
    "nn.Parameter.is_npu": "as torch_npu",
    "finfo.np": "numpy's answer",
    **dict.fromkeys(
        ("dtype.np", "dtype.index", "dtype.name", "dtype.type_name", "dtype.scalar_name"),
        "read by the layers and native code",
    ),
    **dict.fromkeys(
        ("Generator.engine", "Generator.lock", "Generator.state_bytes", "Generator.set_state_bytes"),
        "read by the kernels",
    ),
}
"""Names of our own, each with its reason."""

CLASSES = ("Tensor", "Generator", "Size", "device", "dtype", "finfo", "nn.Module", "nn.Parameter", "optim.Optimizer")
STARRED = (
    "amp autograd autograd.anomaly_mode autograd.functional autograd.grad_mode autograd.gradcheck autograd.graph "
    "autograd.profiler_util distributions distributions.transforms fft func functional futures fx fx.graph_module "
    "jit.annotations "
    "library linalg multiprocessing multiprocessing.spawn nn nn.attention nn.functional nn.init nn.modules nn.modules.activation "
    "nn.modules.conv nn.modules.loss nn.modules.module nn.modules.pooling nn.modules.rnn nn.modules.transformer "
    "nn.modules.utils nn.parallel.scatter_gather nn.parameter nn.utils nn.utils.clip_grad nn.utils.rnn optim "
    "optim.lr_scheduler optim.optimizer overrides profiler random return_types serialization signal.windows special storage "
    "types utils.checkpoint utils.data utils.data.distributed utils.dlpack utils.hooks"
).split()


def found_at(root, path):
    """The value of a dotted name below a module."""
    for part in path.split("."):
        root = getattr(root, part)
    return root


@pytest.mark.parametrize("path", CLASSES)
def test_classes_have_no_other_attributes(path):
    ours, theirs = found_at(mindtorch, path), found_at(torch, path)
    other = {name for name in dir(ours) if name[0] != "_" and not hasattr(theirs, name)}
    assert {name for name in other if f"{path}.{name}" not in OURS} == set()


def test_torch_has_no_other_names():
    mine = [name for name in vars(mindtorch) if name[0] != "_" and not hasattr(torch, name)]
    assert set(mine) - OURS.keys() == set()


def exported(module):
    """The names that a star import of a module brings along."""
    listed = getattr(module, "__all__", None)
    return set(listed) if listed is not None else {name for name in vars(module) if name[0] != "_"}


@pytest.mark.parametrize("path", ["", *STARRED])
def test_a_star_import_brings_the_names_of_torch(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = importlib.import_module(f"torch.{path}".rstrip("."))
        ours = importlib.import_module(f"mindtorch.{path}".rstrip("."))
    if hasattr(theirs, "__all__"):
        assert exported(ours) - set(theirs.__all__) == set()
    offered = {name for name in {*vars(ours), *dir(ours)} if placeholder(theirs.__name__, name) is None}
    absent = (exported(theirs) - exported(ours)) & offered
    imported = {name for name in absent if is_imported(theirs, name)}
    assert absent - imported == set()


def is_imported(module, name):
    """Whether a module without `__all__` only uses a name of the standard library or of another module."""
    value = getattr(module, name)
    home = getattr(value, "__module__", None) or ""
    return not hasattr(module, "__all__") and (isinstance(value, types.ModuleType) or not home.startswith("torch"))
