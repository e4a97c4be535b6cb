"""torch's CPU random stream over numpy arrays, bit for bit: functions of a generator, an output and parameters."""

from .bernoulli import bernoulli, bernoulli_each
from .continuous import cauchy, exponential, geometric, log_normal
from .counts import binomial, poisson, sample_dirichlet, standard_gamma
from .engine import STATE_BYTES, Engine
from .integers import permutation, random_below, random_natural, random_signed
from .multinomial import multinomial
from .normal import normal
from .uniform import uniform

__all__ = [
    "STATE_BYTES",
    "Engine",
    "bernoulli",
    "bernoulli_each",
    "binomial",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "multinomial",
    "normal",
    "permutation",
    "poisson",
    "random_below",
    "random_natural",
    "random_signed",
    "sample_dirichlet",
    "standard_gamma",
    "uniform",
]
