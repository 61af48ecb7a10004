/** A text as words that can be marked and linked. */

import { h, shownText } from "./dom";

/** Longer texts are cut until the reader asks for more. */
const MAX_WORDS = 400;
const MORE_WORDS = 2000;
/** What is marked at a word. */
interface Note {
  classes: string[];
  said: string[];
  amount?: number;
  /** The colours of the systems that drop a source word, where several are shown. */
  colours: Set<string>;
}

/** A text as words; only the words shown have elements. */
export interface Line {
  role: string;
  /** As they were written, without the spaces behind them. */
  words: string[];
  /** Whether a space stands behind each word. */
  spaced: boolean[];
  notes: Map<number, Note>;
  spans: HTMLElement[];
}

export function line(role: string, words: string[], pieces?: string[] | null): Line {
  const spaced = words.map((_, i) => pieces?.[i]?.endsWith(" ") ?? true);
  return { role, words: pieces?.map((piece) => piece.replace(/ +$/, "")) ?? words, spaced, notes: new Map(), spans: [] };
}

export function mark(target: Line, position: number, name: string, said: string): Note {
  const note = target.notes.get(position) ?? { classes: [], said: [], colours: new Set() };
  if (!note.classes.includes(name)) note.classes.push(name);
  note.said.push(said);
  target.notes.set(position, note);
  return note;
}

export function lineElement(target: Line): HTMLElement {
  const { role, words, spans } = target;
  const element = h("p", {
    class: "words", dir: "auto", role: "group", "aria-label": role,
    onkeydown: (event: KeyboardEvent) => walk(event, spans),
  });
  const more = h("button", { type: "button", onclick: () => put(MORE_WORDS) });
  const put = (count: number) => {
    const from = spans.length;
    const to = Math.min(words.length, from + count);
    for (let at = from; at < to; at++) {
      const span = wordElement(words[at]!, target.notes.get(at));
      spans.push(span);
      element.append(span, target.spaced[at] ? " " : "");
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

function wordElement(word: string, note: Note | undefined): HTMLElement {
  const classes = ["word", ...(note?.classes ?? [])].join(" ");
  const span = h("span", { class: classes, tabindex: -1 }, shownText(word));
  if (note?.amount !== undefined) span.style.setProperty("--amount", String(note.amount));
  for (const style of note?.colours ?? []) span.append(h("i", { class: "dot", style }));
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

