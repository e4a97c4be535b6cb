"""`torch._dynamo.trace_rules`: of the rules of what is traced, the spelling of paths. Nothing is traced."""

from mindtorch._naming import adopt


def _as_posix_path(path: str) -> str:
    """Return a path with slashes between its parts."""
    return path.replace("\\", "/")


adopt(globals())
