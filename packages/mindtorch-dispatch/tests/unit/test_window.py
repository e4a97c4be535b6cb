"""Windows along a dimension are counted as they can be placed one by one."""

import itertools

from mindtorch_dispatch.meta.window import covered, reach, window_count


def _placed(extent: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """Return how many windows begin and end where they may, tried one after the other."""
    end, count, place = extent + padding - 1, 0, -padding
    while place + dilation * (kernel - 1) <= end:
        last, count, place = place + dilation * (kernel - 1), count + 1, place + stride
    return count + (ceil_mode and last < end and place < extent)


def test_windows_are_counted_as_they_are_placed() -> None:
    """Every small geometry whose padding reaches no further than half a window, as pools demand."""
    seen = 0
    grid = itertools.product(range(1, 8), range(1, 4), range(1, 4), range(3), range(1, 4), (False, True))
    for extent, kernel, stride, padding, dilation, ceil_mode in grid:
        if padding > reach(kernel, dilation) // 2 or extent + 2 * padding < reach(kernel, dilation):
            continue
        seen += 1
        expected = _placed(extent, kernel, stride, padding, dilation, ceil_mode)
        assert window_count(extent, kernel, stride, padding, dilation, ceil_mode) == expected
    assert seen > 500


def test_what_a_number_of_windows_covers_has_as_many_and_no_less_does() -> None:
    """`covered` is the least extent with that many windows."""
    for count, kernel, stride, padding, dilation in itertools.product(
        range(1, 5), range(1, 4), range(1, 4), range(2), range(1, 4)
    ):
        extent = covered(count, kernel, stride, padding, dilation)
        assert window_count(extent, kernel, stride, padding, dilation) == count
        assert window_count(extent - 1, kernel, stride, padding, dilation) < count


def test_no_window_is_less_than_one() -> None:
    """A window that reaches further than all there is."""
    assert window_count(2, 3, 1) == 0
    assert window_count(0, 5, 2, 0, 2) < 1
