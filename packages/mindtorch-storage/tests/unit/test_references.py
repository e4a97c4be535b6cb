"""Counting of who holds on to an object, which must not depend on how the interpreter passes it."""

import sys

from mindtorch_storage import references
from mindtorch_storage.references import count_holders, is_unshared


class Holder:
    def __init__(self, held):
        self.held = held


def ask(holder, place, holders=1):
    return is_unshared(holder, place, holders)


def fresh():
    return object()  # not within an assertion, which keeps its parts


def test_one_holder():
    items, more, holder = [fresh()], [None, fresh()], Holder(fresh())
    assert count_holders(items, 0) == 1
    assert count_holders(more, -1) == 1
    assert count_holders(holder, "held") == 1
    assert ask(items, 0)
    assert ask(more, 1)
    assert ask(holder, "held")


def test_every_variable_and_container_counts_wherever_it_is_asked():
    made = object()
    items, holder = [made], Holder(made)
    assert count_holders(items, 0) == count_holders(holder, "held") == 3
    del made
    for _ in range(2):
        assert not ask(items, 0)
        assert ask(items, 0, 2)
        assert not ask(holder, "held")
    del holder
    assert ask(items, 0)
    try:
        with memoryview(b""):
            kept = items[0]
            assert not ask(items, 0)
    finally:
        del kept
    assert ask(items, 0)


def test_a_parameter_of_a_caller_is_seen_through_what_holds_it():
    def inner(items):
        return is_unshared(items, 0)

    def outer(given):
        return inner([given])

    shared, items = fresh(), [fresh()]
    assert not outer(shared)
    assert inner(items)


def test_an_interpreter_that_counts_one_less_changes_nothing(monkeypatch):
    """As where the count's own argument is borrowed."""
    real = sys.getrefcount
    monkeypatch.setattr(references, "getrefcount", lambda one: real(one) - 2)
    in_list, in_attribute = references._calibrated()
    monkeypatch.setattr(references, "_IN_LIST", in_list)
    monkeypatch.setattr(references, "_IN_ATTRIBUTE", in_attribute)
    test_one_holder()
    test_every_variable_and_container_counts_wherever_it_is_asked()
