"""The habits that make our English hard to read: how each is found, and what to write instead."""

from dataclasses import dataclass

from tests.unit.house.english.searches import (
    Search,
    anywhere,
    at_start,
    at_start_of_sentence,
    both,
    joining_colon,
)
from tests.unit.house.english.texts import DOCSTRINGS, PROSE, Kind
from tests.unit.house.english.verbs import THIRD_PERSON, VERBS


@dataclass(frozen=True, kw_only=True)
class Habit:
    """A habit to drop."""

    name: str

    # The kinds of text in which the habit is counted.
    kinds: frozenset[Kind]

    search: Search

    # The reason to drop the habit.
    why: str

    # The advice to the writer.
    instead: str

    # Texts with the habit, each with a rewrite. Tests search both.
    examples: dict[str, str]


_BE = r"\b(?:is|are|was|were|be|been|being)"

_COST = r"(?!(?:One|Two|Three|Four|At most) [^.]*(?:[A-Z][a-z]+[A-Z]|Query|Scan))"
"""An adapter's docstring may open with its cost in AWS, such as `One conditional PutItem.`"""

HABITS: tuple[Habit, ...] = (
    Habit(
        name="question-word",
        kinds=DOCSTRINGS | {Kind.DESCRIPTION},
        search=at_start(
            r"(?:What|Who|Whose|Whom|Whether|How|Why|Which|Whatever|Whoever)\b"
            r"|(?:When|Where)\b(?![^.]*,)"
        ),
        why="The docstring or description opens with a clause. Readers look for the thing or act.",
        instead="Open with an imperative verb (functions) or a noun phrase (all others).",
        examples={
            "How many invocations the account may have at once.": (
                "The account's concurrency limit."
            ),
            "Whether the address is on file.": "Return True if the address is on file.",
            "When the run was claimed.": "The time of the claim.",
            "[seconds] How long an email collects events.": (
                "[seconds] The time for which an email collects events."
            ),
        },
    ),
    Habit(
        name="function-verb",
        kinds=frozenset({Kind.FUNCTION}),
        search=at_start(
            rf"(?!(?:{'|'.join(sorted(VERBS))})\b){_COST}(?!(?:What|Who|Whose|Whom|Whether|How|Why|Which|"
            r"Whatever|Whoever|When|Where)\b)(?!(?:As|Like) [^.,:;]*\.$)(?=[A-Z`\[\"])"
        ),
        why="The docstring of a function that does not open with a verb hides the act.",
        instead="Open with an imperative verb. If yours is missing, add it to verbs.py.",
        examples={
            "The alarms that are raised.": "Return the alarms that are raised.",
            "Renders the digest.": "Render the digest.",
        },
    ),
    Habit(
        name="class-noun",
        kinds=frozenset({Kind.CLASS, Kind.FIELD}),
        search=at_start(
            rf"(?:{'|'.join(sorted(THIRD_PERSON))}|Return|Store|Let|Says|It|They|We|You|There"
            r"|Of|By|In|To|For|From|At|On|With|Without|Under|Behind|Besides?|Up to|So"
            r"|If|Because|Until|While|Since|Said|Something|Somebody|Nothing|Nobody|Anything"
            r"|As(?! [^.,:;]*\.$))\b(?!s?'s)"
        ),
        why="The docstring of a class, a field or a constant names a thing.",
        instead="Open with a noun phrase.",
        examples={
            "Renders emails by Jinja.": "A renderer of emails that uses Jinja.",
            "By the name of the queue.": "Queues by name.",
            "In seconds, from the first try.": "Seconds since the first try.",
        },
    ),
    Habit(
        name="what-is",
        kinds=PROSE,
        search=both(
            at_start_of_sentence(r"What(?:ever)?\b(?! to )", words=5),
            anywhere(
                r"\b(?:of|by|with|for|in|on|from|to|after|before|behind|at|than|that|but|because|if"
                r"|while|until|where|when) what(?:ever)? "
                r"(?:is|are|was|were|has|have|had|will|would|can|cannot|could|may|might|must|does|did"
                r"|\w+ed|\w+s) "
            ),
        ),
        why="A clause that stands for a noun delays the subject.",
        instead="Name the thing: a row, a request, an event that is not in the schema.",
        examples={
            "What needs a deployment is refused by the command.": (
                "The command refuses a push that needs a deployment."
            ),
            "It deletes a copy of what is stored there.": "It deletes a copy of the stored rows.",
        },
    ),
    Habit(
        name="nobody-nothing-somebody",
        kinds=PROSE,
        search=both(
            anywhere(r"\b(?:nobody|somebody|anybody)\b"),
            anywhere(
                r"\bnothing\b",
                unless=r"\b(?:do|does|did|doing|done|cost|costs|change|changes|changed|changing|print"
                r"|prints|printed|return|returns) nothing\b"
                r"|\bnothing (?:to [a-z]+|else|happens|happened|changes|changed|new)\b"
                r"|\bnothing is (?:lost|sent twice)\b",
            ),
        ),
        why="A sentence about nobody or nothing has no actor, and is often a double negation.",
        instead="Name the actor, or negate the verb. `nothing` may follow do, change, cost, print "
        "and return, and stand before `to do`, `else`, `new`, `happens` and `changes`.",
        examples={
            "The page tells nobody else's address.": "The page never shows another address.",
            "Nothing was reported of any.": "No delivery events yet.",
            "There is somebody who waits.": "A reader is waiting.",
        },
    ),
    Habit(
        name="who-subject",
        kinds=PROSE,
        search=both(
            at_start_of_sentence(r"Who\b", words=5),
            anywhere(r"\bwho(?:m)?(?:so)?ever\b"),
            anywhere(
                r"\b(?:by|for|to|with|from|that|than|but|if|because|lets?|keeps?|unless|until|where"
                r"|when|while) who (?!else\b)[a-z]"
            ),
        ),
        why="`who` and `whoever` without a noun in front of them read as a question.",
        instead="Name the person: readers, operators, the caller, anyone who.",
        examples={
            "Who reads the answer is no statistician.": "Readers are not statisticians.",
            "Whoever may put events is trusted.": "Every service with the permission is trusted.",
            "It means that who left stays away.": "It means that opt-outs stay effective.",
        },
    ),
    Habit(
        name="of-which",
        kinds=PROSE,
        search=anywhere(
            r"\bof (?:which|whom|what)\b",
            unless=r"\b(?:regardless|all|one|some|none|most|each|many|both|half|two|three) of \w+",
        ),
        why="The clause makes the reader search for its noun.",
        instead="Repeat the noun, or use `whose`, `where` or `that`.",
        examples={
            "Of the modules of our package, of which the release is made.": (
                "Hash our modules; their names and contents identify the release."
            ),
            "The person of whom it speaks.": "The person that it describes.",
        },
    ),
    Habit(
        name="pointer",
        kinds=DOCSTRINGS,
        search=at_start(r"(?:As|Like) [^.,:;]*\.$|See [^.]*\.?$|As (?:the|a|an) \w+ says\b"),
        why="The reader has to open another file for a sentence.",
        instead="Say what it does, or delete the docstring.",
        examples={
            "As the port says.": "Return the oldest run that is due.",
            "See the port.": "Store the row, unless a newer one is there.",
        },
    ),
    Habit(
        name="is-no",
        kinds=PROSE,
        search=both(
            anywhere(
                rf"{_BE} no (?!longer\b|more\b|less\b|fewer\b|later\b|earlier\b|older\b|newer\b"
                r"|different\b|larger\b|smaller\b|greater\b|higher\b|lower\b|shorter\b|one\b)[a-z`]",
                unless=r"\bthere (?:is|are|was|were|(?:will|can|may|must|would|should|could) be"
                r"|(?:has|have|had) been) no\b",
            ),
            anywhere(
                r"\b(?:is|are|was|were) (?-i:none)\b",
                unless=r"\bthere (?:is|are|was|were) none\b",
            ),
        ),
        why="English negates the verb.",
        instead="Write `is not a`, or say what it is.",
        examples={
            "The folder is no folder.": "The folder does not exist.",
            "Of these links that is none.": "That is not a link.",
        },
    ),
    Habit(
        name="beside",
        kinds=PROSE,
        search=anywhere(r"\bbesides?\b"),
        why="`beside` means `next to`; here it stands for five other words.",
        instead="Write excluding, in addition to, with, compared with, or next to.",
        examples={
            "It costs $47 in AWS beside SES.": "It costs $47 in AWS, excluding SES.",
            "Besides, it is slow.": "It is also slow.",
        },
    ),
    Habit(
        name="of-it",
        kinds=PROSE,
        search=anywhere(
            r"\b(?:of|for) it(?=[.;:,)]|$)",
            unless=r"\b(?:part|rest|end|all|none|one|some|most|any|half|much|copy|care|rid|ask\w*|look\w*"
            r"|wait\w*|pay|pays|paid|search\w*|account\w*|made|out|outside|inside|instead|ahead"
            r"|because|up|room) (?:of|for) it\b",
        ),
        why="A clause that ends in `of it` or `for it` makes the reader look back for a noun.",
        instead="Use `its`, or name the thing.",
        examples={
            "It stores the event and the time of it.": "It stores the event and its time.",
            "The account has 3 left for it.": "3 remain for the stage.",
        },
    ),
    Habit(
        name="said-of",
        kinds=PROSE,
        search=at_start(r"Said of\b"),
        why="A definition names the thing.",
        instead="Define a term with a noun phrase.",
        examples={"Said of a subscriber without activity.": "A subscriber without activity."},
    ),
    Habit(
        name="for-whoever",
        kinds=frozenset({Kind.TOP}),
        search=at_start(r"For (?:who|whoever|whom|anybody|everybody|those|all)\b"),
        why="The page does not name its readers.",
        instead="Open with `Audience: ` and the readers, such as platform engineers.",
        examples={
            "For whoever changes how email is sent: which rules hold?": (
                "Audience: engineers who change delivery. This page lists the rules."
            )
        },
    ),
    Habit(
        name="joining-colon",
        kinds=PROSE - {Kind.HEADING},
        search=joining_colon,
        why="A colon introduces a list or an example. Between two clauses it hides their relation.",
        instead="Write two sentences, or say because, so, if or but.",
        examples={
            "A deleted row is never stored again: it would come back.": (
                "A deleted row is never stored again, because it would come back."
            ),
            "We read the table once: the rows are small enough.": (
                "We read the table once. Its rows are small."
            ),
        },
    ),
    Habit(
        name="vague-passive",
        kinds=PROSE,
        search=anywhere(
            rf"{_BE} (?:(?:\w+ly|not|never|also|only|then|still|all|again|always|once) )*"
            r"(?:asked|held|told(?! apart)|looked|said|put)\b"
        ),
        why="One verb stands for many acts, and the actor is missing.",
        instead="Name the actor, and use the exact verb: query, reject, compare, report, publish.",
        examples={
            "The service is asked once a minute.": "Gazette queries the service once a minute.",
            "An event that was put twice is stored once.": "A duplicate event is stored once.",
            "A figure is never looked at twice.": "Each figure is read once.",
        },
    ),
    Habit(
        name="participle-name",
        kinds=frozenset({Kind.NAME}),
        search=at_start(
            r"(?:found|said|told|done|asked|held|kept|given|left|made|put|gone|taken|there|instead"
            r"|begun|meant|heard|looked|wanted|shown|drawn)$"
        ),
        why="The name tells what happened to the value, not what the value is.",
        instead="Name the value with a noun, such as `rows`, `match` or `remaining`.",
        examples={"found": "rows", "said": "message", "instead": "fallback"},
    ),
)
