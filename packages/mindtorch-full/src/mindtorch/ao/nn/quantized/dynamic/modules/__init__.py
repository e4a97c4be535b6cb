"""Layers with quantized weights, whose inputs are quantized as they come."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized.dynamic.modules.linear import Linear
from mindtorch.ao.nn.quantized.dynamic.modules.rnn import GRU, LSTM, GRUCell, LSTMCell, RNNCell

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell", "Linear", "RNNCell"]

adopt(globals())
