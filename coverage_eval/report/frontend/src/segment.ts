/** One segment: source, references, and outputs side by side, with marks, links and labels. */

import { diffArrays } from "diff";
import { attentionChart, systemColour } from "./charts";
import type { Attention, Contents, Kind, Label, Mark, Output, Segment } from "./data";
import { h, shownText } from "./dom";
import { type Line, folds, line, lineElement, mark, unfold } from "./line";
import { figure } from "./figures";
import { ribbons } from "./ribbons";
import type { ErrorKind, Labels } from "./labels";

/** Texts of more words stand below each other, with the source in sight, and are folded. */
const LONG = 60;
/** Source words left out in a row whose place in an output is not folded. */
const GAP = 3;
/** Marks of a kind that are listed below an output. */
const MAX_LISTED = 30;
/** Longer texts are not compared word by word. */
const MAX_COMPARED = 10_000;
const MAX_EDITS = 1000;
const MAX_CELLS = 4000;

interface Shown {
  system: string;
  output: Output;
  own: Line;
}

/** What a segment is shown with. */
export interface Showing {
  contents: Contents;
  /** Systems side by side. */
  show: string[];
  /** The kinds of marks that words show. */
  marks: Set<string>;
  labels: Labels;
}

/** Starts or ends the choice of words for a label. */
type Pick = (line: Line, toggle: ((position: number) => void) | null) => void;

/** The scores of a segment: by metric, then system. */
export type Scores = Map<string, Map<string, number | null>>;

export function segmentElement(segment: Segment, number: number, showing: Showing, scores: Scores): HTMLElement {
  const { contents, show, marks } = showing;
  const status = h("output", { class: "status", "aria-live": "polite" }, "");
  const source = segment.source ? line("source", segment.source, segment.sourcePieces) : null;
  const references = segment.references.map((words, index) =>
    line(segment.references.length > 1 ? `reference ${index + 1}` : "reference", words, segment.referencePieces?.[index]),
  );
  const shown = show.map((system): Shown => {
    const output = segment.outputs[contents.systems.indexOf(system)] as Output;
    return { system, output, own: line("output", output.words, output.pieces) };
  });
  for (const [index, { system, output, own }] of shown.entries()) {
    const other = shown[index === 0 ? 1 : 0] ?? null;
    const by = shown.length > 1 ? system : "";
    const kinds = contents.kinds.filter(({ key }) => marks.has(key));
    if (source) markWords(source, output, kinds.filter(({ side }) => side === "source"), by, colourOf(contents, system));
    markWords(own, output, kinds.filter(({ side }) => side === "output"));
    if (marks.has("label")) markLabels(source, own, output);
    if (other && marks.has("different")) markDifferent(own, output, other);
  }
  let picking: [Line, (position: number) => void] | null = null;
  const pick: Pick = (target, toggle) => {
    for (const item of document.querySelectorAll(".words.picking")) item.classList.remove("picking");
    picking = toggle && [target, toggle];
    const words = target.spans[0]?.closest(".words");
    if (!toggle || !words) return;
    words.classList.add("picking");
    unfold(words);
  };
  const choose = (event: Event) => {
    const position = picking?.[0].spans.indexOf((event.target as HTMLElement).closest<HTMLElement>(".word") as HTMLElement) ?? -1;
    if (!picking || position < 0) return;
    event.preventDefault();
    picking[1](position);
  };
  const isLong = Math.max(segment.source?.length ?? 0, ...shown.map(({ output }) => output.words.length)) > LONG;
  const text = (item: Line) => h("div", { class: "text" }, h("h4", {}, item.role), lineElement(item));
  const reference = (item: Line) =>
    isLong ? h("details", { class: "fold" }, h("summary", {}, item.role), lineElement(item)) : text(item);
  const element = h(
    "article",
    {
      class: isLong ? "segment long" : "segment", "aria-label": `Segment ${number}`, onclick: choose,
      onkeydown: (event: KeyboardEvent) => { if (event.key === "Enter" || event.key === " ") choose(event); },
    },
    h("h3", {}, `Segment ${number}`),
    source && h("div", { class: "source" }, text(source)),
    ...references.map(reference),
    h("div", { class: "cards" }, ...shown.map((item) => cardElement(item, number, source, showing, scores, pick, isLong))),
    ...shown.map(({ system, output }) => output.attention ? attentionElement(output, segment.source, system, contents.kinds) : null),
    status,
  );
  if (element.querySelector("button.folded")) {
    const all = h("button", { type: "button", class: "unfold", onclick: () => { unfold(element); all.remove(); } }, "Show all words");
    element.querySelector("h3")!.after(all);
  }
  if (source) connect(element, source, shown, references, segment.referenceLinks, status);
  return element;
}

function colourOf(contents: Contents, system: string): string {
  return `--system: ${systemColour(contents.systems.indexOf(system))}`;
}

function cardElement(
  shown: Shown, number: number, source: Line | null, showing: Showing, scores: Scores, pick: Pick, isLong: boolean,
): HTMLElement {
  const { system, own } = shown;
  const figures = showing.contents.metrics.map(({ name }) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, figure(scores.get(name)?.get(system)))),
  );
  const findings = findingsElement(shown, number, source, showing.contents.kinds, showing.labels, pick);
  return h(
    "section", { class: "card", "aria-label": shownText(system), style: colourOf(showing.contents, system) },
    h("h4", {}, h("i", { class: "dot" }), h("bdi", {}, shownText(system))),
    h("dl", { class: "figures" }, ...figures),
    h("div", { class: "text" }, lineElement(own, isLong ? folds(own.words, [...own.notes.keys(), ...gaps(shown.output, showing.contents.kinds)]) : [])),
    isLong ? h("details", { class: "fold" }, h("summary", {}, "Marks in words, labels"), findings) : findings,
    source && shown.output.links ? ribbonsElement(shown, source, showing) : null,
  );
}

/** Where in an output several source words in a row are missing: the words linked with the source words beside them. */
export function gaps(output: Output, kinds: Kind[]): number[] {
  const missing = markedWords(kinds.filter(({ side }) => side === "source"), output.marks);
  const left = new Set(missing);
  const found: number[] = [];
  for (const first of missing.filter((at) => !left.has(at - 1))) {
    let behind = first;
    while (left.has(behind)) behind++;
    if (behind - first >= GAP) found.push(...linked(output.links, first - 1, 0), ...linked(output.links, behind, 0));
  }
  return found;
}

/** The ribbons, drawn when they are unfolded. */
function ribbonsElement(shown: Shown, source: Line, showing: Showing): HTMLElement {
  const { contents } = showing;
  const place = h("div", {});
  const details = h("details", {
    class: "fold",
    ontoggle: () => {
      if (!details.open || place.firstChild) return;
      place.append(ribbons(source.words, shown.own.words, shown.output, contents.kinds, systemColour(contents.systems.indexOf(shown.system))));
    },
  }, h("summary", {}, "Ribbons: how source and output hang together"), place);
  return details;
}

/** Marks words of some kinds; those of the source also say by which system, if several are shown. */
function markWords(target: Line, output: Output, kinds: Kind[], system = "", colour = ""): void {
  const by = system ? ` by ${shownText(system)}` : "";
  for (const item of output.marks) {
    const kind = kinds.find(({ key }) => key === item.kind);
    if (!kind) continue;
    const said = `${kind.key}${by}${kind.amount ? `, ${kind.amount} ${figure(item.amount)}` : ""}`;
    for (const position of item.positions) {
      const note = mark(target, position, kind.style, said);
      if (kind.amount) note.amount = Math.max(note.amount ?? 0, item.amount);
      if (system) note.colours.add(colour);
    }
  }
}

function markLabels(source: Line | null, own: Line, output: Output): void {
  for (const label of output.labels ?? []) {
    for (const position of source ? label.source : []) mark(source as Line, position, "labelled", labelText(label));
    for (const position of label.output) mark(own, position, "labelled", labelText(label));
  }
}

function markDifferent(own: Line, output: Output, other: Shown): void {
  const said = `not in ${shownText(other.system)}`;
  for (const at of differentWords(output.words, other.output.words)) mark(own, at, "different", said);
}

/** Positions of words that another output lacks; empty for texts that are too long or different. */
export function differentWords(words: string[], others: string[]): number[] {
  if (words.length + others.length > MAX_COMPARED) return [];
  const parts = diffArrays(others, words, { maxEditLength: MAX_EDITS });
  const found: number[] = [];
  let at = 0;
  for (const part of parts ?? []) {
    if (part.removed) continue;
    if (part.added) for (let i = 0; i < part.value.length; i++) found.push(at + i);
    at += part.value.length;
  }
  return found;
}

/** A word under the mouse or the focus shows its links. */
function connect(
  article: HTMLElement, source: Line, shown: Shown[], references: Line[], referenceLinks: (number[] | null)[], status: HTMLElement,
): void {
  const sides: [Line, number[] | null, string][] = [
    ...shown.map(({ own, output, system }): [Line, number[] | null, string] => [own, output.links, shownText(system)]),
    ...references.map((item, i): [Line, number[] | null, string] => [item, referenceLinks[i] ?? null, item.role]),
  ];
  const show = (line: Line, position: number, text: string, partners: [Line, number[]][]) => {
    const said = line.notes.get(position)?.said.join(", ");
    status.textContent = `${shownText(line.words[position] ?? "")}${said ? ` (${said})` : ""} – ${text}`;
    line.spans[position]?.classList.add("linked");
    for (const [side, at] of partners) for (const i of at) side.spans[i]?.classList.add("linked");
  };
  const on = (event: Event) => {
    const span = (event.target as HTMLElement).closest<HTMLElement>(".word");
    if (!span) return;
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
  article.addEventListener("mouseover", on);
  article.addEventListener("focusin", on);
  article.addEventListener("mouseout", off);
  article.addEventListener("focusout", off);
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

/** What each error is called, and the side of its words. */
const FINDINGS: Record<ErrorKind, [string, "source" | "output"]> = {
  omission: ["left out", "source"],
  repetition: ["repeated", "output"],
  addition: ["added", "output"],
};

/**
 * The marks in words, for print and for readers who do not see colours, with buttons to label them.
 */
function findingsElement(
  shown: Shown, number: number, source: Line | null, kinds: Kind[], labels: Labels, pick: Pick,
): HTMLElement {
  const texts = markTexts(shown.output.marks, kinds, MAX_LISTED);
  const rows = labels.errors.map((error) => {
    const [title, side] = FINDINGS[error];
    const target = side === "source" ? source : shown.own;
    if (!target) return null;
    const own = kinds.filter((kind) => kind.error === error && kind.side);
    const found = own.filter(({ key }) => texts[key]).map(({ key }) => (key === title || own.length === 1 ? "" : `${key}: `) + texts[key]).join("; ");
    return h(
      "li", { class: error }, h("strong", {}, title), " – ", h("bdi", {}, found || "nothing marked"),
      judgeElement(error, target, found !== "" ? markedWords(own, shown.output.marks) : [], shown, number, labels, pick),
    );
  });
  const known = (shown.output.labels ?? []).map((label) =>
    h("li", { class: label.marked ? "agreed" : "missed" }, labelText(label),
      label.marked ? ": marked by a score" : ": not marked by any score"),
  );
  return h("ul", { class: "marks" }, ...rows, ...known);
}

/** The reader's label: error, no error, which words, or the words that the scores mark. */
function judgeElement(
  kind: ErrorKind, target: Line, marked: number[], shown: Shown, number: number, labels: Labels, pick: Pick,
): HTMLElement {
  const { system } = shown;
  let picking = false;
  const button = (text: string, onclick: () => void) => h("button", { type: "button", onclick }, text);
  const judge = (error: boolean) => () => {
    const now = labels.get(kind, number, system);
    // A reader's words are the reader's: marks are taken over only on request.
    labels.set(kind, number, system, now?.error === error ? null : { error, words: [] });
    draw();
  };
  const toggle = (position: number) => {
    const chosen = new Set(labels.get(kind, number, system)?.words ?? []);
    if (!chosen.delete(position)) chosen.add(position);
    labels.set(kind, number, system, { error: true, words: [...chosen].sort((a, b) => a - b) });
    draw();
  };
  const yes = button("error", judge(true));
  const no = button("no error", judge(false));
  const which = button("which words", () => {
    picking = !picking;
    pick(target, picking ? toggle : null);
    draw();
  });
  const accept = marked.length ? button("accept the marks", () => {
    labels.set(kind, number, system, { error: true, words: marked });
    draw();
  }) : null;
  const said = h("small", { role: "status" });
  const draw = () => {
    const now = labels.get(kind, number, system);
    yes.setAttribute("aria-pressed", String(now?.error === true));
    no.setAttribute("aria-pressed", String(now?.error === false));
    which.setAttribute("aria-pressed", String(picking));
    const words = now?.error ? now.words : [];
    for (const [at, span] of target.spans.entries()) span.classList.toggle("chosen", picking && words.includes(at));
    const list = words.length ? `words ${words.map((at) => `${shownText(target.words[at] ?? "")} (${at + 1})`).join(", ")}` : "";
    said.textContent = picking ? `Click the words of the ${target.role} above that the error concerns. ${list}` : list;
  };
  draw();
  const title = `${FINDINGS[kind][0]}, ${shownText(system)}`;
  return h("span", { class: "judge", role: "group", "aria-label": title }, h("small", {}, "your label:"), yes, no, which, accept, said);
}

/** Where marks of some kinds are, except of those that nearly every word has. */
function markedWords(kinds: Kind[], marks: Mark[]): number[] {
  const keys = kinds.filter(({ faint }) => !faint).map(({ key }) => key);
  const found = marks.filter(({ kind }) => keys.includes(kind)).flatMap(({ positions }) => positions);
  return [...new Set(found)].sort((a, b) => a - b);
}

/** The marks that say where something is said first; overlapping ones form one phrase. */
function phrases(marks: Mark[]): Mark[] {
  const found: Mark[] = [];
  for (const item of [...marks].sort((a, b) => start(a) - start(b))) {
    const last = found.at(-1);
    const step = last ? start(item) - start(last) : 0;
    const [end, lastEnd] = [item, last ?? item].map((mark) => start(mark) + mark.positions.length) as [number, number];
    if (last && step > 0 && start(item) <= lastEnd && end > lastEnd && step === (item.first ?? 0) - (last.first ?? 0)) {
      const more = item.text.split(" ").slice(lastEnd - end);
      const positions = [...last.positions, ...item.positions.filter((at) => at >= lastEnd)];
      found[found.length - 1] = { ...last, positions, text: [last.text, ...more].join(" ") };
    } else found.push(item);
  }
  return found;
}

function start(mark: Mark): number {
  return mark.positions[0] ?? 0;
}

/** Marks in words by the key of their kind, positions from 1; at most `most` of each. */
export function markTexts(marks: Mark[], kinds: Kind[], most = Infinity): Record<string, string> {
  const texts = kinds.map(({ key, amount }): [string, string] => {
    const found = marks.filter(({ kind }) => kind === key);
    const own = found.some(({ first }) => first !== undefined) ? phrases(found) : found;
    const listed = own.slice(0, most).map((mark) => {
      // A passage that belongs to no line has no place in one.
      const place = mark.positions.length ? [mark.text && "at", String(start(mark) + 1)] : [];
      const at = [shownText(mark.text), ...place].filter(Boolean).join(" ");
      const first = mark.first === undefined || mark.first === start(mark) ? "" : `, first at ${mark.first + 1}`;
      return `${at}${first}${amount ? `: ${figure(mark.amount)}` : ""}`;
    });
    const more = own.length > listed.length ? [`and ${(own.length - most).toLocaleString("en")} more`] : [];
    return [key, [...listed, ...more].join("; ")];
  });
  return Object.fromEntries(texts);
}

function labelText(label: Label): string {
  const places = [
    label.source.length ? `source ${label.source.map((i) => i + 1).join(", ")}` : "",
    label.output.length ? `output ${label.output.map((i) => i + 1).join(", ")}` : "",
  ];
  return `labelled ${shownText(label.kind)} (${places.filter(Boolean).join("; ") || "no place"})`;
}

function attentionElement(output: Output, source: string[] | null, system: string, kinds: Kind[]): HTMLElement {
  const map = output.attention as Attention;
  const size = map.words.length * map.source.length;
  if (size > MAX_CELLS) {
    return h("p", { class: "note" }, `The attention map of ${map.words.length} × ${map.source.length} words is too large to be drawn here; "coverage-eval attention plot" draws it.`);
  }
  // Marks count the texts' words; a map of subwords has others.
  const same = (words: string[] | null, others: string[]) => words?.join(" ") === others.join(" ");
  const marked = (side: string) => markedWords(kinds.filter((kind) => kind.side === side), output.marks);
  const dropped = new Set(same(source, map.source) ? marked("source") : []);
  const repeated = new Set(same(output.words, map.words) ? marked("output") : []);
  return h(
    "details", { class: "attention", open: true }, h("summary", {}, "Attention of ", h("bdi", {}, shownText(system))),
    h("div", { class: "scroll whole", tabindex: 0, role: "region", "aria-label": `Attention of ${shownText(system)}` },
      attentionChart(map, `attention ${system}`, dropped, repeated)),
  );
}
