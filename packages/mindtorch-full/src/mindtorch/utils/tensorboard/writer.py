"""`SummaryWriter`: logs from a program to event files, and the files' writer below it."""

from __future__ import annotations

import os
import socket
import time
from datetime import datetime
from types import TracebackType
from typing import Any, NoReturn

from google.protobuf import text_format
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

from mindtorch._naming import adopt

from . import summary as summaries
from ._convert_np import make_np
from ._embedding import get_embedding_info, make_mat, make_sprite, make_tsv, write_pbtxt
from ._file_writer import FileWriter
from ._pytorch_graph import graph
from ._utils import figure_to_image

__all__ = ["FileWriter", "SummaryWriter"]

_FILE_VERSION = "brain.Event:2"


def _default_bins() -> list[float]:
    """Return limits of buckets that grow by a tenth, for numbers of all magnitudes and both signs."""
    limits, limit = [], 1e-12
    while limit < 1e20:
        limits.append(limit)
        limit *= 1.1
    return [*(-one for one in reversed(limits)), 0, *limits]


class SummaryWriter:
    """Logs numbers, pictures, texts and more to a folder that TensorBoard shows.

    Args:
        log_dir: the folder; without it one in `runs`, named after the time, the host and `comment`.
        purge_step: what an earlier, broken run logged from this step on is not shown.
        max_queue: how many events may wait before adding one waits for the disk.
        flush_secs: how often events are written at least.
        filename_suffix: ends the names of the files.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            begun = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{begun}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()
        self.default_bins = _default_bins()

    def _new_writer(self, folder: str) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        """Return the folder's writer; after `close` there is a new one."""
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._new_writer(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                self.file_writer.add_event(Event(step=self.purge_step, file_version=_FILE_VERSION))
                started = SessionLog(status=SessionLog.START)
                self.file_writer.add_event(Event(step=self.purge_step, session_log=started))
                self.purge_step = None
        return self.file_writer

    def get_logdir(self) -> Any:
        """Return the folder."""
        return self.log_dir

    def _add(self, summary: Any, step: int | None, walltime: float | None) -> None:
        self._get_file_writer().add_summary(summary, step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Log a run's settings and what it reached, in a folder of its own below this one."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        made = summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as run:
            for one in made:
                run._add(one, global_step, None)
            for name, value in metric_dict.items():
                run.add_scalar(name, value, global_step)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Log one number."""
        made = summaries.scalar(tag, scalar_value, new_style=new_style, double_precision=double_precision)
        self._add(made, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log numbers that are shown in one chart; each has a folder of its own below this one."""
        walltime = time.time() if walltime is None else walltime
        logdir = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            folder = f"{logdir}/{main_tag.replace('/', '_')}_{tag}"
            assert self.all_writers is not None
            if folder not in self.all_writers:
                self.all_writers[folder] = self._new_writer(folder)
            self.all_writers[folder].add_summary(summaries.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Log a tensor's values."""
        self._add(summaries.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Log the distribution of values; `bins` as numpy's histogram takes them, or buckets of all magnitudes."""
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._add(summaries.histogram(tag, values, bins, max_bins=max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: float,
        sum: float,
        sum_squares: float,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log a distribution that the program computed."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        made = summaries.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(made, global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Log a picture."""
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Log several pictures as one."""
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Any = None,
    ) -> None:
        """Log a picture with boxes; labels are left out where there is not one for each box."""
        if isinstance(labels, str):
            labels = [labels]
        if labels is not None and len(labels) != box_tensor.shape[0]:
            labels = None
        made = summaries.image_boxes(tag, img_tensor, box_tensor, rescale, dataformats, labels)
        self._add(made, global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Log what a matplotlib figure shows, or a list of figures."""
        add = self.add_image if not isinstance(figure, list) else self.add_images
        add(tag, figure_to_image(figure, close), global_step, walltime)

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: int | None = None, fps: int = 4, walltime: float | None = None
    ) -> None:
        """Log moving pictures (count, time, channels, height, width); the package moviepy is needed."""
        self._add(summaries.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Log a sound of one channel."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate=sample_rate), global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Log a text."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_onnx_graph(self, prototxt: Any) -> NoReturn:
        """Raise NotImplementedError: graphs of ONNX are not read."""
        raise NotImplementedError("SummaryWriter.add_onnx_graph: MindTorch does not read ONNX files")

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Log what one run of the model in evaluation calls, by the modules that call it.

        Args:
            model: the model.
            input_to_model: its input, or several in a tuple.
            verbose: print the graph.
            use_strict_trace: a dict as the output is an error.
        """
        self._get_file_writer().add_graph(graph(model, input_to_model, verbose, use_strict_trace))

    @staticmethod
    def _encode(rawstr: str) -> str:
        """Return a tag as a part of a path."""
        return "".join(f"%{ord(one):02x}" if one in "%/\\" else one for one in rawstr)

    def add_embedding(
        self,
        mat: Any,
        metadata: Any = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Any = None,
    ) -> None:
        """Log points for the projector, with labels and pictures where they are given."""
        points = make_np(mat)
        step = 0 if global_step is None else global_step
        subdir = f"{str(step).zfill(5)}/{self._encode(tag)}"
        folder = os.path.join(self._get_file_writer().get_logdir(), subdir)
        if os.path.isdir(folder):
            print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
        elif os.path.exists(folder):
            raise NotADirectoryError(f"Path: `{folder}` exists, but is a file. Cannot proceed.")
        else:
            os.makedirs(folder)
        if metadata is not None:
            assert points.shape[0] == len(metadata), "#labels should equal with #data points"
            make_tsv(metadata, folder, metadata_header=metadata_header)
        if label_img is not None:
            assert points.shape[0] == label_img.shape[0], "#images should equal with #data points"
            make_sprite(label_img, folder)
        assert points.ndim == 2, "mat should be 2D, where mat.size(0) is the number of data points"
        make_mat(points, folder)
        if not hasattr(self, "_projector_config"):
            self._projector_config = ProjectorConfig()
        self._projector_config.embeddings.append(get_embedding_info(metadata, label_img, subdir, step, tag))
        write_pbtxt(self._get_file_writer().get_logdir(), text_format.MessageToString(self._projector_config))

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log the precision-recall curve of predictions."""
        made = summaries.pr_curve(tag, make_np(labels), make_np(predictions), num_thresholds, weights)
        self._add(made, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log a precision-recall curve that the program computed."""
        counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        made = summaries.pr_curve_raw(tag, *counts, precision, recall, num_thresholds, weights)
        self._add(made, global_step, walltime)

    def add_custom_scalars_multilinechart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Show the numbers of several tags in one chart."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Show the numbers of three tags as a line within margins."""
        assert len(tags) == 3, f"Expected 3 tags, got {len(tags)}."
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_custom_scalars(self, layout: dict[str, Any]) -> None:
        """Show charts of several tags; the layout as `summary.custom_scalars` takes it."""
        self._add(summaries.custom_scalars(layout), None, None)

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Any = None,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log points in space, with colours and triangles where they are given."""
        self._add(summaries.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def flush(self) -> None:
        """Return when what was logged is in the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write what was logged and close the files; logging again opens new ones."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.close()


adopt(globals())
