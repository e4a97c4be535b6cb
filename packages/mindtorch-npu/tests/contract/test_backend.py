"""Tensors on the simulated device: every operator gives what the CPU gives, through the vendor's C interface."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("mindtorch")

from mindtorch_npu import AclError, allocator, memory, simulator, switches  # noqa: E402
from mindtorch_npu.backend import binding, launches, rows  # noqa: E402
from mindtorch_npu.backend.binding import launch  # noqa: E402


class Operands:
    """What the cases compute with, on one device; floating-point ones may require grad."""

    def __init__(self, device: str, requires_grad: bool = False) -> None:
        self.device = device
        self.A = torch.linspace(-2, 3, 24).reshape(4, 6)
        self.B = torch.linspace(3, -1, 24).reshape(4, 6)
        self.P = self.A.abs() + 0.5
        self.I = torch.tensor([[2, 0, 1, 3, 1, 5], [0, 4, 2, 2, 3, 1]])
        self.M = self.A > 0
        self.N = torch.arange(24).reshape(4, 6) - 7
        for name in "ABPIMN":
            value = getattr(self, name).to(device)
            setattr(self, name, value.requires_grad_(requires_grad and value.is_floating_point()))

    def tensor(self, values):
        """A tensor on the device."""
        return torch.tensor(values, device=self.device)


F = torch.nn.functional

CASES = {
    "nan_to_num": lambda s: (s.A / 0).nan_to_num(), "shift": lambda s: s.I << s.I, "shift_number": lambda s: s.I << 2,
    "shift_right": lambda s: s.I >> s.I, "xlogy_number": lambda s: torch.xlogy(s.A, 2.0),
    "xlogy_first": lambda s: torch.xlogy(2.0, s.P), "roll": lambda s: s.A.roll(2, 1),
    "index_fill": lambda s: s.A.index_fill(1, s.tensor([0, 3]), 9.0), "prod": lambda s: s.A.prod(),
    "prod_dim": lambda s: s.A.prod(1),
    "add": lambda s: s.A + s.B, "add_alpha": lambda s: torch.add(s.A, s.B, alpha=2.5),
    "add_number": lambda s: s.A + 3,
    "sub": lambda s: s.A - s.B, "rsub": lambda s: 3 - s.A, "mul": lambda s: s.A * s.B,
    "mul_broadcast": lambda s: s.A * s.B[:1],
    "div": lambda s: s.A / s.B, "div_int": lambda s: s.N / 3, "floor_divide": lambda s: s.N // 3,
    "div_trunc": lambda s: torch.div(s.N, 3, rounding_mode="trunc"), "remainder": lambda s: s.N % 5,
    "remainder_float": lambda s: s.A % 0.7, "fmod": lambda s: torch.fmod(s.A, 0.7), "pow": lambda s: s.P**2.5,
    "pow_square": lambda s: s.A**2, "pow_tensor": lambda s: s.P**s.B, "pow_number": lambda s: 2**s.A,
    "neg": lambda s: -s.A,
    "exp": lambda s: s.A.exp(), "log": lambda s: s.P.log(), "sqrt": lambda s: s.P.sqrt(),
    "rsqrt": lambda s: s.P.rsqrt(),
    "tanh": lambda s: s.A.tanh(), "sigmoid": lambda s: s.A.sigmoid(), "erf": lambda s: s.A.erf(),
    "abs": lambda s: s.A.abs(),
    "floor": lambda s: s.A.floor(), "round": lambda s: s.A.round(), "sign": lambda s: s.A.sign(),
    "trunc": lambda s: s.A.trunc(),
    "isfinite": lambda s: torch.isfinite(s.A / 0), "clamp": lambda s: s.A.clamp(-1, 1),
    "clamp_min": lambda s: s.A.clamp(min=0),
    "clamp_tensor": lambda s: torch.clamp(s.A, -s.P, s.P), "maximum": lambda s: torch.maximum(s.A, s.B),
    "lt": lambda s: s.A < s.B, "ge_number": lambda s: s.A >= 0.5, "eq": lambda s: s.N == 3,
    "and": lambda s: s.M & (s.B > 0),
    "not": lambda s: ~s.M, "logical_xor": lambda s: torch.logical_xor(s.M, s.B > 0),
    "where": lambda s: torch.where(s.M, s.A, s.B),
    "where_number": lambda s: torch.where(s.M, s.A, 0.0), "masked_fill": lambda s: s.A.masked_fill(s.M, 7.0),
    "addcmul": lambda s: torch.addcmul(s.A, s.B, s.P, value=0.5),
    "addcdiv": lambda s: torch.addcdiv(s.A, s.B, s.P, value=0.5),
    "lerp": lambda s: torch.lerp(s.A, s.B, 0.3), "lerp_tensor": lambda s: torch.lerp(s.A, s.B, s.P / 4),
    "sum": lambda s: s.A.sum(), "sum_dim": lambda s: s.A.sum(1), "sum_keep": lambda s: s.A.sum((0, 1), keepdim=True),
    "sum_int": lambda s: s.N.sum(0), "mean": lambda s: s.A.mean(1), "amax": lambda s: s.A.amax(0),
    "max_dim": lambda s: s.A.max(1),
    "min": lambda s: s.B.min(), "all": lambda s: s.M.all(1), "any": lambda s: s.M.any(),
    "logsumexp": lambda s: s.A.logsumexp(1),
    "norm": lambda s: torch.linalg.vector_norm(s.A), "norm_1": lambda s: torch.linalg.vector_norm(s.A, 1, dim=1),
    "cumsum": lambda s: s.A.cumsum(1), "cumsum_int": lambda s: s.N.cumsum(0),
    "sort": lambda s: s.A.sort(1, descending=True),
    "topk": lambda s: s.B.topk(2, dim=1), "mm": lambda s: s.A @ s.B.t(),
    "bmm": lambda s: s.A.reshape(2, 2, 6) @ s.B.reshape(2, 6, 2),
    "addmm": lambda s: torch.addmm(s.A[:, :4], s.A, s.B.t(), beta=0.5, alpha=2), "mv": lambda s: s.A @ s.B[0],
    "dot": lambda s: s.A[0] @ s.B[1], "relu": lambda s: F.relu(s.A), "gelu": lambda s: F.gelu(s.A),
    "gelu_tanh": lambda s: F.gelu(s.A, approximate="tanh"), "silu": lambda s: F.silu(s.A),
    "elu": lambda s: F.elu(s.A),
    "leaky": lambda s: F.leaky_relu(s.A, 0.2), "softplus": lambda s: F.softplus(s.A),
    "hardtanh": lambda s: F.hardtanh(s.A),
    "hardswish": lambda s: F.hardswish(s.A), "hardsigmoid": lambda s: F.hardsigmoid(s.A),
    "mish": lambda s: F.mish(s.A),
    "glu": lambda s: F.glu(s.A, 1), "softshrink": lambda s: F.softshrink(s.A),
    "threshold": lambda s: F.threshold(s.A, 0.5, 9.0),
    "softmax": lambda s: s.A.softmax(1), "log_softmax": lambda s: s.A.log_softmax(0),
    "layer_norm": lambda s: F.layer_norm(s.A, (6,), s.P[0], s.B[0]),
    "layer_norm_plain": lambda s: F.layer_norm(s.A, (6,)),
    "group_norm": lambda s: F.group_norm(s.A, 3), "embedding": lambda s: F.embedding(s.I, torch.cat([s.A, s.B])),
    "cross_entropy": lambda s: F.cross_entropy(s.A, s.tensor([0, 5, -100, 2])), "mse": lambda s: F.mse_loss(s.A, s.B),
    "smooth_l1": lambda s: F.smooth_l1_loss(s.A, s.B),
    "bce": lambda s: F.binary_cross_entropy(s.A.sigmoid(), s.B.sigmoid()),
    "gather": lambda s: s.A.gather(0, s.I % 4), "scatter": lambda s: s.A.scatter(0, s.I % 4, s.B[:2]),
    "scatter_number": lambda s: s.A.scatter(0, s.I % 4, 9.0),
    "scatter_add": lambda s: s.A.scatter_add(0, s.I % 4, s.B[:2]),
    "index": lambda s: s.A[s.tensor([3, 0])], "index_columns": lambda s: s.A[:, s.tensor([3, 0])],
    "index_select": lambda s: s.A.index_select(1, s.tensor([5, 5, 0])), "cat": lambda s: torch.cat([s.A, s.B], 1),
    "stack": lambda s: torch.stack([s.A, s.B]), "flip": lambda s: s.A.flip(1), "repeat": lambda s: s.A.repeat(2, 1),
    "tril": lambda s: s.A.tril(), "triu": lambda s: s.A.triu(1), "pad": lambda s: F.pad(s.A, (1, 2), value=3.0),
    "transposed": lambda s: s.A.t().contiguous(), "cast": lambda s: s.A.to(torch.int32),
    "cast_half": lambda s: s.A.half() * 2,
    "bfloat16": lambda s: s.A.bfloat16() + s.B.bfloat16(), "bool": lambda s: s.A.bool(),
    "to_double": lambda s: s.N.to(torch.float64),
    "expand": lambda s: s.A[:1].expand(4, 6) + 0, "select": lambda s: s.A[:, 2] * 2,
    "step": lambda s: s.A[::2, ::3] * 2,
    "var": lambda s: s.A.var(1), "std": lambda s: s.A.std(), "einsum": lambda s: torch.einsum("ij,kj->ik", s.A, s.B),
    "sdpa": lambda s: F.scaled_dot_product_attention(*(x.reshape(1, 2, 2, 6) for x in (s.A, s.B, s.P))),
}  # fmt: skip


def _compute(fn, device):
    result = fn(Operands(device))
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


@pytest.mark.parametrize("name", CASES)
def test_the_device_computes_what_the_cpu_computes(npu, name):
    expected, found = _compute(CASES[name], "cpu"), _compute(CASES[name], "npu")
    for one, other in zip(expected, found, strict=True):
        assert str(other.device) == "npu:0"
        assert (one.dtype, one.shape, one.stride()) == (other.dtype, other.shape, other.stride())
        torch.testing.assert_close(other.cpu(), one, equal_nan=True, rtol=1e-5, atol=1e-6)


def _gradients(fn, device):
    """Return the gradients of a weighted sum of a case's first result, None where it has none."""
    operands = Operands(device, requires_grad=True)
    result = fn(operands)
    result = result[0] if isinstance(result, tuple) else result
    if not result.requires_grad:
        return None
    weights = torch.arange(1.0, result.numel() + 1, device=device).reshape(result.shape)
    (result.float() * weights).sum().backward()
    return [None if leaf.grad is None else leaf.grad.cpu() for leaf in (operands.A, operands.B, operands.P)]


@pytest.mark.parametrize("name", CASES)
def test_gradients_too(npu, name):
    expected, found = _gradients(CASES[name], "cpu"), _gradients(CASES[name], "npu")
    assert (expected is None) == (found is None)
    for one, other in zip(expected or (), found or (), strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(other, one, equal_nan=True, rtol=1e-4, atol=1e-5)


def test_what_the_chip_refuses_is_an_error(npu):
    x = torch.ones(2, 2, dtype=torch.float64, device="npu")
    with pytest.raises(AclError, match="161002") as caught:
        x @ x
    assert "DOUBLE" in str(caught.value)
    assert "float64[2, 2]" in str(caught.value)
    assert torch.ones(2, device="npu").sum().item() == 2


def test_a_missing_kernel_names_the_operator(npu):
    with pytest.raises(NotImplementedError, match="no kernel for device 'npu'"):
        torch.special.airy_ai(torch.ones(3, device="npu"))


def test_garbage_of_before_does_not_stop_the_next_allocator(npu, monkeypatch):
    cycle = [torch.ones(8, device="npu")]
    cycle.append(cycle)
    monkeypatch.setattr(allocator, "_allocators", {})  # as after the runtime's end

    class Collecting(allocator.NpuAllocator):
        def __init__(self, *args):
            gc.collect()  # what Python may do at any moment
            super().__init__(*args)

    class Watched:
        held, entered = False, []

        def __enter__(self):
            self.entered.append(self.held)
            self.held = True

        def __exit__(self, *error):
            self.held = False

    monkeypatch.setattr(allocator, "NpuAllocator", Collecting)
    monkeypatch.setattr(allocator, "_lock", Watched())
    del cycle
    assert torch.ones(2, device="npu").sum().item() == 2
    assert Watched.entered == [False]  # a lock taken again by its own thread would never be had


def test_nothing_is_left_behind(npu):
    with torch.no_grad():
        x = torch.ones(100, 100, device="npu")
        y = (x @ x + x).softmax(0)
        assert y.sum().item() == pytest.approx(100)
    assert memory.memory_allocated() > 0
    del x, y
    gc.collect()
    assert memory.memory_allocated() == 0
    switches.forget_plans()
    library = simulator.libraries()
    assert not library.descriptors.live
    assert not library.executors
    memory.empty_cache()
    assert len(npu.memories[0]) == 0


def test_an_operator_that_fails_on_the_device_is_told_at_the_next_wait(npu):
    x = torch.ones(4, device="npu")
    npu.faults.add("run.aclnnMul", 507015)
    y = x * x
    with pytest.raises(AclError, match="507015"):
        y.cpu()


@pytest.mark.parametrize("code", [161002, 561003, 507899])
@pytest.mark.parametrize("call", ["aclnnMulGetWorkspaceSize", "aclnnMul"])
def test_an_operator_that_is_refused_leaves_the_process_usable(npu, call, code):
    x = torch.ones(4, device="npu")
    npu.faults.add(call, code)
    with pytest.raises(AclError, match=str(code)):
        x * x
    assert (x * x).tolist() == [1.0] * 4
    switches.forget_plans()
    assert not simulator.libraries().descriptors.live


def test_out_of_memory(npu):
    with pytest.raises(RuntimeError, match=r"NPU out of memory\. Tried to allocate"):
        torch.empty(2**31, device="npu")
    assert torch.ones(2, device="npu").sum().item() == 2


def test_two_devices(npu):
    x = torch.arange(4.0, device="npu:1")
    assert str(x.device) == "npu:1"
    assert (x + 1).to("npu:0").tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + torch.ones(4, device="npu:0")


def test_host_access_is_refused(npu):
    with pytest.raises(TypeError, match="can't convert npu:0 device type tensor to numpy"):
        torch.ones(2, device="npu").numpy()


def test_inplace_and_views_share_memory(npu):
    x = torch.zeros(3, 4, device="npu")
    x[1].add_(2)
    x[:, 0] = 5
    x.t()[3].copy_(torch.arange(3.0))
    assert x.tolist() == [[5, 0, 0, 0], [5, 2, 2, 1], [5, 0, 0, 2]]
    assert x.data_ptr() > 1 << 40


def test_random_numbers_are_a_function_of_seed_and_offset(npu):
    torch.manual_seed(3)  # what came before says nothing
    torch.npu.init()
    generator = torch.npu.default_generators[0]
    generator.manual_seed(5)
    one, two = torch.rand(100, device="npu"), torch.rand(100, device="npu")
    generator.manual_seed(5)
    assert torch.equal(torch.rand(100, device="npu").cpu(), one.cpu())
    assert not torch.equal(one.cpu(), two.cpu())
    assert 0 <= one.min().item()
    assert one.max().item() < 1


@pytest.mark.parametrize("row", ["mul.Tensor", "addmm", "native_layer_norm", "embedding_dense_backward"])
def test_rows_name_their_operator(row):
    assert rows[row].startswith("aclnn")


def test_complex_numbers(npu):
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0])
    assert torch.equal(torch.complex(x.to("npu"), y.to("npu")).cpu(), torch.complex(x, y))
    torch.testing.assert_close(torch.polar(x.to("npu"), y.to("npu")).cpu(), torch.polar(x, y))


def test_three_hundred_rows_are_bound():
    assert len(rows) >= 300


def test_launches_are_counted(npu):
    before = launches.get("aclnnExp", 0)
    torch.ones(2, device="npu").exp()
    assert launches["aclnnExp"] == before + 1


def test_words_for_errors_are_made_of_refused_launches_alone(npu, monkeypatch):
    described = []
    monkeypatch.setattr(binding, "_described", lambda name, arguments: described.append(name) or "its arguments")
    x = torch.ones(4, device="npu")
    assert (x * x).tolist() == [1.0] * 4
    assert described == []
    npu.faults.add("aclnnMulGetWorkspaceSize", 161002)
    with pytest.raises(AclError, match=r"aclnnMulGetWorkspaceSize\(its arguments\) failed with 161002"):
        x * x
    assert described == ["aclnnMul"]


def test_geometries_that_descriptors_are_made_from_are_bounded(npu, monkeypatch):
    monkeypatch.setattr(binding, "_GEOMETRIES", 8)
    for count in range(1, 30):
        assert torch.ones(count, device="npu").exp().shape == (count,)
    assert len(binding._geometries) <= 8


def test_an_executor_serves_once(npu):
    x = torch.ones(2, device="npu")
    with pytest.raises(ValueError, match="no argument is on a device"):
        launch("aclnnExp", [None, None])
    assert x.sum().item() == 2


def test_tensors_are_saved_and_come_back(npu, tmp_path):
    x = torch.arange(6.0, device="npu").reshape(2, 3)
    torch.save({"x": x, "t": x.t()}, tmp_path / "x.pt")
    there, here = torch.load(tmp_path / "x.pt"), torch.load(tmp_path / "x.pt", map_location="cpu")
    assert str(there["t"].device) == "npu:0"
    assert there["t"].untyped_storage().data_ptr() == there["x"].untyped_storage().data_ptr()
    assert torch.equal(there["t"], x.t())
    assert here["x"].tolist() == x.tolist()


def test_a_device_storage_is_read_and_written_by_the_host(npu):
    x = torch.ones(1, device="npu")
    storage = x.untyped_storage()
    assert storage.tolist() == [0, 0, 128, 63]
    storage[2] = 0
    assert (storage.tolist(), x.tolist()) == ([0, 0, 0, 63], [0.5])
    storage[2:4] = 64
    assert x.tolist() == [3.0]
    storage.fill_(0)
    assert x.tolist() == [0.0]
    x.storage()[0] = 7.0
    assert x.tolist() == [7.0]
    assert storage.device == x.device == torch.UntypedStorage(4, device="npu").device
    assert torch.UntypedStorage([1, 2], device="npu").tolist() == [1, 2]


@pytest.mark.parametrize(
    ("select", "shape"),
    [
        (lambda x: x[x > 0], (14,)),
        (lambda x: torch.nonzero(x > 0), (14, 2)),
        (lambda x: x.masked_select(x > 9), (0,)),
        (lambda x: x[x.sum(1) > 0], (2, 6)),
    ],
)
def test_shapes_that_depend_on_values(npu, select, shape):
    x = torch.linspace(-2, 3, 24).reshape(4, 6)
    found = select(x.to("npu"))
    assert tuple(found.shape) == tuple(select(x).shape)
    assert torch.equal(found.cpu(), select(x))
    assert found.ndim == len(shape)


def test_torch_npu_names(npu):
    assert torch.npu.is_available()
    assert torch.accelerator.current_accelerator().type == "npu"
    assert torch.npu.get_device_name() == "Ascend910B3 (simulated)"
    with torch.npu.device(1):
        assert str(torch.zeros(1, device="npu").device) == "npu:1"
        assert torch.accelerator.current_device_index() == 1
    state = torch.npu.get_rng_state()
    one = torch.rand(3, device="npu")
    torch.npu.set_rng_state(state)
    assert torch.equal(torch.rand(3, device="npu"), one)
    with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory"):
        torch.empty(2**40, device="npu")
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        torch.npu.NPUGraph().replay()
