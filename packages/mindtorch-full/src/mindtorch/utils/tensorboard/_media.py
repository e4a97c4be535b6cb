"""Summaries of pictures, sounds and moving pictures."""

from __future__ import annotations

import io
import os
import tempfile
import wave
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from mindtorch_storage.lazy_import import LazyModule, load

from ._convert_np import make_np
from ._utils import _prepare_video, convert_to_HWC

_drawing = LazyModule("PIL.ImageDraw", "an optional library")
_fonts = LazyModule("PIL.ImageFont", "an optional library")
_pictures = LazyModule("PIL.Image", "an optional library")

__all__ = ["audio", "draw_boxes", "image", "image_boxes", "make_image", "make_video", "video"]

Array = np.ndarray[Any, Any]


def _calc_scale_factor(tensor: Array) -> int:
    """Return by what to multiply values so that they end at 255."""
    return 1 if tensor.dtype == np.uint8 else 255


def _as_bytes(tensor: Array) -> Array:
    return (tensor.astype(np.float32) * _calc_scale_factor(tensor)).clip(0, 255).astype(np.uint8)


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> Any:
    """Return the summary of a picture; floating-point values are from 0 to 1, uint8 ones to 255."""
    made = make_image(_as_bytes(convert_to_HWC(make_np(tensor), dataformats)), rescale=rescale)
    return Summary(value=[Summary.Value(tag=tag, image=made)])


def image_boxes(
    tag: str,
    tensor_image: Any,
    tensor_boxes: Any,
    rescale: float = 1,
    dataformats: str = "CHW",
    labels: list[str] | None = None,
) -> Any:
    """Return the summary of a picture with boxes, each of left, top, right and bottom, drawn in."""
    pixels = _as_bytes(convert_to_HWC(make_np(tensor_image), dataformats))
    made = make_image(pixels, rescale=rescale, rois=make_np(tensor_boxes), labels=labels)
    return Summary(value=[Summary.Value(tag=tag, image=made)])


def draw_boxes(disp_image: Any, boxes: Array, labels: list[str] | None = None) -> Any:
    """Draw the boxes in red, with their labels; return the picture."""
    for index in range(boxes.shape[0]):
        label = None if labels is None else labels[index]
        disp_image = _draw_single_box(disp_image, *boxes[index, :4], display_str=label, color="Red")
    return disp_image


def _draw_single_box(
    image: Any,
    xmin: float,
    ymin: float,
    xmax: float,
    ymax: float,
    display_str: str | None,
    color: str = "black",
    color_text: str = "black",
    thickness: int = 2,
) -> Any:
    draw = _drawing.Draw(image)
    corners = [(xmin, ymin), (xmin, ymax), (xmax, ymax), (xmax, ymin), (xmin, ymin)]
    draw.line(corners, width=thickness, fill=color)
    if display_str:
        font = _fonts.load_default()
        left, top, right, bottom = font.getbbox(display_str)
        width, height = right - left, bottom - top
        margin = np.ceil(0.05 * height)
        draw.rectangle([(xmin, ymax - height - 2 * margin), (xmin + width, ymax)], fill=color)
        draw.text((xmin + margin, ymax - height - margin), display_str, fill=color_text, font=font)
    return image


def make_image(tensor: Array, rescale: float = 1, rois: Array | None = None, labels: list[str] | None = None) -> Any:
    """Return (height, width, channels) of uint8 as an encoded picture."""
    height, width, channels = tensor.shape
    picture = _pictures.fromarray(tensor)
    if rois is not None:
        picture = draw_boxes(picture, rois, labels=labels)
    picture = picture.resize((int(width * rescale), int(height * rescale)), _pictures.Resampling.LANCZOS)
    encoded = io.BytesIO()
    picture.save(encoded, format="PNG")
    return Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=encoded.getvalue())


def video(tag: str, tensor: Any, fps: int = 4) -> Any:
    """Return the summary of videos (count, time, channels, height, width), shown beside each other."""
    arranged = _prepare_video(make_np(tensor))
    return Summary(value=[Summary.Value(tag=tag, image=make_video(_as_bytes(arranged), fps))])


def make_video(tensor: Array, fps: int) -> Any:
    """Return (time, height, width, channels) as an animation; None, and a line that says so, without moviepy."""
    try:
        clips = load("moviepy.video.io.ImageSequenceClip")  # an optional library
    except ImportError:
        print("add_video needs package moviepy")
        return None
    _, height, width, channels = tensor.shape
    clip = clips.ImageSequenceClip(list(tensor), fps=fps)
    handle, name = tempfile.mkstemp(suffix=".gif")
    os.close(handle)
    try:
        clip.write_gif(name, logger=None)
        with open(name, "rb") as stream:
            encoded = stream.read()
    finally:
        os.remove(name)
    return Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=encoded)


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Any:
    """Return the summary of a sound, one channel of values from -1 to 1; what is louder is cut off."""
    sound = make_np(tensor).squeeze()
    if abs(sound).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        sound = sound.clip(-1, 1)
    assert sound.ndim == 1, "input tensor should be 1 dimensional."
    encoded = io.BytesIO()
    with wave.open(encoded, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes((sound * np.iinfo(np.int16).max).astype("<i2").tobytes())
    made = Summary.Audio(
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=sound.shape[-1],
        encoded_audio_string=encoded.getvalue(),
        content_type="audio/wav",
    )
    return Summary(value=[Summary.Value(tag=tag, audio=made)])
