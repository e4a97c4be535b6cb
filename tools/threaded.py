"""Programs of several threads, for ThreadSanitizer: python tools/threaded.py SEED. Prints how many steps were made."""

import sys
import threading
from collections.abc import Callable

# A module built for the sanitizer is found by PYTHONPATH, which editable installations come before.
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]

import mindtorch as torch  # noqa: E402 - after the finders
import mindtorch_runtime._native as runtime  # noqa: E402

THREADS, STEPS = 4, 60


def gradients(number: int, shared: torch.Tensor) -> None:
    """Differentiate with respect to one leaf."""
    rows = torch.rand(3 + number, 16)
    (rows @ shared).relu().sum().backward()


def geometries(number: int, shared: torch.Tensor) -> None:
    """Plan the same and other calls, in place and of views."""
    x = torch.rand(2 + number % 7, 16)
    x[number % 2].add_(1).mul_(2)
    torch.cat([x, x.flip(0)]).softmax(1).sum().item()
    (x + shared.detach()[0]).to(torch.float64).mean().item()


def graphs(number: int, shared: torch.Tensor) -> None:
    """Differentiate one graph that was kept, from all threads."""
    y = (shared * shared).sum()
    for _ in range(2):
        torch.autograd.grad(y, shared, retain_graph=True)


def loaders(number: int, shared: torch.Tensor) -> None:
    """Read batches in the thread itself."""
    data = torch.utils.data.TensorDataset(torch.rand(8, 4), torch.arange(8))
    assert sum(len(rows) for rows, _ in torch.utils.data.DataLoader(data, batch_size=3)) == 8


WORK: list[Callable[[int, torch.Tensor], None]] = [gradients, geometries, graphs, loaders]


def main() -> int:
    """Run all programs at once, each in several threads."""
    if "sanitized" not in runtime.__file__:
        raise SystemExit(f"not a module for the sanitizer: {runtime.__file__}")
    torch.manual_seed(int(sys.argv[1]))
    shared = torch.rand(16, 16, requires_grad=True)
    errors: list[BaseException] = []

    def repeat(work: Callable[[int, torch.Tensor], None]) -> None:
        try:
            for number in range(STEPS):
                work(number, shared)
        except Exception as error:  # noqa: BLE001 - raised in the main thread
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=(work,)) for work in WORK for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error
    print(len(threads) * STEPS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
