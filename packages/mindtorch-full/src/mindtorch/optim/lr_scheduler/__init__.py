"""Learning-rate schedules."""

from mindtorch._naming import adopt

from ._base import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from ._base import LRScheduler
from ._base import _LRScheduler as _LRScheduler
from .chained_scheduler import ChainedScheduler
from .constant_lr import ConstantLR
from .cosine_annealing_lr import CosineAnnealingLR
from .cosine_annealing_warm_restarts import CosineAnnealingWarmRestarts
from .cyclic_lr import CyclicLR
from .exponential_lr import ExponentialLR
from .lambda_lr import LambdaLR, MultiplicativeLR
from .linear_lr import LinearLR
from .multi_step_lr import MultiStepLR
from .one_cycle_lr import OneCycleLR
from .polynomial_lr import PolynomialLR
from .reduce_lr_on_plateau import ReduceLROnPlateau
from .sequential_lr import SequentialLR
from .step_lr import StepLR

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

adopt(globals())
