import assert from "node:assert/strict";
import { test } from "node:test";
import type { Contents } from "../src/data";
import { Labels } from "../src/labels";

const contents = { id: "x", systems: ["a", "b"] } as Contents;

test("labels in the order of the text, words from 1", () => {
  const labels = new Labels(contents, () => undefined);
  labels.set("omission", 10, "a", { error: false, words: [] });
  labels.set("omission", 2, "b", { error: true, words: [0, 3] });
  labels.set("omission", 2, "a", { error: true, words: [1] });
  labels.set("repetition", 2, "a", { error: true, words: [5] });
  assert.equal(labels.tsv("omission"), "segment\tsystem\tlabel\twords\n2\ta\t1\t2\n2\tb\t1\t1 4\n10\ta\t0\t\n");
  // Words of plain labels are of the source.
  assert.equal(labels.tsv("repetition"), "segment\tsystem\tlabel\n2\ta\t1\n");
});

test("without the words of one error there is no column of words", () => {
  const labels = new Labels(contents, () => undefined);
  labels.set("omission", 1, "a", { error: true, words: [] });
  labels.set("omission", 2, "a", { error: true, words: [1] });
  assert.equal(labels.tsv("omission"), "segment\tsystem\tlabel\n1\ta\t1\n2\ta\t1\n");
  labels.set("omission", 1, "a", null);
  assert.equal(labels.count("omission"), 1);
  labels.clear();
  assert.equal(labels.count("omission"), 0);
});
