"""Warnings name the same line of the program as torch's, with the same category and text."""

import warnings

import pytest

import mindtorch

torch = pytest.importorskip("torch")

STATEMENTS = [
    "torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8)",
    "torch.range(0, 3)",
    "torch.std(torch.ones(1))",
    "torch.ones(1).var()",
    "torch.var_mean(torch.ones(1))",
    "F.grid_sample(torch.ones(1, 1, 2, 2), torch.zeros(1, 2, 2, 2))",
    "torch.ones(3)[torch.tensor([1, 0, 1], dtype=torch.uint8)]",
    "torch.ones(2, 2)[torch.tensor([1, 0], dtype=torch.uint8), 0]",
    "torch.cross(torch.ones(2, 3), torch.ones(2, 3))",
    "torch.cholesky(torch.eye(2))",
    "torch.qr(torch.eye(2))",
    "torch.triangular_solve(torch.ones(2, 1), torch.eye(2))",
    "torch.ones(2, 2, 2).T",
    "torch.ones(()).T",
    "torch.ones(()).mT",
    "torch.ones(()).adjoint()",
    "torch.add(torch.ones(2), 1, out=torch.empty(3))",
    "torch.empty(3).random_(2**24 + 3)",
    "torch.empty(3).random_(0, 2**24 + 3)",
    "torch.ones(2, dtype=torch.complex64).to(torch.float32)",
    "torch.ones(2, dtype=torch.complex64).int()",
    "torch.ones(2, dtype=torch.complex64).bool()",
    "torch.ones(2).copy_(torch.ones(2, dtype=torch.complex64))",
    "torch.ones(2, dtype=torch.complex64).sum(dtype=torch.float32)",
    "torch.ones(2, requires_grad=True).to(torch.complex64).sum().abs().backward()",
    "torch.empty(2, dtype=torch.complex32)",
    "F.softmax(torch.ones(2, 2))",
    "F.mse_loss(torch.ones(2), torch.ones(2, 2))",
    "F.kl_div(torch.ones(2), torch.ones(2))",
    "F.upsample(torch.ones(1, 1, 2, 2), scale_factor=2)",
    "F.dropout2d(torch.ones(2, 2))",
    "F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2), padding='same')",
    "(torch.ones(2, requires_grad=True) * 2).grad",
    "torch.frombuffer(b'12345678', dtype=torch.float32)",
    "torch.tensor(torch.ones(2))",
    "torch.zeros(3).index_reduce_(0, torch.tensor([0]), torch.ones(1), 'prod')",
    "torch.nn.init.uniform(torch.ones(2))",
    "torch.addmm(1, torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2))",
    "torch.add(torch.ones(2), 2, torch.ones(2))",
]


@pytest.fixture(autouse=True)
def _always():
    before = [(side, side.is_warn_always_enabled()) for side in (torch, mindtorch)]
    for side, _ in before:
        side.set_warn_always(True)
    yield
    for side, was in before:
        side.set_warn_always(was)


def _warned(side, statement: str) -> list[tuple[str, str, str]]:
    program = compile(statement, "program.py", "exec")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        exec(program, {"torch": side, "F": side.nn.functional, "__name__": "program"})
    return [(one.category.__name__, str(one.message).split(" (Triggered internally")[0], one.filename) for one in seen]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_warnings_name_the_line_of_the_program(statement):
    assert _warned(mindtorch, statement) == _warned(torch, statement)
