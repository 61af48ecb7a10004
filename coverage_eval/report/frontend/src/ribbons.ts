/** Source and output as two bands, joined by the alignment: gaps for omissions, loops for repetitions. */

import type { Kind, Output } from "./data";
import { h, shownText } from "./dom";

const LETTER = 7;
const SPACE = 8;
const BAND = 20;
const HEIGHT = 120;
const EDGE = 22;

interface Piece {
  word: string;
  x: number;
  width: number;
}

/** Words one after another, each as wide as its letters. */
export function band(words: string[]): Piece[] {
  let x = 0;
  return words.map((word) => {
    const width = LETTER * Math.max(1, [...shownText(word)].length) + 4;
    const piece = { word, x, width };
    x += width + SPACE;
    return piece;
  });
}

/** Where marks of an error are, as far as they are an error by themselves. */
export function marked(output: Output, kinds: Kind[], side: string): Set<number> {
  const keys = kinds.filter((kind) => kind.side === side && !kind.faint).map((kind) => kind.key);
  return new Set(output.marks.filter((mark) => keys.includes(mark.kind)).flatMap((mark) => mark.positions));
}

/** The picture of one output. */
export function ribbons(source: string[], words: string[], output: Output, kinds: Kind[], colour: string): HTMLElement {
  const [above, below] = [band(source), band(words)];
  const width = Math.max(...[above, below].map((pieces) => (pieces.at(-1)?.x ?? 0) + (pieces.at(-1)?.width ?? 0)), 40);
  // Both bands have the same length, so that a lack stands out as a slant.
  const [lost, repeated] = [marked(output, kinds, "source"), marked(output, kinds, "output")];
  const svg = element("svg", { width: width + 2, height: HEIGHT + 2 * EDGE, viewBox: `-1 ${-EDGE} ${width + 2} ${HEIGHT + 2 * EDGE}` });
  const bottom = HEIGHT - BAND;
  const pairs = output.links ?? [];
  const linkedSource = new Set<number>();
  for (let i = 0; i < pairs.length; i += 2) {
    const [from, to] = [above[pairs[i]!], below[pairs[i + 1]!]];
    if (!from || !to) continue;
    linkedSource.add(pairs[i]!);
    const middle = HEIGHT / 2;
    const path = `M${from.x} ${BAND}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${bottom}`
      + `H${to.x + to.width}C${to.x + to.width} ${middle} ${from.x + from.width} ${middle} ${from.x + from.width} ${BAND}Z`;
    svg.append(titled(element("path", { d: path, fill: colour, "fill-opacity": 0.3 }), `${from.word} – ${to.word}`));
  }
  for (const [at, piece] of above.entries()) {
    const kind = lost.has(at) ? "gap" : linkedSource.has(at) ? "joined" : "alone";
    svg.append(...word(piece, 0, kind, lost.has(at) ? `${piece.word}: left out` : piece.word));
  }
  for (const [at, piece] of below.entries()) {
    svg.append(...word(piece, bottom, repeated.has(at) ? "again" : "joined", repeated.has(at) ? `${piece.word}: again` : piece.word));
  }
  for (const mark of output.marks) {
    const first = mark.first === undefined ? undefined : below[mark.first];
    const again = below[mark.positions[0] ?? -1];
    if (!first || !again || first === again) continue;
    const [a, b] = [first.x + first.width / 2, again.x + again.width / 2];
    svg.append(titled(element("path", { class: "loop", d: `M${b} ${HEIGHT}C${b} ${HEIGHT + EDGE} ${a} ${HEIGHT + EDGE} ${a} ${HEIGHT}`, fill: "none" }), `again: ${mark.text ?? ""}`));
  }
  const said = `${lost.size} of ${source.length} source words left out, ${repeated.size} of ${words.length} output words said again`;
  return h("div", { class: "ribbons scroll whole", tabindex: 0, role: "img", "aria-label": `Source above, output below: ${said}` }, svg as unknown as HTMLElement);
}

function word(piece: Piece, y: number, kind: string, title: string): Element[] {
  const box = element("rect", { class: kind, x: piece.x, y, width: piece.width, height: BAND, rx: 3 });
  const text = element("text", { x: piece.x + piece.width / 2, y: y + BAND - 6, "text-anchor": "middle", "font-size": 11 });
  text.textContent = shownText(piece.word);
  return [titled(box, title), text];
}

function element(name: string, attributes: Record<string, string | number>): Element {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function titled(item: Element, text: string): Element {
  const title = element("title", {});
  title.textContent = shownText(text);
  item.append(title);
  return item;
}
