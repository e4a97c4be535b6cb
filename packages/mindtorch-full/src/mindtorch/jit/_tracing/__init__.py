"""Tracing: a run of a program is recorded operator by operator, and becomes code of TorchScript."""
