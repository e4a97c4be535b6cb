"""Alerts of determinism, warnings of operators, and refusals of `out=` are those of torch."""

from __future__ import annotations

import warnings

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

OUT_OF_INTEGERS = {
    "cholesky_inverse": lambda lib, a, o: lib.cholesky_inverse(a, out=o),
    "cholesky_solve": lambda lib, a, o: lib.cholesky_solve(a, a, out=o),
    "cond": lambda lib, a, o: lib.linalg.cond(a, out=o),
    "cond of an order": lambda lib, a, o: lib.linalg.cond(a, 1, out=o),
    "eig": lambda lib, a, o: lib.linalg.eig(a, out=(o, o)),
    "eig, vectors": lambda lib, a, o: lib.linalg.eig(a, out=(lib.empty(0, dtype=lib.complex128), o)),
    "eigvals": lambda lib, a, o: lib.linalg.eigvals(a, out=o),
    "geqrf": lambda lib, a, o: lib.geqrf(a, out=(o, o)),
    "householder_product": lambda lib, a, o: lib.linalg.householder_product(a, a[0], out=o),
    "lstsq": lambda lib, a, o: lib.linalg.lstsq(a, a, out=(o, o, o, o)),
    "matrix_rank": lambda lib, a, o: lib.linalg.matrix_rank(a, out=o.bool()),
    "pinv": lambda lib, a, o: lib.linalg.pinv(a, out=o),
    "tensorinv": lambda lib, a, o: lib.linalg.tensorinv(a, 1, out=o),
    "tensorsolve": lambda lib, a, o: lib.linalg.tensorsolve(a, a[0], out=o),
    "order": lambda lib, a, o: lib.linalg.matrix_norm(a, 1 + 2j),
}


@pytest.mark.parametrize("name", OUT_OF_INTEGERS)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_refusals_name_what_cannot_be_converted(name: str, dtype: str) -> None:
    said = []
    for lib in (mt, torch):
        matrix = lib.eye(3, dtype=getattr(lib, dtype)) * 2
        with pytest.raises(RuntimeError) as error:
            OUT_OF_INTEGERS[name](lib, matrix, lib.empty(0, dtype=lib.int32))
        said.append(str(error.value))
    assert said[0] == said[1]


UNORDERED = {
    "put_": lambda lib: lib.zeros(3).put_(lib.tensor([0]), lib.ones(1)),
    "put_ that adds": lambda lib: lib.zeros(3).put_(lib.tensor([0]), lib.ones(1), accumulate=True),
    "put": lambda lib: lib.put(lib.zeros(3), lib.tensor([0]), lib.ones(1)),
    "unpool": lambda lib: lib.nn.MaxUnpool2d(2)(lib.ones(1, 2, 2), lib.zeros(1, 2, 2, dtype=lib.int64)),
    "unpool 3d": lambda lib: lib.nn.MaxUnpool3d(2)(lib.ones(1, 2, 2, 2), lib.zeros(1, 2, 2, 2, dtype=lib.int64)),
    "add": lambda lib: lib.ones(2) + 1,
}


def _with_determinism(lib: object, call: object, warn_only: bool) -> list[str]:
    found = []
    call(lib)  # one plan is there before
    lib.use_deterministic_algorithms(True, warn_only=warn_only)
    try:
        for _ in range(2):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    call(lib)
                except RuntimeError as error:
                    found.append(str(error))
            found += [str(one.message).partition(" (Triggered")[0] for one in caught]
    finally:
        lib.use_deterministic_algorithms(False)
    call(lib)
    return found


@pytest.mark.parametrize("warn_only", [False, True])
@pytest.mark.parametrize("name", UNORDERED)
def test_alerts_of_determinism(name: str, warn_only: bool) -> None:
    assert _with_determinism(mt, UNORDERED[name], warn_only) == _with_determinism(torch, UNORDERED[name], warn_only)


WARNED = {
    "expanded, masked": lambda lib: lib.zeros(1).expand(3).masked_fill_(lib.ones(3, dtype=lib.bool), 1.0),
    "expanded, filled": lambda lib: lib.zeros(1).expand(3).index_fill_(0, lib.tensor([0]), 1.0),
    "expanded, put": lambda lib: lib.zeros(1).expand(3).index_put_((lib.tensor([0]),), lib.tensor(1.0)),
    "own memory": lambda lib: lib.zeros(3).masked_fill_(lib.ones(3, dtype=lib.bool), 1.0),
    "halves": lambda lib: lib.zeros(3, dtype=lib.complex32),
    "converted": lambda lib: lib.zeros(3).to(lib.complex32),
    "old addbmm": lambda lib: lib.ones(2, 2).addbmm(2, lib.ones(1, 2, 2), lib.ones(1, 2, 2)),
    "old addbmm_": lambda lib: lib.ones(2, 2).addbmm_(2, 3, lib.ones(1, 2, 2), lib.ones(1, 2, 2)),
    "no window": lambda lib: lib.istft(lib.stft(lib.ones(40), 8, return_complex=True), 8),
    "frequencies": lambda lib: lib.fft.fftfreq(5, out=lib.empty(1)),
}


@pytest.mark.parametrize("name", WARNED)
def test_warnings_that_come_at_every_call(name: str) -> None:
    said = []
    for lib in (mt, torch):
        lib.set_warn_always(True)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for _ in range(2):
                    WARNED[name](lib)
        finally:
            lib.set_warn_always(False)
        said.append([str(one.message).partition(" (Triggered")[0] for one in caught])
    assert said[0] == said[1]


@pytest.mark.parametrize("operands", [(), ([],)])
def test_an_empty_equation_names_no_operand(operands: tuple[object, ...]) -> None:
    assert_torch_error(lambda: mt.einsum("", *operands), lambda: torch.einsum("", *operands))


def test_a_sparse_tensor_has_no_memory_format() -> None:
    for lib in (mt, torch):
        sparse = lib.ones(2, 3).to_sparse()
        with pytest.raises(RuntimeError, match="memory format option is only supported by strided tensors"):
            lib.empty_like(sparse, memory_format=lib.contiguous_format)
