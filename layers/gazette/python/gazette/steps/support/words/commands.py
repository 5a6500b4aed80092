"""The commands that texts recommend: with the stage as an option, or in the words of the page."""

import re

DEFAULT_STAGE = "prod"
"""The stage if a command has no `--stage`."""

WITHOUT_STAGE = ("init", "event schemas")
"""The commands that are not about a stage, so they have no `--stage`."""

_QUOTED = re.compile(r"`gazette ([^`]+)`")


_ASK = "ask the people who operate Gazette"

_ON_THE_PAGE = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"\b[Rr]un `gazette receipt[^`]*`", 'press "Receipt of the event"'),
        (r"([Rr])un `gazette quarantine list[^`]*`", r"\1ead the quarantine on this page"),
        (r"([Rr])un `gazette dlq (list|show)[^`]*`", r"\1ead the queues on this page"),
        (r"\brun `gazette explain[^`]*`", 'press "Explain the reader"'),
        (r"\bRun `gazette explain[^`]*`", 'Press "Explain the reader"'),
        (r"and `gazette explain[^`]*`", 'and press "Explain the reader"'),
        (r"`gazette dlq redrive[^`]*`", "a redrive on this page"),
        (r"`gazette dlq (list|show)[^`]*`", "the queues on this page"),
        (r"`gazette quarantine list[^`]*`", "the quarantine on this page"),
        (r" with `gazette suppression add`| \(`?gazette (withdraw|batch cancel)`?\)", ""),
        (r"\(`gazette sending status` shows the reason\)", f"({_ASK} for the reason)"),
        (r"\brun `gazette [^`]+`", _ASK),
        (r"\bRun `gazette [^`]+`", _ASK.capitalize().replace("gazette", "Gazette")),
        (r"`gazette sending status`", f"the state of sending ({_ASK})"),
        (r"`gazette [^`]+`", f"a command ({_ASK})"),
    )
)
"""The words of the support page for each command. The first matching pattern applies."""


def on_page(text: str) -> str:
    """Replace each command in a text by what a person without the command line can do."""
    for pattern, words in _ON_THE_PAGE:
        text = pattern.sub(words, text)
    return text


def to_run(words: str, *, stage: str) -> str:
    """Return the command `gazette <words>` for a stage, such as `gazette dlq list --stage test`.

    A command that is not about a stage gets no option.
    """
    is_complete = stage == DEFAULT_STAGE or "--stage" in words or words.startswith(WITHOUT_STAGE)
    return f"gazette {words}" if is_complete else f"gazette {words} --stage {stage}"


def with_stage(text: str, *, stage: str) -> str:
    """Add the `--stage` option to each command of Gazette in backticks."""
    return _QUOTED.sub(lambda match: f"`{to_run(match[1], stage=stage)}`", text)
