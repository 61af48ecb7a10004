/** One segment: source, references, and outputs side by side, with marks and links. */

import type { Attention, Contents, Kind, Output, Segment } from "./data";
import { figure, h, shownText } from "./dom";
import { type Line, line, lineElement, runsOf, runText } from "./line";
import { labelOf } from "./view";

/** Texts of more characters stand below each other, with the source in sight. */
const LONG = 360;
const MAX_CELLS = 4000;
/** The share of a source beyond which marks say little; as MOST_MARKED of segments.py. */
const MOST_MARKED = 2 / 3;
/** Errors of a kind that are listed below an output. */
const MAX_LISTED = 30;

interface Shown {
  system: string;
  output: Output;
  text: Line;
}

/** What a segment is shown with. */
export interface Showing {
  contents: Contents;
  /** Systems side by side. */
  show: readonly string[];
  /** The system whose errors the source shows. */
  chosen: string;
  choose: (system: string) => void;
  /** The kinds of marks that words show. */
  kinds: Kind[];
  /** Whether function words are marked alone. */
  quiet: boolean;
}

/** The scores of a segment: by metric, then system. */
export type Scores = Map<string, Map<string, number | null>>;

export function segmentElement(segment: Segment, number: number, showing: Showing, scores: Scores): HTMLElement {
  const { contents, show, chosen, kinds } = showing;
  const status = h("output", { class: "status", "aria-live": "polite" }, "");
  const source = segment.source === null ? null : line("source", segment.source, segment.sourceWords);
  const references = segment.references.map((text, index) =>
    line(segment.references.length > 1 ? `reference ${index + 1}` : "reference", text, segment.referenceWords[index]),
  );
  const isLong = Math.max(segment.source?.length ?? 0, ...segment.outputs.map(({ text }) => text.length)) > LONG;
  // Long outputs stand below each other, the one that the source is marked for first.
  const order = isLong ? [chosen, ...show.filter((system) => system !== chosen)] : show;
  const shown = order.map((system): Shown => {
    const whole = segment.outputs[contents.systems.indexOf(system)] as Output;
    const output = { ...whole, marks: whole.marks.filter(({ quiet }) => showing.quiet || !quiet) };
    const text = line("output", output.text, output.words);
    text.runs = runsOf(
      text.text,
      output.marks,
      kinds.filter(({ side }) => side === "output"),
    );
    if (source && system === chosen) source.runs = sourceRuns(source, output, kinds);
    return { system, output, text };
  });
  const marked =
    source?.runs.length && show.length > 1
      ? h(
          "small",
          {},
          ` marked: ${marking(source, shown, chosen)} `,
          h("b", {}, h("bdi", {}, labelOf(chosen, contents))),
        )
      : null;
  const text = (item: Line, more: HTMLElement | null = null) =>
    h("div", { class: "text" }, h("h3", {}, item.role, more), lineElement(item));
  const element = h(
    "article",
    { class: isLong ? "segment long" : "segment", "aria-label": `Segment ${number}` },
    h(
      "div",
      { class: "given" },
      source && h("div", { class: "source" }, text(source, marked)),
      ...references.map((item) => text(item)),
    ),
    h("div", { class: "cards" }, ...shown.map((item) => cardElement(item, source, showing, scores))),
    ...shown.map(({ system, output }) =>
      output.attention ? attentionElement(output.attention, labelOf(system, contents)) : null,
    ),
    status,
  );
  if (source) connect(element, source, shown, references, segment.referenceLinks, status, contents);
  return element;
}

/** What marks of the source mean: where nearly all is marked beside an output, the model knows too little of it. */
function marking(source: Line, shown: Shown[], chosen: string): string {
  const marked = source.runs.reduce((sum, { start, end }) => sum + end - start, 0);
  const output = shown.find(({ system }) => system === chosen)?.text.text.trim();
  return output && marked > MOST_MARKED * source.text.length
    ? "nearly all, so the model may not know this text, in"
    : "what is missing in";
}

function sourceRuns(source: Line, output: Output, kinds: Kind[]) {
  return runsOf(
    source.text,
    output.marks,
    kinds.filter(({ side }) => side === "source"),
  );
}

function cardElement(
  { system, output, text }: Shown,
  source: Line | null,
  showing: Showing,
  scores: Scores,
): HTMLElement {
  const { contents, show, chosen, choose, kinds } = showing;
  const label = labelOf(system, contents);
  const name = h("bdi", {}, label);
  const figures = contents.metrics.map((metric) =>
    h("div", {}, h("dt", {}, metric.figure), h("dd", {}, figure(scores.get(metric.name)?.get(system)))),
  );
  return h(
    "section",
    {
      class: "card",
      "aria-label": label,
      style: `--system: ${contents.colours[contents.systems.indexOf(system)]}`,
    },
    h(
      "h3",
      {},
      h("i", { class: "dot" }),
      source && show.length > 1
        ? h(
            "button",
            {
              type: "button",
              "aria-pressed": String(system === chosen),
              title: "Show in the source what this output lacks",
              onclick: () => choose(system),
            },
            name,
          )
        : name,
    ),
    h("dl", { class: "figures" }, ...figures),
    h("div", { class: "text" }, lineElement(text)),
    errorsElement(output, text, source, kinds),
  );
}

const ERRORS = [
  ["omission", "left out"],
  ["repetition", "repeated"],
  ["addition", "added"],
];

/** The marks in words, for those not in sight and for readers who do not see how runs are drawn. */
function errorsElement(output: Output, text: Line, source: Line | null, kinds: Kind[]): HTMLElement {
  const missing = source ? sourceRuns(source, output, kinds).map((run) => ({ run, words: runText(source, run) })) : [];
  const marked = [...missing, ...text.runs.map((run) => ({ run, words: runText(text, run) }))];
  const rows = ERRORS.map(([error, title]) => {
    // A passage that belongs to no line has no place in one.
    const placeless = output.marks
      .filter(
        ({ kind, spans, text }) =>
          text && !spans.length && kinds.some((item) => item.key === kind && item.error === error),
      )
      .map((mark) => mark.text);
    const words = [...marked.filter(({ run }) => run.kind.error === error).map((item) => item.words), ...placeless];
    const more = words.length > MAX_LISTED ? "; …" : "";
    return words.length
      ? h(
          "li",
          { class: error! },
          h("strong", {}, title!),
          " – ",
          h("bdi", {}, shownText(words.slice(0, MAX_LISTED).join("; ") + more)),
        )
      : null;
  });
  return h("ul", { class: "marks" }, ...rows);
}

/** A word under the mouse or the focus shows its links. */
function connect(
  article: HTMLElement,
  source: Line,
  shown: Shown[],
  references: Line[],
  referenceLinks: (number[] | null)[],
  status: HTMLElement,
  contents: Contents,
): void {
  const sides: [Line, number[] | null, string][] = [
    ...shown.map(({ text, output, system }): [Line, number[] | null, string] => [
      text,
      output.links,
      labelOf(system, contents),
    ]),
    ...references.map((item, i): [Line, number[] | null, string] => [item, referenceLinks[i] ?? null, item.role]),
  ];
  const show = (side: Line, word: number, text: string, partners: [Line, number[]][]) => {
    const [start, end] = side.words[word]!;
    const kind = side.runs.find((run) => run.start < end && start < run.end)?.kind.key;
    status.textContent = `${shownText(side.text.slice(start, end))}${kind ? ` (${kind})` : ""} – ${text}`;
    for (const [other, words] of [[side, [word]] as [Line, number[]], ...partners]) {
      for (const [span, number] of other.shown) if (words.includes(number)) span.classList.add("linked");
    }
  };
  const on = (event: Event) => {
    const span = (event.target as HTMLElement).closest<HTMLElement>(".word");
    if (!span) return;
    const from = source.shown.get(span);
    if (from !== undefined) {
      const partners = sides.map(([side, pairs]): [Line, number[]] => [side, linked(pairs, from, 0)]);
      const texts = sides.map(
        ([side, pairs, name]) =>
          `${name}: ${pairs ? wordsAt(side, linked(pairs, from, 0)) || "no link" : "links not known"}`,
      );
      show(source, from, texts.join("; "), partners);
    }
    for (const [side, pairs] of sides) {
      const word = side.shown.get(span);
      if (word === undefined || !pairs) continue;
      const at = linked(pairs, word, 1);
      show(side, word, `source: ${wordsAt(source, at) || "no link"}`, [[source, at]]);
    }
  };
  const off = () => {
    for (const item of article.querySelectorAll(".linked")) item.classList.remove("linked");
    status.textContent = "";
  };
  article.addEventListener("mouseover", on);
  article.addEventListener("focusin", on);
  article.addEventListener("mouseout", off);
  article.addEventListener("focusout", off);
}

/** The other ends of a word's links; `end` is 0 for a source word, 1 for a target one. */
export function linked(pairs: number[] | null, word: number, end: 0 | 1): number[] {
  const ends: number[] = [];
  for (let i = 0; pairs && i < pairs.length; i += 2) {
    if (pairs[i + end] === word) ends.push(pairs[i + 1 - end] as number);
  }
  return ends.sort((a, b) => a - b);
}

function wordsAt(side: Line, words: number[]): string {
  return words.map((word) => `${shownText(side.text.slice(...side.words[word]!))} (${word + 1})`).join(", ");
}

function attentionElement(map: Attention, system: string): HTMLElement {
  if (map.words.length * map.source.length > MAX_CELLS) {
    return h(
      "p",
      { class: "note" },
      `The attention map of ${map.words.length} × ${map.source.length} words is too large to be drawn here; "coverage-eval attention plot" draws it.`,
    );
  }
  const heads = map.words.map((word) => h("th", { scope: "col" }, h("span", {}, shownText(word))));
  const rows = map.source.map((word, row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, shownText(word)),
      ...map.words.map((to, at) => {
        const weight = map.weights[at]?.[row] ?? 0;
        return h("td", {
          title: `${shownText(to)} ← ${shownText(word)}: ${(weight / 100).toFixed(2)}`,
          style: `--weight: ${weight}%`,
        });
      }),
    ),
  );
  const what = "Attention of each output word (across) to each source word (down); white: exactly 0, full colour: 1";
  return h(
    "details",
    { class: "attention", open: true },
    h("summary", {}, "Attention of ", h("bdi", {}, system)),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": `Attention of ${system}` },
      h("table", {}, h("caption", {}, what), h("thead", {}, h("tr", {}, h("td"), ...heads)), h("tbody", {}, ...rows)),
    ),
  );
}
