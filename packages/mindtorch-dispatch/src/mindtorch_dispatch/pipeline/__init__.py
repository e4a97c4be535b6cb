"""Deferred execution: calls are recorded when they are made and run, in order, when somebody wants to see bytes.

    with pipeline_context() as pipe:
        y = model(x)          # geometry, errors of shape and the autograd graph are there; nothing has run
        pipe.flush()          # or any look at the data: item(), numpy(), repr(), storage(), backward()

With `fuse=True` chains of ops that work element by element, or row by row, run block by block: see `fusion`.
"""

from .context import Pipeline, pipeline_context

__all__ = ["Pipeline", "pipeline_context"]
