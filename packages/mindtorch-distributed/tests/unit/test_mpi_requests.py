"""Arrays that MPI may still write into stay, whoever has given up waiting for them."""

import gc
import weakref
from typing import Any

import numpy as np

from mindtorch_distributed.mpi.communicator import MpiRequest


class Underway:
    """What mpi4py gives for an operation."""

    def __init__(self) -> None:
        self.done = False

    def Test(self, status: Any) -> bool:
        """Return whether it is done."""
        return self.done

    def Wait(self, status: Any) -> None:
        """Return as if it were done."""


def started() -> tuple[Underway, "weakref.ref[np.ndarray[Any, Any]]"]:
    operation, array = Underway(), np.zeros(3)
    assert not MpiRequest(operation, None, False, array).test()
    return operation, weakref.ref(array)


def test_an_array_stays_until_its_operation_is_done() -> None:
    _, array = started()
    gc.collect()
    assert array() is not None


def test_an_array_goes_with_its_operation() -> None:
    given = np.zeros(3)
    array = weakref.ref(given)
    request = MpiRequest(Underway(), None, False, given)
    request.finish()
    del given, request
    assert array() is None
    operation, given = Underway(), np.zeros(3)
    array = weakref.ref(given)
    request = MpiRequest(operation, None, True, given)
    operation.done = True
    request.finish()
    del given, request
    assert array() is None
