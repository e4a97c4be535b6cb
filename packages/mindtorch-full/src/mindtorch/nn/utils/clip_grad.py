"""Limiting the size of gradients."""

import warnings
from collections.abc import Iterable

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch_dispatch.execute.chain import Chain

_SCALE = Chain("grad", ("mul_number", "grad", "grad"))

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_"]

# ``foreach`` chooses between two ways to the same numbers in torch; there is one way here.


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in tensors if p.grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the norm of all tensors taken as one vector; RuntimeError if asked for and it is not finite.

    >>> torch.nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
    tensor(5.)
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return mindtorch.tensor(0.0)
    with mindtorch.no_grad():
        device = tensors[0].device
        if device.type != "cpu" and all(t.device == device for t in tensors):
            norms = list(mindtorch._foreach_norm(tensors, norm_type))  # in one launch where the device has it
        else:
            norms = [mindtorch.linalg.vector_norm(t, norm_type).to(device) for t in tensors]
        total = mindtorch.linalg.vector_norm(mindtorch.stack(norms), norm_type)
        if error_if_nonfinite and bool(mindtorch.logical_or(total.isnan(), total.isinf())):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
                "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
                "`error_if_nonfinite=False`"
            )
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients in place by ``max_norm / total_norm`` where that is below one.

    >>> x = torch.nn.Parameter(torch.zeros(2))
    >>> x.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grads_with_norm_([x], 1.0, torch.tensor(5.0))
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    with mindtorch.no_grad():
        # No branch on the norm's value: that would wait for the device.
        coefficient = mindtorch.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        grads = _gradients(parameters)
        # On the host nothing waits for the number, and all gradients take it in one call.
        alike = coefficient.device.type == "cpu" and all(grad.dtype is coefficient.dtype for grad in grads)
        if grads and alike and _SCALE.run((grads,), (float(coefficient),)):
            return
        if grads and coefficient.device.type != "cpu" and all(grad.device == coefficient.device for grad in grads):
            mindtorch._foreach_mul_(grads, coefficient)
            return
        for grad in grads:
            grad.mul_(coefficient.to(grad.device))


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients in place so that their total norm is at most ``max_norm``; return the norm before.

    >>> x = torch.nn.Parameter(torch.zeros(2))
    >>> x.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grad_norm_([x], 1.0)
    tensor(5.)
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total_norm = get_total_norm(_gradients(tensors), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(tensors, max_norm, total_norm, foreach)
    return total_norm


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The former name of :func:`clip_grad_norm_`.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> x = torch.nn.Parameter(torch.zeros(2))
    >>> x.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grad_norm([x], 1.0)
    tensor(5.)
    """
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Clip every gradient element to [-``clip_value``, ``clip_value``] in place.

    >>> x = torch.nn.Parameter(torch.zeros(2))
    >>> x.grad = torch.tensor([3.0, -4.0])
    >>> torch.nn.utils.clip_grad_value_([x], 1.0)
    >>> x.grad
    tensor([ 1., -1.])
    """
    clip_value = float(clip_value)
    with mindtorch.no_grad():
        for grad in _gradients(parameters):
            grad.clamp_(min=-clip_value, max=clip_value)


adopt(globals())
