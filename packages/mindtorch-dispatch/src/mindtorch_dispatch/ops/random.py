"""Random numbers: fills, factories, distributions with tensor parameters, dropout."""

from ..apart import ELEMENTWISE
from ..decomp import random as composed
from ..meta import random as rules
from ..table import CORE, op

_GENERATOR = "Generator? generator=None"
_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
_LONG = "ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None"
_LIKE = f"{_OPTIONS}, MemoryFormat? memory_format=None"

# Fills, in place. The parameters that decide whether a call is legal are static.
op(
    f"uniform_(Tensor(a!) self, float from=0, float to=1, *, {_GENERATOR}) -> Tensor(a!)",
    rules.uniform_,
    variants="method",
    static=("from", "to"),
    tags={CORE},
)
op(
    f"normal_(Tensor(a!) self, float mean=0, float std=1, *, {_GENERATOR}) -> Tensor(a!)",
    rules.normal_,
    variants="method",
    static=("std",),
    tags={CORE},
)
op(
    f"exponential_(Tensor(a!) self, float lambd=1, *, {_GENERATOR}) -> Tensor(a!)",
    rules.exponential_,
    variants="method",
    static=("lambd",),
    tags={CORE},
)
op(
    f"geometric_(Tensor(a!) self, float p, *, {_GENERATOR}) -> Tensor(a!)",
    rules.geometric_,
    variants="method",
    static=("p",),
    tags={CORE},
)
op(
    f"cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, {_GENERATOR}) -> Tensor(a!)",
    rules.cauchy_,
    variants="method",
    static=("sigma",),
    tags={CORE},
)
op(
    f"log_normal_(Tensor(a!) self, float mean=1, float std=2, *, {_GENERATOR}) -> Tensor(a!)",
    rules.log_normal_,
    variants="method",
    static=("std",),
    tags={CORE},
)
op(
    f"random_.from(Tensor(a!) self, int from, int? to, *, {_GENERATOR}) -> Tensor(a!)",
    rules.random_from,
    variants="method",
    tags={CORE},
)
op(
    f"random_.to(Tensor(a!) self, int to, *, {_GENERATOR}) -> Tensor(a!)",
    rules.random_to,
    variants="method",
    tags={CORE},
)
op(f"random_(Tensor(a!) self, *, {_GENERATOR}) -> Tensor(a!)", rules.random_, variants="method", tags={CORE})
op(
    f"bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, {_GENERATOR}) -> Tensor(a!)",
    rules.bernoulli_tensor_,
    variants="method",
    tags={CORE},
)
op(
    f"bernoulli_.float(Tensor(a!) self, float p=0.5, *, {_GENERATOR}) -> Tensor(a!)",
    rules.bernoulli_float_,
    variants="method",
    static=("p",),
    tags={CORE},
)

# Factories.
op(f"rand(SymInt[] size, *, {_OPTIONS}) -> Tensor", rules.rand, variants="function")
op(f"rand.generator(SymInt[] size, *, Generator? generator, {_OPTIONS}) -> Tensor", rules.rand, variants="function")
op(f"randn(SymInt[] size, *, {_OPTIONS}) -> Tensor", rules.randn, variants="function")
op(f"randn.generator(SymInt[] size, *, Generator? generator, {_OPTIONS}) -> Tensor", rules.randn, variants="function")
op(f"rand_like(Tensor self, *, {_LIKE}) -> Tensor", rules.rand_like, variants="function")
op(
    f"rand_like.generator(Tensor self, *, Generator? generator, {_LIKE}) -> Tensor",
    rules.rand_like,
    variants="function",
)
op(f"randn_like(Tensor self, *, {_LIKE}) -> Tensor", rules.randn_like, variants="function")
op(
    f"randn_like.generator(Tensor self, *, Generator? generator, {_LIKE}) -> Tensor",
    rules.randn_like,
    variants="function",
)
op(f"randint(SymInt high, SymInt[] size, *, {_LONG}) -> Tensor", rules.randint, variants="function")
op(
    f"randint.generator(SymInt high, SymInt[] size, *, Generator? generator, {_LONG}) -> Tensor",
    rules.randint,
    variants="function",
)
op(f"randint.low(SymInt low, SymInt high, SymInt[] size, *, {_LONG}) -> Tensor", rules.randint_low, variants="function")
op(
    f"randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, {_LONG}) -> Tensor",
    rules.randint_low,
    variants="function",
)
op(f"randint_like(Tensor self, SymInt high, *, {_LIKE}) -> Tensor", rules.randint_like, variants="function")
op(
    f"randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, {_LIKE}) -> Tensor",
    rules.randint_like_low,
    variants="function",
)
op(
    f"randint_like.generator(Tensor self, SymInt high, *, Generator? generator, {_LIKE}) -> Tensor",
    rules.randint_like,
    variants="function",
)
op(
    f"randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator, {_LIKE}) "
    "-> Tensor",
    rules.randint_like_low,
    variants="function",
)
op(f"randperm(SymInt n, *, {_LONG}) -> Tensor", rules.randperm, variants="function")
op(f"randperm.generator(SymInt n, *, Generator? generator, {_LONG}) -> Tensor", rules.randperm, variants="function")

# Distributions with tensor parameters.
op(f"bernoulli(Tensor self, *, {_GENERATOR}) -> Tensor", rules.bernoulli, out=True, apart=ELEMENTWISE)
op(f"bernoulli.p(Tensor self, float p, *, {_GENERATOR}) -> Tensor", rules.bernoulli_p, static=("p",))
op(f"bernoulli.Tensor(Tensor self, Tensor p, *, {_GENERATOR}) -> Tensor", rules.bernoulli_tensor, variants="")
op(f"poisson(Tensor self, {_GENERATOR}) -> Tensor", rules.poisson, variants="function")
op(f"binomial(Tensor count, Tensor prob, {_GENERATOR}) -> Tensor", rules.binomial, variants="function")
op(f"_standard_gamma(Tensor self, {_GENERATOR}) -> Tensor", rules.standard_gamma, variants="function")
op(f"_sample_dirichlet(Tensor self, {_GENERATOR}) -> Tensor", rules.sample_dirichlet, variants="function")
op(
    f"multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, {_GENERATOR}) -> Tensor",
    rules.multinomial,
    out=True,
)
op(
    f"normal.Tensor_Tensor(Tensor mean, Tensor std, *, {_GENERATOR}) -> Tensor",
    composite=composed.normal_tensors,
    variants="function",
    out=True,
)
op(
    f"normal.Tensor_float(Tensor mean, float std=1, *, {_GENERATOR}) -> Tensor",
    composite=composed.normal_mean,
    variants="function",
    out=True,
)
op(
    f"normal.float_Tensor(float mean, Tensor std, *, {_GENERATOR}) -> Tensor",
    composite=composed.normal_std,
    variants="function",
    out=True,
)
op(
    f"normal.float_float(float mean, float std, SymInt[] size, *, {_GENERATOR}, {_OPTIONS}) -> Tensor",
    rules.normal_sized,
    variants="function",
    static=("std",),
)

# Dropout.
op("dropout(Tensor input, float p, bool train) -> Tensor", composite=composed.dropout, variants="function")
op("dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", composite=composed.dropout_, variants="function")
op(
    "feature_dropout(Tensor input, float p, bool train) -> Tensor",
    composite=composed.feature_dropout,
    variants="function",
)
op(
    "feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
    composite=composed.feature_dropout_,
    variants="function",
)
op("alpha_dropout(Tensor input, float p, bool train) -> Tensor", composite=composed.alpha_dropout, variants="function")
op(
    "alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
    composite=composed.alpha_dropout_,
    variants="function",
)
op(
    "feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
    composite=composed.feature_alpha_dropout,
    variants="function",
)
op(
    "feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
    composite=composed.feature_alpha_dropout_,
    variants="function",
)
op(
    "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
    composite=composed.native_dropout,
    variants="function",
)
op(
    "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    composite=composed.native_dropout_backward,
    variants="function",
)
