"""What the sweep must know about single entries: undefined values, sign freedom, and wider tolerances."""

from __future__ import annotations

import torch

from mindtorch_testing.compare import TOLERANCES

UNINITIALISED = frozenset(
    {
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "resize_",
        "resize_as_",
    }
)
"""Results hold whatever the memory held: only dtype, shape and strides can be compared."""

GAUGE_FREE = frozenset(
    {
        "linalg.eig",
        "linalg.eigh",
        "linalg.svd",
        "svd",
        "svd_lowrank",
        "pca_lowrank",
        "symeig",
    }
)
"""Factorisations unique up to sign, phase or order: values are compared after the sample's own normalisation."""

FORWARD = (1.3e-5, 1e-5)
BACKWARD = (1e-4, 1e-5)
"""Relative and absolute tolerance in float32, ten times assert_close's: another order of summation is no error."""

LOOSE = (1e-3, 1e-4)
LOOSE_PREFIXES = (
    "linalg.",
    "cholesky",
    "lu",
    "pinverse",
    "ormqr",
    "geqrf",
    "qr",
    "svd",
    "pca_lowrank",
    "triangular_solve",
    "logdet",
    "nn.functional.conv",
    # Its samples have scores of a few hundred, so that exp magnifies their last bit; both sides are as far from float64.
    "nn.functional.scaled_dot_product_attention",
    "special.polygamma",
    "polygamma",
)
"""Entries whose float32 result depends on the library's blocking or on conditioning."""

OWN = {"matrix_exp": (5e-3, 1e-4)}
"""Entries with a tolerance of their own. Torch squares its exponential in float32, which costs it 2e-3 where the result is
small; ours agrees with float64 to the last bit."""


HALF_SUMS = (5e-2, 0.5)
"""For bfloat16 convolutions where torch has no oneDNN kernel (processors without AVX-512): it sums in bfloat16 there, ours in
float32, which is nearer to float64."""


def tolerances(name: str, *, backward: bool = False) -> dict[torch.dtype, tuple[float, float]]:
    """Return the tolerances of an entry's results by dtype; integers stay exact."""
    single = (
        OWN[name] if name in OWN else LOOSE if name.startswith(LOOSE_PREFIXES) else BACKWARD if backward else FORWARD
    )
    found = {**TOLERANCES, torch.float32: single, torch.complex64: single}
    if name.startswith("nn.functional.conv") and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        found[torch.bfloat16] = HALF_SUMS
    return found
