"""The pages behind the readers' links, but for the preference page."""

from gazette.adapters.rendering.fragments import line_of
from gazette.adapters.rendering.sheets import Sheets
from gazette.adapters.rendering.view_models import show
from gazette.domain.delivery.compose import Digest
from gazette.domain.scheduling.recurrence import zone_of
from gazette.domain.subscribers.subscriber import Subscriber


class JinjaPages:
    """The port `Pages` on templates."""

    def __init__(self, sheets: Sheets) -> None:
        self._sheets = sheets

    def confirm_unsubscribe(self, accepted: str) -> str:
        """Asks before anything happens."""
        return self._for_a_browser("confirm.html", accepted)

    def unsubscribed(self, accepted: str) -> str:
        """Says that it is done."""
        return self._for_a_browser("done.html", accepted)

    def invalid_link(self, accepted: str) -> str:
        """Says that a link does not work, the same whatever the cause."""
        return self._for_a_browser("invalid.html", accepted)

    def went_wrong(self, accepted: str) -> str:
        """Says that it is not the reader's fault."""
        return self._for_a_browser("went_wrong.html", accepted)

    def not_sent(self, reader: Subscriber) -> str:
        """Says that there is nothing to see before an email is sent."""
        return self._for_a_reader("not_sent.html", reader)

    def nothing_left(self, reader: Subscriber) -> str:
        """Says that nothing of what an email showed is still there."""
        return self._for_a_reader("nothing_left.html", reader)

    def updates(self, digest: Digest, reader: Subscriber) -> str:
        """Each group of the digest, with the times of the reader's zone."""
        language = self._sheets.languages.of(reader.locale)
        zone = zone_of(reader.time_zone)
        shown = [(group, show(group, language, zone)) for group in digest.groups]
        groups = [
            (each, line_of(each, self._sheets.environment, language), group.latest.occurred_at)
            for group, each in shown
        ]
        return self._sheets.render("updates.html", language, digest=digest, groups=groups)

    def _for_a_browser(self, name: str, accepted: str) -> str:
        return self._sheets.render(name, self._sheets.languages.accepted(accepted))

    def _for_a_reader(self, name: str, reader: Subscriber) -> str:
        return self._sheets.render(name, self._sheets.languages.of(reader.locale))
