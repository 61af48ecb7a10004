import assert from "node:assert/strict";
import { test } from "node:test";
import { rankOrder, type Verdict, wrapText } from "../src/verdict";

const row = (system: string, ...items: [number, number | null][]) => ({
  system, remark: "", chosen: false,
  standings: items.map(([value, place]) => ({
    metric: "m", value, shown: String(value), ranks: "", place, first: false, shares: null,
  })),
});
const VERDICT: Verdict = {
  headline: "Take b", chosen: "b", sure: "", why: [], against: [], metrics: ["REP", "length"],
  rows: [row("a", [5, 0], [1.2, null]), row("b", [1, 1], [0.9, null]), row("c", [1, 1], [1.0, null])],
};

test("a metric sorts by the better score, whichever side that is", () => {
  assert.deepEqual(rankOrder(VERDICT, 0, false), [1, 2, 0]);
  assert.deepEqual(rankOrder(VERDICT, 0, true), [0, 1, 2]);
});

test("a metric without a better side sorts by its value", () => {
  assert.deepEqual(rankOrder(VERDICT, 1, false), [0, 2, 1]);
});

test("systems sort in their own order", () => {
  assert.deepEqual(rankOrder(VERDICT, -1, true), [0, 1, 2]);
  assert.deepEqual(rankOrder(VERDICT, -1, false), [2, 1, 0]);
});

test("text is wrapped at words, and a long word stands alone", () => {
  const width = (text: string) => text.length;
  assert.deepEqual(wrapText("a bb ccc", 4, width), ["a bb", "ccc"]);
  assert.deepEqual(wrapText("a longest b", 4, width), ["a", "longest", "b"]);
  assert.deepEqual(wrapText("", 4, width), []);
});
