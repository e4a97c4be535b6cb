"""Memory that cannot be had: torch's error, which programs catch to shrink a batch, and a process that goes on."""

import subprocess
import sys
import textwrap

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error

N = 2**45
SIDE = 2**23


def repeated(lib, *shape):
    return lib.ones(1).expand(shape or (N,))


def product(lib, call):
    """`call` of two vectors whose result has an element for each pair."""
    return call(lib.ones(SIDE, 1), lib.ones(1, SIDE))


CASES = {
    "empty": lambda lib: lib.empty(N),
    "zeros": lambda lib: lib.zeros(N, dtype=lib.bool),
    "full": lambda lib: lib.full((N,), 2.0, dtype=lib.complex128),
    "new_zeros": lambda lib: lib.ones(1).new_zeros(N, dtype=lib.bfloat16),
    "empty_strided": lambda lib: lib.empty_strided((N,), (1,)),
    "empty_like": lambda lib: lib.empty_like(repeated(lib), memory_format=lib.contiguous_format),
    "arange": lambda lib: lib.arange(N),
    "linspace": lambda lib: lib.linspace(0, 1, N),
    "eye": lambda lib: lib.eye(SIDE),
    "rand": lambda lib: lib.rand(N),
    "normal": lambda lib: lib.normal(0.0, 1.0, (N,)),
    "randint": lambda lib: lib.randint(5, (N,)),
    "randperm": lambda lib: lib.randperm(N),
    "tril_indices": lambda lib: lib.tril_indices(SIDE, SIDE),
    "clone": lambda lib: repeated(lib).clone(memory_format=lib.contiguous_format),
    "contiguous": lambda lib: repeated(lib).contiguous(),
    "double": lambda lib: repeated(lib, SIDE, SIDE).to(lib.float64, memory_format=lib.contiguous_format),
    "add": lambda lib: product(lib, lib.add),
    "out": lambda lib: product(lib, lambda a, b: lib.add(a, b, out=lib.empty(0))),
    "pow": lambda lib: product(lib, lib.pow),
    "where": lambda lib: product(lib, lambda a, b: lib.where(a > 0, b, 0.0)),
    "foreach": lambda lib: product(lib, lambda a, b: lib._foreach_add([a], [b])),
    "softmax": lambda lib: repeated(lib).softmax(0),
    "dropout": lambda lib: lib.nn.functional.dropout(repeated(lib)),
    "cat": lambda lib: lib.cat([repeated(lib), repeated(lib)]),
    "stack": lambda lib: lib.stack([repeated(lib), repeated(lib)]),
    "repeat": lambda lib: lib.ones(3).repeat(N),
    "pad": lambda lib: lib.nn.functional.pad(lib.ones(1), (0, N)),
    "sort": lambda lib: repeated(lib).sort(),
    "cumsum": lambda lib: repeated(lib).cumsum(0),
    "gather": lambda lib: lib.ones(1).gather(0, lib.zeros(1, dtype=lib.int64).expand(N)),
    "embedding": lambda lib: lib.nn.functional.embedding(lib.zeros(SIDE, dtype=lib.int64), repeated(lib, 1, SIDE)),
    "one_hot": lambda lib: lib.nn.functional.one_hot(lib.zeros(2**20, dtype=lib.int64), 2**28),
    "bincount": lambda lib: lib.bincount(lib.tensor([N])),
    "matmul": lambda lib: product(lib, lib.matmul),
    "addmm": lambda lib: product(lib, lambda a, b: lib.addmm(lib.ones(1), a, b)),
    "einsum": lambda lib: lib.einsum("i,j->ij", lib.ones(SIDE), lib.ones(SIDE)),
    "conv2d": lambda lib: lib.nn.functional.conv2d(lib.ones(1, 1, 1, 1), lib.ones(1, 1, 1, 1), padding=2**22),
    "interpolate": lambda lib: lib.nn.functional.interpolate(lib.ones(1, 1, 1, 1), size=(2**22, 2**22)),
    "svd": lambda lib: lib.linalg.svd(repeated(lib, 2**22, 2**22)),
    "qr": lambda lib: lib.linalg.qr(repeated(lib, 2**22, 2**22)),
    "inv": lambda lib: lib.linalg.inv(repeated(lib, 2**22, 2**22)),
    "cholesky": lambda lib: lib.linalg.cholesky(repeated(lib, 2**22, 2**22)),
    "fft": lambda lib: lib.fft.fft(lib.ones(1), n=N),
    "backward": lambda lib: lib.ones(1, requires_grad=True).expand(N)[5].backward(),
    "module": lambda lib: lib.nn.Linear(SIDE, 2**22),
    "storage": lambda lib: lib.UntypedStorage(N),
    "resize_": lambda lib: lib.ones(1).resize_(N),
    "most bytes": lambda lib: lib.empty(2**63 - 1, dtype=lib.int8),
    "too many bytes": lambda lib: lib.empty(2**61),
    "too many bytes in dimensions": lambda lib: lib.zeros(2**40, 2**40),
}


@pytest.mark.parametrize("name", CASES)
def test_the_error_is_torchs(name):
    torch = pytest.importorskip("torch", reason="oracle")
    call = CASES[name]
    assert_torch_error(lambda: call(mt), lambda: call(torch))
    assert (mt.ones(3) + 1).tolist() == [2.0, 2.0, 2.0]


def test_a_pipeline_says_so_at_the_flush():
    with (
        pytest.raises(RuntimeError, match="DefaultCPUAllocator: can't allocate memory: you tried to allocate"),
        mt.pipeline(),
    ):
        product(mt, mt.add)
    assert (mt.ones(3) + 1).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS and /proc")
def test_lists_loading_and_native_buffers():
    program = """
        import io, resource
        import mindtorch as mt
        mt.set_num_threads(1)
        numbers, nested = [1.0] * (1 << 24), [[1.0, 2.0]] * (1 << 23)
        given, file = mt.ones(1 << 24), io.BytesIO()
        mt.save(mt.ones(1), io.BytesIO())
        given[:9].sort(), mt.tensor([1.0])
        mt.save(mt.zeros(1 << 26), file)
        before = resource.getrlimit(resource.RLIMIT_AS)
        calls = {
            "list": lambda: mt.tensor(numbers), "nested": lambda: mt.tensor(nested), "sort": lambda: given.sort(),
            "load": lambda: mt.load(io.BytesIO(file.getvalue())), "rows": lambda: mt.stack([given] * 16),
        }
        for name, call in calls.items():
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + (40 << 20), before[1]))
            try:
                call()
            except RuntimeError as error:
                assert "DefaultCPUAllocator: can't allocate memory" in str(error), error
                print(name)
            finally:
                resource.setrlimit(resource.RLIMIT_AS, before)
        assert (mt.ones(3) + 1).tolist() == [2.0, 2.0, 2.0]
        print("usable")
    """
    # Without the reserve of addresses for large arrays, which the limit does not see.
    done = subprocess.run(
        [sys.executable, "-c", "import resource\nL = resource.getrlimit(resource.RLIMIT_AS)\n"
         "resource.setrlimit(resource.RLIMIT_AS, (1 << 42, L[1]))\n" + textwrap.dedent(program)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, ["list", "nested", "sort", "load", "rows", "usable"]), (
        done.stderr
    )
