/** The segments of a view, in its order. */

import { type Contents, type Data, type Segment, spansOf } from "./data";
import { isWorstHigh, listedMetric, type View } from "./view";

/**
 * The indices of the segments, from 0, in the view's order. Flags come first, because texts and
 * marks must be unpacked.
 *
 * @param signal aborted when the answer is no longer wanted; then this throws its reason
 */
export async function select(view: View, contents: Contents, data: Data, signal: AbortSignal): Promise<number[]> {
  let left = Array.from({ length: contents.segments }, (_, index) => index);
  const flags = view.flagged ? await data.flags(listedMetric(view, contents).name, view.whose) : null;
  if (flags) left = left.filter((index) => flags[index]);
  if (view.from || view.to) {
    const scores = await data.scores(listedMetric(view, contents).name, view.whose);
    const [low, high] = [view.from ? Number(view.from) : -Infinity, view.to ? Number(view.to) : Infinity];
    left = left.filter((index) => {
      const score = scores[index] ?? null;
      return score !== null && low <= score && score < high;
    });
  }
  if (view.text || view.found) {
    const kept: number[] = [];
    for (const index of left) {
      const segment = await data.segment(index, contents.block);
      signal.throwIfAborted();
      if (hasText(segment, view.text.toLowerCase()) && hasEntry(segment, view, contents)) kept.push(index);
    }
    left = kept;
  }
  return sort(left, view, contents, data);
}

/** What the lists count. A map: the address names the list, and every object has a "constructor". */
const LISTED = new Map([
  ["dropped-words", "words"],
  ["repeated-ngrams", "phrases"],
]);

function hasText(segment: Segment, wanted: string): boolean {
  return [segment.source ?? "", ...segment.references, ...segment.outputs.map(({ text }) => text)].some((text) =>
    text.toLowerCase().includes(wanted),
  );
}

/** Whether the output that the list is about has an entry of a list of words or phrases. */
function hasEntry(segment: Segment, view: View, contents: Contents): boolean {
  const listed = LISTED.get(view.found);
  if (!listed) return true;
  const kinds = contents.kinds.filter((kind) => kind.listed === listed).map((kind) => kind.key);
  const output = segment.outputs[contents.systems.indexOf(view.whose)];
  return (
    output?.marks.some(
      (mark) =>
        kinds.includes(mark.kind) &&
        (listed === "phrases"
          ? mark.text === view.entry
          : spansOf(mark.spans).some(([start, end]) => segment.source?.slice(start, end) === view.entry)),
    ) ?? false
  );
}

/** The worst first; undefined scores come last, and ties are in the order of the text. */
async function sort(left: number[], view: View, contents: Contents, data: Data): Promise<number[]> {
  if (view.sort === "number") return left;
  const sign = isWorstHigh(listedMetric(view, contents)) ? -1 : 1;
  const scores = await data.scores(view.sort, view.whose);
  return left.sort((a, b) => {
    const [one, two] = [scores[a] ?? null, scores[b] ?? null];
    if (one === null || two === null) return Number(one === null) - Number(two === null) || a - b;
    return sign * (one - two) || a - b;
  });
}
