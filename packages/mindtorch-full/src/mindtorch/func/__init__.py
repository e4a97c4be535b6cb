"""`torch.func`: transforms of functions of tensors.

Every transform is built from recorded differentiation: a level is a set of fresh leaves (or views of the outer inputs),
so levels nest without confusing their perturbations. Forward products come from reverse mode applied twice. `vmap` calls
the function once, on tensors that stand for one example of a batch.
"""

from .._naming import adopt
from ._functional_call import functional_call, stack_module_state
from ._functionalize import functionalize
from ._jacobians import hessian, jacfwd, jacrev
from ._rearrange import rearrange
from ._replace import replace_all_batch_norm_modules_
from ._transforms import grad, grad_and_value, jvp, linearize, vjp
from ._vmap import vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]


def debug_unwrap(tensor: object, *, recurse: bool = True) -> object:
    """Return `tensor`: the levels of transforms here are no wrappers.

    >>> torch.func.debug_unwrap(torch.ones(1))
    tensor([1.])
    """
    return tensor


for _part in (
    functional_call, stack_module_state, hessian, jacfwd, jacrev, functionalize, replace_all_batch_norm_modules_, grad,
    grad_and_value, jvp, linearize, vjp, vmap,
):  # fmt: skip
    _part.__module__ = "torch.func"
adopt(globals())
