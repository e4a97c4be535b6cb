"""Batching rules, a file per family; importing them fills the table."""

from . import (  # noqa: F401
    conv,
    embedding,
    factory,
    fold,
    index,
    linalg,
    loss,
    matmul,
    normalization,
    pointwise,
    random,
    reduce,
    sort,
    view,
)
