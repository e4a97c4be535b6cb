"""Files in which a process leaves the error that ended it, for the process that started it."""

import faulthandler
import json
import os
import time
import traceback
import warnings
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.utils.logging import get_logger

__all__ = ["ErrorHandler"]

_logger = get_logger(__name__)


class ErrorHandler:
    """Writes errors as JSON to the file that `TORCHELASTIC_ERROR_FILE` names; a subclass may do otherwise."""

    def _get_error_file_path(self) -> str | None:
        return os.environ.get("TORCHELASTIC_ERROR_FILE")

    def initialize(self) -> None:
        """Prepare the process before the function runs whose errors are recorded."""
        try:
            faulthandler.enable(all_threads=True)
        except Exception as error:  # noqa: BLE001 - a program without a usable stderr runs all the same
            warnings.warn(f"Unable to enable fault handler. {type(error).__name__}: {error}", stacklevel=2)

    def _write_error_file(self, file_path: str, error_msg: str) -> None:
        try:
            with open(file_path, "w") as stream:
                stream.write(error_msg)
        except Exception as error:  # noqa: BLE001 - the error being reported matters more
            warnings.warn(f"Unable to write error to file. {type(error).__name__}: {error}", stacklevel=2)

    def record_exception(self, e: BaseException) -> None:
        """Write the exception that is being handled."""
        file = self._get_error_file_path()
        if not file:
            return
        extra = {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
        with open(file, "w") as stream:
            json.dump({"message": {"message": f"{type(e).__name__}: {e}", "extraInfo": extra}}, stream)

    def override_error_code_in_rootcause_data(
        self, rootcause_error_file: str, rootcause_error: dict[str, Any], error_code: int = 0
    ) -> None:
        """Put the exit code into a child's error: a child that a signal ends cannot know it."""
        if "message" not in rootcause_error:
            _logger.warning(
                "child error file (%s) does not have field `message`. \ncannot override error code: %s",
                rootcause_error_file,
                error_code,
            )
        elif isinstance(rootcause_error["message"], str):
            _logger.warning(
                "child error file (%s) has a new message format. \nskipping error code override", rootcause_error_file
            )
        else:
            rootcause_error["message"]["errorCode"] = error_code

    def dump_error_file(self, rootcause_error_file: str, error_code: int = 0) -> None:
        """Copy a child's error to this process's own file."""
        with open(rootcause_error_file) as stream:
            cause = json.load(stream)
        if error_code:
            self.override_error_code_in_rootcause_data(rootcause_error_file, cause, error_code)
        own = self._get_error_file_path()
        if own:
            self._rm(own)
            self._write_error_file(own, json.dumps(cause))
        else:
            _logger.error("no error file defined for parent, to copy child error file (%s)", rootcause_error_file)

    def _rm(self, my_error_file: str) -> None:
        if os.path.isfile(my_error_file):
            with open(my_error_file) as stream:
                _logger.warning(
                    "%s already exists and will be overwritten. Original contents:\n%s", my_error_file, stream.read()
                )
            os.remove(my_error_file)


adopt(globals())
