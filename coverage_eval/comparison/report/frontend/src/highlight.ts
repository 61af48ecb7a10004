/** Marks what was searched for, over words and lines; without support for it, nothing is marked. */

/** Marks all places of a text in some elements. */
export function highlight(elements: Iterable<Element>, wanted: string): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("found");
  if (!wanted.trim()) return;
  const ranges: Range[] = [];
  for (const element of elements) ranges.push(...find(element, wanted.toLowerCase()));
  CSS.highlights.set("found", new Highlight(...ranges));
}

/** The first marked place in an element. */
export function firstFound(element: Element | null): Range | undefined {
  const ranges = ("highlights" in CSS && CSS.highlights.get("found")) || [];
  return [...ranges].find((range) => element?.contains(range.startContainer)) as Range | undefined;
}

export function isInSight(range: Range): boolean {
  const { top, bottom } = range.getBoundingClientRect();
  return top > 0 && bottom < innerHeight;
}

function find(element: Element, wanted: string): Range[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes: [Text, number][] = [];
  let text = "";
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    nodes.push([node, text.length]);
    text += node.data;
  }
  const low = text.toLowerCase();
  // Some letters are longer in lower case; then positions would be wrong.
  if (low.length !== text.length) return [];
  const ranges: Range[] = [];
  for (let at = low.indexOf(wanted); at >= 0; at = low.indexOf(wanted, at + wanted.length)) {
    const range = new Range();
    range.setStart(...positionOf(nodes, at));
    range.setEnd(...positionOf(nodes, at + wanted.length - 1, 1));
    ranges.push(range);
  }
  return ranges;
}

/** The node and the offset in it of a character, and perhaps of the place behind it. */
function positionOf(nodes: [Text, number][], at: number, behind = 0): [Text, number] {
  const index = nodes.findLastIndex(([, start]) => start <= at);
  const [node, start] = nodes[index]!;
  return [node, at - start + behind];
}
