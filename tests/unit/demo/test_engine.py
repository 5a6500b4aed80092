"""Deployments to the engine share the assets that the CDK builds and zips."""

import os
from pathlib import Path

from demo.engine import shared_assets


def _synthesise(assembly: Path, shared: Path) -> bool:
    """Synthesise an asset like the CDK, which builds it only if it is missing. Return True if so.

    Then zip it like the CDK command line.
    """
    asset = assembly / "asset.layer"
    with shared_assets(assembly, shared):
        missing = not asset.exists()
        if missing:
            asset.mkdir()
            (asset / "module.py").write_text("built")
    (assembly / ".cache" / "layer.zip").write_text("zipped")
    return missing


def test_assets_of_a_deployment_are_not_built_or_zipped_again(tmp_path: Path) -> None:
    assert _synthesise(tmp_path / "first", tmp_path / "shared")
    with shared_assets(tmp_path / "second", tmp_path / "shared"):
        assert (tmp_path / "second" / "asset.layer" / "module.py").read_text() == "built"
        assert (tmp_path / "second" / ".cache" / "layer.zip").read_text() == "zipped"
    assert not _synthesise(tmp_path / "second", tmp_path / "shared")


def test_assets_older_than_a_day_are_deleted_and_built_again(tmp_path: Path) -> None:
    _synthesise(tmp_path / "first", tmp_path / "shared")
    _synthesise(tmp_path / "second", tmp_path / "shared")
    for old in ("asset.layer", ".cache/layer.zip"):
        os.utime(tmp_path / "shared" / old, (0, 0))
    with shared_assets(tmp_path / "third", tmp_path / "shared"):
        assert not list((tmp_path / "shared").glob("asset.*"))
        assert not list((tmp_path / "third" / ".cache").iterdir())
    assert _synthesise(tmp_path / "second", tmp_path / "shared")


def test_an_asset_that_was_partly_kept_is_kept_again(tmp_path: Path) -> None:
    (tmp_path / "shared" / "copy" / "half").mkdir(parents=True)
    _synthesise(tmp_path / "first", tmp_path / "shared")
    (kept,) = (tmp_path / "shared" / "asset.layer").iterdir()
    assert kept.name == "module.py"
