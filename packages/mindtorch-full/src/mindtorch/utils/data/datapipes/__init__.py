"""Data pipes: datasets made of steps that follow each other."""

from . import iter, map

__all__ = ["iter", "map"]
