"""Meta functions by family, and the classes they answer with."""

from .rule import MetaRule, Outputs, View, meta_rule

__all__ = ["MetaRule", "Outputs", "View", "meta_rule"]
