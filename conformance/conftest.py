"""Brings the plugin to a clone that is not installed; an installed one is found by its entry point."""

import pytest

from conformance import plugin


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the plugin, and with it its options, unless an entry point did."""
    if not pluginmanager.is_registered(plugin):
        pluginmanager.register(plugin, "loaderspec")
        plugin.add_short_names(parser)
