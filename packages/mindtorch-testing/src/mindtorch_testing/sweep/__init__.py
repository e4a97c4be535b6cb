"""The op sweep: torch's own op_db, run against the library under test. `python -m mindtorch_testing.sweep --help`."""
