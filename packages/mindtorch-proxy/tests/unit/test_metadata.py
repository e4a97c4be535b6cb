"""What importlib.metadata says about torch."""

from importlib import metadata

import pytest

import mindtorch_proxy as proxy


@pytest.fixture(autouse=True)
def installed(clean_process):
    with proxy.proxy():
        yield


def test_version_and_metadata():
    assert metadata.version("torch") == proxy.TORCH_VERSION == "2.13.0"
    assert metadata.version("Torch") == "2.13.0"
    assert metadata.metadata("torch")["Name"] == "torch"
    assert metadata.requires("torch") == []


def test_distribution_has_no_files_but_a_place(clean_process):
    distribution = metadata.distribution("torch")
    assert distribution.files is None
    assert distribution.read_text("RECORD") is None
    assert distribution.locate_file("torch") == clean_process / "torch"
    assert list(distribution.entry_points) == []


def test_packages_distributions_and_the_list_of_all():
    assert "torch" in metadata.packages_distributions()["torch"]
    assert "torch" in {found.name for found in metadata.distributions()}


def test_other_distributions_are_untouched():
    assert metadata.version("pytest") == pytest.__version__
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.version("torchvision-of-nobody")


def test_gone_after_uninstall():
    proxy.uninstall()
    try:
        versions = [found.read_text("INSTALLER") for found in metadata.distributions(name="torch")]
        assert "mindtorch-proxy\n" not in versions
    finally:
        proxy.install()
