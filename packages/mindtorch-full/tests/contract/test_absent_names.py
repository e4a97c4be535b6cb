"""Names that are there and raise: the table tells the truth, and what stands for a name behaves as far as it can."""

import importlib
import subprocess
import sys

import pytest

import mindtorch as mt
from mindtorch import _absence

torch = pytest.importorskip("torch", reason="oracle")

TABLE = _absence.table()
ENTRIES = [(module, name) for module, names in TABLE.items() for name in names if name]


def ours(path):
    return importlib.import_module("mindtorch" + path.removeprefix("torch"))


def theirs(path):
    try:
        return importlib.import_module(path)
    except ImportError:  # an attribute, such as torch.classes
        return None


@pytest.mark.parametrize("module", sorted(TABLE))
def test_what_stands_in_the_table_is_torchs_and_not_there_otherwise(module):
    real, own = theirs(module), ours(module)
    for name in filter(None, TABLE[module]):
        plain = name.lstrip("@!")
        assert real is None or hasattr(real, plain), f"torch has no {module}.{plain}"
        value = getattr(own, plain)
        if name.startswith("!"):
            assert issubclass(value, Exception)
        else:
            assert _absence.reason_of(value), f"{module}.{plain} works: it does not belong into the table"
            with pytest.raises(NotImplementedError, match=f"{module}.{plain}: "):
                value()


def test_modules_of_the_table_are_imported_and_their_names():
    code = (
        "import sys; import torch.export; from torch.export import AdditionalInputs, draft_export\n"
        "assert torch.export is sys.modules['torch.export'] and isinstance(AdditionalInputs, type)\n"
        "class Own(AdditionalInputs): pass\n"
        "assert not isinstance(1, AdditionalInputs)\n"
        "try: draft_export(None)\n"
        "except NotImplementedError as error: print(error)\n"
        "print(hasattr(torch.export, 'never'), hasattr(torch, 'never'))\n"
        "import torch.never\n"
    )
    done = subprocess.run([sys.executable, "-m", "mindtorch", "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[1:] == ["False False"]
    assert done.stdout.startswith("torch.export.draft_export: programs are captured")
    assert done.stderr.splitlines()[-2] == "ModuleNotFoundError: No module named 'torch.never'"


def test_the_table_is_not_read_by_an_import():
    code = "import mindtorch, sys; mindtorch.ones(2) + 1; print('mindtorch._absence' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"


BOTH = pytest.mark.parametrize("T", [mt, torch], ids=["ours", "torch"])
EXPRESSIONS = [
    "T._assert_async(T.ones(1))",
    "T._assert_async(T.zeros(1))",
    "T._assert_async(T.zeros(2))",
    "T._assert_async(T.zeros(0))",
    "T._assert_async(T.zeros(()), 'words')",
    "T._shape_as_tensor(T.ones(2, 3)).tolist()",
    "str(T.TensorType.get()), T.TensorType.get().kind(), T.TensorType.get() is T.TensorType.get()",
    "str(T._C.ListType(T.IntType.get())), T._C.ListType(T.IntType.get()).getElementType().kind()",
    "str(T._C.DictType(T.StringType.get(), T.TensorType.get()))",
    "str(T._C.TupleType([T.AnyType.get(), T.BoolType.get()]))",
    "str(T._C.OptionalType(T.NumberType.get())), str(T.DeviceObjType.get())",
    "T.TensorType()",
    "T._C._get_tracing_state(), T._C._are_functorch_transforms_active(), T._C._get_default_device()",
    "T.func.vmap(lambda x: x + T._C._are_functorch_transforms_active())(T.ones(2)).tolist()",
    "T._C._functorch.is_batchedtensor(T.ones(1)), T._C._functorch.maybe_get_bdim(T.ones(1))",
    "T._C._functorch.get_unwrapped(T.ones(1))",
    "(lambda x: T._C._is_alias_of(x, x[:1]))(T.ones(3)), T._C._is_alias_of(T.ones(1), T.ones(1))",
    "T._cast_Long(T.tensor([1.5, -2.5])).tolist(), T.spmm(T.ones(2, 3), T.ones(3, 1)).tolist()",
    "T.ops.aten._pin_memory.default(T.ones(1))",
    "T._utils._get_device_index('cpu')",
    "T._utils._get_device_index('cpu', allow_cpu=True), T._utils._get_device_index(3)",
    "T._utils._get_available_device_type()",
    "T.cuda._initialized, T.mtia.is_available()",
    "T.autograd._profiler_enabled()",
    "T._VF.relu(T.tensor([-1.0, 2.0])).tolist()",
    "[one.tolist() for one in T._VF.unique_dim(T.tensor([[2, 1], [2, 1]]), 0)]",
    "T._tensor_str._tensor_str(T.tensor([1.0, 2.5]), 4)",
    "T._tensor_str._add_suffixes('x(1', ['size=(1,)', 'y'], 2, True)",
    "T.backends.cuda.can_use_flash_attention(None)",
    "T.fx.graph_module._USER_PRESERVED_ATTRIBUTES_KEY",
    "T.distributions.transforms._clipped_sigmoid(T.tensor([-200.0, 200.0])).tolist()",
    "T.utils.data._utils.collate.np_str_obj_array_pattern.search('<U3') is not None",
    "T.distributions.kl.register_kl(dict, list)({}.get) is not None",
    "T.distributions.kl.register_kl(1, T.distributions.Normal)",
    "T.hub.list('.', source='local')",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_names_that_libraries_use_behave_as_torchs(expression):
    def run(T):
        for name in ("_VF", "_tensor_str", "mtia", "_C._functorch", "fx.graph_module"):
            importlib.import_module(f"{T.__name__}.{name}")
        try:
            return eval(expression, {"T": T})
        except (RuntimeError, TypeError, ValueError, AttributeError) as error:
            return type(error).__name__, str(error)

    found, expected = run(mt), run(torch)
    if isinstance(expected, tuple) and "can_use" in expression:
        assert found is False  # torch wants the arguments in a class of its own
    else:
        assert found == expected
