"""`python -m release`: build and check the release of the last commit."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from release.building import CHECKSUMS, build_twice, checksums
from release.checks import Refused, check, version_of
from release.recording import record

ROOT = Path(__file__).parents[1]


def main(root: Path = ROOT) -> int:
    """Build the release, and return the exit status."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument(
        "--record", action="store_true", help="record the release in tests/releases, for the tests"
    )
    options = parser.parse_args()
    try:
        folder = release(root)
        if options.record:
            print(f"recorded in {record(root, folder).relative_to(root)}; commit it")
    except Refused as err:
        for reason in err.args:
            print(f"release: {reason}", file=sys.stderr)
        return 1
    return 0


def release(root: Path) -> Path:
    """Build the release of the last commit below `root`, and return its folder. Raises Refused."""
    epoch = check(root)
    folder = root / "build" / "release" / version_of(root)
    with tempfile.TemporaryDirectory() as work:
        built = build_twice(root, Path(work), epoch=epoch)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(built, folder, ignore=shutil.ignore_patterns(".gitignore"))
    for name, checksum in sorted(checksums(folder).items()):
        if name != CHECKSUMS:
            print(f"{checksum}  {(folder / name).relative_to(root)}")
    print("Two builds are identical. The files were not published.")
    return folder


if __name__ == "__main__":
    sys.exit(main())
