"""The page of the portable kernel in a real browser, with one worker and with several: its receipts are such as aurabench takes,
and say of artifact and value what the native kernel says. Needs a chromium, and a build for wasm32."""

import http.server
import json
import pathlib
import queue
import shutil
import subprocess
import threading

import harness
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = ROOT / "workloads/portable-kernel"
MODULE = harness.CLIENT.parent / "workloads/portable-kernel/aurabench-kernel.wasm"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [pytest.mark.skipif(not CHROMIUM, reason="there is no chromium"),
              pytest.mark.skipif(not MODULE.exists(), reason="the build has no module for a page: clang does not build for wasm32")]

# The page in a frame of some width: says how it looks when it is done.
FRAME = """<!doctype html><iframe id="frame" style="border: 0; height: 900px"></iframe><script type="module">
const given = new URLSearchParams(location.search), frame = document.getElementById("frame");
const ended = async () => {
  for (;;) {
    const page = frame.contentDocument, state = page?.getElementById("state")?.textContent ?? "";
    if (page?.location.search === asked && (state === "done" || state.startsWith("failed"))) return page;
    await new Promise((go) => setTimeout(go, 20));
  }
};
let asked = "?" + given.get("query");
frame.width = given.get("width");
frame.src = "benchmark.html" + asked;
let page = await ended();
if (given.get("again")) {
  const form = page.forms.asked;
  form.elements.workers.value = given.get("again");
  asked = "?" + new URLSearchParams(new FormData(form));
  form.querySelector("button").click();
  page = await ended();
}
const root = page.documentElement, shown = page.getElementById("receipt").textContent;
await fetch("/looks", { method: "POST", body: JSON.stringify({
  state: page.getElementById("state").textContent, hidden: page.getElementById("done").hidden,
  wide: root.scrollWidth, window: root.clientWidth, batch: page.getElementById("batch").textContent,
  rows: [...page.querySelectorAll("#figures tr")].map((r) => [...r.cells].map((c) => c.textContent)),
  workers: page.forms.asked.elements.workers.value, receipt: shown && JSON.parse(shown) }) });
</script>"""

# A kernel that says something else in one worker, from some start on.
LIAR = """import { Kernel as Honest, canonical } from "./honest.mjs";
let starts = 0;
export { canonical };
export class Kernel extends Honest {
  start(...given) {
    const value = super.start(...given);
    return self.name === "worker 2" && starts++ >= FROM ? value.replace("1", "2") : value;
  }
}
"""


@pytest.fixture
def site(tmp_path):
    """The page's folder, served on this machine alone; what the page posts comes out of the queue."""
    folder = tmp_path / "site"
    shutil.copytree(KERNEL / "browser", folder)
    for path in [*(KERNEL / "example").iterdir(), MODULE]:
        shutil.copy(path, folder)
    posted = queue.Queue()

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript",
                          ".wasm": "application/wasm"}

        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def do_POST(self):
            posted.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}", posted
    server.shutdown()
    server.server_close()
    thread.join()


def visit(tmp_path: pathlib.Path, site, query: str, page: str = "benchmark.html?post=/receipt&") -> dict:
    _, address, posted = site
    browser = subprocess.Popen(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1400,1000",
         f"--user-data-dir={tmp_path / 'profile'}", f"{address}/{page}{query}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**harness.CLEAN_ENV, "HOME": str(tmp_path)})
    try:
        return posted.get(timeout=harness.PATIENCE_S)
    finally:
        browser.terminate()
        browser.wait(harness.PATIENCE_S)


def written(path: pathlib.Path, receipt: dict) -> pathlib.Path:
    path.write_text(json.dumps(receipt))
    return path


def native(*args) -> dict:
    done = subprocess.run([str(harness.CLIENT), "kernel", "--json", *map(str, args)], env={**harness.CLEAN_ENV, "HOME": "/nonexistent"},
                          capture_output=True, text=True, timeout=harness.PATIENCE_S)
    return json.loads(done.stdout)


def check_receipt(receipt: dict, workers: int, dispatches: int) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(json.loads((ROOT / "proto/schema/kernel.json").read_text())).validate(receipt)
    assert receipt["target"] == "browser" and receipt["decode"] is None and receipt["initializationMs"] >= 0
    assert receipt["workers"] == workers
    assert receipt["iterations"] == receipt["dispatch"]["repeated"]["iterations"] == dispatches
    batch = receipt["dispatch"]
    assert batch["throughputPerSecond"] == pytest.approx(dispatches / batch["batchWallMs"] * 1000)
    assert batch["repeated"]["total_ms"] <= batch["batchWallMs"] * workers * 1.000001


@pytest.mark.parametrize("workers", [1, 3])
def test_the_page_makes_receipts_that_are_taken_in_and_compared(workers, tmp_path, site):
    query = f"dispatches=200&compiles=10&workers={workers}"
    one, two = (visit(tmp_path, site, query)["receipt"] for _ in range(2))
    check_receipt(one, workers, 200)
    check_receipt(two, workers, 200)
    paths = [written(tmp_path / f"{i}.json", r) for i, r in enumerate((one, two))]
    daemon = harness.Daemon(tmp_path).start()
    try:
        ids = [daemon.json("kernel", "--import", path, "--machine", "lab-3")["id"] for path in paths]
        assert daemon.json("kernel", "--show", ids[0])["receipt"] == one
        assert daemon.json("kernel", "--diff", *ids)["figures"]
    finally:
        daemon.close()
    assert native("--diff", *paths, "--machine", "lab-3")["figures"]


def test_a_browser_and_a_native_kernel_agree_in_what_they_make_and_are_not_compared(tmp_path, site):
    several = visit(tmp_path, site, "dispatches=200&compiles=10&workers=2")["receipt"]
    here = native(KERNEL / "example/reducer.pk", "--entry", "reduce", "--threads", "2",
                  "--input", KERNEL / "example/reducer-input.json")["receipt"]
    for key in ("artifactDigest", "terminalDigest", "artifactBytes"):
        assert several[key] == here[key]
    for key in ("sourceDigest", "inputDigest", "semanticAbiFingerprint", "opcodeAbiFingerprint", "kernelVersion"):
        assert several["provenance"][key] == here["provenance"][key]
    path = written(tmp_path / "several.json", several)
    there = written(tmp_path / "native.json", here)
    assert "targets differ" in native("--diff", path, there, "--machine", "lab-3")["error"]["message"]
    alone = written(tmp_path / "alone.json", visit(tmp_path, site, "dispatches=200&compiles=10")["receipt"])
    assert "the numbers of workers differ" in native("--diff", path, alone, "--machine", "lab-3")["error"]["message"]


def test_there_is_at_most_one_worker_for_each_dispatch(tmp_path, site):
    check_receipt(visit(tmp_path, site, "dispatches=2&compiles=1&workers=5&program=sums.pk&input=sums-input.json&entry=sums")["receipt"], 2, 2)


@pytest.mark.parametrize("start, where", [(0, "in front of the batch"), (5, "in its dispatch 5")])
def test_a_worker_with_another_terminal_value_is_named(start, where, tmp_path, site):
    (site[0] / "kernel.mjs").rename(site[0] / "honest.mjs")
    (site[0] / "kernel.mjs").write_text(LIAR.replace("FROM", str(start)))
    answer = visit(tmp_path, site, "dispatches=40&compiles=2&workers=3")
    assert answer.keys() == {"error"}
    assert answer["error"].startswith(f"worker 2 gave another terminal value than the first dispatch, {where}: ")


def test_a_worker_that_never_answers_is_named_on_the_page(tmp_path, site):
    (site[0] / "worker.mjs").write_text("onmessage = () => {};")
    error = visit(tmp_path, site, "workers=2&silenceMs=50")["error"]
    assert error.startswith('worker 0 did not answer "initialize" within 50 ms; ')


def test_a_worker_that_does_not_start_fails_the_benchmark(tmp_path, site):
    (site[0] / "worker.mjs").write_text("throw new Error('broken');")
    assert "broken" in visit(tmp_path, site, "workers=2")["error"]


@pytest.mark.parametrize("query, error", [
    ("program=bad.pk", "line 2, column 3: y is not known here"), ("workers=257", "workers must be a whole number from 1 to 256"),
    ("workers=some", "workers must be a whole number from 1 to 256"), ("input=none.json", "none.json: 404")])
def test_what_goes_wrong_is_shown(query, error, tmp_path, site):
    (site[0] / "bad.pk").write_text("fn main(x: int): int {\n  y\n}")
    (site[0] / "frame.html").write_text(FRAME)
    assert visit(tmp_path, site, query) == {"error": error}
    looks = visit(tmp_path, site, f"width=600&query={query.replace('&', '%26').replace('=', '%3D')}", "frame.html?")
    assert looks["state"] == f"failed: {error}" and looks["hidden"]


@pytest.mark.parametrize("width", [320, 1200])
def test_the_page_shows_its_receipt_and_nothing_sticks_out(width, tmp_path, site):
    (site[0] / "frame.html").write_text(FRAME)
    looks = visit(tmp_path, site, f"width={width}&again=2&query=dispatches%3D40%26compiles%3D3%26workers%3D1", "frame.html?")
    assert looks["state"] == "done" and not looks["hidden"]
    assert looks["wide"] <= looks["window"] <= width
    assert looks["workers"] == "2" and looks["batch"].startswith("The batch: 40 dispatches by 2 workers in ")
    check_receipt(looks["receipt"], 2, 40)
    assert looks["rows"][0] == ["samples", "1", "4", "41"]
    assert looks["rows"][1][1] == f"{looks['receipt']['initializationMs']:.3f}"
