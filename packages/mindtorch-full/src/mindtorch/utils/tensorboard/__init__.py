"""Writes what TensorBoard shows. The package `tensorboard`, 1.15 or newer, has to be installed."""

import tensorboard
from tensorboard.summary.writer.record_writer import RecordWriter

from mindtorch._naming import adopt
from mindtorch.torch_version import TorchVersion

if not hasattr(tensorboard, "__version__") or TorchVersion(tensorboard.__version__) < "1.15":
    raise ImportError("TensorBoard logging requires TensorBoard version 1.15 or above")

from mindtorch.utils.tensorboard.writer import FileWriter, SummaryWriter  # isort: skip (after the check)

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]

adopt(globals())
