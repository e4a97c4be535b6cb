"""What becomes of gradients through operators that nobody registered a backward for: `torch.library` reads the mode."""

from mindtorch._naming import adopt

__all__ = ["_get_autograd_fallback_mode", "_set_autograd_fallback_mode"]

mode = "warn"
"""`nothing`, `warn` or `error`; torch takes the last one, and warns as with `warn`."""


def _get_autograd_fallback_mode() -> str:
    if mode == "error":
        raise RuntimeError("NYI: mode='error'")
    return mode


def _set_autograd_fallback_mode(name: str) -> None:
    global mode
    if name not in ("nothing", "warn", "error"):
        raise RuntimeError(f"Unsupported AutogradFallbackMode: {name}")
    mode = name


adopt(globals())
