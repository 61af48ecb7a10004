import assert from "node:assert/strict";
import { test } from "node:test";
import type { Contents, Kind } from "../src/data";
import { Labels } from "../src/labels";

const contents = { id: "x", systems: ["a", "b"], segments: 10, kinds: [] as Kind[] } as unknown as Contents;

test("labels are saved in the order of the text, with words from 1", () => {
  const labels = new Labels(contents, () => undefined);
  labels.set("omission", 10, "a", { error: false, words: [] });
  labels.set("omission", 2, "b", { error: true, words: [0, 3] });
  labels.set("omission", 2, "a", { error: true, words: [1] });
  labels.set("repetition", 2, "a", { error: true, words: [5] });
  assert.equal(labels.tsv("omission"), "segment\tsystem\tlabel\twords\n2\ta\t1\t2\n2\tb\t1\t1 4\n10\ta\t0\t\n");
  // Saved words are positions in the source, so labels of repetitions have none.
  assert.equal(labels.tsv("repetition"), "segment\tsystem\tlabel\n2\ta\t1\n");
});

test("an error without words leaves the words of the others", () => {
  const labels = new Labels(contents, () => undefined);
  labels.set("omission", 1, "a", { error: true, words: [] });
  labels.set("omission", 2, "a", { error: true, words: [1] });
  assert.equal(labels.tsv("omission"), "segment\tsystem\tlabel\twords\n1\ta\t1\t?\n2\ta\t1\t2\n");
  labels.read("omission", labels.tsv("omission"));
  assert.deepEqual(labels.get("omission", 1, "a"), { error: true, words: [] });
  labels.set("omission", 1, "a", null);
  assert.equal(labels.count("omission"), 1);
  labels.clear();
  assert.equal(labels.count("omission"), 0);
});

test("saved labels are read back", () => {
  const saved = new Labels(contents, () => undefined);
  saved.set("omission", 10, "a", { error: false, words: [] });
  saved.set("omission", 2, "b", { error: true, words: [0, 3] });
  let changes = 0;
  const labels = new Labels(contents, () => changes++);
  labels.set("omission", 3, "a", { error: true, words: [2] });
  labels.set("omission", 10, "a", { error: true, words: [2] });
  changes = 0;
  assert.equal(labels.read("omission", saved.tsv("omission").replaceAll("\n", "\r\n")), 2);
  assert.equal(changes, 1);
  assert.deepEqual(labels.get("omission", 10, "a"), { error: false, words: [] });
  assert.deepEqual(labels.get("omission", 2, "b"), { error: true, words: [0, 3] });
  assert.equal(labels.count("omission"), 3);
  assert.equal(labels.count("repetition"), 0);
});

for (const [line, message] of [
  ["11\ta\t1", "line 3: segment 11, but the report has 10"],
  ["1.5\ta\t1", "line 3: segment 1.5, but the report has 10"],
  ["1\tc\t1", "line 3: the report has no system c"],
  ["1\ta\tyes", "line 3: the label is 0 or 1, not yes"],
  ["1\ta\t1\t0", "line 3: words are numbers from 1, not 0"],
] as const) {
  test(`a wrong line is refused: ${message}`, () => {
    const labels = new Labels(contents, () => undefined);
    const text = `segment\tsystem\tlabel\twords\n2\ta\t1\t1\n${line}\n`;
    assert.throws(() => labels.read("omission", text), { message });
    assert.equal(labels.count("omission"), 0);
  });
}

test("another table is refused", () => {
  const labels = new Labels(contents, () => undefined);
  assert.throws(() => labels.read("omission", "segment\tsystem\tREP\n1\ta\t5\n"), /line 1/);
});
