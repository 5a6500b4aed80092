"""A readable report of one world."""

from proofs.prove.life import Life
from proofs.prove.scenario import Scenario
from proofs.prove.strikes import Plan
from proofs.prove.verdict import Verdict


def story(scenario: Scenario[Life], plan: Plan, life: Life, verdict: Verdict) -> str:
    """Return the violations, calls, runs and emails of a world as text."""
    struck = " ".join(f"{number}:{how}" for number, how in plan) or "nothing"
    position = f" --position {'+'.join(f'{n}:{how}' for n, how in plan)}" if plan else ""
    lines = [
        f"{scenario.name}, struck at {struck}",
        f"  again: python -m proofs.prove --only {scenario.name}{position}",
        *(f"  ! {violation}" for violation in verdict.violations),
        "  calls:",
        *(
            f"    {at:%d %H:%M:%S} {number:4} {worker:<16} {name}{f'   <-- {how}' if how else ''}"
            for at, worker, number, name, how in life.calls.story
        ),
        "  runs:",
        *(
            f"    {run.key.user_id} {run.key.schedule} {run.key.sequence}: {run.status} "
            f"({run.reason}), attempt {run.attempt}, uncertain {sorted(run.uncertain)}, due "
            f"{run.due_at:%d %H:%M}"
            + (
                f", window {run.window.since:%d %H:%M} to {run.window.until:%d %H:%M:%S}"
                if run.window
                else ""
            )
            for run in life.runs()
        ),
        "  emails:",
        *(
            f"    {taken.at:%d %H:%M:%S} call {taken.call}: {taken.key.user_id} "
            f"{taken.key.schedule} {taken.key.sequence}, attempt {taken.attempt}: "
            f"{', '.join(sorted(taken.shows))}"
            for taken in life.provider.taken
        ),
        f"  events: {dict(verdict.ends)}",
    ]
    return "\n".join(lines)
