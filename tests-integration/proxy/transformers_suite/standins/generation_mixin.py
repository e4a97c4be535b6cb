"""Stands in for tests/generation/test_utils.py, which the sdist does not hold; ours/ tests generation itself."""


class GenerationTesterMixin:
    """No generation tests."""
