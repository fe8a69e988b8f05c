// The page: hands what is asked to the coordinator, and shows what it answers. Measures nothing.

const form = document.forms.asked;
const given = new URLSearchParams(location.search);
const state = document.getElementById("state");

// The fields are the address's parameters, one for one: to measure again is to open the page anew.
for (const [name, value] of given)
  if (form.elements[name]) form.elements[name].value = value;

function asked() {
  const texts = Object.fromEntries(["module", "program", "input", "entry", "kind"].map((n) => [n, form.elements[n].value]));
  const counts = Object.fromEntries(["compiles", "dispatches", "workers", "silenceMs"].map((n) => [n, Number(form.elements[n].value)]));
  return { ...texts, ...counts };
}

function ms(x) {
  return x.toFixed(3);
}

// One column for each phase: none is added to another.
function figures({ initializationMs, compile, dispatch }) {
  const rows = [["samples", 1, 1 + compile.repeated.iterations, 1 + dispatch.repeated.iterations],
                ["first", ms(initializationMs), ms(compile.firstMs), ms(dispatch.firstMs)]];
  for (const name of ["min", "mean", "p50", "p95", "max", "stddev"])
    rows.push([name, "", ms(compile.repeated[`${name}_ms`]), ms(dispatch.repeated[`${name}_ms`])]);
  return rows;
}

function rowOf(cells) {
  const row = document.createElement("tr");
  cells.forEach((cell, i) => {
    const td = row.appendChild(document.createElement(i ? "td" : "th"));
    td.textContent = cell;
  });
  return row;
}

function show(receipt) {
  const { dispatch } = receipt, workers = receipt.workers === 1 ? "1 worker" : `${receipt.workers} workers`;
  document.getElementById("figures").append(...figures(receipt).map(rowOf));
  document.getElementById("batch").textContent = `The batch: ${receipt.iterations} dispatches by ${workers} in ` +
    `${ms(dispatch.batchWallMs)} ms, ${Math.round(dispatch.throughputPerSecond)} a second.`;
  const text = JSON.stringify(receipt, null, 2) + "\n";
  document.getElementById("receipt").textContent = text;
  document.getElementById("save").href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  document.getElementById("done").hidden = false;
}

function finish(data) {
  state.textContent = data.error === undefined ? "done" : `failed: ${data.error}`;
  state.className = data.error === undefined ? "done" : "failed";
  if (data.receipt) show(data.receipt);
  // ?post=PATH: a script that opened the page need not read it.
  if (given.get("post")) fetch(given.get("post"), { method: "POST", body: JSON.stringify(data) });
}

const coordinator = new Worker("coordinator.mjs", { type: "module" });
coordinator.onmessage = ({ data }) => {
  if (data.state) state.textContent = data.state;
  else finish(data);
};
coordinator.onerror = (e) => finish({ error: e.message || "the coordinator does not start" });
coordinator.postMessage(asked());
