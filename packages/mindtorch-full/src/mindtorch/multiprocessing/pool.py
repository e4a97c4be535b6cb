"""Pools of worker processes that exchange tensors."""

from multiprocessing.pool import Pool

from mindtorch._naming import missing_attribute

__all__ = ["Pool"]

__getattr__ = missing_attribute(__name__)
