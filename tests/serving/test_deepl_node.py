"""The unmodified npm package `deepl-node` against a real server."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.serving.conftest import Running

SCRIPT = """
const deepl = require("deepl-node");
(async () => {
  const client = new deepl.DeepLClient("any-key", { serverUrl: process.argv[2] });
  const texts = await client.translateText(["Number 12345", "<b>x</b>"], null, "es",
    { tagHandling: "html" });
  const usage = await client.getUsage();
  const entries = new deepl.GlossaryEntries({ entries: { friend: "compadre" } });
  const glossary = await client.createGlossary("g", "en", "es", entries);
  const bound = await client.translateText("My friend", "en", "es", { glossary });
  await client.deleteGlossary(glossary);
  let refused = "";
  try { await client.translateText("x", null, "ja"); }
  catch (error) { refused = error.message; }
  const from = texts[0].detectedSourceLang, count = usage.character.count;
  const said = { texts: texts.map((t) => t.text), from, count, bound: bound.text };
  console.log(JSON.stringify({ ...said, refused }));
})();
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, in_ci: bool) -> Path:
    folder = tmp_path_factory.mktemp("deepl-node")
    npm = shutil.which("npm")
    reason = "there is no npm here"
    if npm is not None:
        command = [npm, "install", "--silent", "--no-audit", "--no-fund", "deepl-node"]
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode == 0:
            return folder
        reason = f"npm cannot fetch deepl-node: {done.stderr[-200:]}"
    if in_ci:
        pytest.fail(reason)
    pytest.skip(reason)


def test_deepl_node_is_answered(server: Running, package: Path) -> None:
    (package / "ask.js").write_text(SCRIPT)
    done = subprocess.run(
        ["node", "ask.js", server.url],
        cwd=package,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert "12345" in said["texts"][0]
    assert said["texts"][1].count("<b>") == 1
    assert said["from"] == "en"
    assert said["count"] > 0
    assert "compadre" in said["bound"]
    assert "not supported" in said["refused"]
