"""The verdict on the policies: denied calls, unused grants, and grants that are too wide.

A grant counts as used if it alone allows some call. Two grants that cover each other are therefore
both found, because either could be removed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from proofs.enforce.account import Account, Misplaced
from proofs.enforce.calls import Asked
from proofs.enforce.policies import Grant, Request
from proofs.enforce.services import calls_of_aws
from proofs.enforce.strangers import strangers_of

Line = tuple[str, str, str]
"""A grant in the words of the templates: its holder, the action, and the resource."""


@dataclass(slots=True)
class Verdict:
    """A verdict. `denied` and `wide` are sentences; the others are grants by their use. `of_aws`
    has AWS's own use of grants, with its purpose."""

    account: Account
    denied: set[str] = field(default_factory=set)
    wide: set[str] = field(default_factory=set)
    used: set[Grant] = field(default_factory=set)
    of_aws: dict[Grant, str] = field(default_factory=dict)
    calls: set[Request] = field(default_factory=set)

    @classmethod
    def of(cls, account: Account) -> "Verdict":
        """Return the verdict on AWS's own calls, before any function calls."""
        made = cls(account)
        made.wide = {
            f"{' '.join(made.line(grant))} allows more than one action"
            for grant in account.grants
            if grant.allows and set("*?") & set(grant.action)
        }
        for request, why in calls_of_aws(account):
            made.of_aws.update(dict.fromkeys(made._grants_used_by(request), why))
        return made

    def judge(
        self, step: str, asked: Iterable[Asked], told: Mapping[str, str], *, counts: bool = True
    ) -> None:
        """Judge the calls of a function that had the settings `told`.

        Without `counts` they use no grant, because those settings are not of this stage.
        """
        for each in asked:
            try:
                requests = list(self.account.requests(step, each, told))
            except Misplaced as err:
                self.denied.add(str(err))
                continue
            for request in requests:
                used = self._grants_used_by(request)
                if counts:
                    self.used |= used

    def line(self, grant: Grant) -> Line:
        """Return a grant in words."""
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
        """Return all grants."""
        return {self.line(grant) for grant in self.account.grants if grant.allows}

    def unused(self) -> set[Line]:
        """Return the grants that neither functions nor AWS used."""
        return self.granted() - self.lines(self.used) - self.lines(self.of_aws)

    def lines(self, grants: Iterable[Grant]) -> set[Line]:
        """Return grants in words."""
        return {self.line(grant) for grant in grants}

    def _grants_used_by(self, request: Request) -> frozenset[Grant]:
        """Return the grant that alone allows the request, if there is one."""
        grants = self.account.allowing(request)
        if request not in self.calls:
            self.calls.add(request)
            if not grants:
                self.denied.add(self._told(request, "may not"))
            for stranger in strangers_of(self.account, request) if grants else ():
                if self.account.allowing(stranger):
                    self.wide.add(self._told(stranger, "may also"))
        return grants if len(grants) == 1 else frozenset()

    def _told(self, request: Request, may: str) -> str:
        caller = request.caller
        for step, function in self.account.functions.items():
            if function.properties["Role"] == caller:
                caller = step
        label = self.account.label
        for_whom = ", ".join(
            f"{key} {label(' '.join(values))}"
            for key, values in sorted(request.context)
            if may == "may also" and key in {"ses:fromaddress", "aws:sourcearn"}
        )
        ending = f", {for_whom}" if for_whom else ""
        return f"{label(caller)} {may} {request.action} on {label(request.resource)}{ending}"
