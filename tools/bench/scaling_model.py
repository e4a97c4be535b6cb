"""What a training step takes on many ranks: costs of collectives, and a simulation of who waits for whom in a step.

A level of the network has a latency and a time for a byte. A collective goes over the ranks of a host first, then, with the
part that each of them has, over the hosts. A step is a list of tasks on two lines, computing and communication: a task
starts when its line is free and what it needs is done.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Level:
    """One level of the network: seconds before a byte arrives, and seconds for every byte of one rank."""

    latency: float
    per_byte: float


@dataclass(frozen=True)
class Cluster:
    """Hosts of equal size, and the two levels of the network."""

    ranks: int
    per_host: int
    inside: Level
    between: Level

    @property
    def local(self) -> int:
        """Ranks of a host that take part."""
        return min(self.ranks, self.per_host)

    @property
    def hosts(self) -> int:
        """Hosts that take part."""
        return math.ceil(self.ranks / self.per_host)

    def gather(self, count: float) -> float:
        """Seconds of an all-gather, or of a reduce-scatter, of `count` bytes in all."""
        local, hosts = self.local, self.hosts
        inside = self.inside.latency * math.ceil(math.log2(local)) if local > 1 else 0.0
        inside += count * (local - 1) / local * self.inside.per_byte
        between = self.between.latency * math.ceil(math.log2(hosts)) if hosts > 1 else 0.0
        return inside + between + count / local * (hosts - 1) / hosts * self.between.per_byte

    def all_reduce(self, count: float) -> float:
        """Seconds of an all-reduce of `count` bytes: a reduce-scatter and an all-gather."""
        return 2 * self.gather(count)


@dataclass(frozen=True)
class Layer:
    """A layer: bytes of its parameters and of what it hands on, and seconds of its forward and backward on one rank."""

    parameters: float
    activations: float
    forward: float
    backward: float


@dataclass
class Lines:
    """Two lines of tasks, and when each is free."""

    computing: float = 0.0
    sending: float = 0.0
    waited: float = field(default=0.0)

    def compute(self, seconds: float, after: float = 0.0) -> float:
        """Compute when `after` has come; return the end."""
        start = max(self.computing, after)
        self.waited += start - self.computing
        self.computing = start + seconds
        return self.computing

    def send(self, seconds: float, after: float) -> float:
        """Communicate when `after` has come; return the end."""
        self.sending = max(self.sending, after) + seconds
        return self.sending


def ddp(layers: Sequence[Layer], cluster: Cluster, bucket: float = 25e6) -> float:
    """A step of DistributedDataParallel: buckets of gradients are reduced while backward goes on."""
    lines, filled, end = Lines(), 0.0, 0.0
    for layer in layers:
        lines.compute(layer.forward)
    for place, layer in enumerate(reversed(layers)):
        ready = lines.compute(layer.backward)
        filled += layer.parameters
        if filled >= bucket or place == len(layers) - 1:
            end, filled = lines.send(cluster.all_reduce(filled), ready), 0.0
    return max(lines.computing, end)


def fsdp(layers: Sequence[Layer], cluster: Cluster) -> float:
    """A step of `fully_shard`: parameters are gathered one layer ahead, twice, and gradients scattered behind."""
    lines = Lines()
    order = [(layer, layer.forward, False) for layer in layers] + [(x, x.backward, True) for x in reversed(layers)]
    here = lines.send(cluster.gather(order[0][0].parameters), 0.0)
    for place, (layer, seconds, backward) in enumerate(order):
        ready, begun = here, max(lines.computing, here)
        if place + 1 < len(order):
            here = lines.send(cluster.gather(order[place + 1][0].parameters), begun)
        done = lines.compute(seconds, ready)
        if backward:
            lines.send(cluster.gather(layer.parameters), done)
    return max(lines.computing, lines.sending)


def tensor_parallel(layers: Sequence[Layer], cluster: Cluster) -> float:
    """A step where every layer is cut in parts: what it hands on is reduced in forward and in backward, with nothing beside."""
    parts = cluster.ranks
    computed = sum(layer.forward + layer.backward for layer in layers) / parts
    return computed + sum(2 * cluster.all_reduce(layer.activations) for layer in layers)


STEPS = {"DDP": ddp, "FSDP": fsdp, "TP": tensor_parallel}
