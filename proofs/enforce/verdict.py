"""What would be denied, and what is granted for nothing.

A grant counts as used where it alone allows some call. So one that another grant covers is found
too: each of them could go.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from proofs.enforce.account import Account, Misplaced
from proofs.enforce.calls import Asked
from proofs.enforce.policies import Grant
from proofs.enforce.services import calls_of_aws

Line = tuple[str, str, str]
"""Who holds a grant, the action, and the resource, as the templates name them."""


@dataclass(slots=True)
class Verdict:
    """`denied` in words; grants by how they are used. `of_aws`: by AWS itself, and what for."""

    account: Account
    denied: set[str] = field(default_factory=set)
    used: set[Grant] = field(default_factory=set)
    of_aws: dict[Grant, str] = field(default_factory=dict)

    @classmethod
    def of(cls, account: Account) -> "Verdict":
        """Of what AWS does by itself, before any function calls."""
        made = cls(account)
        for request, why in calls_of_aws(account):
            grants = account.allowing(request)
            if not grants:
                made.denied.add(_told(account, request.caller, request.action, request.resource))
            if len(grants) == 1:
                made.of_aws.update(dict.fromkeys(grants, why))
        return made

    def judge(self, step: str, asked: Iterable[Asked], told: Mapping[str, str]) -> None:
        """Calls of a function that had the settings `told`."""
        for each in asked:
            try:
                request = self.account.request(step, each, told)
            except Misplaced as err:
                self.denied.add(str(err))
                continue
            grants = self.account.allowing(request)
            if not grants:
                self.denied.add(_told(self.account, request.caller, each.action, request.resource))
            if len(grants) == 1:
                self.used |= grants

    def line(self, grant: Grant) -> Line:
        """A grant as people read it."""
        holder = self.account.label(grant.holder)
        for step, function in self.account.functions.items():
            if function.properties["Role"] == grant.holder and not grant.principals:
                holder = step
        if grant.principals:
            holder = f"{holder} to {' '.join(sorted(grant.principals))}"
        where = ",".join(
            value for _, key, values in grant.conditions for value in values if "from" in key
        )
        label = self.account.label(grant.resource)
        return holder, grant.action, f"{label} from {where}" if where else label

    def granted(self) -> set[Line]:
        """Everything that is allowed."""
        return {self.line(grant) for grant in self.account.grants if grant.allows}

    def unused(self) -> set[Line]:
        """What is allowed, and was neither used by a function nor is by AWS."""
        return self.granted() - self.lines(self.used) - self.lines(self.of_aws)

    def lines(self, grants: Iterable[Grant]) -> set[Line]:
        """Grants as people read them."""
        return {self.line(grant) for grant in grants}


def _told(account: Account, caller: str, action: str, resource: str) -> str:
    for step, function in account.functions.items():
        if function.properties["Role"] == caller:
            caller = step
    return f"{account.label(caller)} may not {action} on {account.label(resource)}"
