"""The progress bar: rich on a terminal, a line now and then elsewhere."""

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

LINES = 10
"""How many lines a run prints where there is no terminal to draw on."""


class Progress:
    """Shows step, smoothed loss and speed while the block runs."""

    def __init__(self, steps: int, console: Console) -> None:
        self._steps = steps
        self._console = console
        self._step = 0
        self._smooth: float | None = None
        self._bar = RichProgress(
            TextColumn("training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]:.3f}  {task.fields[speed]:,.0f} tokens/s"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("training", total=steps, loss=0.0, speed=0.0)

    def __enter__(self) -> "Progress":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def advance(self, loss: float, speed: float) -> None:
        """Count one step."""
        self._step += 1
        self._smooth = loss if self._smooth is None else 0.9 * self._smooth + 0.1 * loss
        self._bar.update(self._task, advance=1, loss=self._smooth, speed=speed)
        every = max(1, self._steps // LINES)
        if not self._console.is_terminal and (self._step % every == 0 or self._step == 1):
            self._console.print(f"step {self._step:4}  loss {self._smooth:.3f}  {speed:,.0f} tokens/s", highlight=False)
