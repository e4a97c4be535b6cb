"""Recurrent cells and layers."""

from ..decomp import rnn as composed
from ..meta import rnn as rules
from ..table import op

_CELL = "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None"
_LAYERS = "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"

for _kind in ("rnn_tanh", "rnn_relu", "gru"):
    op(
        f"{_kind}_cell(Tensor input, Tensor hx, {_CELL}) -> Tensor",
        composite=getattr(composed, f"{_kind}_cell"),
        variants="function",
    )
    op(
        f"{_kind}.input(Tensor input, Tensor hx, {_LAYERS}, bool batch_first) -> (Tensor, Tensor)",
        composite=getattr(composed, _kind),
        variants="function",
    )
    op(
        f"{_kind}.data(Tensor data, Tensor batch_sizes, Tensor hx, {_LAYERS}) -> (Tensor, Tensor)",
        composite=getattr(composed, f"{_kind}_data"),
        variants="function",
    )
op(
    f"lstm_cell(Tensor input, Tensor[] hx, {_CELL}) -> (Tensor, Tensor)",
    composite=composed.lstm_cell,
    variants="function",
)
op(
    f"lstm.input(Tensor input, Tensor[] hx, {_LAYERS}, bool batch_first) -> (Tensor, Tensor, Tensor)",
    composite=composed.lstm,
    variants="function",
)
op(
    f"lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, {_LAYERS}) -> (Tensor, Tensor, Tensor)",
    composite=composed.lstm_data,
    variants="function",
)

_LAYER = "int hidden_size, int num_layers, bool has_biases"
op(
    "mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, Tensor hx_, "
    f"Tensor cx_, bool reverse, int[] batch_sizes, int mode, {_LAYER}, bool bidirectional, bool batch_first, "
    "bool train) -> (Tensor, Tensor, Tensor, Tensor)",
    rules.layer,
    variants="function",
)
op(
    "mkldnn_rnn_layer_backward(Tensor input, Tensor weight1, Tensor weight2, Tensor weight3, Tensor weight4, "
    "Tensor hx_, Tensor cx_tmp, Tensor output, Tensor hy_, Tensor cy_, Tensor? grad_output, Tensor? grad_hy, "
    f"Tensor? grad_cy, bool reverse, int mode, {_LAYER}, bool train, bool bidirectional, int[] batch_sizes, "
    "bool batch_first, Tensor workspace) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
    rules.layer_backward,
    variants="",
)
