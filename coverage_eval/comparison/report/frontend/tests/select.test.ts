import assert from "node:assert/strict";
import { test } from "node:test";
import type { Data, Mark, Segment } from "../src/data";
import { select } from "../src/select";
import { defaultView, type View } from "../src/view";
import { contents as some } from "./kinds";

const contents = { ...some, systems: ["a", "b"], worst: { metric: "DROP", system: "a" } };
const columns: Record<string, (number | null)[]> = {
  "DROP/a": [0, 50, 25, null, 0],
  "DROP/b": [0, 0, 50, 0, 10],
  "BLEU/a": [10, 20, 30, 40, 50],
  "BLEU/b": [10, 30, 20, 40, 60],
};
const dropped = (...spans: number[]): Mark => ({ kind: "dropped", spans, text: "", quiet: false });
const segments: Segment[] = [
  segment("ein Haus", [], []),
  segment("das Haus", [dropped(4, 4)], []),
  segment("das Haus", [dropped(4, 4)], [dropped(0, 3, 1, 4)]),
  segment("ein (Hund", [], [{ kind: "repeated", spans: [3, 1], text: "a b", quiet: false }]),
  segment("", [], [dropped(0, 0)]),
];
const data = {
  segment: async (index: number) => segments[index],
  scores: async (metric: string, system: string) => columns[`${metric}/${system}`],
  flags: async (metric: string, system: string) =>
    metric === "DROP" ? columns[`DROP/${system}`]!.map((score) => !!score) : null,
} as unknown as Data;

function segment(source: string, a: Mark[], b: Mark[]): Segment {
  const output = (text: string, marks: Mark[]) => ({ text, words: null, links: null, marks, attention: null });
  return {
    source,
    sourceWords: null,
    references: ["the reference"],
    referenceWords: [null],
    referenceLinks: [null],
    outputs: [output("of a", a), output("of b", b)],
  };
}

async function found(part: Partial<View>): Promise<number[]> {
  const view = { ...defaultView(contents), sort: "number", ...part };
  return select(view, contents, data, new AbortController().signal);
}

const cases: [string, Partial<View>, number[]][] = [
  ["no filter", {}, [0, 1, 2, 3, 4]],
  ["what the metric flags of one system", { flagged: true }, [1, 2]],
  ["of another", { flagged: true, whose: "b" }, [2, 4]],
  ["a metric that flags nothing", { flagged: true, sort: "BLEU" }, [0, 1, 2, 3, 4]],
  ["a list that only every object has", { found: "constructor", entry: "x" }, [0, 1, 2, 3, 4]],
  ["plain text, any case", { text: "HAUS" }, [0, 1, 2]],
  ["special characters are plain text", { text: "(h" }, [3]],
  ["an entry of dropped words", { found: "dropped-words", entry: "Haus", whose: "b" }, [2]],
  ["a repeated n-gram", { found: "repeated-ngrams", entry: "a b", whose: "b" }, [3]],
  ["several filters", { flagged: true, text: "das" }, [1, 2]],
  ["the worst first, ties in the order of the text, undefined last", { sort: "DROP" }, [1, 2, 0, 4, 3]],
  ["the worst by a score of quality", { sort: "BLEU" }, [0, 1, 2, 3, 4]],
  ["a bar of a histogram", { sort: "DROP", from: "0", to: "50" }, [2, 0, 4]],
  ["its last bar", { sort: "DROP", from: "50" }, [1]],
];
for (const [name, part, expected] of cases) {
  test(name, async () => assert.deepEqual(await found(part), expected));
}

test("text is searched as it was written", async () => {
  segments[0]!.source = "Ein  Haus, ";
  assert.deepEqual(await found({ text: "haus, " }), [0]);
});
