"""Which release of torch the checkpoint is read as that is loaded at the moment."""

_derived_version: str | None = None
