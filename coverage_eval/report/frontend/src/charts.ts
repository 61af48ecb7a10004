/** Bars with intervals, bars of the breakdowns, attention maps: by Observable Plot, as SVG. */

import * as Plot from "@observablehq/plot";
import type { Attention, Breakdown, Score } from "./data";
import { h, save, shownText } from "./dom";
import { figure } from "./figures";

const BAR = 22;
const LONGEST_NAME = 24;

/** Bars of a metric, the intervals as lines with their ends. */
export function scoreChart(metric: string, scores: Score[], baseline: string): HTMLElement {
  const better = scores[0]?.higher_is_better ? "higher is better" : "lower is better";
  const rows = scores.map((item) => ({
    ...item, system: shortName(item.system), low: item.confidence?.low, high: item.confidence?.high,
  }));
  const intervals = rows.filter((row) => row.low !== undefined);
  const svg = Plot.plot({
    ...frame(rows.length, `${metric} (${better})`),
    y: { label: null, domain: rows.map((row) => row.system) },
    marks: [
      Plot.barX(rows, {
        y: "system", x: "score", fill: "currentColor",
        fillOpacity: (row) => (row.system === shortName(baseline) ? 0.2 : 0.4),
        title: (row) => `${row.system}: ${metric} ${figure(row.score)}`,
      }),
      Plot.ruleY(intervals, { y: "system", x1: "low", x2: "high", strokeWidth: 2 }),
      Plot.tickX(intervals, { y: "system", x: "low", inset: 6 }),
      Plot.tickX(intervals, { y: "system", x: "high", inset: 6 }),
      Plot.ruleX([0]),
    ],
  });
  return framed(svg, `${metric} of each system (${better}), with 95 % intervals`, metric);
}

/** Bars of one figure of a breakdown: for each class, a bar for each system. */
export function breakdownChart(item: Breakdown, measure: string): HTMLElement {
  const [entry] = Object.keys(item.rows[0] ?? {});
  const rows = item.rows.map((row) => ({
    entry: String(row[entry ?? ""]),
    system: shortName(String(row["system"])),
    value: row[measure] as number | null,
  }));
  const classes = [...new Set(rows.map((row) => row.entry))];
  const systems = [...new Set(rows.map((row) => row.system))];
  const svg = Plot.plot({
    ...frame(classes.length * (systems.length + 0.6), measure),
    marginRight: 90,
    fy: { label: entry ?? null, domain: classes, padding: 0.15 },
    y: { label: null, domain: systems },
    marks: [
      Plot.barX(rows, {
        fy: "entry", y: "system", x: "value", fill: "currentColor", fillOpacity: 0.4,
        title: (row) => `${row.entry}, ${row.system}: ${figure(row.value)}`,
      }),
      Plot.ruleX([0]),
    ],
  });
  return framed(svg, `${item.title}: ${measure}`, `${item.name} ${measure}`);
}

/** A map with the source down and the output across; a zero is left out. */
export function attentionChart(map: Attention, name: string): HTMLElement {
  const cells = map.weights.flatMap((row, target) =>
    row.map((weight, source) => ({ target, source, weight })).filter((cell) => cell.weight > 0),
  );
  const label = (words: string[]) => (index: number) => shortName(words[index] ?? "");
  const [width, height] = [map.words.length, map.source.length];
  const svg = Plot.plot({
    width: 110 + 20 * width, height: 100 + 20 * height,
    marginLeft: 100, marginTop: 90, marginBottom: 4, marginRight: 4,
    style: { background: "transparent", fontSize: "12px" },
    x: { domain: [...map.words.keys()], axis: "top", tickFormat: label(map.words), tickRotate: -60, label: null },
    y: { domain: [...map.source.keys()], tickFormat: label(map.source), label: null },
    color: { type: "linear", domain: [0, 100], scheme: "blues" },
    marks: [
      Plot.frame({ strokeOpacity: 0.3 }),
      Plot.cell(cells, {
        x: "target", y: "source", fill: "weight", inset: 0.5,
        title: (cell) =>
          `${shownText(map.words[cell.target] ?? "")} ← ${shownText(map.source[cell.source] ?? "")}: ` +
          (cell.weight / 100).toFixed(2),
      }),
    ],
  });
  return framed(svg, "Attention of each output word (across) to each source word (down)", name);
}

function frame(bars: number, label: string): Plot.PlotOptions {
  return {
    width: 420, height: 50 + BAR * bars, marginLeft: 150, marginBottom: 36,
    style: { background: "transparent", fontSize: "12px", overflow: "visible" },
    x: { label, grid: true, zero: true },
  };
}

function framed(svg: Element, caption: string, name: string): HTMLElement {
  const saveIt = () => save(`${name.replaceAll(/[^\w%-]+/g, "-")}.svg`, "image/svg+xml", svgText(svg));
  return h(
    "figure", {}, asImage(svg, caption),
    h("figcaption", {}, caption, " ", h("button", { type: "button", onclick: saveIt }, "Save as SVG")),
  );
}

/** One image with one name, instead of the names of its parts. */
function asImage<T extends Element>(svg: T, label: string): T {
  for (const part of svg.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  return svg;
}

/** A figure as a file of its own, in black on white. */
export function svgText(svg: Element): string {
  const copy = svg.cloneNode(true) as SVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("style", "color: black; background: white; font-size: 12px; font-family: sans-serif");
  return new XMLSerializer().serializeToString(copy);
}

function shortName(name: string): string {
  const letters = [...shownText(name)];
  return letters.length > LONGEST_NAME ? `${letters.slice(0, LONGEST_NAME - 1).join("")}…` : letters.join("");
}
