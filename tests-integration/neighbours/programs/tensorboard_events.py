"""torch.utils.tensorboard writes what tensorboard reads."""

import json
import tempfile

import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter


def main():
    torch.manual_seed(6)
    with tempfile.TemporaryDirectory() as folder:
        with SummaryWriter(folder) as writer:
            for step in range(5):
                writer.add_scalar("loss", torch.tensor(1.0 / (step + 1)), step)
            writer.add_histogram("weights", torch.randn(100), 0)
            writer.add_text("note", "a note", 0)
            writer.add_image("picture", torch.rand(3, 4, 4), 0)
        events = EventAccumulator(folder).Reload()
        tags = {key: value for key, value in events.Tags().items() if isinstance(value, list)}
        scalars = [event.value for event in events.Scalars("loss")]
        histogram = events.Histograms("weights")[0].histogram_value
    print(json.dumps({"tags": tags, "scalars": scalars, "count": histogram.num, "sum": histogram.sum}))


main()
