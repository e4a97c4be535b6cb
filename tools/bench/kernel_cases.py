"""One kernel each, on operands as large as BERT-base's: `torch.ops.aten` where the kernel is a backward."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

MANY = (512, 3072)  # 1.5M elements
ROWS = (6144, 128)
STATES = (512, 768)
VOCABULARY = 30522

aten = torch.ops.aten
Step = Callable[[], object]


def gelu() -> Step:
    """By the error function."""
    x = torch.randn(MANY)
    return lambda: F.gelu(x)


def gelu_tanh() -> Step:
    """By the hyperbolic tangent."""
    x = torch.randn(MANY)
    return lambda: F.gelu(x, approximate="tanh")


def gelu_backward() -> Step:
    """Of the error function's form."""
    x, grad = torch.randn(MANY), torch.randn(MANY)
    return lambda: aten.gelu_backward(grad, x)


def exp() -> Step:
    """e**x."""
    x = torch.randn(MANY)
    return lambda: x.exp()


def tanh() -> Step:
    """The hyperbolic tangent."""
    x = torch.randn(MANY)
    return lambda: x.tanh()


def softmax() -> Step:
    """Over the last dimension."""
    x = torch.randn(ROWS)
    return lambda: x.softmax(-1)


def softmax_backward() -> Step:
    """Over the last dimension."""
    result, grad = torch.randn(ROWS).softmax(-1), torch.randn(ROWS)
    return lambda: aten._softmax_backward_data(grad, result, -1, torch.float32)


def layer_norm() -> Step:
    """With weight and bias."""
    x, weight, bias = torch.randn(STATES), torch.randn(768), torch.randn(768)
    return lambda: aten.native_layer_norm(x, [768], weight, bias, 1e-5)


def layer_norm_backward() -> Step:
    """All three gradients."""
    x, weight, bias, grad = torch.randn(STATES), torch.randn(768), torch.randn(768), torch.randn(STATES)
    _, mean, scale = aten.native_layer_norm(x, [768], weight, bias, 1e-5)
    return lambda: aten.native_layer_norm_backward(grad, x, [768], mean, scale, weight, bias, [True, True, True])


def dropout() -> Step:
    """A tenth is dropped, by torch's own random stream."""
    x = torch.randn(MANY)
    return lambda: F.dropout(x, 0.1)


def cross_entropy() -> Step:
    """Over BERT's vocabulary."""
    x, labels = torch.randn(128, VOCABULARY), torch.randint(0, VOCABULARY, (128,))
    return lambda: F.cross_entropy(x, labels)


def cross_entropy_backward() -> Step:
    """Forward and backward, over BERT's vocabulary."""
    x, labels = torch.randn(128, VOCABULARY, requires_grad=True), torch.randint(0, VOCABULARY, (128,))

    def step() -> None:
        x.grad = None
        F.cross_entropy(x, labels).backward()

    return step


def sum_last() -> Step:
    """Over the last dimension."""
    x = torch.randn(ROWS)
    return lambda: x.sum(-1)


def sum_first() -> Step:
    """Over the first dimension, as a bias's gradient."""
    x = torch.randn(MANY)
    return lambda: x.sum(0)


def embedding_backward() -> Step:
    """The dense gradient of BERT's word embedding."""
    ids, grad = torch.randint(0, VOCABULARY, (256,)), torch.randn(256, 768)
    return lambda: aten.embedding_dense_backward(grad, ids, VOCABULARY, -1, False)


def add_many() -> Step:
    """Two tensors of one shape."""
    a, b = torch.randn(MANY), torch.randn(MANY)
    return lambda: a + b


def add_bias() -> Step:
    """One row to all rows."""
    a, b = torch.randn(MANY), torch.randn(3072)
    return lambda: a + b


def _product(rows: int, inner: int, columns: int) -> Callable[[], Step]:
    def case() -> Step:
        x, weight, bias = torch.randn(rows, inner), torch.randn(columns, inner), torch.randn(columns)

        def step() -> None:
            with torch.no_grad():
                F.linear(x, weight, bias)

        return step

    return case


linear_512_768_768 = _product(512, 768, 768)
linear_512_768_3072 = _product(512, 768, 3072)
linear_512_3072_768 = _product(512, 3072, 768)
linear_64_784_256 = _product(64, 784, 256)
linear_4_768_3072 = _product(4, 768, 3072)
linear_1_768_3072 = _product(1, 768, 3072)
linear_1_768_50257 = _product(1, 768, 50257)


def matmul_1024() -> Step:
    """A square product."""
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    return lambda: a @ b


def bmm() -> Step:
    """Scores of 48 heads."""
    a, b = torch.randn(48, 128, 64), torch.randn(48, 64, 128)
    return lambda: torch.bmm(a, b)


def _attention(batch: int, queries: int, keys: int, causal: bool = False) -> Callable[[], Step]:
    def case() -> Step:
        query = torch.randn(batch, 12, queries, 64)
        key, value = torch.randn(batch, 12, keys, 64), torch.randn(batch, 12, keys, 64)

        def step() -> None:
            with torch.no_grad():
                F.scaled_dot_product_attention(query, key, value, is_causal=causal)

        return step

    return case


attention_128 = _attention(4, 128, 128)
attention_1024 = _attention(1, 1024, 1024)
attention_causal = _attention(1, 1024, 1024, causal=True)
attention_decode = _attention(1, 1, 512)


def attention_backward() -> Step:
    """Forward and backward."""
    parts = [torch.randn(4, 12, 128, 64, requires_grad=True) for _ in range(3)]
    grad = torch.randn(4, 12, 128, 64)

    def step() -> None:
        for part in parts:
            part.grad = None
        F.scaled_dot_product_attention(*parts).backward(grad)

    return step
