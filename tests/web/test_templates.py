"""The templates with sample data: what the Content-Security-Policy forbids, tokens of forms, and references."""

import re
from pathlib import Path

import pytest
from jinja2 import nodes

from tests.web.browser.gallery import WEB, make_environment
from tests.web.samples import PAGES

ENVIRONMENT = make_environment()
SCRIPTS = sorted((WEB / "static").glob("*.*js"))


def render(name: str) -> str:
    template, context = PAGES[name]
    return ENVIRONMENT.get_template(template).render({"rooms": [], "theme": "auto"} | context)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_nothing_that_the_policy_forbids(name: str) -> None:
    html = render(name)
    assert not re.search(r"\sstyle=|\son\w+=|<style|javascript:|https?://", html)
    assert all('src="/static/' in tag for tag in re.findall(r"<script[^>]*>", html))


@pytest.mark.parametrize("name", PAGES)
def test_every_form_that_changes_something_has_the_token(name: str) -> None:
    forms = re.findall(r"<form[^>]*method=\"post\".*?</form>", render(name), re.DOTALL)
    assert forms
    assert all('name="csrf" value="token"' in form for form in forms)


@pytest.mark.parametrize("name", PAGES)
def test_ids_are_unique_and_every_reference_has_one(name: str) -> None:
    html = render(name)
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len({*ids})
    for referring in re.findall(r'\s(?:for|form|aria-labelledby|aria-describedby)="([^"]+)"', html):
        assert {*referring.split()} <= {*ids}


def test_static_files_that_are_named_exist() -> None:
    named = {file for name in PAGES for file in re.findall(r'"/static/([^"#]+)', render(name))}
    assert named - {"french.svg", "spanish.svg", "report.css"} == {
        path.name for path in (WEB / "static").iterdir() if path.name != "live.js"
    }


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_import_their_neighbours_and_evaluate_nothing(script: Path) -> None:
    source = script.read_text()
    for imported in re.findall(r'from "(.+)"', source):
        assert (script.parent / imported).exists()
    assert not re.search(
        r"eval\(|new Function|document\.write|\.style\b|https?://(?! )", source.replace("http:// ", "")
    )
    assert source.count("innerHTML") == (script.name == "live.js")


def test_every_template_is_shown_by_a_page() -> None:
    """A template that no sample renders would be checked by no test."""
    shown, found = set(), {template for template, _ in PAGES.values()}
    while found:
        name = found.pop()
        shown.add(name)
        tree = ENVIRONMENT.parse((WEB / "templates" / name).read_text())
        referred = tree.find_all((nodes.Extends, nodes.Include, nodes.FromImport))
        found |= {each.template.value for each in referred} - shown  # type: ignore[attr-defined]  # a constant
    assert shown == {str(path.relative_to(WEB / "templates")) for path in (WEB / "templates").rglob("*.html")}


def test_a_dialogue_says_what_is_not_a_whole_message() -> None:
    assert "(only the beginning of a message)" in render("check-run")
