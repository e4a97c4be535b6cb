"""Small programs around `nn.utils.prune`, written once for both libraries."""

import importlib

from .scenarios import _seen


def _prune(T):
    return importlib.import_module(T.__name__ + ".nn.utils.prune")


def _layer(T):
    T.manual_seed(1)
    return T.nn.Linear(4, 3)


def _hooks(module):
    return [type(hook).__name__ for hook in module._forward_pre_hooks.values()]


def each_method(T):
    """Masks, values and names after each method."""
    P = _prune(T)
    methods = [
        lambda m: P.identity(m, "weight"),
        lambda m: P.random_unstructured(m, "weight", 5),
        lambda m: P.random_unstructured(m, "bias", 0.4),
        lambda m: P.l1_unstructured(m, "weight", 0.5),
        lambda m: P.l1_unstructured(m, "weight", 2, importance_scores=-m.weight.abs()),
        lambda m: P.random_structured(m, "weight", 2, 1),
        lambda m: P.ln_structured(m, "weight", 1, 2, 0),
        lambda m: P.ln_structured(m, "weight", 0.5, 1, -1),
        lambda m: P.ln_structured(m, "weight", 2, float("inf"), 1),
        lambda m: P.custom_from_mask(m, "weight", T.arange(12).reshape(3, 4) % 2),
    ]
    for prune in methods:
        module = _layer(T)
        yield _seen(lambda prune=prune, module=module: prune(module))
        yield _hooks(module), P.is_pruned(module), [name for name, _ in module.named_parameters()]
        yield {name: value.tolist() for name, value in module.state_dict().items()}
        module(T.ones(2, 4)).sum().backward()
        yield [None if p.grad is None else p.grad.tolist() for p in module.parameters()]


def one_after_the_other(T):
    """Several methods on a tensor, and their removal."""
    P = _prune(T)
    m = _layer(T)
    P.l1_unstructured(m, "weight", 2)
    yield _hooks(m)
    P.random_unstructured(m, "weight", 0.5)
    P.ln_structured(m, "weight", 1, 2, 1)
    yield _hooks(m), [[type(method).__name__ for method in hook] for hook in m._forward_pre_hooks.values()]
    yield m.weight_mask.tolist(), m.weight.tolist(), m.weight.requires_grad
    P.remove(m, "weight")
    yield m.weight.tolist(), list(m.state_dict()), _hooks(m), P.is_pruned(m)
    yield _seen(lambda: P.remove(m, "weight"))


def together(T):
    """Several tensors as one."""
    P = _prune(T)
    a, b = _layer(T), T.nn.Linear(2, 2)
    P.l1_unstructured(b, "weight", 1)
    P.global_unstructured([(a, "weight"), (b, "weight"), (a, "bias")], P.L1Unstructured, amount=8)
    yield [m.tolist() for m in (a.weight_mask, b.weight_mask, a.bias_mask)]
    yield _seen(lambda: P.global_unstructured(1, P.L1Unstructured, amount=1))
    yield _seen(lambda: P.global_unstructured([(_layer(T), "weight")], P.RandomStructured, amount=1))
    yield _seen(lambda: P.global_unstructured([(_layer(T), "weight")], P.L1Unstructured, 3, amount=1))
    yield _seen(lambda: P.global_unstructured([(_layer(T), "weight")], P.L1Unstructured, amount=99))


def wrong_arguments(T):
    """Errors, and a module that is as before."""
    P = _prune(T)
    for amount in (1.5, -1, 100, "a"):
        m = _layer(T)
        yield _seen(lambda amount=amount, m=m: P.l1_unstructured(m, "weight", amount)), list(m._parameters), _hooks(m)
    yield _seen(lambda: P.random_structured(_layer(T), "bias", 1, 0))
    yield _seen(lambda: P.random_structured(_layer(T), "weight", 1, 3))
    yield _seen(lambda: P.random_structured(_layer(T), "weight", 5, 1))
    yield _seen(lambda: P.l1_unstructured(_layer(T), "weight", 1, importance_scores=T.ones(2)))
    yield _seen(lambda: P.custom_from_mask(_layer(T), "weight", T.ones(2)))
    yield _seen(lambda: P.l1_unstructured(_layer(T), "nope", 1))
    yield _seen(lambda: P.BasePruningMethod())
    yield _seen(lambda: P.PruningContainer(1))
    yield _seen(lambda: P.L1Unstructured(1).prune(T.arange(4.0), importance_scores=T.ones(3)))
    yield _seen(lambda: P.L1Unstructured(1).prune(T.arange(4.0), default_mask=T.ones(3)))


SCENARIOS = {f.__name__: f for f in (each_method, one_after_the_other, together, wrong_arguments)}
