/** A text as words that can be linked, with runs of words that are marked. */

import type { Kind, Mark } from "./data";
import { h, shownText } from "./dom";

/** Longer texts are cut until the reader asks for more. */
const MAX_WORDS = 400;
const MORE_WORDS = 2000;
/** Words of a run that are told below its text. */
const MAX_TOLD = 12;

/** Neighbouring words with one error, from `start` to before `end`. */
export interface Run {
  /** The plainest kind of its marks. */
  kind: Kind;
  start: number;
  end: number;
}

/** A text as words; only the words shown have elements. */
export interface Line {
  role: string;
  /** As they were written, without the spaces behind them. */
  words: string[];
  /** Whether a space stands behind each word. */
  spaced: boolean[];
  runs: Run[];
  spans: HTMLElement[];
}

export function line(role: string, words: string[], pieces?: string[] | null): Line {
  const spaced = words.map((_, i) => pieces?.[i]?.endsWith(" ") ?? true);
  return { role, words: pieces?.map((piece) => piece.replace(/ +$/, "")) ?? words, spaced, runs: [], spans: [] };
}

/** The runs that marks of some kinds form, the plainest first, without punctuation at their ends. */
export function runsOf(words: string[], marks: Mark[], kinds: Kind[]): Run[] {
  const kindAt = new Map<number, Kind>();
  for (const kind of kinds) {
    for (const mark of marks.filter((item) => item.kind === kind.key)) {
      for (const at of mark.positions) if (!kindAt.has(at)) kindAt.set(at, kind);
    }
  }
  const runs: Run[] = [];
  for (const [at, kind] of [...kindAt].sort(([one], [two]) => one - two)) {
    const last = runs.at(-1);
    if (last?.end === at && last.kind.error === kind.error) {
      last.end = at + 1;
      if (kinds.indexOf(kind) < kinds.indexOf(last.kind)) last.kind = kind;
    } else runs.push({ kind, start: at, end: at + 1 });
  }
  const isSpoken = (at: number) => /[\p{L}\p{N}]/u.test(words[at] ?? "");
  for (const run of runs) {
    while (run.start < run.end && !isSpoken(run.start)) run.start++;
    while (run.start < run.end && !isSpoken(run.end - 1)) run.end--;
  }
  return runs.filter(({ start, end }) => start < end);
}

/** The words of a run as they were written; long ones are cut. */
export function runText({ words, spaced }: Line, { start, end }: Run): string {
  const shown = words.slice(start, Math.min(end, start + MAX_TOLD)).map((word, i) => word + (spaced[start + i] ? " " : ""));
  return shown.join("").trimEnd() + (end - start > MAX_TOLD ? " …" : "");
}

export function lineElement(target: Line): HTMLElement {
  const { role, words, spaced, spans } = target;
  const element = h("p", {
    class: "words", dir: "auto", role: "group", "aria-label": role,
    onkeydown: (event: KeyboardEvent) => walk(event, spans),
  });
  const more = h("button", { type: "button", onclick: () => put(MORE_WORDS) });
  const runs = [...target.runs];
  const put = (count: number) => {
    const to = Math.min(words.length, spans.length + count);
    let parent: HTMLElement = element;
    for (let at = spans.length; at < to; at++) {
      while (runs[0] && runs[0].end <= at) runs.shift();
      const run = runs[0] && runs[0].start <= at ? runs[0] : undefined;
      if (!run) parent = element;
      else if (run.start === at || parent === element) {
        parent = h("mark", { class: `run ${run.kind.style}`, title: run.kind.meaning });
        element.append(parent);
      }
      const span = h("span", { class: "word", tabindex: -1 }, shownText(words[at]!));
      spans.push(span);
      parent.append(span);
      if (spaced[at]) (run && at + 1 < run.end ? parent : element).append(" ");
    }
    const left = words.length - spans.length;
    more.textContent = `${left.toLocaleString("en")} more words: show ${Math.min(left, MORE_WORDS).toLocaleString("en")}`;
    if (left) element.append(more);
    else more.remove();
  };
  put(MAX_WORDS);
  spans[0]?.setAttribute("tabindex", "0");
  if (words.length === 0) element.append(h("em", {}, "(empty)"));
  return element;
}

/** Left and right go from word to word. */
function walk(event: KeyboardEvent, spans: HTMLElement[]): void {
  const here = spans.indexOf(event.target as HTMLElement);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (here < 0 || step === undefined) return;
  event.preventDefault();
  const next = spans[here + step];
  if (!next) return;
  spans[here]?.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}
