"""The files in `deploy/` name options that there are."""

import re
from pathlib import Path

import yaml

from dragoman.cli.main import build_parser
from dragoman.serving.settings import read_settings

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_the_settings_file_is_read() -> None:
    settings = read_settings({}, DEPLOY / "serve.toml", {})
    assert settings.models_dir == "/var/lib/dragoman/models"
    unit = (DEPLOY / "dragoman.service").read_text()
    [command] = re.findall(r"ExecStart=\S+/dragoman (.*)", unit)
    build_parser().parse_args(command.split())


def test_the_manifest_starts_what_there_is() -> None:
    deployment, service = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    options = build_parser().parse_args(["serve", *container["args"]])
    assert options.host == "0.0.0.0"
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] == 8718
    assert service["spec"]["ports"][0]["targetPort"] == 8718


def test_the_container_starts_what_there_is() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    [command] = re.findall(r"^CMD \[(.*)\]$", text, re.MULTILINE)
    build_parser().parse_args(["serve", *re.findall(r'"([^"]*)"', command)])
    assert "USER 10001" in text
