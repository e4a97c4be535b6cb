"""Inner functions of `torch.autograd.functional` and `torch.optim.lbfgs` that optimizers of other packages import."""

import pytest

import mindtorch
import mindtorch.autograd.functional as ours
from mindtorch.optim import _strong_wolfe as our_lbfgs

torch = pytest.importorskip("torch", reason="oracle")
theirs = torch.autograd.functional
their_lbfgs = pytest.importorskip("torch.optim.lbfgs", reason="oracle")

CALLS = [
    "f._as_tuple(a)",
    "f._as_tuple((a,))",
    "f._as_tuple(a, 'inputs', 'jvp')",
    "f._as_tuple(3, 'inputs', 'jvp')",
    "f._as_tuple((a, 3), 'inputs', 'jvp')",
    "f._tuple_postprocess((1,), False)",
    "f._tuple_postprocess((1,), True)",
    "f._tuple_postprocess(((1,), (2,)), (True, False))",
    "f._tuple_postprocess(((1, 2),), (False, True))",
    "f._tuple_postprocess(((1,),), (False, False))",
    "f._grad_preprocess((a,), True, True)",
    "f._grad_preprocess((a,), False, True)",
    "f._grad_postprocess((a * 1, a), False)",
    "f._grad_postprocess(a, True)",
]


@pytest.mark.parametrize("call", CALLS)
def test_call(call):
    def run(t, f):
        try:
            return repr(eval(call, {"f": f, "a": t.ones(2, requires_grad=True)}))
        except TypeError as error:
            return str(error).replace("mindtorch", "torch")

    assert run(mindtorch, ours) == run(torch, theirs)


def searched(t, lbfgs):
    x = t.tensor([-1.2, 1.0], dtype=t.float64)

    def objective(x, step, d):
        at = (x + step * d).requires_grad_()
        loss = (100 * (at[1] - at[0] ** 2) ** 2 + (1 - at[0]) ** 2).sum()
        return loss.item(), t.autograd.grad(loss, at)[0]

    f, g = objective(x, 0.0, t.zeros_like(x))
    found = lbfgs._strong_wolfe(objective, x, 1.0, -g, f, g, gtd=-g.dot(g), max_ls=20)
    number = lambda value: t.tensor(value, dtype=t.float64)  # noqa: E731
    minimum = lbfgs._cubic_interpolate(0.0, 2.0, number(-1.0), 1.0, 2.5, number(2.0))
    return found[0], found[1].tolist(), float(found[2]), found[3], float(minimum)


def test_line_search():
    mindtorch.testing.assert_close(searched(mindtorch, our_lbfgs), searched(torch, their_lbfgs))
