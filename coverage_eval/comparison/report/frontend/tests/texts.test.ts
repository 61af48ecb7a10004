import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mark } from "../src/data";
import { figure, shownText } from "../src/dom";
import { line, runsOf, runText } from "../src/line";
import { linked } from "../src/segment";
import { DROPPED, LOST } from "./kinds";

test("figures are rounded as the command rounds them", () => {
  const expected: [number | null, string][] = [
    [0, "0.00"],
    [-0.001, "0.00"],
    [3.125, "3.12"],
    [3.135, "3.13"],
    [0.375, "0.38"],
    [-0.125, "-0.12"],
    [66.66666666666667, "66.67"],
    [1234.5, "1234.50"],
    [-2.5, "-2.50"],
    [null, "–"],
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

const text = line("source", "Ein Haus,  ein Hund.");
const words: Record<string, [number, number]> = {
  Ein: [0, 3],
  Haus: [4, 4],
  ",": [8, 1],
  ein: [11, 3],
  Hund: [15, 4],
  ".": [19, 1],
  "Hund.": [15, 5],
};
const marks = (kind: string, ...marked: string[]): Mark[] =>
  marked.map((word) => ({ kind, spans: words[word]!, text: "", quiet: false }));
const shown = (items: Mark[]) =>
  runsOf(text.text, items, [DROPPED, LOST]).map((run) => [run.kind.key, runText(text, run)]);

test("marks form runs as they were written, without punctuation at their ends", () => {
  assert.deepEqual(shown(marks("dropped", "Hund", "Ein", "ein", "Haus", ".")), [
    ["dropped", "Ein Haus"],
    ["dropped", "ein Hund"],
  ]);
  assert.deepEqual(shown(marks("dropped", "Ein", "Haus", ",", "ein")), [["dropped", "Ein Haus,  ein"]]);
  assert.deepEqual(shown(marks("dropped", ",", ".")), []);
  // Marks of one error are one run, of the plainest kind.
  assert.deepEqual(shown([...marks("lost", "Ein", "Haus", "Hund"), ...marks("dropped", "Haus")]), [
    ["dropped", "Ein Haus"],
    ["lost", "Hund"],
  ]);
});

test("of words that overlap, because metrics split the text otherwise, the plainest are marked", () => {
  assert.deepEqual(shown([...marks("lost", "ein", "Hund.", "Hund."), ...marks("dropped", "Hund")]), [
    ["dropped", "ein Hund"],
  ]);
  assert.deepEqual(shown([...marks("lost", "Hund"), ...marks("dropped", "Hund.", "Hund.")]), [["dropped", "Hund."]]);
});

test("the text of a long run is cut behind a word", () => {
  const long = line("output", "word ".repeat(40));
  assert.equal(runText(long, { kind: LOST, start: 0, end: 200 }), `${"word ".repeat(16)}…`);
});
