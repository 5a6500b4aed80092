"""The `categories.json` file in an adopter's templates, with the texts of categories by language.

The build converts the file into the `name.txt`, `line.txt` and `subject.txt` of each category.
Emails, web pages and pushed versions therefore use the texts like any other template.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from babel import Locale
from gazette.adapters.contract.strict_json import UnreadableError, read_json
from gazette.adapters.rendering.brand import NO_TEXT
from gazette.adapters.rendering.language import SOURCE
from gazette.adapters.templates.bundle import BUILT, CATEGORIES_FILE
from gazette.domain.identity import CATEGORY_NAME
from gazette.domain.window.naming import (
    LEFT_TO_RIGHT_ISOLATE,
    POP_ISOLATE,
    RIGHT_TO_LEFT_ISOLATE,
    RTL,
)

from gazette_cdk.assets.templates.catalogues import prefixes
from gazette_cdk.assets.templates.faults import (
    Fault,
    TemplateError,
    fault,
    line_of_json_error,
    read_text,
)
from gazette_cdk.assets.templates.json_lines import line_at, lines_in

NAME = "name"
ONE, SEVERAL = "one", "several"
ONE_BY, SEVERAL_BY = "one_with_people", "several_with_people"

_PEOPLE, _COUNT = "{people}", "{count}"

_PLACEHOLDERS: Mapping[str, tuple[set[str], set[str]]] = {
    NAME: (set(), set()),
    ONE: (set(), set()),
    SEVERAL: ({_COUNT}, {_COUNT}),
    ONE_BY: ({_PEOPLE}, {_PEOPLE}),
    SEVERAL_BY: ({_PEOPLE}, {_PEOPLE, _COUNT}),
}
"""The required and the allowed placeholders of each text."""

_PLACEHOLDER = re.compile(r"(\{[^{}]*\}|[{}])")
_LONGEST = 100
"""The maximum length of a text in characters."""

_VALUES = {_PEOPLE: "{{ people }}", _COUNT: "{{ language.number(group.count) }}"}

_EXAMPLE = '{"build_failed": {"en": {"name": "Failed builds", "one": "Build failed"}}}'

_FILES = ("name.txt", "line.txt", "subject.txt")
_OTHER = '{% include "categories/other/line.txt" %}\n'
_OTHER_SUBJECT = '{% include "categories/other/subject.txt" %}\n'

_Texts = Mapping[str, str]
"""The texts of a category in one language, by key."""


def write_category_texts(file: Path, target: Path) -> None:
    """Write the files `_FILES` of each category in `file` to the templates in `target`.

    `target` contains all other templates. The languages are those of `target` and of the folder of
    the file. If there is no such file, do nothing. Raise TemplateError with all faults of the file,
    each with the line, the key and the remedy.
    """
    if not file.is_file():
        return
    catalogues = (
        each for folder in (target, file.parent) for each in (folder / "locales").glob("*/")
    )
    tags = sorted({SOURCE, *(each.name for each in catalogues)})
    for category, texts in _checked(file, target, tags).items():
        folder = target / "categories" / category
        folder.mkdir(parents=True, exist_ok=True)
        templates = (_name(texts, tags), _line(texts, tags), _subject(texts, tags))
        for name, template in zip(_FILES, templates, strict=True):
            (folder / name).write_text(BUILT + template, encoding="utf-8")


def _checked(file: Path, target: Path, tags: list[str]) -> dict[str, dict[str, _Texts]]:
    """Return the texts by category and language. Raise TemplateError with all faults."""
    text = read_text(file)
    try:
        content = read_json(text)
    except UnreadableError as err:
        raise fault(file, f"{err}.", line=line_of_json_error(err)) from err
    if not isinstance(content, dict):
        raise fault(file, f"the file must be an object, such as {_EXAMPLE}.", line=1)
    lines = lines_in(text)
    faults = [
        Fault(str(file), line_at(lines, path), problem)
        for category, languages in content.items()
        for path, problem in _problems(category, languages, target, tags)
    ]
    if faults:
        raise TemplateError(*faults)
    return content


_Problem = tuple[Sequence[str], str]
"""The path of a key in `categories.json`, and a problem with its value."""


def _problems(category: str, languages: Any, target: Path, tags: list[str]) -> Iterator[_Problem]:
    """Yield the problems of a category."""
    if not CATEGORY_NAME.fullmatch(category):
        yield (
            [category],
            (
                f"{category!r} is not a category. Its name must be 1 to 32 of a-z, 0-9 and _, and "
                "begin with a letter."
            ),
        )
        return
    for name in _FILES:
        if (target / "categories" / category / name).exists():
            yield (
                [category],
                (
                    f"{category} also has the template categories/{category}/{name}. Remove "
                    f"{category} from {CATEGORIES_FILE}, and change the template or its "
                    "translations."
                ),
            )
            return
    if not isinstance(languages, dict) or not languages:
        yield [category], f"{category} must be an object of languages: {_EXAMPLE}."
        return
    for tag, texts in languages.items():
        yield from _problems_of_texts(category, tag, texts, tags)


def _problems_of_texts(category: str, tag: str, texts: Any, tags: list[str]) -> Iterator[_Problem]:
    where, path = f"{category}.{tag}", (category, tag)
    if tag not in tags:
        yield (
            path,
            (
                f"{where}: emails have no language {tag!r}. Use one of {', '.join(tags)}, or add "
                f"the language with locales/{tag}/LC_MESSAGES/messages.po."
            ),
        )
        return
    if not isinstance(texts, dict) or not texts:
        yield path, f"{where} must be an object with {NAME}, {ONE} or both."
        return
    for key, text in texts.items():
        if key not in _PLACEHOLDERS:
            known = ", ".join(_PLACEHOLDERS)
            yield (*path, key), f"{where}.{key}: there is no such text. Use one of {known}."
            continue
        for problem in _problems_of_text(text, *_PLACEHOLDERS[key]):
            yield (*path, key), f"{where}.{key} {problem}"
    if texts.keys() - {NAME} and ONE not in texts:
        yield path, f"{where}.{ONE} is missing. Add it, because other sentences need it."


def _problems_of_text(text: Any, required: set[str], allowed: set[str]) -> Iterator[str]:
    if not isinstance(text, str) or not text.strip() or NO_TEXT.search(text):
        yield "must be a text of one line without control characters."
        return
    if len(text) > _LONGEST:
        yield f"has {len(text)} characters. Shorten it to {_LONGEST} characters."
    placeholders = set(_PLACEHOLDER.findall(text))
    for each in sorted(placeholders - allowed):
        usable = " and ".join(sorted(allowed)) or "no placeholder"
        yield f"contains {each}. It may contain {usable}."
    for each in sorted(required - placeholders):
        yield f"must contain {each}."


def _name(languages: Mapping[str, _Texts], tags: list[str]) -> str:
    """Return the template of a category's name."""

    def branch(tag: str) -> str:
        text = next((each[NAME] for _, each in _chain(languages, tag) if NAME in each), None)
        return '{% include "categories/other/name.txt" %}\n' if text is None else _shown(text)

    return _by_language(tags, branch)


def _line(languages: Mapping[str, _Texts], tags: list[str]) -> str:
    """Return the template of a category's line."""

    def branch(tag: str) -> str:
        for spoken, texts in _chain(languages, tag):
            if ONE in texts:
                return _sentences(texts, partial(_isolated, spoken, tag))
        return _OTHER

    return _by_language(tags, branch)


def _subject(languages: Mapping[str, _Texts], tags: list[str]) -> str:
    """Return the template of the subject of a category's immediate emails.

    The subject contains the sentence about one event, because it must be the same for all numbers
    of events. `categories/other/subject.txt` uses the category's name if there is no sentence.
    """

    def branch(tag: str) -> str:
        for _, texts in _chain(languages, tag):
            if ONE in texts:
                return f"{{% set phrase = {_literal(texts[ONE])} %}}\n{_OTHER_SUBJECT}"
        return _OTHER_SUBJECT

    return _by_language(tags, branch)


def _sentences(texts: _Texts, shown: Callable[[str], str]) -> str:
    """Return the template of a line in one language.

    `categories/other/line.txt` composes the sentences that are not in `texts`.
    """
    composed = f"{{% set phrase = {_literal(texts[ONE])} %}}\n"
    if ONE_BY in texts:
        by = shown(texts[ONE_BY]).rstrip()
        composed += f"{{% if group.people %}}{{% set sentence %}}{by}{{% endset %}}{{% endif %}}\n"
    composed += _OTHER
    conditions = {SEVERAL_BY: "group.people", SEVERAL: "not group.people"}
    template = ""
    for key, condition in conditions.items():
        if key in texts:
            keyword = "elif" if template else "if"
            template += f"{{% {keyword} group.count > 1 and {condition} %}}\n{shown(texts[key])}"
    return f"{template}{{% else %}}\n{composed}{{% endif %}}\n" if template else composed


def _chain(languages: Mapping[str, _Texts], tag: str) -> Iterator[tuple[str, _Texts]]:
    """Yield the texts of a language, of the prefixes of its tag, and of English."""
    for each in dict.fromkeys((*prefixes(tag), SOURCE)):
        if each in languages:
            yield each, languages[each]


def _by_language(tags: list[str], branch: Callable[[str], str]) -> str:
    """Return a template with a branch for each language that differs from English."""
    default = branch(SOURCE)
    branches = {tag: branch(tag) for tag in tags}
    template = ""
    for tag, text in branches.items():
        if text != default:
            keyword = "elif" if template else "if"
            template += f'{{% {keyword} language.tag == "{tag.lower()}" %}}\n{text}'
    return f"{template}{{% else %}}\n{default}{{% endif %}}\n" if template else default


def _shown(text: str) -> str:
    """Return the template of a text with placeholders."""
    parts = filter(None, _PLACEHOLDER.split(text))
    return "".join(_VALUES.get(each) or f"{{{{ {_literal(each)} }}}}" for each in parts) + "\n"


def _literal(text: str) -> str:
    """Return a string literal of Jinja.

    Characters outside ASCII are not escaped, because Jinja would read an escaped emoji as two
    characters.
    """
    return json.dumps(text, ensure_ascii=False)


def _isolated(spoken: str, tag: str, text: str) -> str:
    """Return the template of a text in the language `spoken` for readers of the language `tag`.

    Isolate the text if the languages have different directions.
    """
    ways = [str(Locale.parse(each, sep="-").text_direction) for each in (spoken, tag)]
    if ways[0] == ways[1]:
        return _shown(text)
    start = RIGHT_TO_LEFT_ISOLATE if ways[0] == RTL else LEFT_TO_RIGHT_ISOLATE
    return f"{start}{_shown(text).rstrip()}{POP_ISOLATE}\n"
