"""Line search for the strong Wolfe conditions (Nocedal & Wright, algorithms 3.5 and 3.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mindtorch as torch


class Point(NamedTuple):
    """One trial along the direction: step length, loss, gradient, and slope along the direction."""

    t: Any
    f: float
    g: Any
    slope: Any


class _Search:
    """What stays fixed during one search, and how many evaluations it took."""

    def __init__(self, objective: Callable[..., Any], x: Any, d: Any, start: Point, c1: float, c2: float) -> None:
        self.objective = objective
        self.x = x
        self.d = d
        self.start = start
        self.c1 = c1
        self.c2 = c2
        self.evaluations = 0

    def try_step(self, t: Any) -> Point:
        f, g = self.objective(self.x, t, self.d)
        self.evaluations += 1
        return Point(t, f, g, g.dot(self.d))

    def too_high(self, point: Point) -> bool:
        """Whether the loss fell less than the slope at the start promises."""
        return bool(point.f > self.start.f + self.c1 * point.t * self.start.slope)

    def flat_enough(self, point: Point) -> bool:
        """Whether the slope has flattened enough to stop."""
        return bool(abs(point.slope) <= -self.c2 * self.start.slope)


def cubic_minimum(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """The minimiser, within bounds, of the cubic through two points with the given slopes."""
    if bounds is not None:
        low, high = bounds
    else:
        low, high = (a.t, b.t) if a.t <= b.t else (b.t, a.t)
    d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    if a.t <= b.t:
        position = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        position = a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return min(max(position, low), high)


def _keep(point: Point) -> Point:
    """A point whose gradient the next evaluation cannot overwrite."""
    return point._replace(g=point.g.clone(memory_format=torch.contiguous_format))


def _bracket(search: _Search, t: Any, max_ls: int) -> tuple[list[Point], bool, int]:
    """Walk outwards until an interval surely holds an acceptable step, or one is found."""
    previous = search.start._replace(t=0)
    current = search.try_step(t)
    for iteration in range(max_ls):
        if search.too_high(current) or (iteration > 1 and current.f >= previous.f):
            return [previous, _keep(current)], False, iteration
        if search.flat_enough(current):
            return [current], True, iteration
        if current.slope >= 0:
            return [previous, _keep(current)], False, iteration
        bounds = (current.t + 0.01 * (current.t - previous.t), current.t * 10)
        t = cubic_minimum(previous, current, bounds=bounds)
        previous = _keep(current)
        current = search.try_step(t)
    return [search.start._replace(t=0), current], False, max_ls


def _pull_inside(t: Any, bracket: list[Point], stuck: bool) -> tuple[Any, bool]:
    """Keep the trial away from the interval's ends; once tolerated, the second time moved."""
    ends = (bracket[0].t, bracket[1].t)
    low, high = min(ends), max(ends)
    margin = 0.1 * (high - low)
    if min(high - t, t - low) >= margin:
        return t, False
    if stuck or t >= high or t <= low:
        return (high - margin if abs(t - high) < abs(t - low) else low + margin), False
    return t, True


def _strong_wolfe(
    obj_func: Callable[..., Any],
    x: Any,
    t: Any,
    d: Any,
    f: float,
    g: Any,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Any, Any, int]:
    """Find a step length; returns loss and gradient there, the length, and the number of evaluations.

    Libraries import it from `torch.optim.lbfgs` and name its arguments as torch does.
    """
    largest = d.abs().max()
    start = Point(0, f, g.clone(memory_format=torch.contiguous_format), gtd)
    search = _Search(obj_func, x, d, start, c1, c2)
    bracket, done, iteration = _bracket(search, t, max_ls)
    low, high = (0, 1) if bracket[0].f <= bracket[-1].f else (1, 0)
    stuck = False
    while not done and iteration < max_ls:
        if abs(bracket[1].t - bracket[0].t) * largest < tolerance_change:
            break
        t, stuck = _pull_inside(cubic_minimum(bracket[0], bracket[1]), bracket, stuck)
        current = search.try_step(t)
        iteration += 1
        if search.too_high(current) or current.f >= bracket[low].f:
            bracket[high] = _keep(current)
            low, high = (0, 1) if bracket[0].f <= bracket[1].f else (1, 0)
            continue
        if search.flat_enough(current):
            done = True
        elif current.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = _keep(current)
    best = bracket[low]
    return best.f, best.g, best.t, search.evaluations


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> Any:
    """Return the minimiser of the cubic through two points with their losses and slopes; see `cubic_minimum`."""
    return cubic_minimum(Point(x1, f1, None, g1), Point(x2, f2, None, g2), bounds)
