"""Times one case on both sides in turn."""

import statistics
from dataclasses import asdict, dataclass, field

from catalogue import CASES, Effort
from sides import Side, SideError


@dataclass
class Measurement:
    """Figures of one case: seconds (or bytes) per side, the ratio of every pair, or why there are none.

    `ratio` is ours / torch: the median over pairs, and for wall time the best of ours by the best of torch's, as what
    else the machine does only ever adds to it.
    """

    name: str
    text: str
    unit: str = "s"
    ours: float = 0.0
    torch: float = 0.0
    ratio: float = 0.0
    ratios: list[float] = field(default_factory=list)
    error: str = ""

    def add_pairs(self, ours: list[float], torch: list[float], *, best: bool = False) -> None:
        """Take the figures of the pairs."""
        middle = min if best else statistics.median
        self.ours, self.torch = middle(ours), middle(torch)
        self.ratios = [one / other for one, other in zip(ours, torch, strict=True)]
        self.ratio = self.ours / self.torch if best else statistics.median(self.ratios)

    def to_json(self) -> dict:
        """Return plain data."""
        return {**asdict(self), "ratio": self.ratio if self.ratios else None}


def _calibrate(side: Side, seconds: float, clock: str) -> int:
    count = 1
    while seconds > 0:
        spent = side.ask(do="time", count=count)[clock]
        if spent >= seconds / 2:
            break
        count = max(count * 2, int(count * seconds / max(spent, 1e-6) * 0.7))
    return count


def pair_case(
    name: str, ours: Side, torch: Side, *, pairs: int | None, wall: bool, effort: Effort | None = None
) -> Measurement:
    """Prepare, warm up, calibrate and time a case, the sides taking turns and swapping who goes first.

    `effort` is that of a case that the catalogue does not have.
    """
    effort = effort or CASES[name]
    clock = "wall" if wall else "cpu"
    result = Measurement(name, effort.text)
    try:
        counts = {}
        for side, case in ((ours, name), (torch, effort.against or name)):
            side.prepare(effort.module, case, warm_up=2 if effort.seconds == 0.0 else 20)
            counts[side.name] = _calibrate(side, effort.seconds, clock)
        times: dict[str, list[float]] = {ours.name: [], torch.name: []}
        for turn in range(pairs or effort.pairs):
            for side in (ours, torch) if turn % 2 == 0 else (torch, ours):
                spent = side.ask(do="time", count=counts[side.name])[clock]
                times[side.name].append(spent / counts[side.name])
        result.add_pairs(times[ours.name], times[torch.name], best=wall)
        for side in (ours, torch):
            side.ask(do="drop")
    except SideError as error:
        result.error = str(error)
    return result
