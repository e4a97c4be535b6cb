"""Pages that the commands write, in a browser without network: what is drawn, and what the pointer shows."""

import json
import os
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next((found for found in map(shutil.which, NAMES) if found), None)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1300,900",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=3000",
)  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason=f"no browser: none of {', '.join(NAMES)} is on the search path"),
]

PROBE = """
<pre id="found"></pre><script>
const found = {errors: window.problems || [], painted: [], said: []};
for (const one of document.querySelectorAll("canvas")) {
  const data = one.getContext("2d").getImageData(0, 0, one.width, one.height).data;
  const colours = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3]) colours.add(data[i] + "," + data[i + 1] + "," + data[i + 2]);
  found.painted.push(colours.size);
}
MOVES
document.getElementById("found").textContent = JSON.stringify(found);
</script>
"""
LISTEN = "<script>window.problems = []; window.onerror = text => { window.problems.push(String(text)); };</script>"
OVER_EVERYTHING = """
for (const one of document.querySelectorAll("canvas")) {
  const box = one.getBoundingClientRect();
  for (let y = 2; y < box.height; y += 9) for (let x = 1; x < box.width; x += box.width / 400) {
    one.dispatchEvent(new MouseEvent("mousemove", {clientX: box.left + x, clientY: box.top + y}));
    const text = WHERE;
    if (text.trim() && !found.said.includes(text)) found.said.push(text);
  }
}
"""


def opened(page: Path, moves: str = "") -> dict:
    """Return what a browser finds in a page: errors of its scripts, colours of each canvas, texts under the pointer."""
    looked_at = page.with_suffix(".probe.html")
    text = page.read_text(encoding="utf-8")
    text = text.replace('<meta charset="utf-8">', f'<meta charset="utf-8">{LISTEN}', 1)
    assert LISTEN in text
    looked_at.write_text(text + PROBE.replace("MOVES", moves), encoding="utf-8")
    profile = page.parent / "profile"
    command = [BROWSER, *FLAGS, f"--user-data-dir={profile}", "--dump-dom", looked_at.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(unescape(done.stdout.partition('<pre id="found">')[2].partition("</pre>")[0]))


def program(code: str, folder: Path, *, device: bool = False) -> None:
    """Run a program of ours in a process of its own, on the simulated NPU if asked for."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sorted(ROOT.glob("packages/*/src"))))}
    if device:
        environment["MINDTORCH_NPU_SIMULATOR"] = "Ascend910B3:1,memory=1GiB"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_trace_is_drawn_and_says_what_lies_under_the_pointer(tmp_path):
    code = """
import mindtorch as torch
from mindtorch.__main__ import main
model = torch.nn.Linear(64, 64)
with torch.profiler.profile() as profile:
    for _ in range(3):
        with torch.profiler.record_function("one <step> & more"):
            model(torch.ones(64, 64)).sum().backward()
profile.export_chrome_trace("trace.json")
raise SystemExit(main(["view", "trace.json"]))
"""
    program(code, tmp_path)
    text = 'document.getElementById("shown").textContent'
    found = opened(tmp_path / "trace.html", OVER_EVERYTHING.replace("WHERE", text))
    assert found["errors"] == []
    assert len(found["painted"]) == 1
    assert found["painted"][0] > 5  # the bars have the colours of their names
    said = {text.rpartition(": ")[0] for text in found["said"]}
    assert "one <step> & more" in said
    assert any(name.startswith("aten::") for name in said)
    assert all(text.endswith(" µs") for text in found["said"])


def test_a_memory_snapshot_is_drawn_and_says_what_lies_under_the_pointer(tmp_path):
    code = """
from mindtorch_npu import diagnostics, memory
memory.record_memory_history()
blocks = [memory.caching_allocator_alloc(size) for size in (1000, 5 << 20, 30 << 20)]
memory.caching_allocator_delete(blocks[1])
memory.dump_snapshot("snapshot.pickle")
raise SystemExit(diagnostics.main(["snapshot", "view", "snapshot.pickle", "-o", "snapshot.html"]))
"""
    program(code, tmp_path, device=True)
    widths = """
found.bars = [...document.querySelectorAll(".bar")].map(bar => [...bar.children].map(one => one.getBoundingClientRect().width));
"""
    text = "one.nextSibling.textContent"
    found = opened(tmp_path / "snapshot.html", OVER_EVERYTHING.replace("WHERE", text) + widths)
    assert found["errors"] == []
    assert len(found["painted"]) == 1
    assert found["painted"][0] >= 2  # reserved and allocated
    assert sum("alloc: allocated" in text for text in found["said"]) >= 2
    assert len(found["bars"]) == 3
    assert all(sum(bar) > 500 for bar in found["bars"])


def test_charts_are_shown_at_their_size(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {str(ROOT / "tools" / "site")!r})
import charts
parts = [charts.bars([("add", 0.2, "0.2"), ("a & b", 1.5, "1.5")], 1.0, "ratios"), charts.curve([3.0, 2.0, 1.5], "loss")]
page = '<!doctype html><html><meta charset="utf-8"><body style="width:1000px">' + "".join(parts) + "</body></html>"
open("charts.html", "w").write(page)
"""
    program(code, tmp_path)
    sizes = """
found.sizes = [...document.querySelectorAll("svg")].map(one => [one.getBoundingClientRect().width, one.getBBox().width]);
found.texts = [...document.querySelectorAll("svg text")].map(one => one.textContent);
"""
    found = opened(tmp_path / "charts.html", sizes)
    assert found["errors"] == []
    assert [round(shown) for shown, _ in found["sizes"]] == [1000, 1000]
    assert all(drawn > 300 for _, drawn in found["sizes"])
    assert {"a & b", "1.5", "step 3"} <= set(found["texts"])
