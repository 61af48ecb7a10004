import assert from "node:assert/strict";
import { test } from "node:test";
import { decisive, signTest, tally, verdictsTsv, type Verdict } from "../src/judge";
import { endsOf, worstOfSteps } from "../src/minimap";
import { band } from "../src/ribbons";

test("the most decisive segments are balanced, without ties", () => {
  const ours = [5, 0, 3, 1, 0, 0, 9, 2];
  const theirs = [0, 4, 3, 0, 2, 1, 0, 0];
  const found = decisive(ours, theirs, 4, 7);
  assert.deepEqual([...found].sort((a, b) => a - b), [0, 1, 4, 6]);
  assert.deepEqual(found, decisive(ours, theirs, 4, 7));
});

test("where one system wins more, its segments fill the rest", () => {
  assert.deepEqual([...decisive([1, 2, 3, 0], [0, 0, 0, 1], 4, 1)].sort(), [0, 1, 2, 3]);
  assert.deepEqual(decisive([null, 1], [1, null], 4, 1), []);
});

test("the sign test is exact", () => {
  assert.equal(signTest(0, 0), 1);
  assert.equal(signTest(5, 5), 1);
  assert.ok(Math.abs(signTest(14, 3) - 0.0127258) < 1e-6);
  assert.ok(Math.abs(signTest(0, 10) - 2 / 1024) < 1e-12);
});

test("verdicts are counted by system and saved as labels of the worse output", () => {
  const verdicts: Verdict[] = [
    { segment: 9, order: ["b", "a"], better: 1 },
    { segment: 2, order: ["a", "b"], better: 1 },
    { segment: 4, order: ["a", "b"], better: null },
  ];
  assert.deepEqual(tally(verdicts, "a"), [1, 1, 1]);
  assert.equal(verdictsTsv(verdicts), "segment\tsystem\tlabel\n2\ta\t1\n2\tb\t0\n4\ta\t0\n4\tb\t0\n9\tb\t1\n9\ta\t0\n");
});

test("a step of the map has its worst segment, whichever side is better", () => {
  assert.deepEqual(worstOfSteps([0, 10, null, 5], false, [0, 10], 2), [1, 0.5]);
  assert.deepEqual(worstOfSteps([0, 10, null, 5], true, [0, 10], 2), [1, 0.5]);
  assert.deepEqual(worstOfSteps([null], false, [0, 1], 9), [null]);
  assert.deepEqual(endsOf([[3, null], [7]]), [0, 7]);
  assert.deepEqual(endsOf([[null]]), [0, 1]);
});

test("words of a band stand beside each other", () => {
  const pieces = band(["ab", "", "abcd"]);
  for (const [at, piece] of pieces.entries()) {
    if (at) assert.ok(piece.x >= pieces[at - 1]!.x + pieces[at - 1]!.width);
  }
});
