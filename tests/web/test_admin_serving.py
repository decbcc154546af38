"""The administration of a real server: where its token comes from, and draining."""

import re
from pathlib import Path

import httpx
import pytest

from tests.processes import PATIENCE, Serving, croupier

TOKEN = "a token of some length"
FLAGS = ("kuhn", "--port", 0, "--web-port", 0, "--drain-seconds", 0)


def form_token(page: httpx.Response) -> str:
    return re.findall(r'name="csrf" value="([^"]+)"', page.text)[0]


@pytest.mark.parametrize("source", ["file", "variable"])
def test_an_administrator_drains_the_server(source: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    flags = ("--admin-token-file", tmp_path / "token") if source == "file" else ()
    variables = {"CROUPIER_ADMIN_TOKEN": TOKEN} if source == "variable" else {}
    with Serving(*FLAGS, *flags, variables=variables, ready=2) as server:
        with httpx.Client(base_url=f"http://127.0.0.1:{server.ports['web']}", timeout=PATIENCE) as client:
            csrf = form_token(client.get("/admin"))
            assert client.post("/admin", data={"csrf": csrf, "token": TOKEN}).status_code == 303
            assert client.post("/play", data={"csrf": csrf, "room": "kuhn"}).status_code == 303
            page = client.get("/admin").text
            assert "Drain the server" in page
            for row in ("Kuhn poker", "Kuhn poker kuhn-1"):
                assert f'<tr><th scope="row">{row}</th><td></td><td class="number">1</td></tr>' in page
            assert client.post("/admin/drain", data={"csrf": csrf}).status_code == 200
        assert server.end() == 0
        assert TOKEN not in server.log


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        (("--web-port", "0"), "found an administrator's token of 5 characters; allowed: 16 or more"),
        (("--no-web",), "found --admin-token-file without a web app; allowed: both"),
    ],
)
def test_an_unusable_token_is_an_error_that_does_not_show_it(
    flags: tuple[str, ...], error: str, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("short")
    done = croupier("serve", "kuhn", "--port", 0, *flags, "--admin-token-file", tmp_path / "token")
    assert (done.returncode, error in done.stderr, done.stdout) == (2, True, "")
    assert "short" not in done.stderr


def test_a_token_file_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    done = croupier("serve", "kuhn", "--port", 0, "--web-port", 0, "--admin-token-file", tmp_path / "none")
    assert (done.returncode, "No such file" in done.stderr, done.stdout) == (2, True, "")
