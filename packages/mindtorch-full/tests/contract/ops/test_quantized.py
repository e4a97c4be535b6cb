"""Quantized tensors beside torch: construction, parts, views, operators and files."""

import copy
import pickle
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

NUMBERS = (np.arange(-6, 6, dtype=np.float32) / 2).reshape(3, 4)
KINDS = {
    "quint8": lambda t, x: t.quantize_per_tensor(x, 0.1, 10, t.quint8),
    "qint8": lambda t, x: t.quantize_per_tensor(x, 0.03, -5, t.qint8),
    "qint32": lambda t, x: t.quantize_per_tensor(x, 0.001, 7, t.qint32),
    "packed": lambda t, x: t.quantize_per_tensor(x, 0.5, 4, t.quint4x2),
    "channels": lambda t, x: t.quantize_per_channel(x, t.tensor([0.1, 0.2, 0.05]), t.tensor([1, 2, 3]), 0, t.qint8),
    "last": lambda t, x: t.quantize_per_channel(x, t.tensor([0.1, 0.2, 0.05, 1]), t.tensor([1, 2, 3, 4]), 1, t.quint8),
    "floating": lambda t, x: t.quantize_per_channel(x, t.tensor([0.1, 0.2, 0.05]), t.tensor([1.5, 2, 3]), 0, t.quint8),
}


def outcome(module, expression, kind, **names):
    """What an expression gives, as text: its value or the type and text of its error, without torch's own list of backends."""
    x = module.tensor(NUMBERS)
    q = KINDS[kind](module, x)
    p = module.quantize_per_tensor(x.flip(0).contiguous(), 0.2, 12, module.quint8)
    scope = {"torch": module, "x": x, "q": q, "p": p, **names}
    try:
        value = eval(expression, scope)  # expressions of this file
        return f"{value!r}\n{q!r}"
    except Exception as error:  # noqa: BLE001  # whatever torch raises is compared
        return f"{type(error).__name__}: {str(error).partition('. This could be')[0]}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "expression",
    """q
q.int_repr()
q.dequantize()
q.qscheme()
q.q_scale()
q.q_zero_point()
q.q_per_channel_scales()
q.q_per_channel_zero_points()
q.q_per_channel_axis()
q.view(3, 2, 2)
q.tolist()
q.is_quantized, q.stride(), q.element_size(), q.nbytes, q.untyped_storage().nbytes()
q.type()
torch.equal(q, q)
q.float()
q.requires_grad_()
q.detach()""".splitlines(),
)
def test_parts_of_every_kind_are_torchs(kind, expression):
    assert outcome(mindtorch, expression, kind) == outcome(torch, expression, kind)


@pytest.mark.parametrize("kind", ["quint8", "qint8", "channels", "last"])
@pytest.mark.parametrize(
    "expression",
    """q[0]
q[1:]
q[:, 1:3]
q[:, 1]
q[0, 1].item()
q.t()
q.permute(1, 0).contiguous()
q.reshape(-1)
q.unsqueeze(0)
q.unsqueeze(2)
q.squeeze()
q.expand(2, 3, 4)
q.unbind(0)
q.chunk(2, 1)
q.split(2)
q.clone()
q.copy_(x)
q.copy_(p)
q.fill_(0.7)
q.clone().resize_(2, 2)
q == p
q > 0.2
q.relu()
torch.nn.functional.relu6(q)
torch.cat([q, q])
torch.stack([q, q])
q.mean()
q.mean(0)
q.mean((0, 1), True)
torch.std(q, 0)
q.max()
q.min(1)
q.sort(1, True)
q.topk(2)[0]
q.flip(0)
q.index_select(1, torch.tensor([2, 0]))
q.clamp(0, 1)
q.sigmoid()
q.tanh()
torch.nn.functional.leaky_relu(q)
torch.nn.functional.gelu(q)
torch.nn.functional.hardsigmoid(q)
torch.nn.functional.max_pool2d(q[None, None], 2, 1)
torch.nn.functional.avg_pool2d(q[None, None], 2, 1)
torch.nn.functional.interpolate(q[None, None], scale_factor=2)
torch.nn.functional.pad(q, [1, 1])
torch.empty_quantized([2, 3], q).shape
q.masked_fill(torch.tensor([True, False, False, True]), 1.0)
q.__setitem__(0, 1.5)
q.__setitem__(0, q[1])
q.sum()
q + q
q.half()
torch.matmul(q, q.t())
x.copy_(q)""".splitlines(),
)
def test_operators_are_torchs(kind, expression):
    ours = outcome(mindtorch, expression, kind)
    assert ours.replace("'aten::sum'", "'aten::sum.IntList_out'") == outcome(
        torch, expression, kind
    ) or ours.startswith("NotImplementedError")
    if ours.startswith("NotImplementedError"):
        assert outcome(torch, expression, kind).startswith("NotImplementedError")


@pytest.mark.parametrize(
    "expression",
    """torch.quantize_per_tensor(x, 0.1, 300, torch.quint8)
torch.quantize_per_tensor(x, 0.1, -1, torch.quint8)
torch.quantize_per_tensor(x.double(), 0.1, 1, torch.quint8)
torch.quantize_per_tensor(x, 0.1, 1, torch.float32)
torch.quantize_per_tensor(x, torch.tensor(0.1), torch.tensor(1), torch.quint8)
torch.quantize_per_tensor([x, x], torch.tensor([0.1, 0.2]), torch.tensor([1, 2]), torch.quint8)
torch.quantize_per_tensor(torch.tensor([float("nan"), 1e30, -1e30]), 0.1, 1, torch.quint8).int_repr()
torch.quantize_per_tensor(torch.tensor([float("nan"), 1e30, -1e30]), 0.1, 1, torch.qint32).int_repr()
torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([3, 4]), 0, torch.qint8)
torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([3, 4]), 5, torch.qint8)
torch.quantize_per_channel(x, torch.tensor([[0.1, 0.2]]), torch.tensor([3, 4]), 0, torch.qint8)
torch.quantize_per_channel(x, torch.tensor([0.1, 0.2, 1]), torch.tensor([3, 4, 400]), 0, torch.qint8)
torch.quantize_per_tensor_dynamic(x, torch.qint8, False)
torch.quantize_per_tensor_dynamic(x, torch.quint8, True)
torch.quantize_per_tensor_dynamic(x, torch.qint32, True)
torch.dequantize([q, q])
x.dequantize()
x.q_scale()
x.int_repr()
torch._make_per_tensor_quantized_tensor(torch.tensor([1, 2], dtype=torch.uint8), 0.1, 2)
torch._empty_affine_quantized([2], scale=0.1, zero_point=1, dtype=torch.quint8).q_scale()
torch.empty_like(q, dtype=torch.qint8)
q[0]._is_view(), q[0]._base is q, q[1].storage_offset()""".splitlines(),
)
def test_construction_is_torchs(expression):
    assert outcome(mindtorch, expression, "quint8") == outcome(torch, expression, "quint8")


def test_rounding_is_torchs():
    """Halves of steps, where a product and a sum rounded apart give other integers than rounded together."""
    generator = np.random.default_rng(3)
    for number in range(120):
        scale, zero_point = float(generator.uniform(1e-3, 2)), int(generator.integers(0, 100))
        values = (generator.integers(-200, 200, 37) + 0.5).astype(np.float32) * np.float32(scale)
        kind = ("quint8", "qint8", "qint32")[number % 3]
        both = [
            module.quantize_per_tensor(module.tensor(values), scale, zero_point, getattr(module, kind))
            for module in (mindtorch, torch)
        ]
        assert both[0].int_repr().tolist() == both[1].int_repr().tolist()
        assert both[0].dequantize().tolist() == both[1].dequantize().tolist()
        both = [
            module.quantize_per_channel(
                module.tensor(values)[None],
                module.tensor([scale]),
                module.tensor([zero_point]),
                0,
                getattr(module, kind),
            )
            for module in (mindtorch, torch)
        ]
        assert both[0].int_repr().tolist() == both[1].int_repr().tolist()
        assert both[0].dequantize().tolist() == both[1].dequantize().tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_read_by_both(kind, tmp_path):
    theirs = KINDS[kind](torch, torch.tensor(NUMBERS))
    torch.save({"q": theirs}, tmp_path / "theirs.pt")
    read = mindtorch.load(tmp_path / "theirs.pt")["q"]
    assert repr(read) == repr(theirs)
    mindtorch.save({"q": read}, tmp_path / "ours.pt")
    assert repr(torch.load(tmp_path / "ours.pt")["q"]) == repr(theirs)
    assert repr(pickle.loads(pickle.dumps(read))) == repr(theirs)
    if kind != "packed":
        assert repr(copy.deepcopy(read)) == repr(theirs)


def test_a_view_shares_its_memory():
    q = mindtorch.quantize_per_tensor(mindtorch.tensor(NUMBERS), 0.1, 10, mindtorch.quint8)
    q[0].fill_(1.0)
    q.t()[0].copy_(mindtorch.zeros(3))
    assert q.int_repr()[0].tolist() == [10, 20, 20, 20]
    assert q.share_memory_().is_shared()
    assert q.int_repr()[0].tolist() == [10, 20, 20, 20]


def test_a_file_with_a_quantizer_that_does_not_fit_is_refused(tmp_path):
    made = mindtorch._utils._rebuild_qtensor
    storage = mindtorch.quantize_per_tensor(mindtorch.ones(2), 1.0, 0, mindtorch.quint8)._typed_storage()
    with pytest.raises(RuntimeError, match="length of scales must equal to channel"):
        made(
            storage,
            0,
            (2,),
            (1,),
            (mindtorch.per_channel_affine, mindtorch.ones(3), mindtorch.zeros(3).long(), 0),
            False,
            {},
        )
    with pytest.raises(RuntimeError, match="out of bounds"):
        made(storage, 0, (5,), (1,), (mindtorch.per_tensor_affine, 1.0, 0), False, {})


def test_that_torch_will_have_no_quantized_tensors_is_said_once():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        mindtorch.set_warn_always(True)
        try:
            mindtorch.quantize_per_tensor(mindtorch.ones(2), 1.0, 0, mindtorch.quint8)
        finally:
            mindtorch.set_warn_always(False)
    assert "are deprecated and will be removed in a future PyTorch" in str(found[0].message)
