"""Names that two stages of cdk.json cannot both have."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from infra.stage.stage import Stage

_ANYWHERE = ""
"""A name that is unique for all accounts, or all regions."""


@dataclass(frozen=True, slots=True)
class Place:
    """An account and a region, as far as they are known; both are empty if they are not."""

    account: str = ""
    region: str = ""


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that a stage takes when it is deployed.

    `what`: two stages cannot both take the same name for the same thing in the same place.
    `of`: the settings that decide it. `why`: why one stage alone can have it there. `to_do`: what
    else to write.
    """

    what: str
    text: str
    account: str
    region: str
    of: tuple[str, ...]
    why: str
    to_do: str


def taken_by_others(stage: Stage, others: Iterable[Stage], *, default: Place) -> Iterator[str]:
    """A sentence for each name of the stage that another stage of cdk.json has, too.

    Names that only follow from one that was told already are left out: DNS records of a domain.
    `default`: where stages are deployed that do not say where. A stage with `host_layers` is for
    the embedded engine and shares its account with none.
    """
    if stage.host_layers:
        return
    for other in others:
        if other.host_layers or other.name == stage.name:
            continue
        theirs = {_key(each): each for each in _names(other, default)}
        told: set[str] = set()
        for name in _names(stage, default):
            same = theirs.get(_key(name))
            if same and told.isdisjoint(name.of):
                yield _sentence(name, same, stage, other)
                told.update(name.of if len(name.of) == 1 else ())


def _key(name: _Name) -> tuple[str, str, str, str]:
    return name.what, name.text, name.account, name.region


def _sentence(name: _Name, same: _Name, stage: Stage, other: Stage) -> str:
    ours, theirs = (
        " and ".join(f"{setting} is {getattr(each, setting)!r}" for setting in taken.of)
        for taken, each in ((name, stage), (same, other))
    )
    return (
        f"{ours}, but stage {other.name!r} takes the same {name.what}, {name.text!r} ({theirs}). "
        f"{name.why} {name.to_do}"
    )


def _names(stage: Stage, default: Place) -> Iterator[_Name]:
    account = stage.account or default.account
    region = stage.region or default.region
    elsewhere = "or give the stages different values of account or region"
    yield _Name(
        "event bus",
        stage.bus,
        account,
        region,
        of=("bus",),
        why="An account has one bus of a name in a region.",
        to_do=f"Write another bus, such as {stage.bus}-{stage.name}, {elsewhere}.",
    )
    if stage.domain:
        yield _Name(
            "SES identity",
            stage.domain,
            account,
            region,
            of=("domain",),
            why="An account verifies a domain once in a region.",
            to_do="Take domain out of one of them: a stage may send from a domain that the other "
            f"one verifies; {elsewhere}.",
        )
    if stage.links_host:
        yield from _names_of_links(stage, region)
    if stage.hosted_zone:
        yield from _records(stage)


def _names_of_links(stage: Stage, region: str) -> Iterator[_Name]:
    """https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-custom-domains.html

    https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/alternate-domain-names-move.html
    """
    to_do = f"Write another links_domain, such as {stage.name}.{stage.links_host}"
    yield _Name(
        "custom domain of API Gateway",
        stage.links_host,
        _ANYWHERE,
        region,
        of=("links_domain",),
        why="A region has it once, whatever the account.",
        to_do=f"{to_do}, or another region.",
    )
    if stage.front_rate_limit:
        yield _Name(
            "alternate domain name of CloudFront",
            stage.links_host,
            _ANYWHERE,
            _ANYWHERE,
            of=("links_domain", "front_rate_limit"),
            why="One distribution has it, whatever the account and region.",
            to_do=f"{to_do}, or take front_rate_limit out of one of them.",
        )


def _records(stage: Stage) -> Iterator[_Name]:
    """The DNS records that the stage writes. A record that exists fails the deployment."""
    names: dict[str, tuple[str, ...]] = {}
    if stage.domain:
        names[stage.bounce_domain] = ("domain", "mail_from_domain")
        if stage.dmarc:
            names[f"_dmarc.{stage.domain}"] = ("domain", "dmarc")
    if stage.links_are_in_zone:
        names[stage.links_host] = ("links_domain",)
    for name, of in names.items():
        *_, last = of
        yield _Name(
            f"DNS record in zone {stage.hosted_zone.get('id', '')}",
            name,
            _ANYWHERE,
            _ANYWHERE,
            of=of,
            why="A zone has one record of a name and type.",
            to_do=f"Write another {last}"
            + (", or leave dmarc empty" if last == "dmarc" else "")
            + ", or take hosted_zone out of one of them and enter its records yourself.",
        )
