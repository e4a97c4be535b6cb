"""Losses and miners of pytorch-metric-learning: five steps of a small net with each, and what the miners pick."""

import json

import torch
from pytorch_metric_learning import losses, miners

LABELS = torch.arange(4).repeat(8)
PLAIN = (
    "TripletMarginLoss ContrastiveLoss MultiSimilarityLoss NTXentLoss CircleLoss LiftedStructureLoss AngularLoss FastAPLoss "
    "SignalToNoiseRatioContrastiveLoss SupConLoss TupletMarginLoss IntraPairVarianceLoss GeneralizedLiftedStructureLoss "
    "NPairsLoss MarginLoss"
).split()
OF_CLASSES = "ArcFaceLoss CosFaceLoss ProxyAnchorLoss ProxyNCALoss SoftTripleLoss".split()
MINERS = (
    "MultiSimilarityMiner BatchHardMiner BatchEasyHardMiner TripletMarginMiner PairMarginMiner DistanceWeightedMiner "
    "AngularMiner UniformHistogramMiner"
).split()


def steps(name: str, *sizes: int) -> list[float]:
    """Return the losses of five steps."""
    torch.manual_seed(1)
    loss_of = getattr(losses, name)(*sizes)
    net, x = torch.nn.Linear(8, 16), torch.randn(32, 8)
    optimizer = torch.optim.SGD([*net.parameters(), *loss_of.parameters()], lr=0.01)
    found = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = loss_of(net(x), LABELS)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def picked(name: str) -> list[int]:
    """Return the sums of the indices that a miner picks."""
    torch.manual_seed(2)
    return [int(one.sum()) for one in getattr(miners, name)()(torch.randn(32, 16), LABELS)]


result = {name: steps(name) for name in PLAIN}
result |= {name: steps(name, 4, 16) for name in OF_CLASSES}
result |= {name: picked(name) for name in MINERS}
print(json.dumps(result))
