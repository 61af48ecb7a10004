/** Judge mode: the most decisive segments of two systems, blind, by keyboard, full screen. */

import { type Contents, type Data, written } from "./data";
import { h, save, shownText } from "./dom";

export const MOST = 20;

export interface Verdict {
  segment: number;
  /** The systems in the order in which the reader saw them. */
  order: [string, string];
  /** 0 for the left one, 1 for the right one, null for neither. */
  better: 0 | 1 | null;
}

/**
 * The segments that two systems differ most in, half of them won by each as far as there are so
 * many, in an order that tells nothing.
 */
export function decisive(ours: (number | null)[], theirs: (number | null)[], most: number, seed: number): number[] {
  const differences = ours.map((own, at): [number, number] => {
    const other = theirs[at] ?? null;
    return [own === null || other === null ? 0 : own - other, at];
  });
  const by = (sign: number) =>
    differences.filter(([value]) => sign * value > 0).sort((a, b) => sign * (b[0] - a[0]) || a[1] - b[1]).map(([, at]) => at);
  const [won, lost] = [by(1), by(-1)];
  const half = Math.floor(most / 2);
  const fewer = Math.min(won.length, lost.length);
  const each = Math.min(half, fewer);
  const chosen = [...won.slice(0, won.length > lost.length ? most - each : each), ...lost.slice(0, lost.length >= won.length ? most - each : each)];
  return shuffled(chosen, seed);
}

/** A shuffle that a seed repeats. */
export function shuffled<T>(items: T[], seed: number): T[] {
  const random = numbers(seed);
  const found = [...items];
  for (let i = found.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [found[i], found[j]] = [found[j]!, found[i]!];
  }
  return found;
}

/** Numbers from 0 to 1 (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Two-sided p of the sign test: how likely so uneven a count is if both were equally good. */
export function signTest(wins: number, losses: number): number {
  const total = wins + losses;
  const least = Math.min(wins, losses);
  let p = 0;
  let coefficient = 1;
  for (let k = 0; k <= least; k++) {
    p += coefficient;
    coefficient = (coefficient * (total - k)) / (k + 1);
  }
  return Math.min(1, (2 * p) / 2 ** total);
}

/** How often each of two systems was judged better. */
export function tally(verdicts: Verdict[], first: string): [number, number, number] {
  const wins = verdicts.filter((item) => item.better !== null && item.order[item.better] === first).length;
  const ties = verdicts.filter((item) => item.better === null).length;
  return [wins, ties, verdicts.length - wins - ties];
}

/** Labels for `meta --labels`: 1 for the worse output of a segment. */
export function verdictsTsv(verdicts: Verdict[]): string {
  const lines = [...verdicts].sort((a, b) => a.segment - b.segment).flatMap(({ segment, order, better }) =>
    order.map((system, side) => [segment, system, better !== null && better !== side ? 1 : 0].join("\t")),
  );
  return ["segment\tsystem\tlabel", ...lines, ""].join("\n");
}

/** Asks the reader, and says in the end who won. */
export async function judge(contents: Contents, data: Data, metric: string, systems: [string, string]): Promise<void> {
  const [ours, theirs] = await Promise.all(systems.map((name) => data.scores(metric, name)));
  const seed = parseInt(contents.id.slice(0, 8), 16);
  const order = decisive(ours!, theirs!, MOST, seed);
  const random = numbers(seed + 1);
  // As many segments show the first system on the left as on the right.
  const sides = shuffled(order.map((_, at) => at % 2 === 0), Math.floor(random() * 2 ** 31));
  const verdicts: Verdict[] = [];
  const dialog = h("dialog", { class: "judge-mode", "aria-label": "Judge" });
  document.body.append(dialog);
  const close = () => dialog.close();
  dialog.addEventListener("close", () => dialog.remove());
  const show = async () => {
    const at = order[verdicts.length];
    if (at === undefined) return finish();
    const segment = await data.segment(at, contents.block);
    const pair: [string, string] = sides[verdicts.length] ? systems : [systems[1], systems[0]];
    const answer = (better: 0 | 1 | null) => {
      verdicts.push({ segment: at + 1, order: pair, better });
      void show();
    };
    const text = (title: string, words: string[], pieces?: string[] | null) =>
      h("div", { class: "text" }, h("h4", {}, title), h("p", { class: "words", dir: "auto" }, shownText(written(words, pieces)) || h("em", {}, "(empty)")));
    const output = (name: string) => segment.outputs[contents.systems.indexOf(name)]!;
    const choice = (key: string, label: string, better: 0 | 1 | null) =>
      h("button", { type: "button", "data-key": key, onclick: () => answer(better) }, h("kbd", {}, key), ` ${label}`);
    dialog.replaceChildren(
      h("p", { class: "progress", role: "status" }, `${verdicts.length + 1} of ${order.length}: which translation is better?`),
      segment.source ? text("source", segment.source, segment.sourcePieces) : h("span"),
      !segment.source && segment.references[0] ? text("reference", segment.references[0], segment.referencePieces?.[0]) : h("span"),
      h("div", { class: "pair" }, ...pair.map((name, side) => text(side ? "right" : "left", output(name).words, output(name).pieces))),
      h("div", { class: "actions" }, choice("1", "left", 0), choice("0", "no difference", null), choice("2", "right", 1),
        h("button", { type: "button", onclick: () => { verdicts.pop(); void show(); }, disabled: verdicts.length === 0 }, h("kbd", {}, "←"), " back"),
        h("button", { type: "button", onclick: () => (verdicts.length ? finish() : close()) }, h("kbd", {}, "Esc"), " end")),
    );
  };
  const finish = () => {
    const [wins, ties, losses] = tally(verdicts, systems[0]);
    const p = signTest(wins, losses);
    dialog.replaceChildren(
      h("h3", {}, `${shownText(systems[0])} ${wins} to ${losses} ${shownText(systems[1])}`),
      h("p", { class: "judged" }, `${ties} without a difference; p ${p < 0.001 ? "< 0.001" : `= ${p.toFixed(3)}`} (sign test).`),
      h("p", {}, `These ${verdicts.length} segments are the most decisive by ${metric}, so the count says nothing about all others.`),
      h("div", { class: "actions" },
        h("button", { type: "button", id: "judged-save", onclick: () => save("labels-any.tsv", "text/tab-separated-values", verdictsTsv(verdicts)) }, "Save for coverage-eval meta --labels"),
        h("button", { type: "button", id: "judged-close", onclick: close }, "Close")),
    );
  };
  dialog.addEventListener("keydown", (event) => {
    const key = event.key === "ArrowLeft" ? "←" : event.key;
    if (key === "←") [...dialog.querySelectorAll("button")].find((button) => button.textContent?.includes("back"))?.click();
    else dialog.querySelector<HTMLButtonElement>(`[data-key="${CSS.escape(key)}"]`)?.click();
  });
  dialog.addEventListener("cancel", (event) => {
    if (!verdicts.length || dialog.querySelector("#judged-close")) return;
    event.preventDefault();
    finish();
  });
  dialog.showModal();
  await show();
}
