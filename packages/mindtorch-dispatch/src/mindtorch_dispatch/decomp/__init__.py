"""Ops composed of other ops, by family; the rows name them."""
