"""What torch's own docstrings show and nothing else tried: broadcast solutions, signs of zeros, orders, warnings."""

import subprocess
import sys

import numpy as np
import pytest

import mindtorch

torch = pytest.importorskip("torch", reason="beside torch")

VECTORS = [((2, 3, 3), (3,)), ((4, 2, 3, 3), (3,)), ((0, 3, 3), (3,)), ((2, 3, 3), (2, 3)), ((3, 3, 3), (3, 3))]
MATRICES = [((1, 5, 3), (2, 5, 4)), ((2, 5, 3), (1, 5, 4)), ((2, 5, 3), (2, 5)), ((5, 3), (5,)), ((1, 5, 3), (5, 4))]


def leaves(library, *shapes):
    generator = np.random.default_rng(0)
    return [library.tensor(generator.standard_normal(shape), requires_grad=True) for shape in shapes]


def solved(library, solve, shapes):
    given = leaves(library, *shapes)
    found = solve(library, *given)
    found.square().sum().backward()
    return [found.tolist(), *(one.grad.tolist() for one in given)], tuple(found.shape)


@pytest.mark.parametrize("shapes", VECTORS, ids=str)
def test_one_vector_is_solved_for_every_matrix(shapes):
    answers = [solved(library, lambda lib, A, b: lib.linalg.solve(A, b), shapes) for library in (mindtorch, torch)]
    assert answers[0][1] == answers[1][1]
    for ours, theirs in zip(answers[0][0], answers[1][0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("shapes", MATRICES, ids=str)
def test_least_squares_of_a_batch(shapes):
    for driver in ("gelsd", "gelsy"):
        given = [leaves(library, *shapes) for library in (mindtorch, torch)]
        found = [lib.linalg.lstsq(*of, driver=driver) for lib, of in zip((mindtorch, torch), given, strict=True)]
        for ours, theirs in zip(*found, strict=True):
            assert tuple(ours.shape) == tuple(theirs.shape)
            np.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("shapes", [((2, 5, 3), (5, 4)), ((1, 5, 3), (2, 5)), ((4, 1, 5, 3), (3, 5, 2))], ids=str)
def test_least_squares_refuses_a_batch_as_torch_does(shapes):
    texts = []
    for library in (mindtorch, torch):
        with pytest.raises(RuntimeError) as raised:
            library.linalg.lstsq(*leaves(library, *shapes))
        texts.append(str(raised.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", ["fft", "ifft", "fft2", "ifft2", "fftn", "rfft", "ihfft", "rfftn", "ihfft2"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (2, 6), (1, 1), (3, 1)], ids=str)
@pytest.mark.parametrize("norm", ["backward", "ortho"])
def test_transforms_of_reals(name, shape, norm):
    values = np.arange(float(np.prod(shape)), dtype=np.float32).reshape(shape)
    ours, theirs = (
        np.asarray(getattr(library.fft, name)(library.tensor(values), norm=norm).resolve_conj())
        for library in (mindtorch, torch)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    if (
        name in ("fft", "ifft", "rfft", "ihfft") and norm == "backward"
    ):  # the first frequency's imaginary part is a zero
        np.testing.assert_array_equal(np.signbit(ours.imag[..., 0]), np.signbit(theirs.imag[..., 0]))


def test_a_scaled_transform_keeps_infinities():
    ours, theirs = (
        np.asarray(library.fft.ifft(library.tensor([float("inf"), 1.0, 2.0])).resolve_conj())
        for library in (mindtorch, torch)
    )
    np.testing.assert_array_equal(np.isnan(ours.real), np.isnan(theirs.real))


GEOMETRIES = [(2, 3, 4, 5), (2, 1, 4, 5), (1, 2, 3, 4), (0, 3), (2, 0, 3), (1,), (5,), ()]


@pytest.mark.parametrize("check", [False, True, [], ["contiguous_format"], ["contiguous_format", "channels_last"], "x"])
def test_orders_of_dimensions(check):
    for make in GEOMETRIES:
        for change in (lambda x: x, lambda x: x.expand(2, *x.shape), lambda x: x.transpose(0, -1) if x.dim() else x):
            told = []
            for library in (mindtorch, torch):
                formats = [getattr(library, one) for one in check] if isinstance(check, list) else check
                try:
                    told.append(change(library.empty(make)).dim_order(ambiguity_check=formats))
                except (RuntimeError, TypeError) as error:
                    told.append((type(error), str(error)))
            assert told[0] == told[1], make


WARNED = """
import sys, warnings
import {library} as torch
A = torch.eye(3) + torch.ones(3, 3)
LU, pivots = torch.linalg.lu_factor(A)
calls = [
    lambda: torch.cholesky(A), lambda: torch.qr(A), lambda: torch.lu_solve(A, LU, pivots),
    lambda: torch.triangular_solve(A, A), lambda: torch.lu(A), lambda: torch.lu(A, get_infos=True),
    lambda: torch.ones(3).index_reduce_(0, torch.tensor([0]), torch.ones(1), "prod"), lambda: torch.cholesky(A),
]
for call in calls:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        call()
    print([(one.category.__name__, str(one.message).split(" (Triggered")[0]) for one in given])
"""


def test_operators_that_will_go_warn_once():
    told = [
        subprocess.run([sys.executable, "-c", WARNED.format(library=name)], capture_output=True, text=True, check=True)
        for name in ("mindtorch", "torch")
    ]
    assert told[0].stdout == told[1].stdout
    assert told[0].stdout.count("UserWarning") == 6


def test_functional_has_the_gradients_of_convolutions():
    assert mindtorch.nn.functional.grad is mindtorch.nn.grad
