"""Window functions."""

from ..decomp import window as composed
from ..table import op

_OPTIONS = "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
for _name, _parameters in (
    ("hann", ("",)),
    ("hamming", ("", "alpha", "alpha_beta")),
    ("blackman", ("",)),
    ("bartlett", ("",)),
    ("kaiser", ("", "beta")),
):
    op(
        f"{_name}_window(int window_length, {_OPTIONS}) -> Tensor",
        composite=composed.periodic(_name),
        variants="function",
    )
    for _parameter in _parameters:
        _numbers = "".join(f", float {one}" for one in _parameter.split("_") if one)
        _overload = "beta" if _parameter == "beta" else f"periodic_{_parameter}".rstrip("_")
        op(
            f"{_name}_window.{_overload}(int window_length, bool periodic{_numbers}, {_OPTIONS}) -> Tensor",
            composite=composed.window(_name),
            variants="function",
            static=True,
        )
