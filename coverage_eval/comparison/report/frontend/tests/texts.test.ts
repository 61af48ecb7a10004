import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mark } from "../src/data";
import { figure, shownText } from "../src/dom";
import { line, runText, runsOf } from "../src/line";
import { linked } from "../src/segment";
import { DROPPED, LOST } from "./kinds";

test("figures are rounded as the command rounds them", () => {
  const expected: [number | null, string][] = [
    [0, "0.00"], [-0.001, "0.00"], [3.125, "3.12"], [3.135, "3.13"], [0.375, "0.38"], [-0.125, "-0.12"], [66.66666666666667, "66.67"],
    [1234.5, "1234.50"], [-2.5, "-2.50"], [null, "–"],
  ];
  for (const [value, text] of expected) assert.equal(figure(value), text);
});

test("invisible characters are escaped", () => {
  assert.equal(shownText("\u200b\xad\u{e0041}\u200d"), "\\u200b\\xad\\U000e0041\u200d");
  assert.equal(shownText("a\u202eb\u2028\u061c\u0000<b>"), "a\\u202eb\\u2028\\u061c\\x00<b>");
});

test("linked words are found from either side", () => {
  const links = [0, 1, 0, 0, 2, 1];
  assert.deepEqual(linked(links, 0, 0), [0, 1]);
  assert.deepEqual(linked(links, 1, 1), [0, 2]);
  assert.deepEqual(linked(null, 0, 0), []);
});

test("marks form runs as they were written, without punctuation at their ends", () => {
  const marks = (kind: string, ...positions: number[]): Mark[] => positions.map((at) => ({ kind, positions: [at], text: "" }));
  const text = line("source", ["Ein", "Haus", ",", "ein", "Hund", "."], ["Ein ", "Haus", ",  ", "ein ", "Hund", "."]);
  const shown = (items: Mark[]) => runsOf(text.words, items, [DROPPED, LOST]).map((run) => [run.kind.key, runText(text, run)]);
  assert.deepEqual(shown(marks("dropped", 4, 0, 3, 1, 5)), [["dropped", "Ein Haus"], ["dropped", "ein Hund"]]);
  assert.deepEqual(shown(marks("dropped", 2, 5)), []);
  // Marks of one error are one run, of the plainest kind.
  assert.deepEqual(shown([...marks("lost", 0, 1, 2, 4), ...marks("dropped", 1)]), [["dropped", "Ein Haus"], ["lost", "Hund"]]);
});
