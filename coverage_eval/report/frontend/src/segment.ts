/** One segment: source, reference and outputs side by side, with marks, links and labels. */

import { diffArrays } from "diff";
import { attentionChart } from "./charts";
import type { Attention, Contents, Label, Mark, Output, Segment } from "./data";
import { h, shownText } from "./dom";
import { figure } from "./figures";

/** Longer texts are cut until the reader asks for more of them. */
const MOST_WORDS = 400;
const MORE_WORDS = 2000;
/** Marks of a kind that are listed below an output. */
const MOST_LISTED = 30;
/** Longer texts are not compared word by word. */
const MOST_COMPARED = 10_000;
const MOST_EDITS = 1000;
const MOST_CELLS = 4000;

/** What is marked at a word. */
interface Note {
  classes: string[];
  said: string[];
  amount?: number;
}

/** A text as words; elements are made of those that are shown. */
interface Line {
  role: string;
  words: string[];
  notes: Map<number, Note>;
  spans: HTMLElement[];
}

interface Shown {
  system: string;
  output: Output;
}

/** The scores of a segment: by metric, then system. */
export type Scores = Map<string, Map<string, number | null>>;

export function segmentElement(
  segment: Segment, number: number, contents: Contents, show: string[], scores: Scores,
): HTMLElement {
  const status = h("output", { class: "status", "aria-live": "polite" }, "");
  const references = segment.references.map((words, index) =>
    line(segment.references.length > 1 ? `reference ${index + 1}` : "reference", words),
  );
  const referenceElements = references.map((item) =>
    h("div", { class: "text" }, h("h4", {}, item.role), lineElement(item)),
  );
  const shown = show.map((system): Shown => ({
    system, output: segment.outputs[contents.systems.indexOf(system)] as Output,
  }));
  const cards = shown.map(({ system, output }, index) => {
    const other = shown[index === 0 ? 1 : 0] ?? null;
    return cardElement(system, output, other, segment, contents, scores, references, status);
  });
  return h(
    "article", { class: "segment", "aria-label": `Segment ${number}` },
    h("h3", {}, `Segment ${number}`),
    ...referenceElements,
    h("div", { class: "cards" }, ...cards),
    status,
  );
}

function cardElement(
  system: string, output: Output, other: Shown | null, segment: Segment, contents: Contents,
  scores: Scores, references: Line[], status: HTMLElement,
): HTMLElement {
  const source = segment.source ? line("source", segment.source) : null;
  const own = line("output", output.words);
  if (source) markSource(source, output);
  markOutput(own, output, other);
  const figures = contents.metrics.map(({ name }) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, figure(scores.get(name)?.get(system)))),
  );
  const card = h(
    "section", { class: "card", "aria-label": shownText(system) },
    h("h4", {}, h("bdi", {}, shownText(system))),
    h("dl", { class: "figures" }, ...figures),
    source && h("div", { class: "text" }, h("h5", {}, "source, what it drops marked"), lineElement(source)),
    h("div", { class: "text" }, h("h5", {}, "output"), lineElement(own)),
    markList(output, segment.source),
    output.attention ? attentionElement(output.attention, `attention ${system}`) : null,
  );
  if (source) {
    connect(card, source, own, output.links, references, segment.referenceLinks, system, status);
  }
  return card;
}

function line(role: string, words: string[]): Line {
  return { role, words, notes: new Map(), spans: [] };
}

function mark(target: Line, position: number, name: string, said: string): Note {
  const note = target.notes.get(position) ?? { classes: [], said: [] };
  note.classes.push(name);
  note.said.push(said);
  target.notes.set(position, note);
  return note;
}

function lineElement(target: Line): HTMLElement {
  const { role, words, spans } = target;
  const element = h("p", {
    class: "words", dir: "auto", role: "group", "aria-label": role,
    onkeydown: (event: KeyboardEvent) => walk(event, spans),
  });
  const more = h("button", { type: "button", onclick: () => put(MORE_WORDS) });
  const put = (count: number) => {
    const from = spans.length;
    for (const [i, word] of words.slice(from, from + count).entries()) {
      const span = wordElement(word, target.notes.get(from + i));
      spans.push(span);
      element.append(span, " ");
    }
    const left = words.length - spans.length;
    more.textContent = `${left.toLocaleString("en")} more words: show ${Math.min(left, MORE_WORDS).toLocaleString("en")}`;
    if (left) element.append(more);
    else more.remove();
  };
  put(MOST_WORDS);
  spans[0]?.setAttribute("tabindex", "0");
  if (words.length === 0) element.append(h("em", {}, "(empty)"));
  return element;
}

function wordElement(word: string, note: Note | undefined): HTMLElement {
  const classes = ["word", ...(note?.classes ?? [])].join(" ");
  const span = h("span", { class: classes, tabindex: -1 }, shownText(word));
  if (note?.amount !== undefined) span.style.setProperty("--amount", String(note.amount));
  return span;
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

function markSource(source: Line, output: Output): void {
  for (const item of output.marks) {
    if (item.kind === "dropped") mark(source, item.position, "dropped", "dropped");
    if (item.kind === "lost") {
      const said = `loses ${figure(item.amount)} of its coverage`;
      mark(source, item.position, "lost", said).amount = item.amount;
    }
  }
  for (const item of output.marks) {
    if (item.kind !== "suspected") continue;
    const said = `suspected, strength ${figure(item.amount)}`;
    for (let at = item.start; at < item.end; at++) mark(source, at, "suspected", said);
  }
  for (const label of output.labels ?? []) {
    for (const position of label.source) mark(source, position, "labelled", labelText(label));
  }
}

function markOutput(own: Line, output: Output, other: Shown | null): void {
  for (const item of output.marks) {
    if (item.kind !== "repeated") continue;
    for (let at = item.start; at < item.end; at++) mark(own, at, "repeated", "repeated");
  }
  for (const label of output.labels ?? []) {
    for (let at = label.start; at < label.end; at++) mark(own, at, "labelled", labelText(label));
  }
  if (other) {
    const said = `not in ${shownText(other.system)}`;
    for (const at of differentWords(output.words, other.output.words)) mark(own, at, "different", said);
  }
}

/** Positions of words that another output does not have there; none if all is different. */
export function differentWords(words: string[], others: string[]): number[] {
  if (words.length + others.length > MOST_COMPARED) return [];
  const parts = diffArrays(others, words, { maxEditLength: MOST_EDITS });
  const found: number[] = [];
  let at = 0;
  for (const part of parts ?? []) {
    if (part.removed) continue;
    if (part.added) for (let i = 0; i < part.value.length; i++) found.push(at + i);
    at += part.value.length;
  }
  return found;
}

/** Hovered or focused, a word shows what it is linked with, and says so. */
function connect(
  card: HTMLElement, source: Line, own: Line, links: number[] | null, references: Line[],
  referenceLinks: (number[] | null)[], system: string, status: HTMLElement,
): void {
  const sides: [Line, number[] | null, string][] = [
    [own, links, shownText(system)],
    ...references.map((item, i): [Line, number[] | null, string] => [item, referenceLinks[i] ?? null, item.role]),
  ];
  const show = (line: Line, position: number, text: string, partners: [Line, number[]][]) => {
    const said = line.notes.get(position)?.said.join(", ");
    status.textContent = `${shownText(line.words[position] ?? "")}${said ? ` (${said})` : ""} – ${text}`;
    line.spans[position]?.classList.add("linked");
    for (const [side, at] of partners) for (const i of at) side.spans[i]?.classList.add("linked");
  };
  const on = (event: Event) => {
    const span = event.target as HTMLElement;
    const from = source.spans.indexOf(span);
    if (from >= 0) {
      const partners = sides.map(([side, pairs]): [Line, number[]] => [side, linked(pairs, from, 0)]);
      const texts = sides.map(([side, pairs, name]) =>
        `${name}: ${pairs ? wordsAt(side, linked(pairs, from, 0)) || "no link" : "links not known"}`,
      );
      show(source, from, texts.join("; "), partners);
    }
    for (const [side, pairs] of sides) {
      const position = side.spans.indexOf(span);
      if (position < 0 || !pairs) continue;
      const at = linked(pairs, position, 1);
      show(side, position, `source: ${wordsAt(source, at) || "no link"}`, [[source, at]]);
    }
  };
  const off = () => {
    for (const item of document.querySelectorAll(".segment .linked")) item.classList.remove("linked");
    status.textContent = "";
  };
  const texts = [card, ...references.map((item) => item.spans[0]?.parentElement)];
  for (const element of texts) {
    element?.addEventListener("mouseover", on);
    element?.addEventListener("focusin", on);
    element?.addEventListener("mouseout", off);
    element?.addEventListener("focusout", off);
  }
}

/** The other ends of a position's links; `end` is 0 for a source position, 1 for a target one. */
export function linked(pairs: number[] | null, position: number, end: 0 | 1): number[] {
  const found: number[] = [];
  for (let i = 0; pairs && i < pairs.length; i += 2) {
    if (pairs[i + end] === position) found.push(pairs[i + 1 - end] as number);
  }
  return found.sort((a, b) => a - b);
}

function wordsAt(side: Line, positions: number[]): string {
  return positions.map((i) => `${shownText(side.words[i] ?? "")} (${i + 1})`).join(", ");
}

/** What is marked, in words: for those who do not see colours, and for print. */
function markList(output: Output, source: string[] | null): HTMLElement | null {
  const texts = markTexts(output.marks, source, MOST_LISTED);
  const items = Object.entries(texts).filter(([, text]) => text !== "");
  const labels = (output.labels ?? []).map((label) =>
    h("li", { class: label.marked ? "agreed" : "missed" }, labelText(label),
      label.marked ? ": marked by the scores" : ": not marked by the scores"),
  );
  if (!items.length && !labels.length) return h("p", { class: "marks" }, "Nothing is marked.");
  return h(
    "ul", { class: "marks" },
    ...items.map(([kind, text]) => h("li", {}, h("strong", {}, kind), ": ", h("bdi", {}, text))),
    ...labels,
  );
}

/** Each kind of mark as the commands write it, with positions from 1; at most so many of each. */
export function markTexts(
  marks: Mark[], source: string[] | null, most = Infinity,
): Record<string, string> {
  const word = (position: number) => {
    const found = source?.[position];
    return found === undefined ? String(position + 1) : `${shownText(found)} at ${position + 1}`;
  };
  const texts = (kind: Mark["kind"], text: (mark: never) => string) => {
    const own = marks.filter((item) => item.kind === kind);
    const listed = own.slice(0, most).map((item) => text(item as never));
    const more = own.length > listed.length ? [`and ${(own.length - most).toLocaleString("en")} more`] : [];
    return [...listed, ...more].join("; ");
  };
  return {
    dropped: texts("dropped", (item: { position: number }) => word(item.position)),
    repeated: texts("repeated", (item: { ngram: string; start: number; first: number }) =>
      `${shownText(item.ngram)} at ${item.start + 1}, first at ${item.first + 1}`),
    "coverage lost": texts("lost", (item: { position: number; amount: number }) =>
      `${word(item.position)}: ${figure(item.amount)}`),
    suspected: texts("suspected", (item: { start: number; end: number; amount: number }) =>
      `${shownText((source ?? []).slice(item.start, item.end).join(" "))} at ${item.start + 1}: ${figure(item.amount)}`),
  };
}

function labelText(label: Label): string {
  const places = [
    label.source.length ? `source ${label.source.map((i) => i + 1).join(", ")}` : "",
    label.end > label.start ? `output ${label.start + 1} to ${label.end}` : "",
  ];
  return `labelled ${shownText(label.kind)} (${places.filter(Boolean).join("; ") || "no place"})`;
}

function attentionElement(map: Attention, name: string): HTMLElement {
  const size = map.words.length * map.source.length;
  if (size > MOST_CELLS) {
    return h("p", { class: "note" }, `The attention map of ${map.words.length} × ${map.source.length} words is too large to be drawn here; "coverage-eval attention plot" draws it.`);
  }
  return h(
    "details", { class: "attention", open: true }, h("summary", {}, "Attention"),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Attention" }, attentionChart(map, name)),
  );
}
