"""AWS names that two stages cannot share."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gazette_cdk.stage.stage import Stage

_ANYWHERE = ""
"""The placeholder account or Region for a name that must be unique worldwide."""


@dataclass(frozen=True, slots=True)
class Place:
    """The account and Region of a deployment. An unknown account or Region is empty."""

    account: str = ""
    region: str = ""


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that a stage occupies in AWS once it is deployed."""

    # The kind of resource. Two stages in the same place cannot use the same name for one kind.
    what: str

    text: str
    account: str
    region: str

    # The settings that determine the name.
    of: tuple[str, ...]

    # The reason why only one stage can have the name.
    why: str

    # The advice to the operator.
    to_do: str


def taken_by_others(stage: Stage, others: Iterable[Stage], *, default: Place) -> Iterator[str]:
    """Yield a sentence for each name of the stage that another stage also uses.

    Omit names that follow from a name already reported, such as the DNS records of a domain.
    `default` is the place of stages that do not specify an account or Region. Ignore stages with
    `host_layers`, because the embedded engine has no account to share.
    """
    if stage.host_layers:
        return
    for other in others:
        if other.host_layers or other.name == stage.name:
            continue
        theirs = {_key(each): each for each in _names(other, default)}
        reported: set[str] = set()
        for name in _names(stage, default):
            same = theirs.get(_key(name))
            if same and reported.isdisjoint(name.of):
                yield _sentence(name, same, stage, other)
                reported.update(name.of if len(name.of) == 1 else ())


def _key(name: _Name) -> tuple[str, str, str, str]:
    return name.what, name.text, name.account, name.region


def _sentence(name: _Name, same: _Name, stage: Stage, other: Stage) -> str:
    ours, theirs = (
        " and ".join(f"{setting} is {getattr(each, setting)!r}" for setting in uses.of)
        for uses, each in ((name, stage), (same, other))
    )
    return (
        f"{ours}, but stage {other.name!r} uses the same {name.what}, {name.text!r} ({theirs}). "
        f"{name.why} {name.to_do}"
    )


def _names(stage: Stage, default: Place) -> Iterator[_Name]:
    account = stage.account or default.account
    region = stage.region or default.region
    elsewhere = "or give the stages different accounts or Regions"
    yield _Name(
        "event bus",
        stage.bus,
        account,
        region,
        of=("bus",),
        why="The name of a bus must be unique in an account and Region.",
        to_do=f"Choose a different bus, such as {stage.bus}-{stage.name}, {elsewhere}.",
    )
    if stage.events_out:
        yield _Name(
            "event bus",
            stage.out_bus,
            account,
            region,
            of=("events_out",),
            why="The name of a bus must be unique in an account and Region.",
            to_do=f"Choose a different bus for the other stage, {elsewhere}.",
        )
    if stage.domain:
        yield _Name(
            "SES identity",
            stage.domain,
            account,
            region,
            of=("domain",),
            why="A domain can be verified only once in an account and Region.",
            to_do="Remove domain from one of them, because a stage may send from a domain that the "
            f"other one verifies, {elsewhere}.",
        )
    if stage.links_host:
        yield from _names_of_links(stage, region)
    if stage.hosted_zone:
        yield from _records(stage)


def _names_of_links(stage: Stage, region: str) -> Iterator[_Name]:
    """Yield the names that `links_domain` occupies in API Gateway and CloudFront.

    https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-custom-domains.html
    https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/alternate-domain-names-move.html
    """
    to_do = f"Choose a different links_domain, such as {stage.name}.{stage.links_host}"
    yield _Name(
        "custom domain of API Gateway",
        stage.links_host,
        _ANYWHERE,
        region,
        of=("links_domain",),
        why="It must be unique in a Region, across all accounts.",
        to_do=f"{to_do}, or another Region.",
    )
    if stage.front_rate_limit:
        yield _Name(
            "alternate domain name of CloudFront",
            stage.links_host,
            _ANYWHERE,
            _ANYWHERE,
            of=("links_domain", "front_rate_limit"),
            why="It must be unique across all accounts and Regions.",
            to_do=f"{to_do}, or remove front_rate_limit from one of them.",
        )


def _records(stage: Stage) -> Iterator[_Name]:
    """Yield the DNS records that the stage creates.

    The deployment fails if a record already exists.
    """
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
            why="A zone can have only one record with a name and type.",
            to_do=f"Choose a different {last}"
            + (", or leave dmarc empty" if last == "dmarc" else "")
            + ", or remove hosted_zone from one of them and create its records yourself.",
        )
