"""What programs do beside their layers: batches of arrays, losses of sequences and images, small matrices, spectra."""

import random
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

Step = Callable[[], object]


def _backward(value: Callable[[], torch.Tensor]) -> Step:
    return lambda: value().sum().backward()


def text_convolutions() -> Step:
    """Convolutions of three widths over words, and the largest of each."""
    words = nn.Embedding(1000, 32)
    layers = nn.ModuleList([nn.Conv1d(32, 16, width) for width in (3, 4, 5)])
    texts = torch.randint(1000, (16, 40))

    def value() -> torch.Tensor:
        return torch.cat([F.relu(layer(words(texts).transpose(1, 2))).max(2)[0] for layer in layers], 1)

    return _backward(value)


def speech_loss() -> Step:
    """Connectionist temporal classification."""
    scores, labels = torch.randn(50, 8, 20, requires_grad=True), torch.randint(1, 20, (8, 15))
    inputs, lengths = torch.full((8,), 50), torch.full((8,), 15)
    return _backward(lambda: F.ctc_loss(scores.log_softmax(2), labels, inputs, lengths))


def segmentation_loss() -> Step:
    """A class for every pixel."""
    scores, classes = torch.randn(4, 10, 32, 32, requires_grad=True), torch.randint(10, (4, 32, 32))
    return _backward(lambda: F.cross_entropy(scores, classes))


def bags_train() -> Step:
    """Sums of bags of embeddings."""
    table, numbers, begins = (
        nn.EmbeddingBag(20000, 64, mode="sum"),
        torch.randint(20000, (2000,)),
        torch.arange(100) * 20,
    )
    return _backward(lambda: table(numbers, begins))


def weighted_bags_train() -> Step:
    """Weighted sums, with gradients of the weights too."""
    table, numbers = nn.EmbeddingBag(20000, 64, mode="sum"), torch.randint(20000, (100, 20))
    weights = torch.rand(100, 20, requires_grad=True)
    return _backward(lambda: table(numbers, per_sample_weights=weights))


def rotations() -> Step:
    """Products of many matrices of 3 × 3."""
    first, second = torch.randn(1000, 3, 3), torch.randn(1000, 3, 3)
    return lambda: first @ second


def rotated_points() -> Step:
    """Many matrices of 3 × 3 times a vector each."""
    turns, points = torch.randn(1000, 3, 3), torch.randn(1000, 3, 1)
    return lambda: turns @ points


def small_inverses() -> Step:
    """Inverses of many matrices of 4 × 4."""
    matrices = torch.randn(100, 4, 4) + 4 * torch.eye(4)
    return lambda: torch.linalg.inv(matrices)


def small_determinants() -> Step:
    """Determinants of many matrices of 3 × 3."""
    matrices = torch.randn(100, 3, 3)
    return lambda: torch.linalg.det(matrices)


def quasi_newton() -> Step:
    """Ten iterations of LBFGS on fifty numbers."""
    point, form = torch.randn(50, requires_grad=True), torch.rand(50, 50)
    form = form @ form.T

    def step() -> None:
        with torch.no_grad():
            point.fill_(1.0)
        optimizer = torch.optim.LBFGS([point], max_iter=10)

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = point @ form @ point + point.pow(4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)

    return step


def replay_batch() -> Step:
    """A batch of remembered transitions as tensors."""
    memory = [(torch.randn(4), random.randrange(2), random.random(), torch.randn(4)) for _ in range(1000)]

    def step() -> object:
        states, actions, rewards, following = zip(*random.sample(memory, 64), strict=True)
        return torch.stack(states), torch.tensor(actions), torch.tensor(rewards), torch.stack(following)

    return step


class Arrays(torch.utils.data.Dataset):
    """Rows of an array, and their numbers."""

    def __init__(self) -> None:
        self.rows = np.random.default_rng(0).random((512, 32), np.float32)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        return self.rows[index], index


def array_batches() -> Step:
    """An epoch over arrays, shuffled, without workers."""
    loader = torch.utils.data.DataLoader(Arrays(), batch_size=32, shuffle=True)
    return lambda: list(loader)


def convolution_channels_last() -> Step:
    """A convolution of images whose channels lie together."""
    layer = nn.Conv2d(64, 64, 3, padding=1).to(memory_format=torch.channels_last)
    images = torch.randn(8, 64, 28, 28).to(memory_format=torch.channels_last)
    return lambda: layer(images)


def convolution_groups_train() -> Step:
    """A convolution in groups."""
    layer, images = nn.Conv2d(64, 64, 3, padding=1, groups=4), torch.randn(8, 64, 28, 28)
    return _backward(lambda: layer(images))


def group_norm_train() -> Step:
    """A norm of groups of channels."""
    layer, images = nn.GroupNorm(8, 64), torch.randn(8, 64, 28, 28, requires_grad=True)
    return _backward(lambda: layer(images))


def prelu_train() -> Step:
    """A slope per channel."""
    layer, images = nn.PReLU(64), torch.randn(8, 64, 28, 28, requires_grad=True)
    return _backward(lambda: layer(images))


def floor_divide() -> Step:
    """Quotients rounded down."""
    values = torch.rand(1000, 1000)
    return lambda: values // 0.3


def spectra() -> Step:
    """Frequencies of many signals."""
    signals = torch.randn(64, 1024)
    return lambda: torch.fft.rfft(signals)


def short_spectrum() -> Step:
    """Frequencies of a short signal."""
    signal = torch.randn(64)
    return lambda: torch.fft.fft(signal)


def sparse_rows() -> Step:
    """A matrix of compressed rows times a dense one."""
    places = torch.randint(1000, (2, 10000))
    matrix = torch.sparse_coo_tensor(places, torch.rand(10000), (1000, 1000)).coalesce().to_sparse_csr()
    features = torch.randn(1000, 32)
    return lambda: matrix @ features
