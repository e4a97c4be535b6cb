"""Laws: samples, densities, moments, divergences and texts equal torch's."""

from __future__ import annotations

import math
import re
import warnings

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")


@pytest.fixture(autouse=True)
def _arguments_are_checked():
    """torch's own test package, which the op sweep imports, switches the checks off for the whole process."""
    before = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(True)
    yield
    torch.distributions.Distribution.set_default_validate_args(before)


P = [0.3, 0.6, 0.5]
S = [0.5, 1.0, 2.0]
V = [-1.0, 0.0, 2.0]
WEIGHTS = [[0.1, 0.3, 0.2, 0.4], [0.5, 0.1, 0.9, 0.2], [0.2, 0.2, 0.2, 0.1]]
COVARIANCE = [[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.2]]


class _Side:
    """One library, with the parameters used below as its tensors."""

    def __init__(self, lib):
        self.lib = lib
        self.d = lib.distributions
        for name, values in (("p", P), ("s", S), ("v", V), ("w", WEIGHTS), ("c", COVARIANCE)):
            setattr(self, name, lib.tensor(values))

    def t(self, *values):
        return self.lib.tensor(*values)


LAWS = {
    "Normal": lambda x: x.d.Normal(x.v, x.s),
    "Normal of numbers": lambda x: x.d.Normal(0.0, 1.0),
    "Uniform": lambda x: x.d.Uniform(x.v, x.v + x.s),
    "Bernoulli": lambda x: x.d.Bernoulli(x.p),
    "Bernoulli logits": lambda x: x.d.Bernoulli(logits=x.v),
    "Categorical": lambda x: x.d.Categorical(x.w),
    "Categorical logits": lambda x: x.d.Categorical(logits=x.w * 3 - 1),
    "MultivariateNormal": lambda x: x.d.MultivariateNormal(x.v, x.c),
    "Exponential": lambda x: x.d.Exponential(x.s),
    "Gamma": lambda x: x.d.Gamma(x.s, x.s + 1),
    "Chi2": lambda x: x.d.Chi2(x.s),
    "Dirichlet": lambda x: x.d.Dirichlet(x.w + 0.5),
    "Beta": lambda x: x.d.Beta(x.s, x.s + 1),
    "Laplace": lambda x: x.d.Laplace(x.v, x.s),
    "Cauchy": lambda x: x.d.Cauchy(x.v, x.s),
    "StudentT": lambda x: x.d.StudentT(x.s * 2, x.v, x.s),
    "FisherSnedecor": lambda x: x.d.FisherSnedecor(x.s + 2, x.s + 4),
    "Poisson": lambda x: x.d.Poisson(x.s),
    "Geometric": lambda x: x.d.Geometric(x.p),
    "Binomial": lambda x: x.d.Binomial(5, x.p),
    "NegativeBinomial": lambda x: x.d.NegativeBinomial(5, x.p),
    "Multinomial": lambda x: x.d.Multinomial(6, x.w),
    "OneHotCategorical": lambda x: x.d.OneHotCategorical(x.w),
    "Independent": lambda x: x.d.Independent(x.d.Normal(x.v, x.s), 1),
    "HalfNormal": lambda x: x.d.HalfNormal(x.s),
    "HalfCauchy": lambda x: x.d.HalfCauchy(x.s),
    "LogNormal": lambda x: x.d.LogNormal(x.v, x.s),
    "Gumbel": lambda x: x.d.Gumbel(x.v, x.s),
    "Pareto": lambda x: x.d.Pareto(x.s, x.s + 1.5),
    "Weibull": lambda x: x.d.Weibull(x.s, x.s + 0.5),
    "Kumaraswamy": lambda x: x.d.Kumaraswamy(x.s, x.s + 0.5),
    "InverseGamma": lambda x: x.d.InverseGamma(x.s, x.s + 0.5),
    "RelaxedBernoulli": lambda x: x.d.RelaxedBernoulli(x.t(0.7), x.p),
    "RelaxedOneHotCategorical": lambda x: x.d.RelaxedOneHotCategorical(x.t(0.7), x.w),
    "LogisticNormal": lambda x: x.d.LogisticNormal(x.v, x.s),
    "MixtureSameFamily": lambda x: x.d.MixtureSameFamily(
        x.d.Categorical(x.t([0.2, 0.8])), x.d.Normal(x.t([0.0, 3.0]), x.t([1.0, 2.0]))
    ),
    "VonMises": lambda x: x.d.VonMises(x.v, x.s),
    "ContinuousBernoulli": lambda x: x.d.ContinuousBernoulli(x.p),
    "LowRankMultivariateNormal": lambda x: x.d.LowRankMultivariateNormal(x.v, x.c[:, :2], x.s),
    "LKJCholesky": lambda x: x.d.LKJCholesky(3, x.t([0.5, 1.5])),
    "Wishart": lambda x: x.d.Wishart(x.t(5.0), x.c),
    "GeneralizedPareto": lambda x: x.d.GeneralizedPareto(x.v, x.s, x.t([0.0, 0.2, -0.3])),
    "TransformedDistribution": lambda x: x.d.TransformedDistribution(
        x.d.Normal(x.v, x.s), [x.d.AffineTransform(1.0, -2.0), x.d.TanhTransform()]
    ),
}
QUESTIONS = {
    "repr": lambda x, law: law,
    "sample": lambda x, law: law.sample((2,)),
    "stream": lambda x, law: (law.sample((3, 2)), x.lib.rand(1)),
    "rsample": lambda x, law: law.rsample((2,)),
    "log_prob": lambda x, law: law.log_prob(_drawn(x, law)),
    "cdf": lambda x, law: law.cdf(_drawn(x, law)),
    "icdf": lambda x, law: law.icdf(x.t(0.3)),
    "mean": lambda x, law: law.mean,
    "mode": lambda x, law: law.mode,
    "variance": lambda x, law: law.variance,
    "entropy": lambda x, law: law.entropy(),
    "perplexity": lambda x, law: law.perplexity(),
    "values": lambda x, law: law.enumerate_support(),
    "support": lambda x, law: law.support,
    "constraints": lambda x, law: law.arg_constraints,
    "shapes": lambda x, law: (law.batch_shape, law.event_shape, law.has_rsample, law.has_enumerate_support),
    "expanded": lambda x, law: law.expand((2, *law.batch_shape)),
    "expanded sample": lambda x, law: law.expand((2, *law.batch_shape)).sample(),
    "expanded log_prob": lambda x, law: law.expand((2, *law.batch_shape)).log_prob(_drawn(x, law)[0]),
    "wrong value": lambda x, law: law.log_prob(x.lib.full_like(_drawn(x, law), math.nan, dtype=x.lib.float32)),
    "divergence": lambda x, law: x.d.kl_divergence(law, law),
}


def _drawn(x, law):
    x.lib.manual_seed(5)
    return law.sample((3,))


def _show(value):
    """What both libraries must show: numbers to five digits, everything else as text."""
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        values = value.detach().reshape(-1).tolist()
        return str(value.dtype), tuple(value.shape), values
    if isinstance(value, tuple) and not hasattr(value, "numel"):
        return [_show(inner) for inner in value]
    return re.sub(r"0x[0-9a-f]+", "0x", repr(value))


def _answer(lib, law, question):
    x = _Side(lib)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = law(x)
        lib.manual_seed(3)
        try:
            return _show(question(x, made))
        except (NotImplementedError, ValueError, RuntimeError) as error:
            return f"{type(error).__name__}: {_digits(str(error))}"


def _digits(text):
    """A message whose numbers are cut to what two roundings share."""
    return re.sub(r"(\d+\.\d{3})\d+", r"\1", text)


def _assert_same(ours, theirs):
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), (ours, theirs)
        for mine, other in zip(ours, theirs, strict=True):
            _assert_same(mine, other)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=2e-4, abs=2e-5, nan_ok=True)
    else:
        assert ours == theirs


def _cases():
    for name in LAWS:
        for question in QUESTIONS:
            yield pytest.param(name, question, id=f"{name}-{question}")


@pytest.mark.parametrize(("name", "question"), _cases())
def test_law(name, question):
    _assert_same(_answer(mt, LAWS[name], QUESTIONS[question]), _answer(torch, LAWS[name], QUESTIONS[question]))


PAIRS = {
    "Bernoulli": lambda x: x.d.Bernoulli(x.t(0.3)),
    "Binomial": lambda x: x.d.Binomial(3, x.t(0.4)),
    "ContinuousBernoulli": lambda x: x.d.ContinuousBernoulli(x.t(0.3)),
    "Exponential": lambda x: x.d.Exponential(x.t(1.5)),
    "Gamma": lambda x: x.d.Gamma(x.t(2.0), x.t(1.5)),
    "Geometric": lambda x: x.d.Geometric(x.t(0.4)),
    "Gumbel": lambda x: x.d.Gumbel(x.t(0.2), x.t(1.5)),
    "HalfNormal": lambda x: x.d.HalfNormal(x.t(1.2)),
    "Laplace": lambda x: x.d.Laplace(x.t(0.2), x.t(1.5)),
    "Normal": lambda x: x.d.Normal(x.t(0.3), x.t(1.2)),
    "Pareto": lambda x: x.d.Pareto(x.t(1.2), x.t(3.0)),
    "Poisson": lambda x: x.d.Poisson(x.t(2.0)),
    "Uniform": lambda x: x.d.Uniform(x.t(0.1), x.t(0.7)),
    "Uniform above": lambda x: x.d.Uniform(x.t(1.3), x.t(2.7)),
    "Cauchy": lambda x: x.d.Cauchy(x.t(0.0), x.t(1.0)),
    "LogNormal": lambda x: x.d.LogNormal(x.t(0.0), x.t(1.0)),
}


@pytest.mark.parametrize("first", PAIRS)
@pytest.mark.parametrize("second", PAIRS)
def test_divergence_of_two_laws(first, second):
    def question(x, law):
        return x.d.kl_divergence(law, PAIRS[second](x))

    _assert_same(_answer(mt, PAIRS[first], question), _answer(torch, PAIRS[first], question))


MAPS = {
    "exp": lambda x: x.d.ExpTransform(),
    "power": lambda x: x.d.PowerTransform(2.0),
    "sigmoid": lambda x: x.d.SigmoidTransform(),
    "softplus": lambda x: x.d.SoftplusTransform(),
    "tanh": lambda x: x.d.TanhTransform(),
    "abs": lambda x: x.d.AbsTransform(),
    "affine": lambda x: x.d.AffineTransform(1.0, -2.0),
    "affine event": lambda x: x.d.AffineTransform(x.v, x.s, event_dim=1),
    "softmax": lambda x: x.d.SoftmaxTransform(),
    "stick": lambda x: x.d.StickBreakingTransform(),
    "reshape": lambda x: x.d.ReshapeTransform((3,), (3, 1)),
    "composed": lambda x: x.d.ComposeTransform([x.d.AffineTransform(0.0, 2.0), x.d.ExpTransform()]),
    "independent": lambda x: x.d.IndependentTransform(x.d.ExpTransform(), 1),
    "cat": lambda x: x.d.CatTransform([x.d.ExpTransform(), x.d.AffineTransform(0.0, 2.0)], dim=-1, lengths=[1, 2]),
    "stack": lambda x: x.d.StackTransform([x.d.ExpTransform(), x.d.TanhTransform(), x.d.SigmoidTransform()], dim=-1),
    "cumulative": lambda x: x.d.CumulativeDistributionTransform(x.d.Normal(0.0, 1.0)),
}
POINTS = [[0.3, 0.7, 1.2], [0.5, 0.2, 0.9]]
MAP_QUESTIONS = {
    "repr": lambda x, f: f if "Distribution" not in type(f).__name__ else None,
    "there": lambda x, f: f(x.t(POINTS)),
    "back": lambda x, f: f.inv(f(x.t(POINTS))),
    "volume": lambda x, f: f.log_abs_det_jacobian(x.t(POINTS), f(x.t(POINTS))),
    "volume back": lambda x, f: f.inv.log_abs_det_jacobian(f(x.t(POINTS)), x.t(POINTS)),
    "sets": lambda x, f: (f.domain, f.codomain, f.bijective),
    "sign": lambda x, f: f.sign,
    "equality": lambda x, f: (f == f, f.inv == f.inv, f.inv.inv is f),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("question", MAP_QUESTIONS)
def test_map(name, question):
    ask = MAP_QUESTIONS[question]
    _assert_same(_answer(mt, MAPS[name], ask), _answer(torch, MAPS[name], ask))


SETS = {
    "real": lambda c: c.real,
    "positive": lambda c: c.positive,
    "greater": lambda c: c.greater_than(2.0),
    "less": lambda c: c.less_than(2.0),
    "unit": lambda c: c.unit_interval,
    "interval": lambda c: c.interval(-1.0, 3.0),
    "simplex": lambda c: c.simplex,
    "vector": lambda c: c.real_vector,
    "boolean": lambda c: c.boolean,
    "one hot": lambda c: c.one_hot,
    "integers": lambda c: c.integer_interval(0, 1),
    "triangular": lambda c: c.lower_triangular,
    "square": lambda c: c.square,
    "symmetric": lambda c: c.symmetric,
    "multinomial": lambda c: c.multinomial(3),
    "cat": lambda c: c.cat([c.real, c.positive], -1, [1, 1]),
    "stack": lambda c: c.stack([c.real, c.positive], -1),
}


@pytest.mark.parametrize("name", SETS)
def test_set(name):
    def answers(lib):
        x = _Side(lib)
        chosen = SETS[name](x.d.constraints)
        found = [repr(chosen), chosen.is_discrete, chosen.event_dim]
        for values in ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.0, -1.0]]):
            found.append(_show(chosen.check(x.t(values))))
        for registry in (x.d.biject_to, x.d.transform_to):
            try:
                found.append(_show(registry(chosen)(x.t([[0.3, 0.7], [-1.2, 0.4]]))))
            except NotImplementedError as error:
                found.append(str(error))
        return found

    _assert_same(answers(mt), answers(torch))


def _law(name, *args, **kwargs):
    return lambda x: getattr(x.d, name)(*args, **kwargs)


REFUSALS = {
    "scale": _law("Normal", 0.0, -1.0),
    "nan": lambda x: x.d.Normal(x.t(math.nan), 1.0),
    "text": _law("Normal", "a", 1.0),
    "bounds": _law("Uniform", 1.0, 0.0),
    "both": lambda x: x.d.Categorical(x.p, x.p),
    "neither": _law("Bernoulli"),
    "negative weights": lambda x: x.d.Categorical(probs=x.t([-1.0, 2.0])),
    "number of weights": lambda x: x.d.Categorical(x.t(1.0)),
    "no matrix": lambda x: x.d.MultivariateNormal(x.v),
    "no vector": lambda x: x.d.MultivariateNormal(x.t(0.0), x.c),
    "rate": _law("Poisson", -1.0),
    "zero": _law("Geometric", 0.0),
    "too many dimensions": lambda x: x.d.Independent(x.d.Normal(0.0, 1.0), 1),
    "not a tensor": lambda x: x.d.Normal(0.0, 1.0).log_prob(1.0),
    "shape": lambda x: x.d.Normal(x.v, 1.0).log_prob(x.t([0.0, 0.0])),
    "outside": lambda x: x.d.Uniform(0.0, 1.0).log_prob(x.t(2.0)),
    "category": lambda x: x.d.Categorical(x.p).log_prob(x.t(3)),
    "validate": lambda x: x.d.Distribution.set_default_validate_args(3),
    "dependent": lambda x: x.d.constraints.dependent.check(1),
    "register": lambda x: x.d.biject_to.register(3, lambda c: c),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_errors(name):
    def raised(lib):
        try:
            REFUSALS[name](_Side(lib))
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
            return type(error).__name__, str(error)
        return None

    assert raised(mt) == raised(torch)


def test_gradients_flow_through_samples():
    def gradients(lib):
        x = _Side(lib)
        loc, scale = x.v.requires_grad_(), x.s.requires_grad_()
        lib.manual_seed(0)
        total = x.d.Normal(loc, scale).rsample((5,)).pow(2).sum() + x.d.Laplace(loc, scale).rsample().sum()
        (total + x.d.kl_divergence(x.d.Normal(loc, scale), x.d.Normal(0.0, 1.0)).sum()).backward()
        return [loc.grad.tolist(), scale.grad.tolist()]

    _assert_same(gradients(mt), gradients(torch))


def test_entropy_of_exponential_families():
    def entropies(lib):
        x = _Side(lib)
        general = x.d.ExponentialFamily.entropy
        return [_show(general(law)) for law in (x.d.Normal(x.v, x.s), x.d.Gamma(x.s, x.s), x.d.Bernoulli(x.p))]

    _assert_same(entropies(mt), entropies(torch))


def test_names():
    for name in torch.distributions.__all__:
        assert getattr(mt.distributions, name, None) is not None, name
        theirs = getattr(torch.distributions, name)
        if isinstance(theirs, type):
            assert getattr(mt.distributions, name).__module__ == theirs.__module__, name
