"""Losses (in work by the nn surface author; rows follow in minutes)."""
