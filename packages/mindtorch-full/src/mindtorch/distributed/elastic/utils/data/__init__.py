"""Data of trainings that begin again in the middle."""

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.utils.data.cycling_iterator import CyclingIterator as CyclingIterator
from mindtorch.distributed.elastic.utils.data.elastic_distributed_sampler import (
    ElasticDistributedSampler as ElasticDistributedSampler,
)

adopt(globals())
