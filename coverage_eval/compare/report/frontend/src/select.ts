/** The segments of a view, in its order. */

import { type Contents, type Data, type Segment, written } from "./data";
import type { View } from "./view";

type Test = (segment: Segment) => boolean;

/**
 * The indices of the segments, from 0, in the view's order. Filters on columns come first, because
 * texts and marks must be unpacked.
 *
 * @param signal aborted when the answer is no longer wanted; then this throws its reason
 */
export async function select(view: View, contents: Contents, data: Data, signal: AbortSignal): Promise<number[]> {
  let left = Array.from({ length: contents.segments }, (_, index) => index);
  const systems = view.of ? [view.of] : contents.systems;
  if (view.kind) {
    const plain = contents.kinds.filter((kind) => !kind.faint).map((kind) => kind.key);
    const kinds = view.kind === "none" ? plain : [view.kind];
    const columns = await Promise.all(
      kinds.flatMap((kind) => systems.map((system) => data.counts(kind, system))),
    );
    const has = (index: number) => columns.some((counts) => (counts?.[index] ?? 0) > 0);
    left = left.filter((index) => has(index) !== (view.kind === "none"));
  }
  const tests = segmentTests(view, contents);
  if (tests.length) {
    const kept: number[] = [];
    for (const index of left) {
      const segment = await data.segment(index, contents.block);
      signal.throwIfAborted();
      if (tests.every((test) => test(segment))) kept.push(index);
    }
    left = kept;
  }
  return sort(left, view, data);
}

/** Tests on a segment's texts and marks; empty if columns are enough. */
function segmentTests(view: View, contents: Contents): Test[] {
  const tests: Test[] = [];
  const outputs = (view.of ? [view.of] : contents.systems).map((name) => contents.systems.indexOf(name));
  if (view.text) tests.push(textTest(view.text.toLowerCase(), outputs));
  // A map: the address names the list, and every object has a "constructor" and a "__proto__".
  const what = new Map([["dropped-words", "words"], ["repeated-ngrams", "phrases"]]).get(view.found);
  if (what) {
    const kinds = contents.kinds.filter((kind) => kind.listed === what).map((kind) => kind.key);
    tests.push((segment) => outputs.some((index) => segment.outputs[index]?.marks.some((mark) =>
      kinds.includes(mark.kind) && (what === "phrases"
        ? mark.text === view.entry
        : mark.positions.some((at) => segment.source?.[at] === view.entry)))));
  }
  return tests;
}

function textTest(wanted: string, outputs: number[]): Test {
  return (segment) => [
    written(segment.source ?? [], segment.sourcePieces),
    ...segment.references.map((words, i) => written(words, segment.referencePieces?.[i])),
    ...outputs.map((index) => written(segment.outputs[index]?.words ?? [], segment.outputs[index]?.pieces)),
  ].some((text) => text.toLowerCase().includes(wanted));
}

/** Undefined scores come last in both directions; ties are in the order of the text. */
async function sort(left: number[], view: View, data: Data): Promise<number[]> {
  const sign = view.descending ? -1 : 1;
  if (view.sort === "number") return view.descending ? left.reverse() : left;
  const scores = await data.scores(view.sort, view.whose);
  return left.sort((a, b) => {
    const [one, two] = [scores[a] ?? null, scores[b] ?? null];
    if (one === null || two === null) return Number(one === null) - Number(two === null) || a - b;
    return sign * (one - two) || a - b;
  });
}
