/** One segment: source, reference and outputs side by side, with marks, links and labels. */

import { diffArrays } from "diff";
import { attentionChart } from "./charts";
import type { Contents, Label, Mark, Output, Segment } from "./data";
import { h, shownText } from "./dom";
import { figure } from "./figures";

/** Longer texts are cut until the reader asks for all of them. */
const MOST_WORDS = 400;
const MOST_EDITS = 1000;
const MOST_CELLS = 4000;

interface Line {
  role: string;
  words: string[];
  spans: HTMLElement[];
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
  const shown = show.map((system) => ({
    system, output: segment.outputs[contents.systems.indexOf(system)] as Output,
  }));
  const cards = shown.map(({ system, output }, index) => {
    const other = shown[index === 0 ? 1 : 0]?.output;
    return card(system, output, other ?? null, segment, contents, scores, references, status);
  });
  return h(
    "article", { class: "segment", "aria-label": `Segment ${number}` },
    h("h3", {}, `Segment ${number}`),
    ...references.map((item) => h("div", { class: "text" }, h("h4", {}, item.role), lineElement(item))),
    h("div", { class: "cards" }, ...cards),
    status,
  );
}

function card(
  system: string, output: Output, other: Output | null, segment: Segment, contents: Contents,
  scores: Scores, references: Line[], status: HTMLElement,
): HTMLElement {
  const source = segment.source ? line("source", segment.source) : null;
  const own = line("output", output.words);
  if (source) markSource(source, output);
  markOutput(own, output, other);
  if (source) connect(source, own, output.links, references, segment.referenceLinks, system, status);
  const figures = contents.metrics.map(({ name }) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, figure(scores.get(name)?.get(system)))),
  );
  return h(
    "section", { class: "card", "aria-label": shownText(system) },
    h("h4", {}, h("bdi", {}, shownText(system))),
    h("dl", { class: "figures" }, ...figures),
    source && h("div", { class: "text" }, h("h5", {}, "source, what it drops marked"), lineElement(source)),
    h("div", { class: "text" }, h("h5", {}, "output"), lineElement(own)),
    markList(output, segment.source),
    output.attention ? attentionElement(output.attention) : null,
  );
}

function line(role: string, words: string[]): Line {
  const spans = words.map((word) =>
    h("span", { class: "word", tabindex: -1 }, shownText(word)),
  );
  spans[0]?.setAttribute("tabindex", "0");
  return { role, words, spans };
}

function lineElement({ role, spans }: Line): HTMLElement {
  const element = h("p", {
    class: "words", dir: "auto", role: "group", "aria-label": role,
    onkeydown: (event: KeyboardEvent) => walk(event, spans),
  });
  const put = (from: number, to: number) => {
    for (const span of spans.slice(from, to)) element.append(span, " ");
  };
  put(0, MOST_WORDS);
  if (spans.length === 0) element.append(h("em", {}, "(empty)"));
  if (spans.length > MOST_WORDS) {
    const rest = h("button", {
      type: "button", onclick: () => { rest.remove(); put(MOST_WORDS, spans.length); },
    }, `Show all ${spans.length.toLocaleString("en")} words`);
    element.append(rest);
  }
  return element;
}

/** Left and right go from word to word. */
function walk(event: KeyboardEvent, spans: HTMLElement[]): void {
  const here = spans.indexOf(event.target as HTMLElement);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (here < 0 || step === undefined) return;
  event.preventDefault();
  const next = spans[here + step];
  if (!next?.isConnected) return;
  spans[here]?.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

function mark(target: Line, position: number, name: string, said: string): void {
  const span = target.spans[position];
  if (!span) return;
  span.classList.add(name);
  span.dataset["said"] = [span.dataset["said"], said].filter(Boolean).join(", ");
}

function markSource(source: Line, output: Output): void {
  for (const item of output.marks) {
    if (item.kind === "dropped") mark(source, item.position, "dropped", "dropped");
    if (item.kind === "lost") {
      mark(source, item.position, "lost", `loses ${figure(item.amount)} of its coverage`);
      source.spans[item.position]?.style.setProperty("--amount", String(item.amount));
    }
  }
  for (const label of output.labels ?? []) {
    for (const position of label.source) mark(source, position, "labelled", labelText(label));
  }
}

function markOutput(own: Line, output: Output, other: Output | null): void {
  for (const item of output.marks) {
    if (item.kind !== "repeated") continue;
    for (let at = item.start; at < item.end; at++) mark(own, at, "repeated", "repeated");
  }
  for (const label of output.labels ?? []) {
    for (let at = label.start; at < label.end; at++) mark(own, at, "labelled", labelText(label));
  }
  if (other) {
    for (const at of differentWords(output.words, other.words)) mark(own, at, "different", "not in the other output");
  }
}

/** Positions of words that another output does not have there; none if all is different. */
export function differentWords(words: string[], others: string[]): number[] {
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
  source: Line, own: Line, links: number[] | null, references: Line[],
  referenceLinks: (number[] | null)[], system: string, status: HTMLElement,
): void {
  const sides: [Line, number[] | null, string][] = [
    [own, links, shownText(system)],
    ...references.map((item, i): [Line, number[] | null, string] => [item, referenceLinks[i] ?? null, item.role]),
  ];
  const partners = (position: number) =>
    sides.map(([side, pairs, name]) => ({ name, side, at: linked(pairs, position, 0), known: pairs !== null }));
  source.spans.forEach((span, position) =>
    watch(span, status, () => {
      const found = partners(position);
      const texts = found.map(({ name, side, at, known }) =>
        known ? `${name}: ${wordsAt(side, at) || "no link"}` : `${name}: links not known`,
      );
      return { spans: found.flatMap(({ side, at }) => at.map((i) => side.spans[i])), text: texts.join("; ") };
    }),
  );
  for (const [side, pairs] of sides) {
    if (!pairs) continue;
    side.spans.forEach((span, position) =>
      watch(span, status, () => {
        const at = linked(pairs, position, 1);
        return { spans: at.map((i) => source.spans[i]), text: `source: ${wordsAt(source, at) || "no link"}` };
      }),
    );
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

function watch(
  span: HTMLElement, status: HTMLElement,
  find: () => { spans: (HTMLElement | undefined)[]; text: string },
): void {
  const on = () => {
    const { spans, text } = find();
    span.classList.add("linked");
    for (const item of spans) item?.classList.add("linked");
    const said = span.dataset["said"];
    status.textContent = `${span.textContent}${said ? ` (${said})` : ""} – ${text}`;
  };
  const off = () => {
    const root = span.closest(".segment");
    for (const item of root?.querySelectorAll(".linked") ?? []) item.classList.remove("linked");
    status.textContent = "";
  };
  span.addEventListener("mouseenter", on);
  span.addEventListener("focus", on);
  span.addEventListener("mouseleave", off);
  span.addEventListener("blur", off);
}

/** What is marked, in words: for those who do not see colours, and for print. */
function markList(output: Output, source: string[] | null): HTMLElement | null {
  const texts = markTexts(output.marks, source);
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

/** Each kind of mark as the commands write it, with positions from 1. */
export function markTexts(marks: Mark[], source: string[] | null): Record<string, string> {
  const word = (position: number) => {
    const found = source?.[position];
    return found === undefined ? String(position + 1) : `${shownText(found)} at ${position + 1}`;
  };
  const texts = (kind: Mark["kind"], text: (mark: never) => string) =>
    marks.filter((item) => item.kind === kind).map((item) => text(item as never)).join("; ");
  return {
    dropped: texts("dropped", (item: { position: number }) => word(item.position)),
    repeated: texts("repeated", (item: { ngram: string; start: number; first: number }) =>
      `${shownText(item.ngram)} at ${item.start + 1}, first at ${item.first + 1}`),
    "coverage lost": texts("lost", (item: { position: number; amount: number }) =>
      `${word(item.position)}: ${figure(item.amount)}`),
  };
}

function labelText(label: Label): string {
  const places = [
    label.source.length ? `source ${label.source.map((i) => i + 1).join(", ")}` : "",
    label.end > label.start ? `output ${label.start + 1} to ${label.end}` : "",
  ];
  return `labelled ${shownText(label.kind)} (${places.filter(Boolean).join("; ") || "no place"})`;
}

function attentionElement(map: NonNullable<Output["attention"]>): HTMLElement {
  const size = map.words.length * map.source.length;
  if (size > MOST_CELLS) {
    return h("p", { class: "note" }, `The attention map of ${map.words.length} × ${map.source.length} words is too large to be drawn here; "coverage-eval attention plot" draws it.`);
  }
  return h(
    "details", { class: "attention", open: true }, h("summary", {}, "Attention"),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Attention" }, attentionChart(map)),
  );
}
