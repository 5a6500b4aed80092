"""The output of `gazette sources try`."""

from gazette_cli.shared.answers import Document
from gazette_support.domain.source_trial import Trial


def document(url: str, trial: Trial) -> Document:
    """Return a trial as JSON output."""
    return {
        "url": url,
        "usable": not trial.problem,
        "problem": trial.problem or None,
        "todo": trial.remedy or None,
        "status": trial.status,
        "seconds": round(trial.seconds, 3),
        "items": trial.offered,
        "skipped": trial.skipped,
        "refused": [
            {
                "item": each.place + 1,
                "field": each.field or None,
                "reason": each.why,
                "left_out": each.is_left_out,
            }
            for each in trial.refused
        ],
        "shown": [{"id": item.id, "title": item.title, "url": item.url} for item in trial.shown],
    }


def rows(url: str, trial: Trial) -> list[tuple[str, str]]:
    """Return a trial as names and values."""
    if trial.problem:
        verdict = [("result", f"not usable: {trial.problem}"), ("what to do", trial.remedy)]
    else:
        verdict = [("result", "usable")]
    status = "no complete response" if trial.status is None else str(trial.status)
    rows = [*verdict, ("url", url), ("status", status), ("time", f"{trial.seconds:.2f} seconds")]
    if trial.answer is None:
        return rows
    rows.append(("items", _numbers(trial)))
    for each in trial.refused:
        effect = "left out" if each.is_left_out else "shown without the field"
        field = f"{each.field}: " if each.field else ""
        rows.append((f"item {each.place + 1}", f"{effect}: {field}{each.why}"))
    for place, item in enumerate(trial.shown, 1):
        rows.append((f"digest shows {place}", f"{item.title} <{item.url}>"))
    if not trial.shown:
        rows.append(("digest shows", "no item; a digest without events would not be sent"))
    return rows


def _numbers(trial: Trial) -> str:
    skipped = f", {trial.skipped} expired or duplicate" if trial.skipped else ""
    return f"{trial.offered} in the response, {len(trial.items)} usable{skipped}"
