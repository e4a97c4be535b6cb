"""Recurrent layers over whole sequences, and their cells."""

from mindtorch._naming import adopt
from mindtorch.nn.modules._rnn_base import RNNBase
from mindtorch.nn.modules._rnn_base import apply_permutation as apply_permutation
from mindtorch.nn.modules._rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from mindtorch.nn.modules._rnn_layers import GRU, LSTM, RNN

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

adopt(globals())
