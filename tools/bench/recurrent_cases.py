"""Recurrent nets: layers of one size, forward and in training, cells, and a language model's step."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

Step = Callable[[], object]

WORDS = 2000


def _layer(
    kind: str, width: int, batch: int, steps: int, train: bool = False, both_ways: bool = False
) -> Callable[[], Step]:
    def case() -> Step:
        net = getattr(nn, kind)(width // 2, width, bidirectional=both_ways)
        x = torch.randn(steps, batch, width // 2)

        def forward() -> None:
            with torch.no_grad():
                net(x)

        def forward_and_backward() -> None:
            net.zero_grad()
            net(x)[0].sum().backward()

        return forward_and_backward if train else forward

    return case


def _cell(kind: str) -> Callable[[], Step]:
    def case() -> Step:
        net, x, state = getattr(nn, kind)(64, 64), torch.randn(8, 64), torch.zeros(8, 64)
        state = (state, state) if kind == "LSTMCell" else state

        def step() -> None:
            with torch.no_grad():
                net(x, state)

        return step

    return case


def _language_model(kind: str) -> Callable[[], Step]:
    """Two layers of 200 over 35 words of 20 texts."""

    def case() -> Step:
        words, net, out = nn.Embedding(WORDS, 200), getattr(nn, kind)(200, 200, 2), nn.Linear(200, WORDS)
        optimizer = torch.optim.SGD([*words.parameters(), *net.parameters(), *out.parameters()], 0.1)
        text = torch.randint(0, WORDS, (35, 20))

        def step() -> None:
            optimizer.zero_grad()
            F.cross_entropy(out(net(words(text))[0]).reshape(-1, WORDS), text.reshape(-1)).backward()
            optimizer.step()

        return step

    return case


lstm = _layer("LSTM", 256, 32, 50)
lstm_train = _layer("LSTM", 256, 32, 50, train=True)
lstm_alone = _layer("LSTM", 64, 1, 20)
lstm_alone_train = _layer("LSTM", 64, 1, 20, train=True)
lstm_both_train = _layer("LSTM", 128, 8, 30, train=True, both_ways=True)
gru = _layer("GRU", 256, 32, 50)
gru_train = _layer("GRU", 256, 32, 50, train=True)
gru_alone_train = _layer("GRU", 64, 1, 20, train=True)
rnn_train = _layer("RNN", 256, 32, 50, train=True)
lstm_cell, gru_cell = _cell("LSTMCell"), _cell("GRUCell")
lstm_words, gru_words = _language_model("LSTM"), _language_model("GRU")
