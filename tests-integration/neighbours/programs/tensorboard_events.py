"""torch.utils.tensorboard writes what tensorboard reads: every kind of event, compared field by field."""

import contextlib
import io
import json
import tempfile
import wave
from pathlib import Path

import matplotlib
import torch
from google.protobuf.json_format import MessageToDict
from PIL import Image
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from torch.utils.tensorboard import SummaryWriter

matplotlib.use("Agg")
from matplotlib import pyplot


def numbers(writer):
    for step in range(5):
        writer.add_scalar("loss", torch.tensor(1.0 / (step + 1)), step)
    writer.add_scalar("newer", torch.tensor([2.5]), 1, new_style=True)
    writer.add_scalar("double", 0.1, 1, new_style=True, double_precision=True)
    writer.add_scalars("several", {"a": 1, "b/c": torch.tensor(2.0, requires_grad=True)}, 3)
    writer.add_histogram("weights", torch.randn(100), 0)
    writer.add_histogram("automatic", torch.randn(50).bfloat16(), 1, bins="auto")
    writer.add_histogram("few", torch.rand(50) * 10, 1, bins=[*range(11)], max_bins=3)
    writer.add_histogram_raw("raw", 0.0, 1.0, 2, 1.0, 1.0, [0.5, 1.0], [1, 1], 0)
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int16, torch.int64, torch.bool, torch.complex64):
        writer.add_tensor(f"tensor {dtype}", torch.tensor([[0.0, 1.0], [2.0, 3.0]]).to(dtype), 2)
    labels, predictions = torch.randint(0, 2, (50,)), torch.rand(50)
    writer.add_pr_curve("curve", labels, predictions, 1, num_thresholds=20)
    writer.add_pr_curve("weighed", labels, predictions, 1, weights=torch.rand(50).numpy())
    writer.add_pr_curve_raw("raw curve", *torch.rand(6, 9).numpy(), 1, num_thresholds=9)
    writer.add_custom_scalars({"group": {"lines": ["Multiline", ["a", "b"]], "band": ["Margin", ["a", "b", "c"]]}})
    writer.add_custom_scalars_multilinechart(["x", "y"])
    writer.add_hparams({"lr": 0.1, "kind": "sgd", "flag": True, "none": None}, {"acc": 0.5}, {"lr": [0.1]}, "run", 1)


def media(writer):
    writer.add_image("picture", torch.rand(3, 4, 5), 0)
    writer.add_image("grey", (torch.rand(4, 5) * 255).to(torch.uint8), 0, dataformats="HW")
    writer.add_images("pictures", torch.rand(9, 1, 3, 4), 0)
    boxes = torch.tensor([[1, 1, 10, 12], [3, 2, 14, 15]])
    writer.add_image_with_boxes("boxes", torch.rand(3, 16, 16), boxes, labels=["a", "b"], rescale=2)
    writer.add_audio("sound", torch.sin(torch.arange(50) / 5), 0, sample_rate=1000)
    writer.add_text("note", "a *note*, ä", 0)
    writer.add_mesh("mesh", torch.rand(1, 4, 3), torch.zeros(1, 4, 3, dtype=torch.uint8), torch.tensor([[[0, 1, 2]]]))
    writer.add_mesh("points", torch.rand(1, 4, 3), config_dict={"camera": {"near": 1}})
    points, pictures = torch.arange(6.0).reshape(3, 2), torch.rand(3, 3, 4, 4)
    writer.add_embedding(points, ["a", "b", "c"], pictures, global_step=7, tag="some/tag")
    writer.add_embedding(points, [["a", "1"], ["b", "2"], ["c", "3"]], metadata_header=["x", "y"])
    figures = [pyplot.figure(figsize=(1, 1)) for _ in range(3)]
    for figure in figures:
        figure.add_subplot().plot([1, 3, 2])
    writer.add_figure("figure", figures[0], 0)
    writer.add_figure("figures", figures[1:], 0)
    assert not pyplot.get_fignums()


def refused(writer):
    calls = {
        "not one": lambda: writer.add_scalar("x", torch.ones(2)),
        "no number": lambda: writer.add_scalar("x", None),
        "list": lambda: writer.add_image("x", [1]),
        "dimensions": lambda: writer.add_image("x", torch.rand(4, 4)),
        "twice": lambda: writer.add_image("x", torch.rand(3, 4, 4), dataformats="CCH"),
        "labels": lambda: writer.add_embedding(torch.rand(3, 2), metadata=["a"]),
        "images": lambda: writer.add_embedding(torch.rand(3, 2), label_img=torch.rand(2, 3, 4, 4)),
        "points": lambda: writer.add_embedding(torch.rand(3)),
        "bins": lambda: writer.add_histogram("x", torch.rand(3), bins="none"),
        "empty": lambda: writer.add_histogram("x", torch.rand(0)),
        "buckets": lambda: writer.add_histogram_raw("x", 0, 1, 2, 1, 1, [1, 2], [1]),
        "margin": lambda: writer.add_custom_scalars_marginchart(["a", "b"]),
        "settings": lambda: writer.add_hparams(3, {}),
        "setting": lambda: writer.add_hparams({"a": [1]}, {}),
        "domain": lambda: writer.add_hparams({"a": 1}, {}, {"a": ["x"]}),
        "dtype": lambda: writer.add_tensor("x", torch.ones(1).to(torch.float8_e4m3fn)),
        "sound": lambda: writer.add_audio("x", torch.rand(2, 5)),
        "video": lambda: writer.add_video("x", torch.rand(2, 3, 4, 4)),
    }
    texts = {}
    for name, call in calls.items():
        try:
            call()
        except (AssertionError, NotImplementedError, TypeError, ValueError) as error:
            texts[name] = f"{type(error).__name__}: {error}"
    assert list(texts) == list(calls)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        writer.add_video("without moviepy", torch.rand(3, 2, 3, 4, 4))
        writer.add_audio("loud", torch.tensor([0.5, 2.0]))
    return texts, printed.getvalue()


class Branches(torch.nn.Module):
    """Modules in modules, one that is reached past its parent, members of its own, several outputs and dead ends."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2)
        self.body = torch.nn.Sequential(
            torch.nn.Sequential(torch.nn.Linear(8, 6)), torch.nn.ReLU(), torch.nn.Linear(6, 4)
        )
        self.scale = torch.nn.Parameter(torch.ones(4))
        self.loose = torch.ones(4)

    def forward(self, pictures, unused, shift):
        hidden = torch.max_pool2d(torch.relu(self.norm(self.conv(pictures))), 2)
        hidden = self.body(hidden.flatten(1)) * self.scale
        hidden.sin()
        parts = self.body[0][0](torch.cat([hidden, hidden + shift], 1)).chunk(3, -1)
        written = parts[0].clone()
        written.mul_(2).add_(self.loose[:2])
        return written, (parts[1].max(0)[0], hidden.softmax(-1))


class Loops(torch.nn.Module):
    def forward(self, x, kind):
        return {"sum": x + 1} if kind.ndim == 0 else [x * 2, x] if kind.ndim == 1 else 3


def graphs(writer):
    model = Branches()
    writer.add_graph(model, (torch.rand(2, 1, 6, 6), torch.ones(1), torch.rand(4)))
    assert model.training
    assert not model._forward_hooks
    assert not model.conv._forward_pre_hooks
    writer.add_graph(torch.nn.Linear(2, 3), torch.ones(1, 2))
    writer.add_graph(Loops(), [torch.ones(2), torch.ones(1)])
    writer.add_graph(Loops(), [torch.ones(2), torch.tensor(1.0)], use_strict_trace=False)
    texts, printed = [], io.StringIO()
    with contextlib.redirect_stdout(printed):
        for model, given in (
            (Loops(), (torch.ones(2), torch.tensor(1.0))),
            (Loops(), (torch.ones(2), torch.ones(1, 1))),
            (Loops(), (1, 2.0)),
            (torch.nn.Linear(2, 3), torch.ones(1, 5)),
        ):
            try:
                writer.add_graph(model, given)
            except RuntimeError as error:
                texts.append(str(error))
    return texts, printed.getvalue()


def drawn(data):
    """Return the operators of a graph: scope, kind, shape, and what they are given, by scope and kind.

    Numbers, and what makes them of sizes, are left out, and so are the numbers in names; torch records convolutions by
    an operator of their own.
    """
    numbers = ("prim::Constant", "prim::NumToTensor", "aten::size", "aten::Int")
    nodes = {node.name: node for node in GraphDef.FromString(data).node}
    kinds = {"aten::_convolution": "convolution", "aten::conv2d": "convolution"}

    def shown(node):
        name = node.name.split(".")[0] if node.name.startswith("input/") else node.name.rpartition("/")[0]
        return [name, kinds.get(node.op, node.op)]

    rows = []
    for node in nodes.values():
        if node.op in numbers or is_numbers(node, nodes, numbers):
            continue
        given = [nodes[name] for name in node.input if name in nodes]
        given = [shown(one) for one in given if one.op not in numbers and not is_numbers(one, nodes, numbers)]
        shapes = [[size.size for size in shape.dim] for shape in node.attr["_output_shapes"].list.shape]
        rows.append([*shown(node), shapes, given])
    members = [row for row in rows if row[1] == "prim::GetAttr"]  # read again in every call, in torch
    return [sorted(row for row in rows if row not in members), sorted({row[0] for row in members})]


def is_numbers(node, nodes, numbers):
    return node.op == "prim::ListConstruct" and all(nodes[name].op in numbers for name in node.input)


def decoded(value):
    """Return what a summary shows: pixels and samples where the encoding may differ."""
    if value.image.encoded_image_string:
        pixels = Image.open(io.BytesIO(value.image.encoded_image_string))
        return [value.tag, list(pixels.size), list(pixels.tobytes())]
    if value.audio.encoded_audio_string:
        with wave.open(io.BytesIO(value.audio.encoded_audio_string)) as sound:
            return [value.tag, list(sound.getparams()), list(sound.readframes(100))]
    if value.metadata.plugin_data.plugin_name == "hparams":  # holds a map, which is written in any order
        return [value.tag, MessageToDict(HParamsPluginData.FromString(value.metadata.plugin_data.content))]
    return MessageToDict(value)


def main():
    torch.manual_seed(6)
    with tempfile.TemporaryDirectory() as folder:
        with SummaryWriter(folder, purge_step=2, filename_suffix=".end") as writer:
            numbers(writer)
            media(writer)
            drawings = graphs(writer)
            texts, printed = refused(writer)
        writer.add_text("reopened", "after close", 9)
        writer.close()
        found = {}
        for path in sorted(Path(folder).rglob("*")):
            name = path.relative_to(folder).as_posix()
            if "tfevents" in name:
                kept = found.setdefault(path.parent.relative_to(folder).as_posix(), [])
                for raw in RawEventFileLoader(str(path)).Load():
                    event = Event.FromString(raw)
                    values = [decoded(value) for value in event.summary.value]
                    if event.graph_def:
                        values.append(drawn(event.graph_def))
                        event.ClearField("graph_def")
                    event.ClearField("wall_time")
                    event.ClearField("summary")
                    kept.append([MessageToDict(event), values])
            elif path.is_file():
                png = path.suffix == ".png"
                found[name] = list(Image.open(path).tobytes()) if png else path.read_text()
    print(json.dumps({"found": found, "texts": texts, "printed": printed, "drawings": drawings}))


main()
