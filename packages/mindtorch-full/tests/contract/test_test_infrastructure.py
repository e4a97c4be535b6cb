"""What `torch.testing._internal` and tests on it ask of torch, beside torch."""

import importlib
import subprocess
import sys
import warnings

import pytest

import mindtorch as mt
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

for _name in "_decomp _prims _refs autograd._functions utils._dtype_abbrs utils._foreach_utils".split():
    for _library in ("mindtorch", "torch"):
        importlib.import_module(f"{_library}.{_name}")


BOTH = pytest.mark.parametrize("T", [mt, torch], ids=["ours", "torch"])


def test_short_names_of_dtypes():
    theirs = {str(dtype): name for dtype, name in torch.utils._dtype_abbrs.dtype_abbrs.items()}
    ours = {str(dtype): name for dtype, name in mt.utils._dtype_abbrs.dtype_abbrs.items()}
    assert {name: ours[name] for name in ours if name in theirs} == {
        name: theirs[name] for name in ours if name in theirs
    }
    assert len(ours) >= 20


def test_schemes_of_quantisation_are_singletons():
    for name in ("per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric"):
        assert repr(getattr(mt, name)) == repr(getattr(torch, name))
    assert mt.per_tensor_affine != mt.per_channel_affine
    assert_torch_error(lambda: mt.qscheme(), lambda: torch.qscheme())


def test_processor_features_are_those_torch_sees():
    ours, theirs = mt.cpu.get_capabilities(), torch.cpu.get_capabilities()
    for name in ("avx2", "fma3", "avx512_f", "architecture", "num_logical_cores"):
        assert ours.get(name) == theirs.get(name)
    assert mt.cpu._is_avx2_supported() == torch.cpu._is_avx2_supported()


@BOTH
def test_the_state_of_function_overrides(T):
    states = T._C._TorchFunctionState
    assert T._C._get_torch_function_state() == states.ENABLED
    with T._C.DisableTorchFunctionSubclass():
        assert T._C._get_torch_function_state() == states.SUBCLASSES_DISABLED
    with T._C.DisableTorchFunction():
        assert T._C._get_torch_function_state() == states.ALL_DISABLED
        with T._C._EnableTorchFunction():
            assert T._C._get_torch_function_state() == states.ENABLED
        assert T._C._get_torch_function_state() == states.ALL_DISABLED
    assert T._C._get_torch_function_state() == states.ENABLED


@BOTH
def test_a_weak_reference_to_a_tensor(T):
    tensor = T.zeros(2)
    reference = T._C._WeakTensorRef(tensor)
    assert not reference.expired()
    del tensor
    assert reference.expired()


@BOTH
def test_invariants_of_sparse_tensors_are_checked_on_request(T):
    check = T.sparse.check_sparse_tensor_invariants
    assert not check.is_enabled()
    with check():
        assert check.is_enabled()
        with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
            T.sparse_coo_tensor([[3]], [1.0], (2,))
        with check(enable=False):
            T.sparse_coo_tensor([[3]], [1.0], (2,))
    assert not check.is_enabled()

    @check()
    def inside():
        return check.is_enabled()

    assert inside()


def test_settings_are_patched_for_a_block():
    config = mt._dynamo.config
    before = config.suppress_errors
    with config.patch(suppress_errors=not before):
        assert config.suppress_errors is not before
    assert config.suppress_errors is before
    with pytest.raises(AttributeError, match=r"torch\._dynamo\.config\.no_such_setting does not exist"):
        config.no_such_setting = 1


@BOTH
def test_jacobians_as_older_programs_ask_for_them(T):
    checks = importlib.import_module(f"{T.__name__}.autograd.gradcheck")
    x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
    y = T.tensor([3.0, 5.0], dtype=T.float64, requires_grad=True)
    with pytest.warns(FutureWarning, match="`get_numerical_jacobian` was part of PyTorch's private API"):
        found = checks.get_numerical_jacobian(lambda given: 2 * given[0] + given[1] ** 2, (x, y), eps=1e-6)
    assert T.allclose(found[0], 2 * T.eye(2, dtype=T.float64))
    assert T.allclose(found[1], T.diag(2 * y.detach()))
    with pytest.warns(FutureWarning, match="`get_analytical_jacobian`"):
        rows, same, sizes, types = checks.get_analytical_jacobian((x, y), 2 * x + y**2)
    assert (same, sizes, types) == (True, True, True)
    assert T.allclose(rows[1], T.diag(2 * y.detach()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"Expected grad_out to be 1\.0"):
            checks.get_numerical_jacobian(lambda given: given[0], (x,), grad_out=2.0)


@BOTH
def test_checks_of_a_text(T):
    check = T.testing.FileCheck
    check().check("a").check_next("b").check_not("c").check("d").run("a\nb\nd")
    check().check_count("x", 2, exactly=True).run("x x")
    for wrong in (check().check("z"), check().check_not("a"), check().check("b").check("a"), check().check_next("d")):
        with pytest.raises(RuntimeError):
            wrong.run("a\nb\nd")


REFERENCES = {
    "add": lambda T, x: T._refs.add(x, 2),
    "trunc_divide": lambda T, x: T._refs.trunc_divide(x, 2),
    "rpow": lambda T, x: T._refs.rpow(x, 2.0),
    "to": lambda T, x: T._refs._conversions.double(x),
    "norm": lambda T, x: T._refs.linalg.vector_norm(x),
    "gelu": lambda T, x: T._refs.nn.functional.gelu(x),
    "entr": lambda T, x: T._refs.special.entr(x),
    "fft": lambda T, x: T._refs.fft.fft(x),
    "broadcast_in_dim": lambda T, x: T._prims.broadcast_in_dim(x, (2, 3, 4), (1, 2)),
    "collapse": lambda T, x: T._prims.collapse(x, 0, 1),
    "expand_dims": lambda T, x: T._prims.expand_dims(x, (0, 1)),
    "transpose": lambda T, x: T._prims.transpose(x, (1, 0)),
    "sum": lambda T, x: T._prims.sum(x, (0,)),
    "cbrt": lambda T, x: T._prims.sign(T._prims.cbrt(x)),
    "convert": lambda T, x: T._prims.convert_element_type(x, T.int32),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_references_compute_what_torch_computes(name):
    values = [[0.5, -1.5, 2.0, 4.0], [3.0, 0.25, -2.0, 1.0], [1.0, 1.5, 7.0, -8.0]]
    assert_same_value(
        lambda: REFERENCES[name](mt, mt.tensor(values)), lambda: REFERENCES[name](torch, torch.tensor(values))
    )


def test_every_name_of_the_references_is_bound():
    for module in ("", ".linalg", ".special", ".fft", ".nn.functional", "._conversions"):
        theirs = __import__(f"torch._refs{module}", fromlist=["_"])
        ours = __import__(f"mindtorch._refs{module}", fromlist=["_"])
        assert not [name for name in theirs.__all__ if not hasattr(ours, name)]


def test_the_table_of_decompositions_is_full_once_it_is_imported():
    code = "from mindtorch._decomp import decomposition_table; print(*decomposition_table)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"aten.selu.default", "aten.celu.default"} <= set(done.stdout.split())


def test_decompositions_are_found_by_operator():
    softplus = mt.ops.aten.selu
    table = mt._decomp.get_decompositions([softplus, mt.ops.aten.mul])
    assert [str(op) for op in table] == ["aten.selu.default"]
    own = {}
    mt._decomp.register_decomposition(mt.ops.aten.mul.Tensor, own)(len)
    assert own == {mt.ops.aten.mul.Tensor: len}
    with pytest.raises(RuntimeError, match="duplicate registrations"):
        mt._decomp.register_decomposition(mt.ops.aten.mul.Tensor, own)(len)


def test_names_of_operators_that_are_not_offered():
    function = mt._C._VariableFunctions._cslt_sparse_mm
    assert function is mt._C._VariableFunctions._cslt_sparse_mm
    with pytest.raises(NotImplementedError, match="aten::_cslt_sparse_mm: this operator is not offered"):
        function(mt.zeros(2))
    assert mt._C._VariableFunctions.add is mt.add
    with pytest.raises(AttributeError):
        mt._C._VariableFunctions.no_such_operator


@BOTH
def test_an_autograd_function_of_old(T):
    x = T.arange(6.0, requires_grad=True)
    result = T.autograd._functions.Resize.apply(x, (2, 3))
    assert result.shape == (2, 3)
    result.sum().backward()
    assert x.grad.shape == (6,)
    with pytest.raises(RuntimeError, match="requested resize to 2x2"):
        T.autograd._functions.Resize.apply(x, (2, 2))


@BOTH
def test_tensors_in_groups_of_one_dtype(T):
    a, b = T.zeros(1), T.zeros(1, dtype=T.float64)
    groups = T.utils._foreach_utils._group_tensors_by_device_and_dtype([[a, b, a], [b, a, b]], with_indices=True)
    found = {str(dtype): (len(lists[0]), places) for (_, dtype), (lists, places) in groups.items()}
    assert found == {"torch.float32": (2, [0, 2]), "torch.float64": (1, [1])}


@BOTH
def test_versions_of_modules(T):
    class Module:
        __version__ = "1.x.3"

    assert T.serialization.check_module_version_greater_or_equal(pytest, (1, 0))
    with pytest.raises(RuntimeError, match="'Module' module version string is malformed"):
        T.serialization.check_module_version_greater_or_equal(Module, (1, 2))
    with pytest.warns(UserWarning, match="continuing assuming"):
        assert T.serialization.check_module_version_greater_or_equal(Module, (1, 2), error_if_malformed=False)
