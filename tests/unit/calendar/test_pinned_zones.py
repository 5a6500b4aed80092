"""Time zones come from the pinned package, whatever the machine has."""

import os
import subprocess
import sys
import zoneinfo
from importlib.resources import files
from pathlib import Path
from shutil import copytree

import pytest
from gazette.adapters.contract.fields import TimeZone
from gazette.adapters.rendering.places import zones
from gazette.settings.environment import PINNED_ZONES
from pydantic import TypeAdapter, ValidationError

ROOT = Path(__file__).parents[3]
PACKAGE = files("tzdata")

_POISON = """
import sysconfig
sysconfig.get_config_vars()["TZPATH"] = {folder!r}
"""
_SAY = """
from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones
hours = datetime(2026, 1, 1, tzinfo=ZoneInfo("Europe/Berlin")).utcoffset().seconds // 3600
print("it is", hours, "Mars/Olympus_Mons" in available_timezones())
"""
_FUNCTION = "import functions.generate.handler\n"
_COMMAND = """
import sys
from gazette_cli.main import main
sys.argv = ["gazette", "--help"]
try:
    main()
except SystemExit:
    pass
"""
_SYNTHESIS = """
import sys
from gazette_cdk import app
app.read_stage = lambda *_: sys.exit()
try:
    app.main()
except SystemExit:
    pass
"""
BERLIN, TOKYO = "it is 1 False", "it is 9 True"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH, by which Python finds wrong zones where the machine keeps its own.

    Berlin has Tokyo's, and there is a zone on Mars.
    """
    folder = tmp_path_factory.mktemp("machine")
    copytree(str(PACKAGE / "zoneinfo"), folder / "zones")
    tokyo = (folder / "zones/Asia/Tokyo").read_bytes()
    (folder / "zones/Europe/Berlin").write_bytes(tokyo)
    (folder / "zones/Mars").mkdir()
    (folder / "zones/Mars/Olympus_Mons").write_bytes(tokyo)
    (folder / "sitecustomize.py").write_text(_POISON.format(folder=str(folder / "zones")))
    return folder


def said(program: str, machine: Path, **environment: str) -> str:
    """The last line of a program on that machine."""
    kept = {name: value for name, value in os.environ.items() if name not in PINNED_ZONES}
    path = os.pathsep.join([str(machine), *filter(None, [kept.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", program + _SAY],
        cwd=ROOT,
        env={**kept, **environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


def test_process_without_settings_reads_system_time_zones(machine: Path) -> None:
    """So the tests below can fail."""
    assert said("", machine) == TOKYO
    assert said(_FUNCTION, machine) == TOKYO


def test_lambda_function_reads_pinned_time_zones(machine: Path) -> None:
    """As Lambda starts its process: tests/infra holds that its environment has `PINNED_ZONES`.

    Also where the layer is elsewhere, as here: then Python reads the package by its name.
    """
    assert said(_FUNCTION, machine, **PINNED_ZONES) == BERLIN
    assert said(_FUNCTION, machine, PYTHONTZPATH=str(PACKAGE / "zoneinfo")) == BERLIN
    assert said(_FUNCTION, machine, PYTHONTZPATH="") == BERLIN


@pytest.mark.parametrize("program", [_COMMAND, _SYNTHESIS], ids=["command line", "synthesis"])
def test_command_line_reads_pinned_time_zones(program: str, machine: Path) -> None:
    assert said(program, machine) == BERLIN


def test_tests_read_pinned_time_zones() -> None:
    assert (str(PACKAGE / "zoneinfo"),) == zoneinfo.TZPATH
    assert os.environ["PYTHONTZPATH"] == str(PACKAGE / "zoneinfo")


def test_allowed_time_zones_match_pinned_package() -> None:
    """And those that the preference page offers are among them."""
    named = {*(PACKAGE / "zones").read_text().split()}
    accepted, known = TypeAdapter(TimeZone), zoneinfo.available_timezones()
    assert known == named
    for name in named - {"Factory", "localtime"}:
        assert accepted.validate_python(name) == name
    for name in ("Factory", "localtime", "posixrules", "right/Europe/Berlin", "Europe/Bonn"):
        with pytest.raises(ValidationError):
            accepted.validate_python(name)
    assert {*zones()} <= known
