/** All segments as one strip a system: place in the text against error; a stretch can be chosen. */

import { systemColour } from "./charts";
import type { Contents } from "./data";
import { h, shownText } from "./dom";

const STEPS = 400;

/** The worst value of each step of the text, from 0 (best) to 1 (worst of all); null where none is known. */
export function worstOfSteps(scores: (number | null)[], higherIsBetter: boolean, ends: [number, number], steps: number): (number | null)[] {
  const count = Math.min(steps, scores.length);
  const found: (number | null)[] = Array.from({ length: count }, () => null);
  const span = ends[1] - ends[0] || 1;
  for (const [at, score] of scores.entries()) {
    if (score === null) continue;
    const share = (score - ends[0]) / span;
    const wrong = higherIsBetter ? 1 - share : share;
    const step = Math.floor((at * count) / scores.length);
    found[step] = Math.max(found[step] ?? 0, wrong);
  }
  return found;
}

/** The least and the greatest score of all systems. */
export function endsOf(columns: (number | null)[][]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const column of columns) {
    for (const score of column) {
      if (score === null) continue;
      low = Math.min(low, score);
      high = Math.max(high, score);
    }
  }
  return low > high ? [0, 1] : [Math.min(low, 0), high];
}

export interface Strip {
  system: string;
  scores: (number | null)[];
}

/**
 * The strips with the stretch that the reader chose.
 *
 * @param choose is told of the first and last segment of a stretch, from 1; of nulls for all
 * @param open is told of a segment, from 1, that the reader clicks
 */
export function minimap(
  strips: Strip[], metric: { name: string; higherIsBetter: boolean }, contents: Contents,
  range: [number | null, number | null], current: number,
  choose: (first: number | null, last: number | null) => void, open: (segment: number) => void,
): HTMLElement {
  const total = contents.segments;
  const ends = endsOf(strips.map((strip) => strip.scores));
  const rows = strips.map(({ system, scores }) => {
    const steps = worstOfSteps(scores, metric.higherIsBetter, ends, STEPS);
    const canvas = h("canvas", { width: steps.length, height: 1, class: "strip" });
    const context = canvas.getContext("2d")!;
    context.fillStyle = systemColour(contents.systems.indexOf(system));
    for (const [at, wrong] of steps.entries()) {
      if (!wrong) continue;
      context.globalAlpha = 0.15 + 0.85 * Math.sqrt(wrong);
      context.fillRect(at, 0, 1, 1);
    }
    return h("div", { class: "strip-row" }, h("small", {}, h("bdi", {}, shownText(system))), canvas);
  });
  const place = (segment: number) => `${(100 * (segment - 1)) / total}%`;
  const shade = h("div", { class: "brush" });
  const drawBrush = (first: number | null, last: number | null) => {
    shade.hidden = first === null || last === null;
    if (first === null || last === null) return;
    shade.style.left = place(first);
    shade.style.width = `${(100 * (last - first + 1)) / total}%`;
  };
  drawBrush(...range);
  const here = h("div", { class: "here", style: `left: ${place(current)}` });
  const field = h("div", { class: "brush-field" }, shade, here);
  const at = (event: PointerEvent) => {
    const box = field.getBoundingClientRect();
    return 1 + Math.min(total - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * total)));
  };
  let from = 0;
  field.addEventListener("pointerdown", (event: PointerEvent) => {
    from = at(event);
    field.setPointerCapture(event.pointerId);
  });
  field.addEventListener("pointermove", (event: PointerEvent) => {
    if (from) drawBrush(Math.min(from, at(event)), Math.max(from, at(event)));
  });
  field.addEventListener("pointerup", (event: PointerEvent) => {
    if (!from) return;
    const [first, last] = [Math.min(from, at(event)), Math.max(from, at(event))];
    from = 0;
    // A click opens a segment; a drag chooses a stretch.
    if (last - first < Math.max(1, total / 200)) open(first);
    else choose(first, last);
  });
  const all = h("button", { type: "button", id: "range-all", onclick: () => choose(null, null) }, "All segments");
  all.hidden = range[0] === null;
  const stretch = range[0] === null ? "" : ` Segments ${range[0]} to ${range[1]}.`;
  return h(
    "div", { class: "minimap", role: "group", "aria-label": `Where in the text ${metric.name} is bad${stretch ? `:${stretch}` : ""}` },
    h("div", { class: "strips" }, ...rows, field),
    h("p", { class: "note" }, `All segments from first to last; stronger: worse ${metric.name}. Click to open one, drag to choose a stretch.${stretch} `, all),
  );
}
