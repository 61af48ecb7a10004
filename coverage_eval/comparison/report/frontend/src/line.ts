/** A text with words that can be linked, and with runs of words that are marked. */

import { type Kind, type Mark, type Steps, spansOf } from "./data";
import { h, shownText } from "./dom";

/** Longer texts are cut until the reader asks for more. */
const MAX_CHARACTERS = 2400;
const MORE_CHARACTERS = 12000;
/** Characters of a run that are told below its text. */
const MAX_TOLD = 80;

/** Neighbouring words with one error, from the character `start` to before `end`. */
export interface Run {
  /** The plainest kind of its marks. */
  kind: Kind;
  start: number;
  end: number;
}

/** A text; only what is shown of it has elements. */
export interface Line {
  role: string;
  text: string;
  /** The characters of each word that links count. */
  words: [number, number][];
  runs: Run[];
  /** What is shown of the words, and their numbers; a mark may begin or end inside a word. */
  shown: Map<HTMLElement, number>;
}

export function line(role: string, text: string, words: Steps | null = null): Line {
  return { role, text, words: spansOf(words), runs: [], shown: new Map() };
}

/** The runs that marks of some kinds form, the plainest first, without punctuation at their ends. */
export function runsOf(text: string, marks: Mark[], kinds: Kind[]): Run[] {
  let words: Run[] = [];
  for (const kind of kinds) {
    const own = marks.filter((mark) => mark.kind === kind.key).flatMap((mark) => spansOf(mark.spans));
    words = merge(
      words,
      own.map(([start, end]) => ({ kind, start, end })),
    );
  }
  const runs: Run[] = [];
  let [open, reach]: [Run | null, number] = [null, 0];
  for (const { kind, start, end } of words) {
    if (open && (open.kind.error !== kind.error || text.slice(reach, start).trim())) open = null;
    reach = end;
    if (!/[\p{L}\p{N}]/u.test(text.slice(start, end))) continue;
    if (!open) {
      open = { kind, start, end };
      runs.push(open);
    }
    open.end = end;
    if (kinds.indexOf(kind) < kinds.indexOf(open.kind)) open.kind = kind;
  }
  return runs;
}

/** Words in the order of the text. Metrics may split it otherwise, so others that overlap them are left out. */
function merge(words: Run[], others: Run[]): Run[] {
  const merged: Run[] = [];
  let at = 0;
  for (const other of others.sort((one, two) => one.start - two.start || one.end - two.end)) {
    while (at < words.length && words[at]!.end <= other.start) merged.push(words[at++]!);
    const [before, next] = [merged.at(-1), words[at]];
    const isFree = !(before && other.start < before.end) && !(next && next.start < other.end);
    if (isFree && !(before?.start === other.start && before.end === other.end)) merged.push(other);
  }
  return [...merged, ...words.slice(at)];
}

/** The text of a run; a long one is cut. */
export function runText({ text }: Line, { start, end }: Run): string {
  return end - start > MAX_TOLD
    ? `${text.slice(start, wordEnd(text, start + MAX_TOLD)).trimEnd()} …`
    : text.slice(start, end);
}

/** The last position up to a given one where a word ends, or at least no character is cut. */
function wordEnd(text: string, position: number): number {
  if (position >= text.length) return text.length;
  const space = text.lastIndexOf(" ", position);
  if (space > position - MAX_TOLD / 2) return space + 1;
  return /[\udc00-\udfff]/.test(text[position]!) ? position - 1 : position;
}

export function lineElement(target: Line): HTMLElement {
  const { role, text } = target;
  const element = h("p", {
    class: "words",
    dir: "auto",
    role: "group",
    "aria-label": role,
    onkeydown: (event: KeyboardEvent) => walk(event, [...target.shown.keys()]),
  });
  const more = h("button", { type: "button", onclick: () => put(MORE_CHARACTERS) });
  let drawn = 0;
  const put = (count: number) => {
    const to = wordEnd(text, drawn + count);
    element.append(...markedPieces(target, drawn, to));
    drawn = to;
    const left = text.length - drawn;
    more.textContent = `${left.toLocaleString("en")} more characters: show ${Math.min(left, MORE_CHARACTERS).toLocaleString("en")}`;
    if (left) element.append(more);
    else more.remove();
  };
  put(MAX_CHARACTERS);
  [...target.shown.keys()][0]?.setAttribute("tabindex", "0");
  if (!text.trim()) element.append(h("em", {}, "(empty)"));
  return element;
}

/** What stands between two positions, with the runs that are marked. */
export function markedPieces(target: Line, from: number, to: number): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let at = from;
  for (const { kind, start, end } of target.runs) {
    if (end <= at || to <= start) continue;
    nodes.push(...pieces(target, at, start));
    const mark = h("mark", { class: `run ${kind.style}`, title: kind.meaning });
    mark.append(...pieces(target, Math.max(at, start), Math.min(end, to)));
    nodes.push(mark);
    at = Math.min(end, to);
  }
  return [...nodes, ...pieces(target, at, to)];
}

/** The words between two positions, or as much of them as stands there, and what is between them. */
function pieces({ text, words, shown }: Line, from: number, to: number): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let at = from;
  for (const [number, [start, end]] of words.entries()) {
    // Several words may be one that a tokeniser writes otherwise.
    if (end <= at || to <= start) continue;
    if (at < start) nodes.push(shownText(text.slice(at, start)));
    const span = h(
      "span",
      { class: "word", tabindex: -1 },
      shownText(text.slice(Math.max(at, start), Math.min(end, to))),
    );
    shown.set(span, number);
    nodes.push(span);
    at = Math.min(end, to);
  }
  if (at < to) nodes.push(shownText(text.slice(at, to)));
  return nodes;
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
