"""The default device belongs to a thread, also where two threads' blocks overlap."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")


def _overlapping(lib: Any) -> list[str]:
    """One thread enters, then the other; the first leaves while the second is inside."""
    seen: list[str] = []
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        lib.set_default_device("meta")
        with lib.device("cpu"):
            first_in.set()
            assert second_in.wait(30)
            seen.append(f"first inside: {lib.ones(1).device}")
        seen.append(f"first after: {lib.ones(1).device}")
        first_out.set()

    def second() -> None:
        assert first_in.wait(30)
        with lib.device("cpu"):
            second_in.set()
            assert first_out.wait(30)
            seen.append(f"second inside: {lib.ones(1).device}")
        seen.append(f"second after: {lib.ones(1).device}")

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def _set_in_a_thread(lib: Any) -> list[str]:
    seen: list[str] = []

    def change() -> None:
        lib.set_default_device("meta")
        seen.append(str(lib.get_default_device()))

    thread = threading.Thread(target=change)
    thread.start()
    thread.join()
    return [*seen, str(lib.get_default_device()), str(lib.ones(1).device)]


def _nested(lib: Any) -> list[str]:
    seen = []
    lib.set_default_device("meta")
    try:
        seen.append(str(lib.ones(1).device))
        with lib.device("cpu"):
            seen.append(str(lib.ones(1).device))
            with lib.device("meta"):
                seen.append(str(lib.zeros_like(lib.empty(1)).device))
            seen += [str(lib.arange(2).device), str(lib.tensor([1.0]).device), str(lib.get_default_device())]
        try:
            with lib.device("cpu"):
                raise KeyError
        except KeyError:
            seen.append(str(lib.randn(2).device))
    finally:
        lib.set_default_device(None)
    return [*seen, str(lib.ones(1).device)]


@pytest.mark.parametrize("act", [_overlapping, _set_in_a_thread, _nested])
def test_the_default_device_is_the_threads(act: Any) -> None:
    assert act(mt) == act(torch)
