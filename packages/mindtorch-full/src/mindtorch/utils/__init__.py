"""Utilities around tensors and modules."""
