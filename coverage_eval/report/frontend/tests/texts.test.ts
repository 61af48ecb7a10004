import assert from "node:assert/strict";
import { test } from "node:test";
import { safe } from "../src/csv";
import type { Mark } from "../src/data";
import { shownText } from "../src/dom";
import { figure } from "../src/figures";
import { differentWords, linked, markTexts } from "../src/segment";

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

test("words that another output lacks", () => {
  assert.deepEqual(differentWords("a b c".split(" "), "a c".split(" ")), [1]);
  assert.deepEqual(differentWords([], ["a"]), []);
  assert.deepEqual(differentWords(["a"], []), [0]);
});

test("linked words are found from either side", () => {
  const links = [0, 1, 0, 0, 2, 1];
  assert.deepEqual(linked(links, 0, 0), [0, 1]);
  assert.deepEqual(linked(links, 1, 1), [0, 2]);
  assert.deepEqual(linked(null, 0, 0), []);
});

test("marks as text, with positions from 1", () => {
  const marks = [
    { kind: "dropped", position: 1 },
    { kind: "lost", position: 1, amount: 0.5 },
    { kind: "suspected", start: 0, end: 2, amount: 2.1 },
    { kind: "repeated", start: 2, end: 4, first: 0, ngram: "a b", place: "" },
  ] as const;
  assert.deepEqual(markTexts([...marks], ["ein", "Haus"]), {
    dropped: "Haus at 2", repeated: "a b at 3, first at 1", "coverage lost": "Haus at 2: 0.50",
    suspected: "ein Haus at 1: 2.10",
  });
  assert.equal(markTexts([...marks], null)["dropped"], "2");
  assert.equal(markTexts([marks[0], marks[0], marks[0]], null, 1)["dropped"], "2; and 2 more");
});

test("a repeated phrase is one entry", () => {
  const repeated = (ngram: string, start: number, first: number): Mark => ({ kind: "repeated", ngram, start, end: start + 2, first, place: "" });
  const marks = [repeated("a b", 5, 0), repeated("c d", 9, 2), repeated("b c", 6, 1), repeated("c d", 7, 2)];
  assert.equal(markTexts(marks, null)["repeated"], "a b c d at 6, first at 1; c d at 10, first at 3");
});

test("text that looks like a formula gets an apostrophe", () => {
  assert.deepEqual(["=1", "+1", "-1", "@a", "a=1"].map(safe), ["'=1", "'+1", "'-1", "'@a", "a=1"]);
});
