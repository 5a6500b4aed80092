"""The real stacks, deployed by the CDK command line to the embedded engine, and used."""

import re
import socket
import struct
import subprocess
import sys
import urllib.error
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from gazette.domain.scheduling.calendar import slot_id, slot_of

from demo.engine import ROOT
from gazette_cdk.topology import GENERATE
from tests.leaving import leaving_everything, scope_of, without_space
from tests.stage import HOUR, Deployed, a_comment, a_profile, next_due


def test_repeated_events_and_ticks_send_a_single_email(deployed: Deployed) -> None:
    put = deployed.service.put
    assert put("event.created", [a_comment("olga", 0)]) == 1, "before its subscriber"
    assert put("subscriber.changed", [a_profile("olga")] * 2) == 2
    assert put("event.created", [a_comment("olga", number) for number in range(3)] * 2) == 6
    deployed.settle()
    due = next_due()
    for _ in range(2):
        deployed.tick(due)
    (mail,) = deployed.inbox("olga")
    assert mail.message["Subject"].startswith("3 new comments on “")
    assert "\n3 comments\n" in mail.part("plain").replace("\r\n", "\n")
    assert "On &lt;digests&gt;" in mail.part("html")
    assert mail.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    installation = mail.tags["installation"]
    assert mail.tags == {"run": "olga-daily-1", "attempt": "1", "installation": installation}
    assert re.fullmatch(r"[0-9a-f-]{36}", installation)

    deployed.tick(due + timedelta(days=1))
    assert len(deployed.inbox("olga")) == 1, "nothing new, no email"


def test_invalid_detail_is_quarantined_with_the_field_name(
    deployed: Deployed,
) -> None:
    wrong = a_comment("olga", 1)
    wrong["entity"]["url"] = "javascript:alert(1)"
    deployed.service.put("event.created", [wrong])
    deployed.service.put("event.vanished", [{}])
    deployed.service.wait_until_drained("ingest")
    messages: list[str] = []
    url = deployed.service.queue_url("quarantine")
    while taken := deployed.service.queues.receive_message(
        QueueUrl=url, MessageAttributeNames=["All"], MaxNumberOfMessages=10
    ).get("Messages"):
        messages += [message["MessageAttributes"]["reason"]["StringValue"] for message in taken]
        for message in taken:
            deployed.service.queues.delete_message(
                QueueUrl=url, ReceiptHandle=message["ReceiptHandle"]
            )
    assert len(messages) == 2
    assert any("detail.entity.url" in reason for reason in messages)
    assert any("'event.vanished' is not one of" in reason for reason in messages)


def test_every_detail_type_passes_through_the_bus(deployed: Deployed) -> None:
    """What dee hears of: at once, in her digest, or not at all."""
    put = deployed.service.put
    began = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    post, reply = {"type": "post", "id": "p9"}, {"type": "reply", "id": "r9"}
    activity = {name: value for name, value in a_comment("", 1).items() if name != "user_id"}
    frequencies = {"mention": "immediate", "like": "never"}
    put("event.retracted", [{"id": "comment22", "user_id": "dee"}, {"id": "a3", "entity": post}])
    put("follow.created", [{"user_id": "dee", "entity": post, "changed_at": began}])
    put("subscriber.active", [{"user_id": "dee", "active_at": began}])
    put(
        "activity.created",
        [
            {**activity, "id": "a1", "entity": {**activity["entity"], **post}},
            {**activity, "id": "a2", "entity": {**activity["entity"], **reply}, "parent": post},
            {**activity, "id": "a3", "entity": {**activity["entity"], **post}},
            {
                **activity,
                "id": "a4",
                "entity": {**activity["entity"], **post},
                "actor": {"id": "dee", "name": "Dee"},
            },
        ],
    )
    put("event.created", [{"events": [a_comment("dee", number) for number in (21, 22, 23)]}])
    put("event.created", [{**a_comment("dee", 24), "category": "like"}])
    put("event.created", [{**a_comment("dee", 25), "category": "mention", "excerpt": "At once"}])
    put("subscriber.changed", [{**a_profile("dee"), "frequencies": frequencies}])
    put(
        "event.created",
        [{**a_comment("dee", 23), "excerpt": "Amended", "amended_at": began}],
    )
    deployed.settle()
    deployed.service.wait_until_drained("immediate")
    (at_once,) = deployed.inbox("dee")
    assert at_once.message["Subject"].startswith("You were mentioned in “")
    assert "At once" in at_once.part("plain")
    assert at_once.tags["run"].startswith("dee-now")

    due = next_due()
    deployed.tick(due)
    _, digest = deployed.inbox("dee")
    text = digest.part("plain").replace("\r\n", "\n")
    assert "\n4 comments\n" in text, "a1, a2, and the comments 21 and 23"
    assert "Amended" in text
    assert "Reader 22" not in text
    assert "mention" not in text

    now = datetime.now(UTC).isoformat()
    put("follow.deleted", [{"user_id": "dee", "entity": post, "changed_at": now}])
    put("subscriber.changed", [a_profile("gus")])
    put("event.created", [a_comment("gus", 1)])
    deployed.settle()
    put("subscriber.deleted", [{"user_id": "gus", "deleted_at": datetime.now(UTC).isoformat()}])
    deployed.settle()
    put("event.created", [a_comment("gus", 2)])
    put("activity.created", [{**activity, "id": "a5", "entity": {**activity["entity"], **post}}])
    deployed.settle()
    deployed.tick(due + timedelta(days=1))
    assert len(deployed.inbox("dee")) == 2
    assert not deployed.inbox("gus")


def test_one_click_of_a_real_email_stops_the_next_digest(deployed: Deployed) -> None:
    put = deployed.service.put
    put("subscriber.changed", [a_profile("bo")])
    put("event.created", [a_comment("bo", 1)])
    deployed.settle()
    due = next_due()
    deployed.tick(due)
    (mail,) = deployed.inbox("bo")
    link = mail.message["List-Unsubscribe"].strip("<>")

    status, page = deployed.request(link)
    assert (status, "Nothing has changed yet" in page) == (200, True)
    status, page = deployed.request(link, b"List-Unsubscribe=One-Click")
    assert (status, "Your digests are stopped" in page) == (200, True)

    put("event.created", [a_comment("bo", 2)])
    deployed.settle()
    deployed.tick(due + timedelta(days=1))
    assert len(deployed.inbox("bo")) == 1


def test_browser_view_works_after_a_key_rotation(
    deployed: Deployed,
) -> None:
    """Also for who has left by a link that the old key signed."""
    put = deployed.service.put
    put("subscriber.changed", [a_profile("eve")])
    put("event.created", [a_comment("eve", number) for number in range(2)])
    deployed.settle()
    deployed.tick(next_due())
    (mail,) = deployed.inbox("eve")
    own = r'href="([^"#]+/(unsubscribe|preferences|email)/[^"#]+)'
    links = {
        name: link
        for link, name in re.findall(own, mail.part("html"))
        if name != "unsubscribe" or scope_of(link) == "all"
    }
    links["updates"] = links["email"].replace("/email/", "/updates/")
    assert links["unsubscribe"] == leaving_everything(mail.part("plain"))
    assert scope_of(str(mail.message["List-Unsubscribe"]).strip("<>")) == "d"

    sent = mail.part("html").replace("<a ses:no-track", "<a")  # what SES is told is not shown
    before, _, _ = sent.partition(f'href="{links["preferences"]}')
    status, shown = deployed.request(links["email"])
    before, first, _ = before.rpartition("<br>")  # the links of the first digest follow
    same = bool(first) and without_space(shown).startswith(without_space(before))
    assert (status, same) == (200, True)
    hers = {links["unsubscribe"], links["preferences"]}
    assert not hers & set(re.findall(r'href="([^"#]+)', shown))
    assert deployed.gazette("links", "list") == "k1\tsigns and verifies\n"
    assert "k2 signs" in deployed.gazette("links", "rotate")
    for _ in range(2):
        assert deployed.request(links["email"]) == (200, shown)
        status, page = deployed.request(links["updates"])
        assert (status, "2 updates" in page) == (200, True)
        assert deployed.request(links["unsubscribe"], b"List-Unsubscribe=One-Click")[0] == 200
    with pytest.raises(urllib.error.HTTPError) as refused:
        deployed.request(links["email"] + "A")
    assert refused.value.code == 404
    assert "This link doesn't work" in refused.value.read().decode()


def test_cancelled_batch_delivers_its_events_with_the_next_digest(
    deployed: Deployed,
) -> None:
    """The batch of a slot of its own: all other digests are due an hour earlier."""
    put = deployed.service.put
    put("subscriber.changed", [a_profile("kim", hour=HOUR + 1)])
    put("event.created", [a_comment("kim", 1)])
    deployed.settle()
    due = next_due(hour=HOUR + 1)
    deployed.gazette("batch", "cancel", slot_id(slot_of(due)), "--yes")
    deployed.tick(due)
    assert not deployed.inbox("kim")
    shown = deployed.gazette("batch", "show", slot_id(slot_of(due)))
    assert "runs\tcancelled\tbatch_cancelled\t" in shown
    assert "rate\tat most 400 emails per second" in shown
    told = deployed.gazette("explain", "kim")
    assert "an operator cancelled the batch (gazette batch cancel)" in told

    deployed.tick(due + timedelta(days=1))
    assert len(deployed.inbox("kim")) == 1
    assert slot_id(slot_of(due + timedelta(days=1))) in deployed.gazette("batch", "list")
    told = deployed.gazette("explain", "kim", f"{due + timedelta(days=1):%Y-%m-%d}")
    assert "was sent: the provider accepted the email" in told


def test_dead_letter_queues_are_empty(deployed: Deployed) -> None:
    dead = (f"{queue}-dead" for queue in ("ingest", "followers", "shard", *GENERATE.queues))
    for queue in (*dead, "undelivered"):
        assert deployed.service.messages_in(queue) == 0


def test_occupied_port_stops_the_demo_with_a_remedy() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = subprocess.run(
            [sys.executable, "-m", "demo", "--port", str(port)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert result.returncode == 1
    (line,) = result.stdout.strip().splitlines()
    assert line.startswith(f"demo: Port {port} on 127.0.0.1 is in use.")
    assert "PORT=" in line
    assert not result.stderr


def test_support_commands_list_dead_letters_and_stop_sending(deployed: Deployed) -> None:
    listed = deployed.script("dlq", "list").splitlines()
    assert any(line.startswith("generate-dead\t") for line in listed)
    assert any(line.startswith("failed\t") for line in listed)
    deployed.gazette("sending", "stop", "a wrong template", "--yes")
    assert "a wrong template" in deployed.gazette("sending", "status")
    deployed.gazette("sending", "resume")
    assert "a wrong template" not in deployed.gazette("sending", "status")


def test_reader_registered_after_a_replay_gets_a_digest(
    deployed: Deployed,
) -> None:
    """`make demo KEEP=1`: the replay's week lies ahead of whoever tries the README then."""
    deployed.tick(next_due() + timedelta(days=7))
    deployed.service.turn_back(slot_of(datetime.now(UTC)))
    deployed.service.put("subscriber.changed", [a_profile("zoe")])
    deployed.service.put("event.created", [a_comment("zoe", 1)])
    deployed.settle()
    deployed.tick(slot_of(datetime.now(UTC)) + timedelta(days=1))
    assert len(deployed.inbox("zoe")) == 1


def test_attack_engine_and_inbox_listen_only_on_loopback(
    deployed: Deployed,
) -> None:
    """Of all that listens on this machine, what belongs to them listens on loopback alone."""
    own = {_port(deployed.engine.url), _port(deployed.ses.url)}
    found = [address for address, port in _listening() if port in own]
    assert len(found) == len(own)
    assert set(found) == {"127.0.0.1"}


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])


def _listening() -> Iterator[tuple[str, int]]:
    """The address and port of each socket that takes connections, by IPv4 or IPv6 (proc(5))."""
    for family, table in ((socket.AF_INET, "tcp"), (socket.AF_INET6, "tcp6")):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if state == "0A":
                address, _, port = local.partition(":")
                words = struct.unpack(f">{len(address) // 8}I", bytes.fromhex(address))
                packed = struct.pack(f"={len(words)}I", *words)
                yield socket.inet_ntop(family, packed), int(port, 16)
