"""Loss layers; each calls the function of the same meaning in ``nn.functional``."""

import warnings
from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import _reduction as _Reduction  # noqa: F401 (a name of torch)
from mindtorch.nn import functional as F
from mindtorch.nn.modules._embedding_losses import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from mindtorch.nn.modules._linear_loss import LinearCrossEntropyLoss
from mindtorch.nn.modules._loss_base import _Loss, _WeightedLoss

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class L1Loss(_Loss):
    """|input - target|.

    >>> torch.nn.L1Loss()(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(1.)
    """

    __constants__ = ["reduction"]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss, a scalar unless ``reduction="none"``."""
        return F.l1_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """Negated log-probability of the target class.

    >>> torch.nn.NLLLoss()(torch.tensor([[-0.1, -2.3]]), torch.tensor([0]))
    tensor(0.1000)
    """

    __constants__ = ["ignore_index", "reduction"]
    ignore_index: int

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of log-probabilities (N, C, *) and classes (N, *)."""
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """The former name of NLLLoss for images.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.nn.NLLLoss2d()(torch.full((1, 2, 1, 1), -0.5), torch.zeros(1, 1, 1, dtype=torch.long))
    tensor(0.5000)
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make the layer, with a warning."""
        warnings.warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
            stacklevel=2,
        )
        return super().__new__(cls)


class PoissonNLLLoss(_Loss):
    """Negated log-likelihood of counts under a Poisson distribution.

    >>> torch.nn.PoissonNLLLoss()(torch.tensor([0.]), torch.tensor([1.]))
    tensor(1.)
    """

    __constants__ = ["log_input", "full", "eps", "reduction"]
    log_input: bool
    full: bool
    eps: float

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Return the loss, a scalar unless ``reduction="none"``."""
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """Negated log-likelihood under normal distributions of predicted mean and variance.

    >>> torch.nn.GaussianNLLLoss()(torch.tensor([1.]), torch.tensor([2.]), torch.tensor([1.]))
    tensor(0.5000)
    """

    __constants__ = ["full", "eps", "reduction"]
    full: bool
    eps: float

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor:
        """Return the loss, a scalar unless ``reduction="none"``."""
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of log-probabilities from target probabilities.

    >>> torch.nn.KLDivLoss()(torch.tensor([-0.5]), torch.tensor([0.5]))
    tensor(-0.0966)
    """

    __constants__ = ["reduction"]

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss, a scalar unless ``reduction="none"``."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class MSELoss(_Loss):
    """(input - target) ** 2.

    Both have one shape; others broadcast with a warning. `reduction` is "mean", "sum" or "none".

    >>> torch.nn.MSELoss()(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """

    __constants__ = ["reduction"]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss, a scalar unless ``reduction="none"``."""
        return F.mse_loss(input, target, reduction=self.reduction)


class BCELoss(_WeightedLoss):
    """Cross entropy of probabilities and binary targets.

    >>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.]))
    tensor(0.6931)
    """

    __constants__ = ["reduction"]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss, a scalar unless ``reduction="none"``."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of logits and binary targets.

    >>> torch.nn.BCEWithLogitsLoss()(torch.tensor([0.]), torch.tensor([1.]))
    tensor(0.6931)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)
        self.weight: Tensor | None
        self.pos_weight: Tensor | None

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss, a scalar unless ``reduction="none"``."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class SmoothL1Loss(_Loss):
    """Quadratic below ``beta``, linear above.

    >>> torch.nn.SmoothL1Loss()(torch.tensor([1.]), torch.tensor([4.]))
    tensor(2.5000)
    """

    __constants__ = ["reduction"]

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss, a scalar unless ``reduction="none"``."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Quadratic below ``delta``, linear with slope ``delta`` above.

    >>> torch.nn.HuberLoss()(torch.tensor([1.]), torch.tensor([4.]))
    tensor(2.5000)
    """

    __constants__ = ["reduction", "delta"]

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss, a scalar unless ``reduction="none"``."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class CrossEntropyLoss(_WeightedLoss):
    """Cross entropy of logits and target classes or class probabilities.

    `input` is (N, C, *) and `target` (N, *) of class numbers, or of the shape of `input` with probabilities. Classes
    `ignore_index` do not count; `weight` has one number for each class. A class out of range raises IndexError.

    >>> torch.nn.CrossEntropyLoss()(torch.tensor([[2., 0.], [0., 2.]]), torch.tensor([0, 1]))
    tensor(0.1269)
    """

    __constants__ = ["ignore_index", "reduction", "label_smoothing"]
    ignore_index: int
    label_smoothing: float

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits (N, C, *) and classes (N, *) or probabilities (N, C, *)."""
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class CTCLoss(_Loss):
    """Connectionist temporal classification of unaligned sequences.

    >>> torch.nn.CTCLoss()(torch.zeros(2, 1, 2), torch.tensor([[1]]), torch.tensor([2]), torch.tensor([1]))
    tensor(-1.0986)
    """

    __constants__ = ["blank", "reduction"]
    blank: int
    zero_infinity: bool

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        """Return the loss of log-probabilities (T, N, C), a scalar unless ``reduction="none"``."""
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


adopt(globals())
