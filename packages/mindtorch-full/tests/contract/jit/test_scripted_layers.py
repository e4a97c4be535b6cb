"""Recurrent, attention and resizing layers that both libraries script, and their archives read by the other."""

import math

import pytest

torch = pytest.importorskip("torch", reason="oracle")
import mindtorch  # noqa: E402

from .programs import carried, close, outcome  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning"),
]


def filled(lib, *shape):
    count = math.prod(shape)
    return lib.sin(lib.arange(float(count))).reshape(*shape) / 2


def sequence(lib, made):
    """Return a layer within another: torch's recurrent layers have no `forward` of their own."""
    return lib.nn.Sequential(made)


def encoder_layer(lib, **options):
    return lib.nn.TransformerEncoderLayer(8, 2, 16, 0.0, **options)


def decoder_layer(lib, **options):
    return lib.nn.TransformerDecoderLayer(8, 2, 16, 0.0, **options)


def labels(lib):
    return lib.tensor([[1, 2], [3, 4]]), lib.tensor([6, 6]), lib.tensor([2, 2])


X, Y = (5, 3, 8), (4, 3, 8)
CASES = {
    "LSTM": (lambda lib: sequence(lib, lib.nn.LSTM(8, 4, 2, bidirectional=True, batch_first=True)), (X,)),
    "LSTM with projections": (lambda lib: sequence(lib, lib.nn.LSTM(8, 4, proj_size=2)), (X,)),
    "LSTM without batch": (lambda lib: sequence(lib, lib.nn.LSTM(8, 4)), ((5, 8),)),
    "LSTM of other sizes": (lambda lib: sequence(lib, lib.nn.LSTM(7, 4)), (X,)),
    "GRU": (lambda lib: sequence(lib, lib.nn.GRU(8, 4, bias=False)), (X,)),
    "GRU without batch": (lambda lib: sequence(lib, lib.nn.GRU(8, 4)), ((5, 8),)),
    "RNN": (lambda lib: sequence(lib, lib.nn.RNN(8, 4)), (X,)),
    "RNN of relu": (lambda lib: sequence(lib, lib.nn.RNN(8, 4, nonlinearity="relu")), (X,)),
    "LSTMCell": (lambda lib: lib.nn.LSTMCell(8, 4), ((3, 8),)),
    "GRUCell": (lambda lib: lib.nn.GRUCell(8, 4), ((3, 8), (3, 4))),
    "RNNCell": (lambda lib: lib.nn.RNNCell(8, 4), ((8,), (4,))),
    "MultiheadAttention": (lambda lib: lib.nn.MultiheadAttention(8, 2), (X, Y, Y)),
    "MultiheadAttention of other sizes": (lambda lib: lib.nn.MultiheadAttention(8, 2, kdim=4, vdim=6, batch_first=True),
                                          (X, (5, 2, 4), (5, 2, 6))),
    "MultiheadAttention with more keys": (lambda lib: lib.nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True),
                                          (X, X, X)),
    "TransformerEncoderLayer": (lambda lib: encoder_layer(lib), (X,)),
    "TransformerEncoderLayer with a mask": (lambda lib: encoder_layer(lib, norm_first=True, activation="gelu"), (X, (5, 5))),
    "TransformerEncoderLayer in evaluation": (lambda lib: encoder_layer(lib, batch_first=True).eval(), (X,)),
    "TransformerEncoder": (lambda lib: lib.nn.TransformerEncoder(encoder_layer(lib), 2, lib.nn.LayerNorm(8)), (X, (5, 5))),
    "TransformerDecoder": (lambda lib: lib.nn.TransformerDecoder(decoder_layer(lib), 2), (X, Y, (5, 5))),
    "Transformer": (lambda lib: lib.nn.Transformer(8, 2, 1, 1, 16, 0.0), (X, Y)),
    "InstanceNorm1d": (lambda lib: lib.nn.InstanceNorm1d(3), (X,)),
    "InstanceNorm2d": (lambda lib: lib.nn.InstanceNorm2d(3, affine=True, track_running_stats=True), ((3, 4, 4),)),
    "LPPool1d": (lambda lib: lib.nn.LPPool1d(2, 2, 1), (X,)),
    "LPPool2d": (lambda lib: lib.nn.LPPool2d(2, (1, 2)), ((1, *X),)),
    "LPPool3d": (lambda lib: lib.nn.LPPool3d(2, 2), ((1, *X),)),
    "CircularPad1d": (lambda lib: lib.nn.CircularPad1d(1), (X,)),
    "CircularPad2d": (lambda lib: lib.nn.CircularPad2d((1, 2, 0, 1)), (X,)),
    "CircularPad3d": (lambda lib: lib.nn.CircularPad3d(1), ((1, *X),)),
    "EmbeddingBag": (lambda lib: lib.nn.EmbeddingBag(10, 3), lambda lib: (lib.tensor([[1, 2], [3, 4]]),)),
    "EmbeddingBag with offsets": (lambda lib: lib.nn.EmbeddingBag(10, 3, mode="max"),
                                  lambda lib: (lib.tensor([1, 2, 3, 4]), lib.tensor([0, 3]))),
    "EmbeddingBag with weights": (lambda lib: lib.nn.EmbeddingBag(10, 3, mode="sum"),
                                  lambda lib: (lib.tensor([[1, 2]]), None, lib.tensor([[0.5, 2.0]]))),
    "Upsample": (lambda lib: lib.nn.Upsample(scale_factor=2), (X,)),
    "Upsample, linear": (lambda lib: lib.nn.Upsample(scale_factor=1.5, mode="linear", align_corners=True), (X,)),
    "Upsample, bilinear": (lambda lib: lib.nn.Upsample((4, 7), mode="bilinear"), ((1, *X),)),
    "Upsample, bicubic": (lambda lib: lib.nn.Upsample(scale_factor=(2.0, 1.0), mode="bicubic"), ((1, *X),)),
    "Upsample, trilinear": (lambda lib: lib.nn.Upsample(scale_factor=2, mode="trilinear", recompute_scale_factor=True),
                            ((1, 1, *X),)),
    "Upsample, exact": (lambda lib: lib.nn.Upsample(size=3, mode="nearest-exact"), ((1, *X),)),
    "Upsample, area": (lambda lib: lib.nn.Upsample(scale_factor=0.5, mode="area"), (X,)),
    "Upsample of too few dimensions": (lambda lib: lib.nn.Upsample(scale_factor=2, mode="bilinear"), (X,)),
    "CTCLoss": (lambda lib: lib.nn.CTCLoss(), lambda lib: (filled(lib, 6, 2, 5).log_softmax(2), *labels(lib))),
    "MultiMarginLoss": (lambda lib: lib.nn.MultiMarginLoss(p=2), lambda lib: (filled(lib, 3, 8), lib.tensor([1, 0, 2]))),
    "MultiLabelMarginLoss": (lambda lib: lib.nn.MultiLabelMarginLoss(),
                             lambda lib: (filled(lib, 1, 4), lib.tensor([[3, 0, -1, 1]]))),
}  # fmt: skip


def alike(name):
    make, given = CASES[name]
    modules, inputs = [], []
    for lib in (torch, mindtorch):
        modules.append(make(lib))
        with lib.no_grad():
            for one in modules[-1].parameters():
                one.copy_(filled(lib, *one.shape))
        inputs.append(given(lib) if callable(given) else tuple(filled(lib, *shape) for shape in given))
    return (*modules, *inputs)


@pytest.mark.parametrize("name", CASES)
def test_scripted_layers_compute_what_torchs_do(name):
    theirs, ours, given, our_given = alike(name)
    theirs, ours = torch.jit.script(theirs), mindtorch.jit.script(ours)
    expected = outcome(lambda: theirs(*given))
    shown = outcome(lambda: ours(*our_given))
    assert close(shown, expected) or (isinstance(shown, str) and isinstance(expected, str))
    assert close(outcome(lambda: carried(ours, mindtorch, torch)(*given)), expected)
    loaded = outcome(lambda: carried(ours, mindtorch, mindtorch)(*our_given))
    assert close(loaded, expected)
    assert close(outcome(lambda: carried(theirs, torch, mindtorch)(*our_given)), expected)


def test_maxima_go_back_where_they_were():
    pooled = mindtorch.nn.MaxPool2d(2, return_indices=True)(filled(mindtorch, 1, 2, 4, 4))
    scripted = mindtorch.jit.script(mindtorch.nn.MaxUnpool2d((2, 2)))
    expected = torch.nn.MaxUnpool2d(2)(*(torch.tensor(one.tolist()) for one in pooled))
    assert carried(scripted, mindtorch, mindtorch)(*pooled).tolist() == expected.tolist()
    assert (
        carried(scripted, mindtorch, torch)(*(torch.tensor(one.tolist()) for one in pooled)).tolist()
        == expected.tolist()
    )
