"""The policies in docs/cli, compared with the commands' calls to AWS in their tests."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gazette_cli.reference.permissions import PERMISSIONS, policy
from gazette_cli.restore.command import COPY
from proofs.enforce.account import Account, Misplaced
from proofs.enforce.calls import Asked
from proofs.enforce.policies import Grant, Request, allowing, read
from proofs.enforce.verdict import Line

_STAGE = "prod"


class Commands:
    """The verdict on all commands, with denied calls in words and the `used` grants."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._grants = {
            path: [*read(path, policy(grants, _STAGE))] for path, grants in PERMISSIONS.items()
        }
        self.denied: set[str] = set()
        self.used: set[Grant] = set()

    def judge(self, path: str, asked: Iterable[Asked], told: Mapping[str, str]) -> None:
        """Judge the calls of a command that found the settings `told`."""
        for each in asked:
            table, copy, _ = each.named.partition(COPY)
            known = replace(each, named=table, inside="")
            try:
                resource = self._account.named_by_any(known, told) + copy + each.inside
            except Misplaced as err:
                self.denied.add(f"gazette {path}: {err}")
                continue
            request = Request(path, each.action, resource, each.context)
            grants = allowing(request, self._grants[path])
            if not grants:
                label = self._account.label(resource)
                self.denied.add(f"gazette {path} may not {each.action} on {label}")
            if len(grants) == 1:
                self.used |= grants

    def granted(self) -> set[Line]:
        """Return all grants of the page."""
        return {self._line(grant) for grants in self._grants.values() for grant in grants}

    def lines(self) -> set[Line]:
        """Return the used grants."""
        return {self._line(grant) for grant in self.used}

    @staticmethod
    def _line(grant: Grant) -> Line:
        return f"gazette {grant.holder}", grant.action, grant.resource.split(":", 5)[-1]
