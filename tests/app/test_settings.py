"""Settings from flags, environment variables and a TOML file, in this order of precedence."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from croupier.rooms import ROOMS
from tests.processes import FREE_PORTS, PATIENCE, Serving, croupier, environment
from tests.sampling import sampled

NO_COINS = b"FAIL N_C"


def bet_with_the_purse(serving: Serving) -> bytes:
    """Bet in one game and return the answers, which depend on the number of coins."""
    return serving.talk(b"STRT P_1ACTN BET")


def write_config(path: Path, text: str) -> Path:
    file = path / "croupier.toml"
    file.write_text(text)
    return file


def test_all_rooms_open_by_default() -> None:
    with Serving("--no-web", variables=FREE_PORTS, ready=len(ROOMS)) as serving:
        assert {*serving.ports} == {*ROOMS}
        assert all(port != room.port for room, port in zip(ROOMS.values(), serving.ports.values(), strict=True))
        assert serving.talk(b"ACTN BET", room="kuhn") == b"FAIL W_A"


def test_variable_sets_an_option() -> None:
    with Serving("kuhn", variables={"CROUPIER_SERVE_KUHN_PORT": "0", "CROUPIER_SERVE_KUHN_COINS": "0"}) as serving:
        assert bet_with_the_purse(serving).startswith(NO_COINS)


def test_file_sets_an_option(tmp_path: Path) -> None:
    file = write_config(tmp_path, '[serve.kuhn]\nport = 0\ncoins = 0\nbot = "random"\n')
    with Serving("kuhn", "--config", file) as serving:
        assert bet_with_the_purse(serving).startswith(NO_COINS)


def test_flag_overrides_variable_and_variable_overrides_file(tmp_path: Path) -> None:
    file = write_config(tmp_path, "[serve.kuhn]\nport = 0\ncoins = 0\n")
    with Serving("kuhn", "--config", file, variables={"CROUPIER_SERVE_KUHN_COINS": "1"}) as serving:
        assert bet_with_the_purse(serving).endswith(b"FAIL N_C")
        assert not bet_with_the_purse(serving).startswith(NO_COINS)
    variables = {"CROUPIER_SERVE_KUHN_COINS": "0"}
    with Serving("kuhn", "--config", file, "--coins", 2, "--bot", "script:CAL", variables=variables) as serving:
        assert b"FAIL" not in bet_with_the_purse(serving)


def test_common_settings_apply_to_each_room(tmp_path: Path) -> None:
    file = write_config(tmp_path, "[serve]\nstrict = true\n[serve.kuhn]\nport = 0\n")
    with Serving("kuhn", "--config", file) as serving:
        assert serving.talk(b"\n\n\n\n") == b"FAIL W_ADISC"
    with Serving("--no-web", "--config", file, variables=FREE_PORTS) as serving:
        assert serving.talk(b"\n\n\n\n") == b"FAIL W_ADISC"


def test_room_settings_override_common_settings(tmp_path: Path) -> None:
    file = write_config(tmp_path, "[serve]\nstrict = true\n[serve.kuhn]\nport = 0\nstrict = false\n")
    with Serving("kuhn", "--config", file) as serving:
        assert serving.talk(b"\n\n\n\nACTN BET") == b"FAIL W_A"


def test_common_variable_applies_to_each_room() -> None:
    variables = FREE_PORTS | {"CROUPIER_SERVE_STRICT": "true"}
    for arguments in (("--no-web",), ("kuhn",)):
        with Serving(*arguments, variables=variables) as serving:
            assert serving.talk(b"\n\n\n\n") == b"FAIL W_ADISC"


def test_file_and_common_flags_are_combined(tmp_path: Path) -> None:
    (tmp_path / "deck").write_text("K\nQ\n")
    file = write_config(tmp_path, f'[serve.kuhn]\nport = 0\nbot = "script:CAL"\ndeck = "{tmp_path / "deck"}"\n')
    with Serving("--no-web", "--config", file, "--strict", variables=FREE_PORTS) as serving:
        assert serving.talk(b"STRT P_1ACTN BET\n\n\n\n") == b"CARD C_KCARD C_QFAIL W_ADISC"


MISTAKES = {
    "unknown-room-setting": ("[serve.kuhn]\nport = 0\ncoin = 3\n", "coin"),
    "unknown-shared-setting": ("[serve]\nstrickt = true\n[serve.kuhn]\nport = 0\n", "strickt"),
    "bad-value": ('[serve.kuhn]\nport = 0\ncoins = "many"\n', "many"),
    "no-toml": ("[serve.kuhn\n", "croupier.toml"),
    "serve-is-no-table": ("serve = 3\n", "serve"),
    "room-is-no-table": ("[serve]\nkuhn = 3\n", "kuhn"),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
@pytest.mark.parametrize("rooms", sampled([[], ["kuhn"]], 2), ids=["every-room", "one-room"])
def test_mistake_in_the_file_is_an_error(tmp_path: Path, text: str, message: str, rooms: list[str]) -> None:
    done = croupier("serve", *rooms, "--config", write_config(tmp_path, text))
    assert done.returncode != 0
    assert message in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("rooms", "variable", "message"),
    [
        (["kuhn"], "CROUPIER_SERVE_KUHN_COINZ", "the nearest setting of `croupier serve kuhn` is 'coins'"),
        ([], "CROUPIER_SERVE_KUHN_COINZ", "the nearest setting of `croupier serve kuhn` is 'coins'"),
        (["kuhn"], "CROUPIER_SERVE_STRICKT", "the nearest setting of `croupier serve kuhn` is 'strict'"),
        ([], "CROUPIER_SERVE_STRICKT", "the nearest setting of `croupier serve` is 'strict'"),
    ],
)
def test_a_misspelt_variable_is_an_error(rooms: list[str], variable: str, message: str) -> None:
    done = croupier("serve", *rooms, variables={variable: "1"})
    assert done.returncode == 2
    assert f"found the variable {variable}; {message}" in done.stderr


def test_variables_of_other_rooms_are_no_error() -> None:
    others = {"CROUPIER_SERVE_BLINDS": "5/10", "CROUPIER_SERVE_HOLDEM_STACK": "200"}
    with Serving("kuhn", "--port", 0, variables=others) as serving:
        assert serving.talk(b"ACTN BET") == b"FAIL W_A"


def test_missing_file_is_an_error() -> None:
    done = croupier("serve", "kuhn", "--config", "/nowhere/croupier.toml")
    assert done.returncode != 0
    assert "/nowhere/croupier.toml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kuhn", "--prot", "0"), "--prot"),
        (("kuhn", "--port", "x"), "x"),
        (("kuhn", "--port", "0", "--coins", "many"), "many"),
        (("kuhn", "--port", "0", "--coins", "-1"), "-1"),
        (("kuhn", "--port", "0", "--bot", "genius"), "genius"),
        (("kuhn", "--port", "0", "--bot", "script:HIT"), "HIT"),
        (("kuhn", "--port", "0", "--log-level", "loud"), "loud"),
        (("kuhn", "--port", "70000"), "70000"),
        (("kuhn", "--port", "0", "--host", "no.such.host.invalid"), "no.such.host.invalid"),
        (("kuhn", "--port", "0", "--accounts", "address", "--referee"), "--referee with --accounts"),
        (("chess",), "chess"),
    ],
)
def test_mistake_on_the_command_line_is_an_error(arguments: tuple[str, ...], message: str) -> None:
    done = croupier("serve", *arguments)
    assert done.returncode != 0
    assert message in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_port_in_use_is_an_error() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        done = croupier("serve", "kuhn", "--port", port)
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "in use" in done.stderr
    assert done.stdout == ""


def test_metrics_port_in_use_is_an_error() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        done = croupier("serve", "kuhn", "--port", 0, "--metrics-port", port)
    assert done.returncode == 1
    assert str(port) in done.stderr
    assert "in use" in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_no_heavy_modules(arguments: list[str]) -> None:
    program = f"""
import sys
from croupier.cli import main
try:
    main({arguments!r})
except SystemExit as end:
    assert not end.code, end.code
heavy = {{"asyncio", "uvloop", "msgspec", "prometheus_client", "structlog", "ssl", "croupier.net"}} & {{*sys.modules}}
sys.exit(f"help imported {{sorted(heavy)}}" if heavy else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_python_m_croupier() -> None:
    done = croupier("--help")
    assert done.returncode == 0
    assert "serve" in done.stdout
