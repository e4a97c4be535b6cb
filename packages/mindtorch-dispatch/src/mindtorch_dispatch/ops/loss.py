"""Losses and their gradients."""

from ..apart import ELEMENTWISE
from ..decomp import loss as composed
from ..meta import loss as rules
from ..table import op

op(
    "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    rules.elementwise("mse_cpu"),
    variants="nn",
    apart=ELEMENTWISE,
)
op(
    "mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
    rules.elementwise_backward("mse_backward_cpu_out"),
    variants="",
)
op("l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", composite=composed.l1_loss, variants="nn")
op(
    "smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor",
    rules.elementwise("smooth_l1_cpu", rules.check_beta),
    variants="nn",
    static=("beta",),
    apart=ELEMENTWISE,
)
op(
    "smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor",
    rules.elementwise_backward("smooth_l1_backward_cpu_out"),
    variants="",
)
op(
    "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor",
    rules.elementwise("huber_cpu", rules.check_delta),
    variants="nn",
    static=("delta",),
    apart=ELEMENTWISE,
)
op(
    "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor",
    rules.elementwise_backward("huber_backward_cpu_out"),
    variants="",
)
op(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
    rules.binary_cross_entropy,
    variants="nn",
)
op(
    "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=1) -> Tensor",
    rules.binary_cross_entropy_backward,
    variants="",
)
op(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, "
    "int reduction=1) -> Tensor",
    rules.binary_cross_entropy_with_logits,
    variants="function",
)
_NLL = "Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100"
_NLL_ALL = "Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index"
op(f"nll_loss({_NLL}) -> Tensor", composite=composed.nll_loss, variants="nn", out=True)
op(f"nll_loss2d({_NLL}) -> Tensor", composite=composed.nll_loss2d, variants="nn", out=True)
op(f"nll_loss_nd({_NLL}) -> Tensor", composite=composed.nll_loss_nd, variants="nn")
op(f"nll_loss_forward({_NLL_ALL}) -> (Tensor output, Tensor total_weight)", rules.nll_loss_forward, variants="")
op(f"nll_loss2d_forward({_NLL_ALL}) -> (Tensor output, Tensor total_weight)", rules.nll_loss2d_forward, variants="")
op(
    f"nll_loss_backward(Tensor grad_output, {_NLL_ALL}, Tensor total_weight) -> Tensor",
    rules.nll_loss_backward,
    variants="",
)
op(
    f"nll_loss2d_backward(Tensor grad_output, {_NLL_ALL}, Tensor total_weight) -> Tensor",
    rules.nll_loss2d_backward,
    variants="",
)
op(
    f"cross_entropy_loss({_NLL}, float label_smoothing=0.0) -> Tensor",
    composite=composed.cross_entropy_loss,
    variants="nn",
)
op(
    "kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
    composite=composed.kl_div,
    variants="function",
)
op(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
    composite=composed.poisson_nll_loss,
    variants="function",
)
op(
    "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    composite=composed.soft_margin_loss,
    variants="nn",
    out=True,
)
op(
    "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, "
    "int reduction=1) -> Tensor",
    rules.multi_margin_loss,
    variants="nn",
    static=("p",),
)
op(
    "multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, "
    "Tensor? weight=None, int reduction=1) -> Tensor",
    rules.multi_margin_loss_backward,
    variants="",
    static=("p",),
)
op(
    "multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    composite=composed.multilabel_margin_loss,
    variants="nn",
    out=True,
)
op(
    "multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)",
    rules.multilabel_margin_loss_forward,
    variants="",
)
op(
    "multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, "
    "Tensor is_target) -> Tensor",
    rules.multilabel_margin_loss_backward,
    variants="",
)
op(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor",
    composite=composed.margin_ranking_loss,
    variants="function",
)
op(
    "hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=1) -> Tensor",
    composite=composed.hinge_embedding_loss,
    variants="function",
)
op(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor",
    composite=composed.cosine_embedding_loss,
    variants="function",
)
op(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, "
    "float eps=1e-06, bool swap=False, int reduction=1) -> Tensor",
    composite=composed.triplet_margin_loss,
    variants="function",
)
