"""What the environment says about the start of the runtime: its file of settings, and when operators are set up."""

from __future__ import annotations

import json
import os
import warnings

PATH, MODE = "TORCH_ACL_INIT_CONFIG_PATH", "ACL_OP_INIT_MODE"


def settings_file() -> str:
    """Return the file of settings that `acl.init` reads, an empty text for none.

    Raises RuntimeError for a file that it could not read, or that chooses a device, which is chosen here.
    """
    mode = os.environ.get(MODE, "0")
    if mode not in ("0", "1", "2"):
        warnings.warn(f"Get env {MODE} not in [0, 1, 2], so reset it to the default value 0.", stacklevel=3)
    given = os.environ.get(PATH)
    if given is None:
        return ""
    path = os.path.realpath(given)
    if not os.path.isfile(path):
        raise RuntimeError(
            f"{PATH} {given} is invalid. Please set the environment variable '{PATH}' to a valid JSON config file path."
        )
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except OSError as error:
        raise RuntimeError(
            f"Failed to open user acl json {path}. Please ensure the file exists and has read permission."
        ) from error
    except ValueError as error:
        raise RuntimeError(
            f"Failed to parse user acl json {path}. Please check that the file contains valid JSON syntax. Error: {error}"
        ) from error
    if isinstance(found, dict) and "defaultDevice" in found:
        raise RuntimeError(
            f"User acl json {path} contains 'defaultDevice' which is not expected in non-lazy set_device mode. "
            "Please remove the 'defaultDevice' field from your JSON config."
        )
    return path


__all__ = ["settings_file"]
