"""torchmetrics: metrics kept over batches, their functional forms, collections, and a metric's gradient."""

import json

import torch
import torchmetrics
from torchmetrics import functional


def main():
    torch.manual_seed(3)
    kinds = {"task": "multiclass", "num_classes": 4}
    together = torchmetrics.MetricCollection(
        {
            "accuracy": torchmetrics.Accuracy(**kinds),
            "f1": torchmetrics.F1Score(average="macro", **kinds),
            "auroc": torchmetrics.AUROC(**kinds),
            "confusion": torchmetrics.ConfusionMatrix(**kinds),
            "calibration": torchmetrics.CalibrationError(**kinds),
            "average precision": torchmetrics.AveragePrecision(**kinds),
        }
    )
    errors = torchmetrics.MetricCollection(
        [
            torchmetrics.MeanSquaredError(),
            torchmetrics.R2Score(),
            torchmetrics.PearsonCorrCoef(),
            torchmetrics.SpearmanCorrCoef(),
        ]
    )
    steps = []
    for _ in range(4):
        scores, labels = torch.randn(32, 4).softmax(1), torch.randint(0, 4, (32,))
        steps.append(together(scores, labels)["accuracy"].item())
        value = torch.randn(32)
        errors.update(value, value + torch.randn(32) / 2)
    found = {name: value.tolist() for name, value in {**together.compute(), **errors.compute()}.items()}
    state = together.state_dict()
    together.reset()
    pictures = torch.rand(2, 3, 32, 32, requires_grad=True)
    similar = functional.structural_similarity_index_measure(pictures, torch.rand(2, 3, 32, 32), data_range=1.0)
    similar.backward()
    found["gradient"] = pictures.grad.flatten()[:20].tolist()
    found["noise"] = functional.signal_noise_ratio(torch.randn(2, 50), torch.randn(2, 50)).tolist()
    found["words"] = functional.text.word_error_rate(["the cat sat"], ["a cat sat down"]).item()
    found["perplexity"] = functional.text.perplexity(torch.randn(2, 5, 7), torch.randint(0, 7, (2, 5))).item()
    found["mean"] = [torchmetrics.MeanMetric()(torch.tensor([1.0, 2.0]), weight=torch.tensor([1.0, 3.0])).item()]
    print(json.dumps({"steps": steps, "found": found, "kept": len(state)}))


main()
