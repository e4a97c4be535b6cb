"""The files of the projector: points, labels, pictures and what binds them together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo

from mindtorch_storage.lazy_import import LazyModule

from ._convert_np import make_np
from ._utils import make_grid

_pictures = LazyModule("PIL.Image", "an optional library")

__all__ = ["get_embedding_info", "make_mat", "make_sprite", "make_tsv", "write_pbtxt"]


def make_tsv(metadata: Sequence[Any], save_path: str, metadata_header: Sequence[str] | None = None) -> None:
    """Write the label of each point, or with a header the columns of each."""
    if not metadata_header:
        lines = [str(one) for one in metadata]
    else:
        assert len(metadata_header) == len(metadata[0]), (
            "len of header must be equal to the number of columns in metadata"
        )
        lines = ["\t".join(str(one) for one in row) for row in [metadata_header, *metadata]]
    Path(save_path, "metadata.tsv").write_bytes("".join(line + "\n" for line in lines).encode())


def make_sprite(label_img: Any, save_path: str) -> None:
    """Write the pictures of all points as one, a square of them."""
    each_row = int(np.ceil(label_img.shape[0] ** 0.5))
    grid = make_grid(make_np(label_img), ncols=each_row).transpose(1, 2, 0)
    square = np.zeros((grid.shape[1], grid.shape[1], 3))
    square[: grid.shape[0]] = grid
    _pictures.fromarray(np.uint8((square * 255).clip(0, 255))).save(Path(save_path, "sprite.png"), format="PNG")


def get_embedding_info(metadata: Any, label_img: Any, subdir: str, global_step: Any, tag: str) -> Any:
    """Return the entry that names the files of one set of points."""
    info = EmbeddingInfo()
    info.tensor_name = f"{tag}:{str(global_step).zfill(5)}"
    info.tensor_path = f"{subdir}/tensors.tsv"
    if metadata is not None:
        info.metadata_path = f"{subdir}/metadata.tsv"
    if label_img is not None:
        info.sprite.image_path = f"{subdir}/sprite.png"
        info.sprite.single_image_dim.extend([label_img.shape[3], label_img.shape[2]])
    return info


def make_mat(matlist: Any, save_path: str) -> None:
    """Write the points, one in a line."""
    lines = ["\t".join(str(value) for value in row.tolist()) + "\n" for row in matlist]
    Path(save_path, "tensors.tsv").write_bytes("".join(lines).encode())


def write_pbtxt(save_path: str, contents: str) -> None:
    """Write the entries of all sets of points."""
    Path(save_path, "projector_config.pbtxt").write_bytes(contents.encode())
