"""The curve of a training's losses, as a picture (SVG) that every browser shows."""

from collections.abc import Sequence
from pathlib import Path

WIDTH, HEIGHT, EDGE = 720, 320, 48
WEIGHT = 0.9
"""How much of the smoothed loss of the step before stays."""


def smoothed(losses: Sequence[float]) -> list[float]:
    """Return the exponential moving average, which the first steps do not pull to zero."""
    found, mean, share = [], 0.0, 0.0
    for loss in losses:
        mean, share = WEIGHT * mean + (1 - WEIGHT) * loss, WEIGHT * share + (1 - WEIGHT)
        found.append(mean / share)
    return found


def draw(losses: Sequence[float], title: str) -> str:
    """Return the picture: every step's loss, and the smoothed one over it."""
    low, high = min(losses), max(losses)
    span, last = high - low or 1.0, max(1, len(losses) - 1)

    def line(values: Sequence[float], style: str) -> str:
        points = " ".join(
            f"{EDGE + i * (WIDTH - 2 * EDGE) / last:.1f},{EDGE + (high - value) * (HEIGHT - 2 * EDGE) / span:.1f}"
            for i, value in enumerate(values)
        )
        return f'<polyline fill="none" points="{points}" {style}/>'

    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="white"/><text x="{EDGE}" y="24">{title}</text>'
        f'<text x="4" y="{EDGE + 4}">{high:.2f}</text><text x="4" y="{HEIGHT - EDGE + 4}">{low:.2f}</text>'
        f'<text x="{WIDTH - EDGE}" y="{HEIGHT - 16}" text-anchor="end">step {len(losses)}</text>'
        + line(losses, 'stroke="#bbb"')
        + line(smoothed(losses), 'stroke="#3f51b5" stroke-width="2"')
        + "</svg>\n"
    )


def write(losses: Sequence[float], title: str, folder: Path) -> Path:
    """Write the picture into a folder, and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "loss.svg"
    file.write_text(draw(losses, title), encoding="utf-8")
    return file
