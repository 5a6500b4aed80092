"""Rules that are removed from the code to show that histories break without them."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from proofs.mutations.copy import PACKAGE, ROOT, without
from proofs.mutations.rules import RULES
from proofs.mutations.traces import PREVENTED

_PLAIN = ("--no-rules", "--no-shrink")
_BROKEN = "proofs.features.search.Broken: "
_ALL = {mutation.rule: mutation for mutation in (*RULES, *PREVENTED)}


CAUGHT: Final = {
    "an event about a muted thing is not stored": 20,
    "a seen event is left out": 20,
    "an immediate email waits in quiet hours": 20,
    "a visit is announced in the reader's row": 20,
    "a visit raises the epochs of the entity's immediate runs": 30,
    "an event about a withdrawn entity is left out": 20,
    "an erasure deletes the events": 20,
    "a withdrawn event that may have been sent is given up": 30,
    "a new event beyond the limit goes to the digest": 20,
    "a run waits for an older run that may have been sent": 20,
    "a dormant reader has no scheduled digest": 30,
    "the sweep queues pending runs again": 30,
    "a dormant reader who becomes active gets digests again": 30,
    "an expired or lapsed event that may have been sent is given up": 40,
    "a worker that finds another's claim does not send": 50,
    "a repeated unsubscription has a time of its own": 50,
    "no digest is due in a pause": 50,
    "a visit raises the epochs of the entity's urgent runs": 70,
    "a mute applies to an event however it reaches the reader": 80,
    "the write of a mute makes later runs route their events again": 70,
    "evidence moves a run from any status to sent": 100,
    "an event of a withdrawn actor is left out": 110,
    "an event that was in two attempts with an unknown outcome is not in a third attempt": 100,
    "an event that may have been sent is not moved": 150,
    "the `resend` policy applies to a run only once": 150,
    "a digest does not wait for more events if its oldest event is too old": 200,
    "a redrive of a failed run starts the next run": 400,
    "an immediate run is queued even if its event was already stored": 700,
    "a retraction raises the epoch of the open runs": 1700,
}
"""The number of histories within which a promise breaks without the rule, about twice the number
measured at first. It changes with the calls of the ports. Measure it again with `python -m
proofs.features --without RULE`.
"""


def search_without(rule: str, histories: int) -> str:
    """Return the promise that breaks without the rule and its history, or an
    empty text for none.
    """
    mutation = _ALL[rule]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / PACKAGE / "gazette", Path(folder) / "gazette")
        module = Path(folder) / "gazette" / mutation.path
        module.write_text(without(mutation, module.read_text()))
        done = subprocess.run(
            [sys.executable, "-m", "proofs.features", f"--examples={histories}", *_PLAIN],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
            check=False,
        )
    broken = [line for line in done.stderr.splitlines() if line.startswith(_BROKEN)]
    if done.returncode and not broken:
        raise RuntimeError(done.stderr)
    return broken[-1].removeprefix(_BROKEN) if broken else ""
