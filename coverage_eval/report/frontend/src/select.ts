/** The segments of a view, in its order. */

import { type Contents, type Data, type Mark, type Segment, written } from "./data";
import type { View } from "./view";

type Test = (segment: Segment) => boolean;

/**
 * The indices of the segments, from 0, in the view's order. Filters on columns come first, because
 * texts and marks must be unpacked.
 *
 * @param search filters indices by the view's `segmentTests`
 *
 * Throws SyntaxError if the text is no regular expression.
 */
export async function select(
  view: View, contents: Contents, data: Data, search: (left: number[]) => Promise<number[]>,
): Promise<number[]> {
  let left = Array.from({ length: contents.segments }, (_, index) => index);
  for (const keep of await columnTests(view, contents, data)) left = left.filter(keep);
  if (segmentTests(view, contents).length) left = await search(left);
  return sort(left, view, data);
}

async function columnTests(
  view: View, contents: Contents, data: Data,
): Promise<((index: number) => boolean)[]> {
  const tests: ((index: number) => boolean)[] = [];
  const systems = view.of ? [view.of] : contents.systems;
  if (view.kind) {
    const plain = contents.kinds.filter((kind) => !kind.faint).map((kind) => kind.key);
    const kinds = view.kind === "none" ? plain : [view.kind];
    const columns = await Promise.all(
      kinds.flatMap((kind) => systems.map((system) => data.counts(kind, system))),
    );
    const has = (index: number) => columns.some((counts) => (counts?.[index] ?? 0) > 0);
    tests.push(view.kind === "none" ? (index) => !has(index) : has);
  }
  if (view.least !== null || view.most !== null) {
    const columns = await Promise.all(systems.map((name) => data.scores(view.metric, name)));
    tests.push((index) => columns.some((scores) => inRange(scores[index] ?? null, view)));
  }
  if (view.first !== null) tests.push((index) => index + 1 >= view.first!);
  if (view.last !== null) tests.push((index) => index + 1 <= view.last!);
  if (view.winner) tests.push(await winTest(view, contents, data));
  if (view.found === "source-length" || view.found === "reference-length") {
    const column = await data.read<string[]>(view.found);
    tests.push((index) => column?.[index] === view.entry);
  }
  return tests;
}

function inRange(score: number | null, view: View): boolean {
  if (score === null) return false;
  return score >= (view.least ?? -Infinity) && score <= (view.most ?? Infinity);
}

async function winTest(
  view: View, contents: Contents, data: Data,
): Promise<(index: number) => boolean> {
  const others = view.loser ? [view.loser] : contents.systems.filter((s) => s !== view.winner);
  const own = await data.scores(view.metric, view.winner);
  const theirs = await Promise.all(others.map((name) => data.scores(view.metric, name)));
  const metric = contents.metrics.find((item) => item.name === view.metric);
  const sign = metric && metric.higherIsBetter !== false ? 1 : -1;
  return (index) =>
    theirs.every((scores) => {
      const [ours, other] = [own[index] ?? null, scores[index] ?? null];
      return ours !== null && other !== null && sign * (ours - other) > 0;
    });
}

/** Tests on a segment's texts and marks; empty if columns are enough. */
export function segmentTests(view: View, contents: Contents): Test[] {
  const tests: Test[] = [];
  const outputs = (view.of ? [view.of] : contents.systems).map((s) => contents.systems.indexOf(s));
  if (view.text) tests.push(textTest(view, outputs));
  const found = foundTest(view, contents, outputs);
  if (found) tests.push(found);
  return tests;
}

function textTest(view: View, outputs: number[]): Test {
  const matches = view.regex ? regexMatcher(view.text) : plainMatcher(view.text);
  return (segment) => {
    const texts: string[] = [];
    if (view.within !== "reference" && view.within !== "output") texts.push(written(segment.source ?? [], segment.sourcePieces));
    if (view.within !== "source" && view.within !== "output") {
      texts.push(...segment.references.map((words, i) => written(words, segment.referencePieces?.[i])));
    }
    if (view.within !== "source" && view.within !== "reference") {
      texts.push(...outputs.map((index) => written(segment.outputs[index]?.words ?? [], segment.outputs[index]?.pieces)));
    }
    return texts.some(matches);
  };
}

function regexMatcher(text: string): (line: string) => boolean {
  const expression = new RegExp(text, "iu");
  return (line) => expression.test(line);
}

function plainMatcher(text: string): (line: string) => boolean {
  const wanted = text.toLowerCase();
  return (line) => line.toLowerCase().includes(wanted);
}

/** Whether an entry of a breakdown counts a segment. */
function foundTest(view: View, contents: Contents, outputs: number[]): Test | null {
  const { found, entry } = view;
  const not = contents.systems.indexOf(view.not);
  const listed = (what: string) => contents.kinds.filter((kind) => kind.listed === what).map((kind) => kind.key);
  const [words, phrases] = [listed("words"), listed("phrases")];
  const some = (kinds: string[], test: (mark: Mark, segment: Segment) => boolean): Test => (segment) =>
    outputs.some((index) =>
      segment.outputs[index]?.marks.some((mark) => kinds.includes(mark.kind) && test(mark, segment)),
    );
  const isEntry = (mark: Mark, segment: Segment) => mark.positions.some((at) => segment.source?.[at] === entry);
  const isKept = (mark: Mark, segment: Segment) =>
    !segment.outputs[not]?.marks.some(
      (other) => words.includes(other.kind) && other.positions.some((at) => mark.positions.includes(at)),
    );
  // A map: the address names the test, and every object has a "constructor" and a "__proto__".
  const tests = new Map<string, Test>([
    ["dropped-words", some(words, isEntry)],
    ["dropped-by-one", some(words, (mark, segment) => isEntry(mark, segment) && isKept(mark, segment))],
    ["frequency", some(words, (mark) => mark.frequency === entry)],
    ["source-position", some(words, (mark) => mark.place === entry)],
    ["repeated-ngrams", some(phrases, (mark) => mark.text === entry)],
    ["output-position", some(phrases, (mark) => mark.place === entry)],
  ]);
  return tests.get(found) ?? null;
}

/** Undefined scores come last in both directions; ties are in the order of the text. */
async function sort(left: number[], view: View, data: Data): Promise<number[]> {
  const sign = view.descending ? -1 : 1;
  if (view.sort === "number") return view.descending ? left.reverse() : left;
  const own = await data.scores(view.sort, view.whose);
  const other = view.minus ? await data.scores(view.sort, view.minus) : null;
  const value = (index: number): number | null => {
    const [ours, theirs] = [own[index] ?? null, other ? other[index] ?? null : 0];
    return ours === null || theirs === null ? null : ours - theirs;
  };
  const keyed = left.map((index) => ({ index, value: value(index) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) {
      return Number(a.value === null) - Number(b.value === null) || a.index - b.index;
    }
    return sign * (a.value - b.value) || a.index - b.index;
  });
  return keyed.map(({ index }) => index);
}
