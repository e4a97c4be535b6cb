"""Numbers that torch has under its own name."""

from math import e, inf, nan, pi

newaxis = None

__all__ = ["e", "inf", "nan", "newaxis", "pi"]
