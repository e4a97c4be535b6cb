"""Out-of-place forms of ops that exist to write: what a program without writes calls instead."""

from ..decomp import functional_forms as composed
from ..table import op

op("copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", composite=composed.copy, variants="")
op("zero(Tensor self) -> Tensor", composite=composed.zero, variants="")
op(
    "embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
    composite=composed.embedding_renorm,
    variants="",
)
for _signature, _form in (
    ("uniform(Tensor self, float from=0., float to=1.", "uniform_.default"),
    ("normal_functional(Tensor self, float mean=0., float std=1.", "normal_.default"),
    ("exponential(Tensor self, float lambd=1.", "exponential_.default"),
    ("geometric(Tensor self, float p", "geometric_.default"),
    ("cauchy(Tensor self, float median=0., float sigma=1.", "cauchy_.default"),
    ("log_normal(Tensor self, float mean=1., float std=2.", "log_normal_.default"),
    ("random.from(Tensor self, int from, int? to", "random_.from"),
    ("random.to(Tensor self, int to", "random_.to"),
    ("random(Tensor self", "random_.default"),
):
    op(f"{_signature}, *, Generator? generator=None) -> Tensor", composite=composed.drawn(_form), variants="")
