"""Switches of how ``Module.to`` and ``load_state_dict`` replace parameters."""

_settings = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Make conversions register new parameters instead of changing the data of the old ones."""
    _settings["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Return whether conversions register new parameters; False unless set."""
    return _settings["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Make conversions and loading exchange the contents of old and new parameters (``utils.swap_tensors``)."""
    _settings["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """Return whether conversions exchange contents; False unless set."""
    return _settings["swap"]
