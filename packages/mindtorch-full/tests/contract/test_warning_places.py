"""Warnings name the same line of the program as torch's, with the same category and text."""

import subprocess
import sys
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
    "float(torch.ones(1, requires_grad=True))",
    "int(torch.ones((), requires_grad=True))",
    "complex(torch.ones((), requires_grad=True))",
    "with torch.no_grad(): float(torch.ones((), requires_grad=True))",
    "float(torch.ones(1)), bool(torch.ones(1, requires_grad=True)), torch.ones(1, requires_grad=True).item()",
    "torch.ones(3, 4)[[[0, 1], [1, 2]]]",
    "torch.ones(3, 4)[[slice(0, 1), 1]]",
    "torch.ones(3, 4)[[torch.tensor([0]), torch.tensor([1])]]",
    "torch.ones(3, 4)[[0, 1]], torch.ones(3, 4)[([0, 1], [1, 2])], torch.ones(3, 4)[range(2)]",
    "torch.ones(3, 4)[[[0, 1], [1, 2]]] = 5",
    "torch.searchsorted(torch.arange(10.0).reshape(5, 2).t(), torch.arange(6.0).reshape(3, 2).t())",
    "torch.bucketize(torch.arange(6.0).reshape(3, 2).t(), torch.arange(10.0)[::2])",
    "torch.searchsorted(torch.arange(4.0), torch.ones(2), sorter=torch.arange(8)[::2] // 2)",
    "torch.ones(1).volatile",
    "torch.zeros(2, out=torch.ones(1)), torch.full((2,), 1.0, out=torch.ones(1)), torch.rand(2, out=torch.ones(1))",
    "torch.eye(2, out=torch.ones(1)), torch.linspace(0, 1, 2, out=torch.ones(1)), torch.randperm(2, out=torch.ones(1).long())",
    "torch.normal(0.0, 1.0, (2,), out=torch.ones(1))",
    "torch.normal(torch.zeros(2), 1.0, out=torch.ones(1))",
    "torch.arange(2, out=torch.ones(1))",
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


_SPARSE = """
import torch, warnings
C = torch.sparse.check_sparse_tensor_invariants
makers = [
    lambda **options: torch.sparse_coo_tensor([[0, 1], [0, 1]], [1.0, 2.0], (2, 2), **options),
    lambda **options: torch.sparse_coo_tensor([[0, 1], [0, 1]], [1.0, 2.0], **options),
    lambda **options: torch.sparse_coo_tensor((2, 2), **options),
    lambda **options: torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2), **options),
]
torch.set_warn_always(True)
for maker in makers:
    for options in ({}, {"check_invariants": False}, {"check_invariants": True}):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            maker(**options)
        print([(one.category.__name__, str(one.message).split(" (Triggered")[0], one.lineno) for one in seen])
with C(False):
    pass
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    makers[0]()
print(len(seen), C.is_enabled())
"""


def test_sparse_tensors_tell_that_nobody_chose_whether_indices_are_looked_at(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(_SPARSE)
    said = [
        subprocess.run([sys.executable, *how, str(program)], capture_output=True, text=True, check=True).stdout
        for how in ([], ["-m", "mindtorch", "run"])
    ]
    assert "implicitly disabled" in said[0]
    assert said[0] == said[1]
