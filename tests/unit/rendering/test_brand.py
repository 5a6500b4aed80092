"""A brand file that readers could not read, or that says nothing, is refused in words."""

import json
from pathlib import Path

import pytest
from gazette.adapters.rendering.brand import (
    DARK,
    Brand,
    BrandError,
    contrast,
    lightened,
    read_brand,
)

GOOD = {"name": "Shop", "postal_address": "Shop Ltd, 1 High Street, London"}


def read(folder: Path, **given: object) -> Brand:
    file = folder / "brand.json"
    file.write_text(json.dumps({**GOOD, **given}))
    return read_brand(file)


def test_brand_requires_only_name_and_address(tmp_path: Path) -> None:
    brand = read(tmp_path)
    assert (brand.name, brand.logo, brand.accent) == ("Shop", "", "#1d4ed8")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"colour": "#000000"}, "unknown field 'colour'; allowed are name, postal_address, accent"),
        ({"name": " "}, "name is missing"),
        ({"postal_address": ""}, "postal_address is missing"),
        ({"name": 7}, "name must be a string"),
        ({"logo_width": "120"}, "logo_width must be a whole number"),
        ({"logo_width": True}, "logo_width must be a whole number"),
        ({"person_in_from": 1}, "person_in_from must be true or false"),
        ({"reply_to": "help@shop.example"}, "reply_to must be an object of addresses"),
        ({"reply_to": {"Build": "a@shop.example"}}, "reply_to: 'Build' is neither a category"),
        ({"reply_to": {"*": "help"}}, "reply_to: the value of '.' must be an address"),
        ({"reply_to": {"*": "a@shop.example\nBcc: b@x.example"}}, "must be an address"),
        ({"reply_to": {"message": 7}}, "reply_to: the value of 'message' must be an address"),
        ({"person_in_from": "true"}, "person_in_from must be true or false"),
        ({"logo": "javascript:alert(1)"}, "logo must be a web address"),
        ({"logo": "http://shop.example/logo.png"}, "logo must be a web address that begins"),
        ({"logo_dark": "https://shop.example/dark.png"}, "logo_dark requires logo"),
        ({"help": "https://shop.example/<x>"}, "help must be a web address that begins"),
        ({"logo": "https://[::1"}, "logo must be a web address that begins"),
        ({"home": "https://[shop]/"}, "home must be a web address that begins"),
        ({"logo_width": 0}, "logo_width must be 1 to 536 pixels"),
        ({"logo_height": 537}, "logo_height must be 1 to 536 pixels"),
        ({"name": "Shop\u202e"}, "name must be one line without control characters"),
        ({"name": "Shop\ud800"}, "name must be one line"),
        ({"postal_address": "1 High Street\nTown"}, "postal_address must be one line"),
        ({"home": "shop.example"}, "home must be a web address"),
        ({"accent": "blue"}, "accent must be like #1d4ed8"),
        ({"accent": "#fbbf24"}, "accent has a contrast of 1.7 on #ffffff; .* a darker shade"),
        ({"accent_dark": "#1d4ed8"}, "accent_dark has a contrast of 2.6 on .* a lighter shade"),
    ],
)
def test_invalid_brand_field_is_named_in_the_error(
    tmp_path: Path, given: dict[str, object], said: str
) -> None:
    with pytest.raises(BrandError, match=said):
        read(tmp_path, **given)


@pytest.mark.parametrize("text", ["", "{", "[1]", "null"])
def test_brand_must_be_a_json_object(tmp_path: Path, text: str) -> None:
    file = tmp_path / "brand.json"
    file.write_text(text)
    with pytest.raises(BrandError, match=r"brand\.json: (?:not JSON|the file must be an object)"):
        read_brand(file)


def test_contrast_follows_the_wcag_formula() -> None:
    """Known values: black on white is 21; #767676 is the lightest grey that passes on white."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize(
    ("categories", "expected"),
    [
        (["message"], "m@shop.example"),
        (["order", "receipt"], "o@shop.example"),
        (["message", "order"], "help@shop.example"),
        (["comment"], "help@shop.example"),
        ([], "help@shop.example"),
    ],
)
def test_replies_go_to_the_address_of_the_categories(
    tmp_path: Path, categories: list[str], expected: str
) -> None:
    own = {"message": "m@shop.example", "order": "o@shop.example", "receipt": "o@shop.example"}
    brand = read(tmp_path, reply_to={"*": "help@shop.example", **own})
    assert brand.replies_to(categories) == expected
    assert read(tmp_path).replies_to(categories) == ""


@pytest.mark.parametrize("accent", ["#000000", "#1d4ed8", "#b91c1c", "#15803d", "#0000ff"])
def test_dark_accent_is_derived_from_the_accent_with_enough_contrast(
    tmp_path: Path, accent: str
) -> None:
    """WCAG 2.2, success criteria 1.4.3 and 1.4.6. https://www.w3.org/TR/WCAG22/#contrast-enhanced"""
    brand = read(tmp_path, accent=accent)
    assert contrast(brand.accent_dark, DARK) >= 7
    was, dark = (
        [int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in (accent, brand.accent_dark)
    )
    assert all(before <= after for before, after in zip(was, dark, strict=True))
    assert [each == max(was) for each in was] == [each == max(dark) for each in dark]  # the hue


def test_dark_accent_is_not_derived_if_it_is_set(tmp_path: Path) -> None:
    assert read(tmp_path, accent="#b91c1c", accent_dark="#fde047").accent_dark == "#fde047"
    assert read(tmp_path).accent_dark == "#93c5fd"


def test_colour_with_enough_contrast_in_dark_mode_stays_as_it_is() -> None:
    assert lightened("#93c5fd") == "#93c5fd"
    assert lightened("#1d4ed8") == "#87a1ea"
