"""Arrangements of image arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_storage.lazy_import import LazyModule

_agg = LazyModule("matplotlib.backends.backend_agg", "an optional library")
_pyplot = LazyModule("matplotlib.pyplot", "an optional library")

__all__ = ["convert_to_HWC", "figure_to_image", "make_grid"]

Array = np.ndarray[Any, Any]


def figure_to_image(figures: Any, close: bool = True) -> Array:
    """Return what a matplotlib figure shows as (3, height, width), of a list of figures as (count, 3, height, width)."""

    def render(figure: Any) -> Array:
        canvas = _agg.FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba(), dtype=np.uint8)[:, :, :3]
        if close:
            _pyplot.close(figure)
        return np.moveaxis(pixels, 2, 0)

    return np.stack([render(one) for one in figures]) if isinstance(figures, list) else render(figures)


def _prepare_video(V: Array) -> Array:
    """Return videos (count, time, channels, height, width) beside each other, as (time, height, width, channels)."""
    count, time, channels, height, width = V.shape
    if V.dtype == np.uint8:
        V = V.astype(np.float32) / 255.0
    wanted = 1 << (count - 1).bit_length()
    if wanted > count:
        V = np.concatenate((V, np.zeros((wanted - count, time, channels, height, width))), 0)
    rows = 2 ** ((count.bit_length() - 1) // 2)
    columns = wanted // rows
    V = V.reshape(rows, columns, time, channels, height, width).transpose(2, 0, 4, 1, 5, 3)
    return V.reshape(time, rows * height, columns * width, channels)


def make_grid(I: Any, ncols: int = 8) -> Array:  # noqa: E741 (torch's name)
    """Return images (count, channels, height, width) as one (channels, height, width), `ncols` in a row."""
    assert isinstance(I, np.ndarray), "plugin error, should pass numpy array here"
    if I.ndim == 4 and I.shape[1] == 1:
        I = np.concatenate([I, I, I], 1)  # noqa: E741
    if I.ndim != 4 or I.shape[1] != 3:
        raise AssertionError("Input should be a 4D numpy array with 3 channels")
    count, channels, height, width = I.shape
    columns = min(count, ncols)
    rows = -(-count // columns)
    canvas = np.zeros((channels, height * rows, width * columns), dtype=I.dtype)
    for index in range(count):
        row, column = divmod(index, columns)
        canvas[:, row * height : (row + 1) * height, column * width : (column + 1) * width] = I[index]
    return canvas


def convert_to_HWC(tensor: Array, input_format: str) -> Array:
    """Return an image as (height, width, channels); several become one grid, and grey becomes three equal channels."""
    assert len(set(input_format)) == len(input_format), (
        f"You can not use the same dimension shorthand twice.             input_format: {input_format}"
    )
    assert len(tensor.shape) == len(input_format), (
        "size of input tensor and input format are different.         "
        f"tensor shape: {tensor.shape}, input_format: {input_format}"
    )
    letters = input_format.upper()
    if len(letters) == 4:
        ordered = tensor.transpose([letters.find(one) for one in "NCHW"])
        return make_grid(ordered).transpose(1, 2, 0)
    if len(letters) == 3:
        image = tensor.transpose([letters.find(one) for one in "HWC"])
        return np.concatenate([image, image, image], 2) if image.shape[2] == 1 else image
    if len(letters) == 2:
        grey = tensor.transpose([letters.find(one) for one in "HW"])
        return np.stack([grey, grey, grey], 2)
    raise ValueError(f"an image has two to four dimensions, not {len(letters)}: {input_format}")
