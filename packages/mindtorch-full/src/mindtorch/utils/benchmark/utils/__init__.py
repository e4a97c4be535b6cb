"""`torch.utils.benchmark.utils`: the parts of the benchmark tools."""

from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
