"""What commands do to the templates: a wrong version is in force before, and what goes out after.

Each is a context manager: up to its `yield` it makes the state, behind it it looks at the effect.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from gazette.adapters.templates.bundle import checksum_of
from gazette.domain.templates.versions import EVERYBODY

from gazette_cli.templates.pushing import packed, tree_of
from gazette_support.steps.sending import resume_sending
from gazette_support.steps.templates import Bundle, push
from tests.runbook.state import State

_WRONG, _SOUND = "Wrong", "Sound"


@contextmanager
def the_version_before_is_in_force(state: State) -> Iterator[None]:
    """Of two versions that were pushed everybody gets the first one again."""
    _push(state, _SOUND)
    _push(state, _WRONG)
    assert _subject(state) == _WRONG
    yield
    assert _subject(state) == _SOUND


@contextmanager
def what_was_deployed_is_in_force(state: State) -> Iterator[None]:
    """Whatever was pushed, emails are as the deployment makes them."""
    _push(state, _SOUND)
    _push(state, _WRONG)
    yield
    assert _subject(state) not in (_WRONG, _SOUND)


@contextmanager
def the_working_tree_is_in_force(state: State) -> Iterator[None]:
    """As the version that the command has pushed, it goes out."""
    _push(state, _WRONG)
    yield
    versions = state.templates.versions
    pushed = versions.find(versions.in_force().current.number)
    assert pushed
    assert pushed.note == "fixed"
    assert _subject(state) not in (_WRONG, _SOUND)


def _push(state: State, subject: str) -> None:
    """A version whose digests have this subject, in force for everybody."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "digest", "subject.txt")
        file.parent.mkdir()
        file.write_text(subject)
        bundle = packed(tree_of("prod", Path(folder)))
    push(
        Bundle(
            content=bundle.content,
            checksum=checksum_of(bundle.content),
            settings=bundle.settings,
        ),
        EVERYBODY,
        by="a test",
        context=state.templates,
    )


def _subject(state: State) -> str:
    """Of a digest that goes out now, whoever has stopped email before."""
    resume_sending(context=state.sending)
    state.new_workers()
    state.digest_is_due()
    with state.emails(1):
        state.try_to_send()
    subject = str(state.inbox[-1].message["Subject"])
    state.digest_is_due()  # the page goes on with one that waits
    return subject
