"""Labels with arguments, begun and ended by hand, are recorded as those of `record_function`."""

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")
NAMES = ("one", "two", "three", "four")


def recorded(T, shapes):
    u = T.ones(3, 4, 5, requires_grad=True)
    enter, leave = T.autograd._record_function_with_args_enter, T.autograd._record_function_with_args_exit
    with T.autograd.profiler.profile(record_shapes=shapes) as prof:
        with T.autograd.profiler.record_function("one", "1, 2, 3"):
            leave(enter("two", 1, False, 2.5, [u, u], "text", u, None, (1, 2), [1.5]))
        with T.autograd.profiler.record_function("three"):
            leave(enter("four"))
    events = sorted((event for event in prof.function_events if event.name in NAMES), key=lambda event: event.name)
    return [(e.name, e.input_shapes, e.concrete_inputs, e.scope, e.is_user_annotation) for e in events]


@pytest.mark.parametrize("shapes", [True, False])
def test_they_are_recorded_with_their_arguments(shapes):
    found = recorded(mt, shapes)
    assert found == recorded(torch, shapes)
    assert [name for name, *_ in found] == sorted(NAMES)


def test_a_label_ended_twice_or_outside_of_a_profiler_changes_nothing():
    handle = mt.autograd._record_function_with_args_enter("x", 1)
    assert str(handle) == str(torch.autograd._record_function_with_args_enter("x", 1))
    assert mt.autograd._record_function_with_args_exit(handle) is None
    assert mt.autograd._record_function_with_args_exit(handle) is None


def test_what_is_no_label_is_refused():
    assert_torch_error(
        lambda: mt.autograd._record_function_with_args_exit(1),
        lambda: torch.autograd._record_function_with_args_exit(1),
    )
