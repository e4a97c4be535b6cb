"""`torch.distributed.checkpoint`: states that many processes save together, and any number of them loads."""

from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint import _version as _version
from mindtorch.distributed.checkpoint.api import CheckpointException as CheckpointException
from mindtorch.distributed.checkpoint.default_planner import DefaultLoadPlanner as DefaultLoadPlanner
from mindtorch.distributed.checkpoint.default_planner import DefaultSavePlanner as DefaultSavePlanner
from mindtorch.distributed.checkpoint.filesystem import FileSystemReader as FileSystemReader
from mindtorch.distributed.checkpoint.filesystem import FileSystemWriter as FileSystemWriter
from mindtorch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader as HuggingFaceStorageReader
from mindtorch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter as HuggingFaceStorageWriter
from mindtorch.distributed.checkpoint.metadata import BytesStorageMetadata as BytesStorageMetadata
from mindtorch.distributed.checkpoint.metadata import ChunkStorageMetadata as ChunkStorageMetadata
from mindtorch.distributed.checkpoint.metadata import Metadata as Metadata
from mindtorch.distributed.checkpoint.metadata import TensorStorageMetadata as TensorStorageMetadata
from mindtorch.distributed.checkpoint.optimizer import (
    load_sharded_optimizer_state_dict as load_sharded_optimizer_state_dict,
)
from mindtorch.distributed.checkpoint.planner import LoadPlan as LoadPlan
from mindtorch.distributed.checkpoint.planner import LoadPlanner as LoadPlanner
from mindtorch.distributed.checkpoint.planner import ReadItem as ReadItem
from mindtorch.distributed.checkpoint.planner import SavePlan as SavePlan
from mindtorch.distributed.checkpoint.planner import SavePlanner as SavePlanner
from mindtorch.distributed.checkpoint.planner import WriteItem as WriteItem
from mindtorch.distributed.checkpoint.quantized_hf_storage import (
    QuantizedHuggingFaceStorageReader as QuantizedHuggingFaceStorageReader,
)
from mindtorch.distributed.checkpoint.state_dict_loader import load as load
from mindtorch.distributed.checkpoint.state_dict_loader import load_state_dict as load_state_dict
from mindtorch.distributed.checkpoint.state_dict_saver import async_save as async_save
from mindtorch.distributed.checkpoint.state_dict_saver import save as save
from mindtorch.distributed.checkpoint.state_dict_saver import save_state_dict as save_state_dict
from mindtorch.distributed.checkpoint.storage import StorageReader as StorageReader
from mindtorch.distributed.checkpoint.storage import StorageWriter as StorageWriter
from mindtorch_storage.lazy_import import submodules

__getattr__ = submodules(__name__, "format_utils resharding staging state_dict", "torch.distributed.checkpoint")

adopt(globals())
