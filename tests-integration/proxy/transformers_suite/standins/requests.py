"""Stands in for requests, which only tests that download use: they are slow tests, which do not run here."""


def get(url: str, *args: object, **kwargs: object) -> object:
    """Refuse."""
    raise ConnectionError(f"no network here: {url}")
