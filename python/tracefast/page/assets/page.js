(() => {
  "use strict";

  // Colours are variables of the page, so that light, dark and print need one chart.
  const ink = { labelColor: "var(--dim)", titleColor: "var(--dim)" };
  const CONFIG = {
    background: "transparent",
    font: "system-ui, sans-serif",
    view: { stroke: "var(--line)" },
    axis: { ...ink, domainColor: "var(--line)", tickColor: "var(--line)", gridColor: "var(--line)",
      titleFontWeight: "normal", labelLimit: 220 },
    // Charts below each other have one axis of time.
    axisYQuantitative: { minExtent: 44 },
    legend: { ...ink, titleFontWeight: "normal" },
    header: ink,
    title: { color: "var(--fg)", subtitleColor: "var(--dim)", anchor: "start", fontSize: 13,
      fontWeight: 600 },
    text: { color: "var(--fg)", fill: "var(--fg)" },
    rule: { color: "var(--dim)" },
    mark: { color: "var(--c0)" },
    range: {
      category: [0, 1, 2, 3, 4, 5, 6, 7].map((at) => `var(--c${at})`),
      ordinal: [0, 1, 2, 3, 4, 5, 6, 7].map((at) => `var(--h${at})`),
      ramp: ["#9ec5fe", "#1d4ed8"],
      heatmap: ["#9ec5fe", "#1d4ed8"],
    },
  };
  const OPTIONS = { ast: true, actions: false, renderer: "svg", config: CONFIG };
  const views = [];

  // Data comes as columns.
  function rows(columns) {
    const names = Object.keys(columns);
    const count = names.length ? columns[names[0]].length : 0;
    return Array.from({ length: count }, (_, at) =>
      Object.fromEntries(names.map((name) => [name, columns[name][at]])));
  }

  async function draw(figure) {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    if (spec.data && spec.data.columns) spec.data = { values: rows(spec.data.columns) };
    for (const name in spec.datasets || {}) spec.datasets[name] = rows(spec.datasets[name]);
    const place = figure.appendChild(document.createElement("div"));
    const { view } = await window.vegaEmbed(place, spec, OPTIONS);
    views.push({ view, figure });
    if ("brush" in figure.dataset) view.addSignalListener("brush", (_, value) => {
      const [range] = Object.values(value || {});
      look(range && range[0] < range[1] ? range : null);
    });
    if ("choice" in figure.dataset) choose(figure, view);
  }

  // A choice of what a chart shows: radio buttons above it.
  function choose(figure, view) {
    for (const button of figure.parentElement.querySelectorAll("input[type=radio]")) {
      button.addEventListener("change", () => view.signal("measure", button.value).runAsync());
    }
  }

  // The part of the time that was chosen, in seconds; null for all of it.
  function look(range) {
    document.body.toggleAttribute("data-window", Boolean(range));
    for (const { view, figure } of views) {
      if ("follow" in figure.dataset) {
        view.signal("window_from", range && range[0]).signal("window_to", range && range[1])
          .runAsync();
      }
    }
    for (const place of document.querySelectorAll(".window-text")) {
      place.textContent = range ? `${range[0].toFixed(3)} s to ${range[1].toFixed(3)} s` : "";
    }
    sumCalls(range);
  }

  // Of the table of calls: what began within the chosen time, in whole steps.
  function sumCalls(range) {
    const block = document.getElementById("calls-over-time");
    const table = document.getElementById("calls-table");
    if (!block || !table) return;
    const { step, columns } = JSON.parse(block.textContent);
    const sums = new Map(columns.key.map((name) => [name, { calls: 0, ns: 0 }]));
    for (const { key, bin, calls, ns } of range ? rows(columns) : []) {
      if ((bin + 1) * step <= range[0] || bin * step >= range[1]) continue;
      const sum = sums.get(key);
      sums.set(key, { calls: sum.calls + calls, ns: sum.ns + ns });
    }
    const heads = [...table.tHead.rows[0].cells];
    const keys = heads.filter((head) => ["source", "name"].includes(head.dataset.c));
    for (const [of, words] of [["calls", "calls in it"], ["ns", "time in it"]]) {
      let head = heads.find((one) => one.dataset.c === `window_${of}`);
      if (!head) head = addColumn(table, `window_${of}`, words);
      for (const row of table.tBodies[0].rows) {
        const sum = sums.get(keys.map((one) => row.cells[one.cellIndex].textContent).join("\n"));
        const cell = row.cells[head.cellIndex];
        cell.dataset.v = sum ? sum[of] : "";
        cell.textContent = !sum ? "-" : of === "calls" ? sum.calls.toLocaleString("en")
          : `${(sum.ns / 1e6).toFixed(3)} ms`;
      }
    }
  }

  function addColumn(table, name, words) {
    const head = document.createElement("th");
    head.className = "n in-window";
    head.dataset.c = name;
    const button = head.appendChild(document.createElement("button"));
    button.textContent = words;
    button.addEventListener("click", () => sort(table, button));
    table.tHead.rows[0].append(head);
    for (const row of table.tBodies[0].rows) row.insertCell().className = "n in-window";
    return head;
  }

  function key(row, at) {
    const cell = row.cells[at];
    const raw = cell.dataset.v;
    if (raw === undefined) return cell.textContent;
    return raw === "" ? -Infinity : Number(raw);
  }

  function sort(table, button) {
    const head = button.closest("th");
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1;
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [key(row, head.cellIndex), row]);
    keyed.sort(([a], [b]) => sign * (typeof a === "string" ? a.localeCompare(b) : a - b || 0));
    body.append(...keyed.map(([, row]) => row));
  }

  function search(table, field) {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of table.tBodies[0].rows) {
      const line = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => line.includes(word));
      left += !row.hidden;
    }
    const count = field.parentElement.querySelector("output");
    count.textContent = words.length ? `${left.toLocaleString("en")} rows` : "";
  }

  for (const table of document.querySelectorAll("table")) {
    for (const button of table.querySelectorAll("th button")) {
      button.addEventListener("click", () => sort(table, button));
    }
    const field = document.querySelector(`input[data-table="${table.id}"]`);
    if (field) field.addEventListener("input", () => search(table, field));
  }

  // One after the other, so that the page can be read and scrolled meanwhile.
  (async () => {
    for (const figure of document.querySelectorAll("figure.chart")) {
      await draw(figure);
      await new Promise((next) => setTimeout(next));
    }
    document.body.dataset.ready = "";
  })();
})();
