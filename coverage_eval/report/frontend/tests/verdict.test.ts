import assert from "node:assert/strict";
import { test } from "node:test";
import { rankOrder, type Verdict } from "../src/verdict";

const row = (...items: [number, number | null][]) => ({ standings: items.map(([value, place]) => ({ value, place })) });
const VERDICT: Verdict = {
  metrics: ["REP", "length"],
  rows: [row([5, 0], [1.2, null]), row([1, 1], [0.9, null]), row([1, 1], [1.0, null])],
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
