import assert from "node:assert/strict";
import { test } from "node:test";
import type { Contents, Data, Mark, Segment } from "../src/data";
import { DROPPED, REPEATED } from "./kinds";
import { select } from "../src/select";
import { defaultView, type View } from "../src/view";

const contents: Contents = {
  worst: { metric: "DROP", system: "a" },
  systems: ["a", "b"], colours: ["red", "blue"], kinds: [REPEATED, DROPPED], segments: 5, block: 2,
  metrics: [{ name: "DROP", higherIsBetter: false }, { name: "BLEU", higherIsBetter: true }],
};
const columns: Record<string, (number | null)[]> = {
  "DROP/a": [0, 50, 25, null, 0], "DROP/b": [0, 0, 50, 0, 10],
  "BLEU/a": [10, 20, 30, 40, 50], "BLEU/b": [10, 30, 20, 40, 60],
};
const dropped = (position: number): Mark => ({
  kind: "dropped", side: "source", positions: [position], text: "", amount: 1,
});
const segments: Segment[] = [
  segment("ein Haus", [], []),
  segment("das Haus", [dropped(1)], []),
  segment("das Haus", [dropped(1)], [dropped(0), dropped(1)]),
  segment("ein (Hund", [], [{ kind: "repeated", side: "output", positions: [0, 1], first: 0, text: "a b", amount: 1 }]),
  segment("", [], [dropped(0)]),
];
const counts: Record<string, number[]> = {
  "dropped/a": [0, 1, 1, 0, 0], "dropped/b": [0, 0, 2, 0, 1], "repeated/b": [0, 0, 0, 1, 0],
};
const data = {
  segment: async (index: number) => segments[index],
  scores: async (metric: string, system: string) => columns[`${metric}/${system}`],
  counts: async (kind: string, system: string) => counts[`${kind}/${system}`] ?? null,
} as unknown as Data;

function segment(source: string, a: Mark[], b: Mark[]): Segment {
  const output = (words: string, marks: Mark[]) => ({ words: words.split(" "), links: null, marks });
  return {
    source: source ? source.split(" ") : [], references: [["the", "reference"]],
    referenceLinks: [null], outputs: [output("of a", a), output("of b", b)],
  };
}

async function found(part: Partial<View>): Promise<number[]> {
  const worst = { metric: "DROP", system: "a", descending: true };
  const choices = { systems: contents.systems, metrics: ["DROP", "BLEU"], kinds: ["repeated", "dropped"], hidden: [], worst };
  const view = { ...defaultView(choices), sort: "number", descending: false, ...part };
  return select(view, contents, data, new AbortController().signal);
}

const cases: [string, Partial<View>, number[]][] = [
  ["no filter", {}, [0, 1, 2, 3, 4]],
  ["a kind of any system", { kind: "dropped" }, [1, 2, 4]],
  ["a kind of one system", { kind: "dropped", of: "a" }, [1, 2]],
  ["a kind that a system never has", { kind: "repeated", of: "a" }, []],
  ["segments without marks", { kind: "none" }, [0]],
  ["a breakdown that only every object has", { found: "__proto__", entry: "x" }, [0, 1, 2, 3, 4]],
  ["another of these", { found: "constructor", kind: "dropped" }, [1, 2, 4]],
  ["plain text, any case", { text: "HAUS" }, [0, 1, 2]],
  ["special characters are plain text", { text: "(h" }, [3]],
  ["text in the outputs of one system", { text: "of b", of: "a" }, []],
  ["an entry of dropped words", { found: "dropped-words", entry: "Haus", of: "b" }, [2]],
  ["a repeated n-gram", { found: "repeated-ngrams", entry: "a b" }, [3]],
  ["several filters", { kind: "dropped", text: "das" }, [1, 2]],
  ["numbers, descending", { descending: true }, [4, 3, 2, 1, 0]],
  ["by score, ties in the order of the text, undefined last", { sort: "DROP", whose: "a" }, [0, 4, 2, 1, 3]],
  ["by score, descending, undefined last", { sort: "DROP", whose: "a", descending: true }, [1, 2, 0, 4, 3]],
];
for (const [name, part, expected] of cases) {
  test(name, async () => assert.deepEqual(await found(part), expected));
}

test("the worst segment of the worst system comes first", async () => {
  const worst = { metric: "DROP", system: "b", descending: true };
  const view = defaultView({ systems: contents.systems, metrics: ["DROP", "BLEU"], kinds: ["repeated", "dropped"], hidden: [], worst });
  assert.deepEqual(await found(view), [2, 4, 0, 1, 3]);
});

test("text is searched as it was written", async () => {
  segments[0]!.sourcePieces = ["Ein ", "Haus, "];
  assert.deepEqual(await found({ text: "haus," }), [0]);
});
