"""Divergences of two laws of one kind."""

from __future__ import annotations

import math
from typing import Any

import mindtorch as torch
from mindtorch.distributions.bernoulli import Bernoulli
from mindtorch.distributions.beta import Beta
from mindtorch.distributions.binomial import Binomial
from mindtorch.distributions.categorical import Categorical
from mindtorch.distributions.cauchy import Cauchy
from mindtorch.distributions.continuous_bernoulli import ContinuousBernoulli
from mindtorch.distributions.dirichlet import Dirichlet
from mindtorch.distributions.exp_family import ExponentialFamily
from mindtorch.distributions.exponential import Exponential
from mindtorch.distributions.gamma import Gamma
from mindtorch.distributions.geometric import Geometric
from mindtorch.distributions.gumbel import Gumbel
from mindtorch.distributions.half_normal import HalfNormal
from mindtorch.distributions.independent import Independent
from mindtorch.distributions.laplace import Laplace
from mindtorch.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from mindtorch.distributions.multivariate_normal import MultivariateNormal, _batch_mahalanobis
from mindtorch.distributions.normal import Normal
from mindtorch.distributions.one_hot_categorical import OneHotCategorical
from mindtorch.distributions.pareto import Pareto
from mindtorch.distributions.poisson import Poisson
from mindtorch.distributions.transformed_distribution import TransformedDistribution
from mindtorch.distributions.uniform import Uniform
from mindtorch.distributions.utils import _sum_rightmost, euler_constant

from ._table import _infinite_like, kl_divergence, register_kl


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(p: Any, q: Any) -> Any:
    softplus = torch.nn.functional.softplus
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t1[q.probs == 0] = math.inf
    t1[p.probs == 0] = 0
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    t2[q.probs == 1] = math.inf
    t2[p.probs == 1] = 0
    return t1 + t2


@register_kl(Beta, Beta)
def _kl_beta_beta(p: Any, q: Any) -> Any:
    total_p = p.concentration1 + p.concentration0
    total_q = q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + total_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + total_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    t5 = (total_q - total_p) * torch.digamma(total_p)
    return t1 - t2 + t3 + t4 + t5


@register_kl(Binomial, Binomial)
def _kl_binomial_binomial(p: Any, q: Any) -> Any:
    # With fewer trials in q, some counts of p are impossible; with more, the divergence has no closed form.
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    impossible = p.total_count > q.total_count
    kl[impossible] = _infinite_like(kl[impossible])
    return kl


@register_kl(Categorical, Categorical)
def _kl_categorical_categorical(p: Any, q: Any) -> Any:
    t = p.probs * (p.logits - q.logits)
    t[(q.probs == 0).expand_as(t)] = math.inf
    t[(p.probs == 0).expand_as(t)] = 0
    return t.sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _kl_continuous_bernoulli_continuous_bernoulli(p: Any, q: Any) -> Any:
    t1 = p.mean * (p.logits - q.logits)
    t2 = p._cont_bern_log_norm() + torch.log1p(-p.probs)
    t3 = -q._cont_bern_log_norm() - torch.log1p(-q.probs)
    return t1 + t2 + t3


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p: Any, q: Any) -> Any:
    total_p = p.concentration.sum(-1)
    t1 = total_p.lgamma() - q.concentration.sum(-1).lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


@register_kl(Exponential, Exponential)
def _kl_exponential_exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: Any, q: Any) -> Any:
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot"
            "                             be computed using Bregman divergences"
        )
    p_params = [param.detach().requires_grad_() for param in p._natural_params]
    q_params = q._natural_params
    log_normalizer = p._log_normalizer(*p_params)
    gradients = torch.autograd.grad(log_normalizer.sum(), p_params, create_graph=True)
    result = q._log_normalizer(*q_params) - log_normalizer
    for p_param, q_param, gradient in zip(p_params, q_params, gradients, strict=True):
        term = (q_param - p_param) * gradient
        result -= _sum_rightmost(term, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _kl_gamma_gamma(p: Any, q: Any) -> Any:
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    t4 = (q.rate - p.rate) * (p.concentration / p.rate)
    return t1 + t2 + t3 + t4


@register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    loc_p, loc_q = p.loc / q.scale, q.loc / q.scale
    t1 = -ratio.log() - loc_q + loc_p
    t2 = ratio * euler_constant
    t3 = torch.exp(loc_q + (1 + ratio).lgamma() - loc_p)
    return t1 + t2 + t3 - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _kl_geometric_geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _kl_halfnormal_halfnormal(p: Any, q: Any) -> Any:
    return _kl_normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _kl_laplace_laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    t1 = -ratio.log()
    t2 = distance / q.scale
    t3 = ratio * torch.exp(-distance / p.scale)
    return t1 + t2 + t3 - 1


def _low_rank(law: Any) -> tuple[Any, Any, Any]:
    return law._unbroadcasted_cov_factor, law._unbroadcasted_cov_diag, law._capacitance_tril


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _kl_lowrank_lowrank(p: Any, q: Any) -> Any:
    _check_event_shapes(p, q, "Low Rank Multivariate Normals")
    factor, diag, tril = _low_rank(q)
    t1 = _batch_lowrank_logdet(factor, diag, tril) - _batch_lowrank_logdet(*_low_rank(p))
    t3 = _batch_lowrank_mahalanobis(factor, diag, q.loc - p.loc, tril)
    # The trace of the inverse of q's covariance times p's, by the Woodbury identity.
    weighted = factor.mT / diag.unsqueeze(-2)
    a = torch.linalg.solve_triangular(tril, weighted, upper=False)
    t21 = (p._unbroadcasted_cov_diag / diag).sum(-1)
    t22 = _batch_trace_xxt(p._unbroadcasted_cov_factor * diag.rsqrt().unsqueeze(-1))
    t23 = _batch_trace_xxt(a * p._unbroadcasted_cov_diag.sqrt().unsqueeze(-2))
    t24 = _batch_trace_xxt(a.matmul(p._unbroadcasted_cov_factor))
    return 0.5 * (t1 + t21 + t22 - t23 - t24 + t3 - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _kl_mvn_lowrank(p: Any, q: Any) -> Any:
    _check_event_shapes(p, q, "(Low Rank) Multivariate Normals")
    factor, diag, tril = _low_rank(q)
    root = p._unbroadcasted_scale_tril
    t1 = _batch_lowrank_logdet(factor, diag, tril) - 2 * root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    t3 = _batch_lowrank_mahalanobis(factor, diag, q.loc - p.loc, tril)
    a = torch.linalg.solve_triangular(tril, factor.mT / diag.unsqueeze(-2), upper=False)
    t21 = _batch_trace_xxt(root * diag.rsqrt().unsqueeze(-1))
    t22 = _batch_trace_xxt(a.matmul(root))
    return 0.5 * (t1 + t21 - t22 + t3 - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _kl_lowrank_mvn(p: Any, q: Any) -> Any:
    _check_event_shapes(p, q, "(Low Rank) Multivariate Normals")
    root = q._unbroadcasted_scale_tril
    t1 = 2 * root.diagonal(dim1=-2, dim2=-1).log().sum(-1) - _batch_lowrank_logdet(*_low_rank(p))
    t3 = _batch_mahalanobis(root, q.loc - p.loc)
    combined = root.expand(torch.broadcast_shapes(root.shape[:-2], p._batch_shape) + root.shape[-2:])
    n = p.event_shape[0]
    factor = p._unbroadcasted_cov_factor.expand((*combined.shape[:-2], n, p.cov_factor.size(-1)))
    diag = torch.diag_embed(p._unbroadcasted_cov_diag.sqrt()).expand((*combined.shape[:-2], n, n))
    t21 = _batch_trace_xxt(torch.linalg.solve_triangular(combined, factor, upper=False))
    t22 = _batch_trace_xxt(torch.linalg.solve_triangular(combined, diag, upper=False))
    return 0.5 * (t1 + t21 + t22 + t3 - p.event_shape[0])


def _batch_trace_xxt(bmat: Any) -> Any:
    """The trace of each matrix times its transpose."""
    return bmat.pow(2).sum((-2, -1))


def _check_event_shapes(p: Any, q: Any, name: str) -> None:
    if p.event_shape != q.event_shape:
        gap = " " * (25 if "Low Rank" in name else 0)  # torch's text has the indentation of a continued line in it
        raise ValueError(f"KL-divergence between two {name} with {gap}different event shapes cannot be computed")


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariatenormal_multivariatenormal(p: Any, q: Any) -> Any:
    _check_event_shapes(p, q, "Multivariate Normals")
    half1 = q._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) - p._unbroadcasted_scale_tril.diagonal(
        dim1=-2, dim2=-1
    ).log().sum(-1)
    batch = torch.broadcast_shapes(q._unbroadcasted_scale_tril.shape[:-2], p._unbroadcasted_scale_tril.shape[:-2])
    n = p.event_shape[0]
    q_tril = q._unbroadcasted_scale_tril.expand((*batch, n, n))
    p_tril = p._unbroadcasted_scale_tril.expand((*batch, n, n))
    t2 = _batch_trace_xxt(torch.linalg.solve_triangular(q_tril, p_tril, upper=False))
    t3 = _batch_mahalanobis(q._unbroadcasted_scale_tril, (q.loc - p.loc))
    return half1 + 0.5 * (t2 + t3 - n)


@register_kl(Normal, Normal)
def _kl_normal_normal(p: Any, q: Any) -> Any:
    variance_ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (variance_ratio + t1 - 1 - variance_ratio.log())


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_onehotcategorical_onehotcategorical(p: Any, q: Any) -> Any:
    return _kl_categorical_categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _kl_pareto_pareto(p: Any, q: Any) -> Any:
    scale_ratio = p.scale / q.scale
    alpha_ratio = q.alpha / p.alpha
    result = q.alpha * scale_ratio.log() - alpha_ratio.log() + alpha_ratio - 1
    result[p.support.lower_bound < q.support.lower_bound] = math.inf
    return result


@register_kl(Poisson, Poisson)
def _kl_poisson_poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed_transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _kl_uniform_uniform(p: Any, q: Any) -> Any:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = math.inf
    return result


@register_kl(Cauchy, Cauchy)
def _kl_cauchy_cauchy(p: Any, q: Any) -> Any:
    t1 = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return t1 - (4 * p.scale * q.scale).log()


@register_kl(Independent, Independent)
def _kl_independent_independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
