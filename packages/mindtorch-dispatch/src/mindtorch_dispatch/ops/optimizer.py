"""Fused steps of optimizers over lists of tensors."""

from ..decomp import optimizer
from ..table import op

_SCALE = "Tensor? grad_scale=None, Tensor? found_inf=None"
_ADAM = "Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs"
_BETAS = "float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize"

for _overload, _lr in (("", "float"), (".tensor_lr", "Tensor")):
    for _name, _decoupled in (("_fused_adam_", False), ("_fused_adamw_", True)):
        op(
            f"{_name}{_overload}(Tensor(a!)[] self, {_ADAM}, Tensor[] state_steps, *, {_lr} lr, {_BETAS}, {_SCALE}) -> ()",
            composite=optimizer.adam(_decoupled),
            variants="function",
        )
    op(
        f"_fused_sgd_{_overload}(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *,"
        f" float weight_decay, float momentum, {_lr} lr, float dampening, bool nesterov, bool maximize,"
        f" bool is_first_step, {_SCALE}) -> ()",
        composite=optimizer.sgd,
        variants="function",
    )
    op(
        f"_fused_adagrad_{_overload}(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums,"
        f" Tensor{'' if _overload else '(d!)'}[] state_steps, *, {_lr} lr, float lr_decay, float weight_decay, float eps,"
        f" bool maximize, {_SCALE}) -> ()",
        composite=optimizer.adagrad,
        variants="function",
    )
