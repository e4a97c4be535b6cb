"""Layers with quantized weights, whose inputs are quantized as they come."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized.dynamic.modules import GRU, LSTM, GRUCell, Linear, LSTMCell, RNNCell

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell", "Linear", "RNNCell"]

adopt(globals())
