"""The settings page of docs/settings-page.md, on fakes."""

import re
from typing import Any
from urllib.parse import urlencode

from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW
from tests.services import BASE_URL, DAY, Services, content, request
from tests.settings_page import PROGRAM, example
from tests.world import World

PAGE = example()


class Backend:
    """The function `call` of the page, connected to the API on fakes."""

    def __init__(self, world: World) -> None:
        self.services = Services(world)
        self.sent: list[tuple[str, Any]] = []

    def __call__(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        if body:  # the fakes have their own clock
            body = {**body, "chosen_at": self.services.world.clock().isoformat()}
            self.sent.append((method, body["frequencies"]))
        answer = self.services.send(request(method, path, body, **query))
        assert answer["statusCode"] == 200, answer["body"]
        return content(answer)


def a_backend() -> Backend:
    world = World(critical=frozenset({"security"}))
    world.choose(at=NOW - DAY, like=Frequency.WEEKLY)
    return Backend(world)


def fields_of(page: str) -> dict[str, str]:
    """Return the fields that a browser submits if the user changes none."""
    fields = dict(re.findall(r'name="(was\.\w+)" value="(\w+)"', page))
    for name, disabled, options in re.findall(
        r'<select name="(\w+)"( disabled)?>(.*?)</select>', page
    ):
        if not disabled:
            fields[name] = re.findall(r'value="(\w+)" selected', options)[0]
    return fields


def test_page_has_about_forty_lines() -> None:
    code = [line for line in PROGRAM.read_text().splitlines() if line.strip()]
    assert len(code) <= 45


def test_page_shows_what_is_in_force() -> None:
    page = PAGE.show(a_backend(), "ann")
    assert fields_of(page)["like"] == "weekly"
    assert fields_of(page)["comment"] == "daily"
    assert '<select name="security" disabled>' in page
    assert f'href="{BASE_URL}/preferences/' in page


def test_unchanged_page_submits_no_choice() -> None:
    backend = a_backend()
    PAGE.save(backend, "ann", urlencode(fields_of(PAGE.show(backend, "ann"))))
    assert backend.sent == []


def test_saving_does_not_touch_a_category_that_was_muted_in_between() -> None:
    backend = a_backend()
    fields = fields_of(PAGE.show(backend, "ann"))
    backend.services.world.save(Choice(frequencies=(("comment", Frequency.NEVER),)))
    backend.services.world.clock.pass_time(minutes=1)
    PAGE.save(backend, "ann", urlencode(fields | {"like": "immediate"}))
    assert backend.sent == [("PATCH", {"like": "immediate"})]
    now = fields_of(PAGE.show(backend, "ann"))
    assert (now["like"], now["comment"]) == ("immediate", "never")
