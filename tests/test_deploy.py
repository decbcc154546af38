"""The files of deploy/: every metric, setting, path and page that they name exists."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from fnmatch import fnmatch
from ipaddress import ip_address, ip_network
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY

from croupier.app.config import ServerConfig
from croupier.cli import app
from croupier.observers.metrics import METRICS
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.web.config import DEFAULT_PORT

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"

PROMQL_WORDS = {
    *("and", "or", "unless", "by", "on", "without", "rate", "increase", "changes", "sum", "count", "max", "vector"),
    "histogram_quantile",
}
GRAFANA_FUNCTIONS = {"label_values"}
SCRAPE_LABELS = {"job", "instance", "le"}


def read_yaml(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text("utf-8"))


def exported_series() -> dict[str, set[str]]:
    """The labels of each series that a server exports, by its name."""
    found = {"up": set[str]()}
    for info in METRICS:
        suffixes = ("_bucket", "_count", "_sum") if info.type == "histogram" else ("",)
        found |= {f"{info.name}{suffix}": {*info.labels} for suffix in suffixes}
    for metric in REGISTRY.collect():
        found |= {sample.name: {*sample.labels} for sample in metric.samples}
    return found


def check_query(query: str) -> set[str]:
    """Assert that all names of a PromQL query are known; return the series that it reads."""
    series = exported_series()
    labels = {
        label for matchers in re.findall(r"\{([^}]*)\}", query) for label in re.findall(r"(\w+)\s*[=!]", matchers)
    }
    groups = re.findall(r"\b(?:by|on|without)\s*\(([^)]*)\)", query)
    labels |= {label.strip() for group in groups for label in group.split(",")}
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(?:by|on|without)\s*\([^)]*\)|\"[^\"]*\"", " ", query)
    names = {*re.findall(r"[a-z_]\w*", bare)} - PROMQL_WORDS - GRAFANA_FUNCTIONS
    read = names & {*series}
    assert read, query
    assert names - read - labels - SCRAPE_LABELS - {label for name in read for label in series[name]} == set(), query
    assert labels <= SCRAPE_LABELS | {label for name in read for label in series[name]}, query
    return read


# Grafana and Prometheus.


def dashboard() -> Any:
    return json.loads((DEPLOY / "grafana" / "croupier.json").read_text("utf-8"))


def test_every_query_of_the_dashboard_names_exported_metrics_and_every_metric_is_shown() -> None:
    queries = [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", ())]
    queries += [variable["definition"] for variable in dashboard()["templating"]["list"] if variable["type"] == "query"]
    read = {series for query in queries for series in check_query(query)}
    shown = {re.sub(r"_(bucket|count|sum)$", "", series) for series in read}
    assert {info.name for info in METRICS} <= shown


def test_panels_of_the_dashboard_do_not_overlap_and_have_a_data_source() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in combinations(places, 2):
        assert (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        ), (one, other)
    for panel in panels:
        if panel["type"] != "row":
            assert panel["datasource"]["uid"] == "${datasource}"
            assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) > 0


def alerts() -> list[Any]:
    (group,) = read_yaml("prometheus/alerts.yml")["groups"]
    return list(group["rules"])


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_alert_names_exported_metrics_and_the_labels_that_its_summary_shows(alert: Any) -> None:
    check_query(alert["expr"])
    assert set(alert) <= {"alert", "expr", "for", "labels", "annotations"}
    assert alert["labels"]["severity"] in {"critical", "warning"}
    assert re.fullmatch(r"\d+[smh]", alert.get("for", "0s"))
    series = exported_series()
    known = {label for name in check_query(alert["expr"]) for label in series[name]} | SCRAPE_LABELS
    groups = [
        group for aggregate in re.findall(r"sum by \(([^)]*)\)", alert["expr"]) for group in aggregate.split(", ")
    ]
    kept = {*groups} if groups else known
    assert {*re.findall(r"\$labels\.(\w+)", alert["annotations"]["summary"])} <= kept


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    runbooks = re.findall(r"^### (Croupier\w+)$", page, re.MULTILINE)
    names = [alert["alert"] for alert in alerts()]
    assert runbooks == names
    assert len({*names}) == len(names)
    for alert in alerts():
        assert alert["annotations"]["runbook_url"] == f"docs/operating.md#{alert['alert'].lower()}"


@pytest.mark.parametrize("name", re.findall(r"^### (Croupier\w+)$", (ROOT / "docs/operating.md").read_text(), re.M))
def test_runbook_says_what_the_alert_means_how_to_confirm_it_and_what_to_do(name: str) -> None:
    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    text = re.split(r"^#{2,3} ", page.partition(f"### {name}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE) == ["Meaning", "Confirm", "Act"]


def test_prometheus_scrapes_the_nodes_of_the_compose_file_as_the_job_of_the_alerts() -> None:
    config = read_yaml("prometheus/prometheus.yml")
    (job,) = config["scrape_configs"]
    assert {*re.findall(r'job="(\w+)"', (DEPLOY / "prometheus" / "alerts.yml").read_text())} == {job["job_name"]}
    assert all((DEPLOY / "prometheus" / name).is_file() for name in config["rule_files"])
    nodes = [name for name in read_yaml("compose.yml")["services"] if name.startswith("node-")]
    (targets,) = job["static_configs"]
    assert targets["targets"] == [f"{node}:{metrics_port()}" for node in nodes]


# Settings.


def known_flags() -> set[str]:
    arguments = app["serve"]["kuhn"].assemble_argument_collection(parse_docstring=True)
    return {name for argument in arguments for name in argument.names}


def serve_settings(assignments: str) -> dict[str, str]:
    """Assert that the variables of assignments set what `serve` knows; return their values by the flags."""
    pairs = (word.split("=", 1) for word in shlex.split(assignments))
    prefix = "CROUPIER_SERVE_"
    found = {f"--{name.removeprefix(prefix).lower().replace('_', '-')}": value for name, value in pairs}
    assert {*found} <= known_flags()
    return found


def image_settings() -> dict[str, str]:
    """The settings of the image, which the variables of a container override."""
    assert json.loads(docker_instructions()["CMD"][-1]) == ["serve"]
    return serve_settings(docker_instructions()["ENV"][-1])


def metrics_port() -> int:
    return int(image_settings()["--metrics-port"])


# Docker.


def docker_instructions() -> dict[str, list[str]]:
    """The arguments of the instructions of the Dockerfile, by instruction."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text("utf-8"))
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            instruction, _, arguments = line.partition(" ")
            found.setdefault(instruction, []).append(arguments)
    return found


def test_dockerfile_copies_only_files_that_exist_and_are_not_ignored() -> None:
    patterns = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").split()
    assert patterns[0] == "*", "everything is ignored that is not named"
    kept = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    assert all((ROOT / path).exists() for path in kept)
    sources = [source for each in docker_instructions()["COPY"] for source in each.split()[:-1]]
    local = [source for source in sources if not source.startswith(("--from=", "/"))]
    assert {*local} == {*kept}
    assert not [
        source for source in local if any(fnmatch(source, pattern) for pattern in patterns[1:] if "!" not in pattern)
    ]


def test_dockerfile_follows_good_practice() -> None:
    instructions = docker_instructions()
    allowed = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"}
    assert {*instructions} == allowed | {"ENTRYPOINT", "CMD"}
    assert all(re.search(r":\d+\.\d+-", image) for image in instructions["FROM"]), "an exact version, not latest"
    assert len(instructions["FROM"]) == 2, "what builds is not what runs"
    assert instructions["USER"] == ["10001:10001"]
    assert all("--no-cache-dir" in each for each in instructions["RUN"] if "pip install" in each)
    assert any("--require-hashes" in each for each in instructions["RUN"])
    assert "sudo" not in " ".join(instructions["RUN"])
    assert instructions["ENTRYPOINT"] == ['["croupier"]']


def test_image_exposes_the_ports_of_all_rooms_the_web_app_and_the_metrics() -> None:
    (ports,) = docker_instructions()["EXPOSE"]
    expected = {*(room.port for room in ROOMS.values()), DEFAULT_PORT, metrics_port()}
    assert {int(port) for port in ports.split()} == expected


def test_health_check_of_the_image_asks_for_liveness() -> None:
    (check,) = docker_instructions()["HEALTHCHECK"]
    program = json.loads(check.partition("CMD ")[2])
    assert program[:2] == ["python", "-c"]
    compile(program[2], "HEALTHCHECK", "exec")
    assert f"http://127.0.0.1:{metrics_port()}/healthz" in program[2]


def locked(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements" / name).read_text("utf-8"), re.MULTILINE))


def test_image_has_the_locked_dependencies_of_a_server_as_they_are_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [project["optional-dependencies"][extra] for extra in ("bus", "postgresql", "tracing")]
    wanted = {re.split(r"[\[><=;]", need)[0] for needs in (project["dependencies"], *extras) for need in needs}
    server, tested = locked("server.txt"), {**locked("dev.txt"), **locked("run.txt")}
    assert wanted <= {*server}
    assert {name: version for name, version in server.items() if tested.get(name) != version} == {}


# Compose.


def test_compose_file_refers_to_what_it_defines() -> None:
    compose = read_yaml("compose.yml")
    services = compose["services"]
    for name, service in services.items():
        assert {*service.get("depends_on", ())} <= {*services}, name
        assert {*service["networks"]} <= {*compose["networks"]}, name
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in compose["volumes"], volume
        if "build" in service:
            context = DEPLOY / service["build"]["context"]
            assert (context / service["build"]["dockerfile"]).samefile(DEPLOY / "Dockerfile")
        elif service["image"] != "croupier":
            assert re.search(r":\d", service["image"]), "a version, not latest"


def test_nodes_of_the_compose_file_have_known_settings_and_names_of_their_own() -> None:
    services = read_yaml("compose.yml")["services"]
    nodes = {name: service for name, service in services.items() if name.startswith("node-")}
    assert len(nodes) == 3
    for name, node in nodes.items():
        prefix = "CROUPIER_SERVE_"
        settings = {key.removeprefix(prefix).lower() for key in node["environment"] if key.startswith(prefix)}
        assert settings <= set(ServerConfig.__dataclass_fields__)
        assert int(node["environment"]["CROUPIER_SERVE_HOUSES"]) >= len(nodes)
        assert node["environment"]["CROUPIER_SERVE_NODE"] == name
        assert node["environment"]["CROUPIER_SERVE_METRICS_PORT"] == str(metrics_port())
        assert node["environment"]["CROUPIER_SERVE_STORE"].partition("@")[2].partition("/")[0] in services
        assert node["command"] == ["serve"]
        for dependency in node["depends_on"]:
            assert "healthcheck" in services[dependency]


def test_nodes_trust_the_balancer_which_sends_the_address_of_the_client() -> None:
    compose = read_yaml("compose.yml")
    address = compose["services"]["balancer"]["networks"]["cluster"]["ipv4_address"]
    (subnet,) = compose["networks"]["cluster"]["ipam"]["config"]
    assert ip_address(address) in ip_network(subnet["subnet"])
    assert compose["services"]["node-1"]["environment"]["CROUPIER_SERVE_TRUSTED_PROXIES"] == address
    sections = re.split(r"^listen ", (DEPLOY / "haproxy.cfg").read_text("utf-8"), flags=re.MULTILINE)
    assert f"default-server check port {metrics_port()}" in sections[0]
    assert "option httpchk GET /readyz" in sections[0]
    nodes = [name for name in compose["services"] if name.startswith("node-")]
    ports = {room.name: room.port for room in ROOMS.values()} | {"web": DEFAULT_PORT}
    assert {section.split()[0] for section in sections[1:]} == {*ports}
    for section in sections[1:]:
        name = section.split()[0]
        port = ports[name]
        servers = re.findall(r"server (\S+) (\S+)( send-proxy-v2)?(.*)$", section, re.MULTILINE)
        assert f"bind :{port}\n" in section
        assert f"{port}:{port}" in compose["services"]["balancer"]["ports"]
        has_proxy_protocol = name in {*HOUSE_ROOMS, "oldmaid"}
        assert [each[:3] for each in servers] == [
            (node, f"{node}:{port}", " send-proxy-v2" * has_proxy_protocol) for node in nodes
        ]
        option = " cookie {}" if name == "web" else ""
        assert [each[3] for each in servers] == [option.format(node) for node in nodes]
        assert ("option forwardfor" in section) is not has_proxy_protocol


# systemd.


def read_unit() -> ConfigParser:
    unit = ConfigParser(strict=False, interpolation=None, comment_prefixes=("#", ";"), delimiters=("=",))
    unit.optionxform = str
    unit.read(DEPLOY / "systemd" / "croupier.service")
    return unit


def test_unit_starts_a_server_with_known_settings_as_an_unprivileged_user() -> None:
    service = read_unit()["Service"]
    assert service["ExecStart"] == "/opt/croupier/bin/croupier serve", "a flag would override the environment"
    assert serve_settings(service["Environment"])["--store"].startswith("%S/croupier/")
    assert service["User"] not in {"", "root"}
    assert int(service["TimeoutStopSec"]) > ServerConfig().drain_seconds
    for name in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "RestrictNamespaces", "MemoryDenyWriteExecute"):
        assert service[name] == "yes"
    assert (service["ProtectSystem"], service["CapabilityBoundingSet"]) == ("strict", "")


@pytest.mark.extended
def test_systemd_finds_no_fault_in_the_unit_and_little_exposure(tmp_path: Path) -> None:
    """On machines with systemd."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        return
    unit = tmp_path / "croupier.service"
    text = (DEPLOY / "systemd" / "croupier.service").read_text("utf-8")
    unit.write_text(text.replace("/opt/croupier/bin/croupier", sys.executable))
    for options in (["verify", "--man=no"], ["security", "--offline=true", "--threshold=20"]):
        done = subprocess.run([analyze, *options, unit], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
