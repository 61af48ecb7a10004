/** One segment: source, references, and outputs side by side, with marks and links. */

import type { Attention, Contents, Kind, Mark, Output, Segment } from "./data";
import { h, shownText } from "./dom";
import { type Line, line, lineElement, mark } from "./line";
import { figure } from "./figures";

/** Texts of more words stand below each other, with the source in sight. */
const LONG = 60;
/** Marks of a kind that are listed below an output. */
const MAX_LISTED = 30;
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
}

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
  for (const { system, output, own } of shown) {
    const by = shown.length > 1 ? system : "";
    const kinds = contents.kinds.filter(({ key }) => marks.has(key));
    if (source) markWords(source, output, kinds.filter(({ side }) => side === "source"), by, colourOf(contents, system));
    markWords(own, output, kinds.filter(({ side }) => side === "output"));
  }
  const isLong = Math.max(segment.source?.length ?? 0, ...shown.map(({ output }) => output.words.length)) > LONG;
  const text = (item: Line) => h("div", { class: "text" }, h("h4", {}, item.role), lineElement(item));
  const reference = (item: Line) =>
    isLong ? h("details", { class: "fold" }, h("summary", {}, item.role), lineElement(item)) : text(item);
  const element = h(
    "article",
    { class: isLong ? "segment long" : "segment", "aria-label": `Segment ${number}` },
    h("h3", {}, `Segment ${number}`),
    source && h("div", { class: "source" }, text(source)),
    ...references.map(reference),
    h("div", { class: "cards" }, ...shown.map((item) => cardElement(item, source !== null, showing, scores, isLong))),
    ...shown.map(({ system, output }) => output.attention ? attentionElement(output, segment.source, system, contents.kinds) : null),
    status,
  );
  if (source) connect(element, source, shown, references, segment.referenceLinks, status);
  return element;
}

function colourOf(contents: Contents, system: string): string {
  return `--system: ${contents.colours[contents.systems.indexOf(system)]}`;
}

function cardElement(
  shown: Shown, hasSource: boolean, showing: Showing, scores: Scores, isLong: boolean,
): HTMLElement {
  const { system, own } = shown;
  const figures = showing.contents.metrics.map(({ name }) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, figure(scores.get(name)?.get(system)))),
  );
  const findings = findingsElement(shown, hasSource, showing.contents.kinds);
  return h(
    "section", { class: "card", "aria-label": shownText(system), style: colourOf(showing.contents, system) },
    h("h4", {}, h("i", { class: "dot" }), h("bdi", {}, shownText(system))),
    h("dl", { class: "figures" }, ...figures),
    h("div", { class: "text" }, lineElement(own)),
    isLong ? h("details", { class: "fold" }, h("summary", {}, "Marks in words"), findings) : findings,
  );
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
const FINDINGS: [string, string, "source" | "output"][] = [
  ["omission", "left out", "source"],
  ["repetition", "repeated", "output"],
  ["addition", "added", "output"],
];

/** The marks in words, for print and for readers who do not see colours. */
function findingsElement(shown: Shown, hasSource: boolean, kinds: Kind[]): HTMLElement {
  const texts = markTexts(shown.output.marks, kinds, MAX_LISTED);
  const rows = FINDINGS.map(([error, title, side]) => {
    const own = kinds.filter((kind) => kind.error === error);
    if ((side === "source" && !hasSource) || (error === "addition" && !own.length)) return null;
    const found = own.filter(({ key }) => texts[key]).map(({ key }) => (key === title || own.length === 1 ? "" : `${key}: `) + texts[key]).join("; ");
    return h("li", { class: error }, h("strong", {}, title), " – ", h("bdi", {}, found || "nothing marked"));
  });
  return h("ul", { class: "marks" }, ...rows);
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

function attentionElement(output: Output, source: string[] | null, system: string, kinds: Kind[]): HTMLElement {
  const map = output.attention as Attention;
  const size = map.words.length * map.source.length;
  if (size > MAX_CELLS) {
    return h("p", { class: "note" }, `The attention map of ${map.words.length} × ${map.source.length} words is too large to be drawn here; "coverage-eval attention plot" draws it.`);
  }
  // Marks count the texts' words; a map of subwords has others.
  const same = (words: string[] | null, others: string[]) => words?.join(" ") === others.join(" ");
  const marked = (side: string) => markedWords(kinds.filter((kind) => kind.side === side), output.marks);
  const dropped = same(source, map.source) ? marked("source") : [];
  const repeated = same(output.words, map.words) ? marked("output") : [];
  const heads = map.words.map((word, at) => h("th", { scope: "col", class: repeated.includes(at) ? "repeated" : "" }, h("span", {}, shownText(word))));
  const rows = map.source.map((word, row) => h("tr", {},
    h("th", { scope: "row", class: dropped.includes(row) ? "dropped" : "" }, shownText(word)),
    ...map.words.map((to, at) => {
      const weight = map.weights[at]?.[row] ?? 0;
      return h("td", { title: `${shownText(to)} ← ${shownText(word)}: ${(weight / 100).toFixed(2)}`, style: `--weight: ${weight}%` });
    })));
  const what = "Attention of each output word (across) to each source word (down); white: exactly 0, full colour: 1";
  return h(
    "details", { class: "attention", open: true }, h("summary", {}, "Attention of ", h("bdi", {}, shownText(system))),
    h("div", { class: "scroll whole", tabindex: 0, role: "region", "aria-label": `Attention of ${shownText(system)}` },
      h("table", {}, h("caption", {}, what), h("thead", {}, h("tr", {}, h("td"), ...heads)), h("tbody", {}, ...rows))),
  );
}
