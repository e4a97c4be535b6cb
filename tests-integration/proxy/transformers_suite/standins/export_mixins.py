"""Stands in for tests/exporters/test_export.py: exporting to other runtimes is not what these runs are about."""


class ExportTesterMixin:
    """No export tests."""


class ExportGenerateTesterMixin:
    """No export tests."""
