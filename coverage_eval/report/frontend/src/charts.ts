/** Differences with intervals, bars of the breakdowns, attention maps: by Observable Plot, as SVG. */

import * as Plot from "@observablehq/plot";
import type { Attention, Breakdown, Contents, Score } from "./data";
import { h, save, shownText } from "./dom";
import { figure } from "./figures";

const BAR = 16;
const PANEL = 260;
const BARS = 250;
/** Letters of a name; half of them on a screen of fewer pixels. */
const MAX_NAME = 32;
const NARROW = 600;
const SIGNIFICANT = 0.05;
/** A figure that is saved stands on white. */
const PAPER = "var(--paper, white)";
const STYLE = { background: "transparent", fontSize: "12px", overflow: "visible" };

/** The colour of a system, by its place among the systems. */
export function systemColour(index: number): string {
  const colours = getComputedStyle(document.documentElement);
  const colour = (at: number) => colours.getPropertyValue(`--system-${at}`).trim();
  let count = 0;
  while (colour(count)) count++;
  return colour(index % count);
}

/**
 * One figure for all metrics: differences from the baseline with 95% intervals; a full dot is a
 * significant difference. A single system has its scores.
 */
export function scoreChart(scores: Score[], contents: Contents): HTMLElement {
  const { baseline, systems, metrics } = contents;
  const others = systems.filter((name) => name !== baseline);
  const left = 24 + 6.5 * Math.max(...systems.map((name) => [...shortName(name)].length));
  const panels = metrics.map(({ name, higherIsBetter }) => {
    const own = scores.filter((score) => score.metric === name && (!others.length || score.system !== baseline));
    const rows = own.map((score) => {
      const ends = others.length ? score.difference_interval : score.confidence;
      const value = others.length ? score.difference ?? 0 : score.score;
      const starred = score.p_value_holm !== null && score.p_value_holm < SIGNIFICANT;
      const sign = others.length && value > 0 ? "+" : "";
      return {
        system: score.system, value, low: ends?.low, high: ends?.high,
        colour: systemColour(systems.indexOf(score.system)),
        fill: starred || !others.length ? systemColour(systems.indexOf(score.system)) : PAPER,
        text: `${sign}${figure(value).replace("-", "−")}${starred ? "*" : ""}`,
        title: `${shownText(score.system)}: ${name} ${figure(score.score)}`,
      };
    });
    // The best first.
    rows.sort((one, two) => (higherIsBetter !== false ? two.value - one.value : one.value - two.value));
    const all = rows.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
    const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
    const room = 0.08 * (high - low || 1);
    const domain: [number, number] = [low < 0 ? low - room : low, high > 0 ? high + room : high];
    if (others.length) {  // both sides of zero are in sight
      domain[0] = Math.min(domain[0], -0.12 * (high - low || 1));
      domain[1] = Math.max(domain[1], 0.12 * (high - low || 1));
    }
    const better = higherIsBetter === null ? "" : ` (${higherIsBetter ? "higher" : "lower"} is better)`;
    return Plot.plot({
      width: PANEL + left, height: 58 + 26 * rows.length, marginLeft: left, marginRight: 64, marginTop: 8, marginBottom: 44, style: STYLE,
      color: { type: "identity" },
      x: { label: `${name}${better}`, labelAnchor: "left", labelArrow: "none", labelOffset: 38, grid: true, domain, ticks: 4 },
      y: { label: null, tickSize: 0, tickFormat: shortName, domain: rows.map((row) => row.system), padding: 0.2 },
      marks: [
        others.length && higherIsBetter !== null ? Plot.rectX([0], { x1: higherIsBetter ? 0 : domain[0], x2: higherIsBetter ? domain[1] : 0, fill: "currentColor", fillOpacity: 0.06 }) : null,
        Plot.ruleX([0], { strokeWidth: 1.5 }),
        Plot.ruleY(rows.filter((row) => row.low !== undefined), { y: "system", x1: "low", x2: "high", stroke: "colour", strokeWidth: 3 }),
        Plot.dot(rows, {
          y: "system", x: "value", r: 5, stroke: "colour", strokeWidth: 2, title: "title", fill: "fill",
        }),
        Plot.text(rows, { y: "system", text: "text", frameAnchor: "right", dx: 58, textAnchor: "end", fill: "currentColor" }),
      ],
    });
  });
  const several = others.length > 1
    ? " Stars are corrected for several systems (Holm), intervals are not: one may lie clear of zero and have no star."
    : "";
  const what = others.length
    ? `Difference of each system from ${shownText(baseline)}, at the line, with 95% intervals; the shaded side is better; * and a full dot: significant (p < 0.05).${several}`
    : "Scores, from zero, with 95% intervals";
  return framed(panels, what, "scores");
}

/** Bars of fewer items are pale: they say little. */
const FEW = 20;

/** The column that says how many items a row is about: the first behind its class and system. */
export function countedColumn(item: Breakdown): string {
  const [, ...others] = Object.keys(item.rows[0] ?? {});
  return others.find((name) => name !== "system" && !item.measures.includes(name)) ?? "";
}

/** A breakdown as bars: a panel for each figure, with a bar for each class and system. */
export function breakdownChart(item: Breakdown, contents: Contents): HTMLElement {
  const [entry = ""] = Object.keys(item.rows[0] ?? {});
  const counted = countedColumn(item);
  const classes = [...new Set(item.rows.map((row) => String(row[entry])))];
  const systems = contents.systems.filter((name) => item.rows.some((row) => row["system"] === name));
  const count = (name: string): string => {
    const own = item.rows.filter((row) => String(row[entry]) === name).map((row) => Number(row[counted]));
    const [low, high] = [Math.min(...own), Math.max(...own)].map((n) => n.toLocaleString("en"));
    return `n = ${low === high ? low : `${low}–${high}`}`;
  };
  const names = new Map(classes.map((name) => [name, [shortName(name), count(name)]]));
  const left = 16 + 6.5 * Math.max(...[...names.values()].flat().map((text) => [...text].length));
  const bar = systems.length > 4 ? BAR / 1.6 : BAR;
  const panels = item.measures.map((measure) => {
    const rows = item.rows.map((row, at) => {
      const [low, high] = item.intervals[at]?.[measure] ?? [undefined, undefined];
      return {
        entry: String(row[entry]), system: String(row["system"]), value: row[measure] as number | null, low, high,
        n: Number(row[counted]), colour: systemColour(contents.systems.indexOf(String(row["system"]))),
      };
    });
    return Plot.plot({
      width: BARS + left, height: 60 + classes.length * Math.max(34, bar * (systems.length + 0.6)),
      marginLeft: left, marginRight: 12, marginTop: 8, marginBottom: 44, style: STYLE,
      color: { type: "identity" },
      x: { label: measure, labelAnchor: "left", labelArrow: "none", labelOffset: 38, grid: true, zero: true, ticks: 4 },
      fy: { label: null, domain: classes, padding: 0.15, axis: "left", tickFormat: (name: string) => names.get(name)?.join("\n") ?? "" },
      y: { axis: null, domain: systems },
      marks: [
        Plot.barX(rows, {
          fy: "entry", y: "system", x: "value", fill: "colour", fillOpacity: (row) => (row.n < FEW ? 0.35 : 1),
          title: (row) => `${row.entry}, ${shownText(row.system)}: ${figure(row.value)}${row.low === undefined ? "" : ` [${figure(row.low)}, ${figure(row.high)}]`} (${counted}: ${row.n.toLocaleString("en")})`,
        }),
        Plot.ruleY(rows.filter((row) => row.low !== undefined), { fy: "entry", y: "system", x1: "low", x2: "high", stroke: "currentColor" }),
        Plot.ruleX([0]),
      ],
    });
  });
  const key = h("ul", { class: "legend" }, ...systems.map((name) =>
    h("li", {}, h("i", { class: "dot", style: `--system: ${systemColour(contents.systems.indexOf(name))}` }), h("bdi", {}, shownText(name)))));
  const lines = item.intervals.length ? "; lines: 95% intervals" : "";
  const element = framed(panels, `${item.title}: ${item.measures.join(", ")}, from zero; n: ${counted}, pale below ${FEW}${lines}`, item.name);
  element.prepend(key);
  return element;
}

/**
 * A map with the source down and the output across; zeros stay white. Dropped and repeated words
 * are bold, with the sign of their mark.
 */
export function attentionChart(map: Attention, name: string, dropped: Set<number>, repeated: Set<number>): HTMLElement {
  const cells = map.weights.flatMap((row, target) =>
    row.map((weight, source) => ({ target, source, weight: weight / 100 })).filter((cell) => cell.weight > 0),
  );
  const labels = (words: string[], marked: Set<number>, before: string, after: string) =>
    words.map((word, at) => ({ at, marked: marked.has(at), text: marked.has(at) ? `${before}${shortName(word)}${after}` : shortName(word) }));
  const rows = labels(map.source, dropped, "−", "");
  const columns = labels(map.words, repeated, "", "×");
  const longest = (items: { text: string }[]) => 14 + 7.5 * Math.max(0, ...items.map((item) => [...item.text].length));
  const [left, top] = [longest(rows), longest(columns)];
  const size = 22;
  const margins = { marginLeft: left, marginTop: top, marginBottom: 4, marginRight: 4 };
  const text = (items: typeof rows, marked: boolean, across: boolean) =>
    Plot.text(items.filter((item) => item.marked === marked), {
      ...(across ? { x: "at", frameAnchor: "top" as const, rotate: -90, dy: -6, textAnchor: "start" as const } : { y: "at", frameAnchor: "left" as const, dx: -6, textAnchor: "end" as const }),
      text: "text", fontWeight: marked ? "bold" : "normal", fill: "currentColor", fontSize: 13,
    });
  const color = { type: "linear", domain: [0, 1], scheme: "blues" } as const;
  const svg = Plot.plot({
    width: left + 4 + size * map.words.length, height: top + 4 + size * map.source.length, ...margins,
    style: STYLE,
    x: { domain: [...map.words.keys()], axis: null }, y: { domain: [...map.source.keys()], axis: null },
    color,
    marks: [
      Plot.frame({ strokeOpacity: 0.3, fill: "white" }),
      Plot.cell(cells, {
        x: "target", y: "source", fill: "weight", inset: 0.5,
        title: (cell) =>
          `${shownText(map.words[cell.target] ?? "")} ← ${shownText(map.source[cell.source] ?? "")}: ${cell.weight.toFixed(2)}`,
      }),
      text(rows, false, false), text(rows, true, false), text(columns, false, true), text(columns, true, true),
    ],
  });
  // Plot's own colour bar is an image, which the page's policy forbids.
  const steps = Array.from({ length: 20 }, (_, step) => ({ from: step / 20, to: (step + 1) / 20, weight: (step + 0.5) / 20 }));
  const scale = Plot.plot({
    width: 210, height: 56, marginLeft: 16, marginRight: 16, marginTop: 4, marginBottom: 40, style: STYLE, color,
    x: { label: "attention (white: exactly 0)", labelAnchor: "left", labelArrow: "none", labelOffset: 34, ticks: 4 }, y: { axis: null },
    marks: [Plot.rectX(steps, { x1: "from", x2: "to", fill: "weight" })],
  });
  const signs = [dropped.size ? "− dropped" : "", repeated.size ? "× repeated" : ""].filter(Boolean).join(", ");
  const what = `Attention of each output word (across) to each source word (down)${signs ? `; ${signs}` : ""}`;
  return framed([scale, svg], what, name);
}

function framed(panels: Element[], caption: string, name: string): HTMLElement {
  const saveIt = () => save(`${name.replaceAll(/[^\w%-]+/g, "-")}.svg`, "image/svg+xml", svgText(panels));
  for (const svg of panels) for (const part of svg.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  for (const svg of panels) svg.removeAttribute("aria-label");
  // At most four panels a line, and lines of about the same length.
  const columns = Math.ceil(panels.length / Math.ceil(panels.length / 4));
  const widest = Math.max(...panels.map((svg) => Number(svg.getAttribute("width"))));
  const style = `--columns: ${columns}; --widest: ${widest}px`;
  return h(
    "figure", {}, h("div", { class: "panels", role: "img", "aria-label": caption, style }, ...panels),
    h("figcaption", {}, caption, " ", h("button", { type: "button", onclick: saveIt }, "Save as SVG")),
  );
}

/** Panels side by side as one file, black on white. */
export function svgText(panels: Element[]): string {
  const sizes = panels.map((svg) => [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))] as const);
  const width = sizes.reduce((sum, [own]) => sum + own + 20, 0);
  const height = Math.max(...sizes.map(([, own]) => own));
  const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) whole.setAttribute(name, String(value));
  whole.setAttribute("style", "color: black; background: white; font-size: 12px; font-family: sans-serif");
  let x = 0;
  for (const [index, svg] of panels.entries()) {
    const copy = svg.cloneNode(true) as SVGElement;
    copy.setAttribute("x", String(x));
    copy.setAttribute("style", "overflow: visible");
    whole.append(copy);
    x += (sizes[index]?.[0] ?? 0) + 20;
  }
  return new XMLSerializer().serializeToString(whole);
}

function shortName(name: string): string {
  const letters = [...shownText(name)];
  const most = innerWidth < NARROW ? MAX_NAME / 2 : MAX_NAME;
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : letters.join("");
}
