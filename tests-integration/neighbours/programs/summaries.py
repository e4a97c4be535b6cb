"""torchinfo and torchview: a model's layers as a table, and its call as a graph that subclasses of tensors record."""

import json

import torch
import torchinfo
import torchview


class Residual(torch.nn.Module):
    """Two layers and what goes past them."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(6, 6), torch.nn.Linear(6, 6)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(x)))


def main():
    torch.manual_seed(0)
    columns = ("input_size", "output_size", "num_params", "mult_adds", "kernel_size", "trainable")
    convolutions = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 5)
    )
    table = torchinfo.summary(convolutions, input_size=(2, 3, 8, 8), col_names=columns, depth=4, verbose=0)
    recurrent = torch.nn.LSTM(4, 5, num_layers=2, batch_first=True)
    found = {
        "table": str(table),
        "counts": [table.total_params, table.total_mult_adds],
        "recurrent": str(torchinfo.summary(recurrent, input_size=(2, 7, 4), verbose=0)),
    }
    models = {"convolutions": (convolutions, (2, 3, 8, 8)), "residual": (Residual(), (2, 6))}
    for name, (model, size) in models.items():
        for device in ("cpu", "meta"):
            drawn = torchview.draw_graph(model, input_size=size, device=device, expand_nested=True)
            found[f"{name} on {device}"] = drawn.visual_graph.source
    print(json.dumps(found))


main()
