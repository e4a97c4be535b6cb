"""Normalization."""

from ..decomp import normalization as composed
from ..meta import normalization as rules
from ..table import CORE, op

_THREE = "-> (Tensor, Tensor, Tensor)"
_AFFINE = "Tensor? weight, Tensor? bias"
_RUNNING = "Tensor? running_mean, Tensor? running_var"

op(
    f"native_layer_norm(Tensor input, SymInt[] normalized_shape, {_AFFINE}, float eps) {_THREE}",
    rules.layer_norm,
    variants="function",
    tags={CORE},
)
op(
    "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, "
    f"{_AFFINE}, bool[3] output_mask) {_THREE}",
    rules.layer_norm_backward,
    variants="",
)
op(
    f"native_group_norm(Tensor input, {_AFFINE}, SymInt N, SymInt C, SymInt HxW, int group, float eps) {_THREE}",
    rules.group_norm,
    variants="function",
    tags={CORE},
)
op(
    "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, "
    f"SymInt C, SymInt HxW, int group, bool[3] output_mask) {_THREE}",
    rules.group_norm_backward,
    variants="",
)
op(
    f"native_batch_norm(Tensor input, {_AFFINE}, {_RUNNING}, bool training, float momentum, float eps) {_THREE}",
    rules.batch_norm,
    variants="function",
    tags={CORE},
)
op(
    f"native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, {_RUNNING}, Tensor? save_mean, "
    f"Tensor? save_invstd, bool train, float eps, bool[3] output_mask) {_THREE}",
    rules.batch_norm_backward,
    variants="",
)
for _name, _written, _stats in (
    ("_native_batch_norm_legit", "Tensor(a!) running_mean, Tensor(b!) running_var, bool training, ", _THREE),
    ("_native_batch_norm_legit.no_stats", "bool training, ", _THREE),
    (
        "_batch_norm_with_update",
        "Tensor(a!) running_mean, Tensor(b!) running_var, ",
        "-> (Tensor, Tensor, Tensor, Tensor)",
    ),
    ("_batch_norm_no_update", f"{_RUNNING}, ", "-> (Tensor, Tensor, Tensor, Tensor)"),
    ("_native_batch_norm_legit_no_training", "Tensor running_mean, Tensor running_var, ", _THREE),
):
    op(
        f"{_name}(Tensor input, {_AFFINE}, {_written}float momentum, float eps) {_stats}",
        composite=composed.FUNCTIONAL_FORMS[_name],
        out=_stats is _THREE,
        variants="function",
    )
op(
    f"_native_batch_norm_legit_functional(Tensor input, {_AFFINE}, Tensor running_mean, Tensor running_var, bool training, "
    "float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
    composite=composed.functional_batch_norm,
    variants="",
)
op("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", rules.renorm, static=("p", "maxnorm"))

op(
    "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
    "bool cudnn_enable=True) -> Tensor",
    composite=composed.layer_norm,
    variants="function",
)
op(
    "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    composite=composed.rms_norm,
    variants="function",
)
op(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
    "bool cudnn_enabled=True) -> Tensor",
    composite=composed.group_norm,
    variants="function",
)
op(
    f"batch_norm(Tensor input, {_AFFINE}, {_RUNNING}, bool training, float momentum, float eps, bool cudnn_enabled) "
    "-> Tensor",
    composite=composed.batch_norm,
    variants="function",
)
op(
    f"instance_norm(Tensor input, {_AFFINE}, {_RUNNING}, bool use_input_stats, float momentum, float eps, "
    "bool cudnn_enabled) -> Tensor",
    composite=composed.instance_norm,
    variants="function",
)
