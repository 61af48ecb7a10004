import assert from "node:assert/strict";
import { test } from "node:test";
import { safe } from "../src/csv";
import type { Mark } from "../src/data";
import { shownText } from "../src/dom";
import { figure } from "../src/figures";
import { ADDED, DROPPED, LOST, REPEATED } from "./kinds";
import { folds } from "../src/line";
import { differentWords, gaps, linked, markTexts } from "../src/segment";

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
  const marks: Mark[] = [
    { kind: "dropped", side: "source", positions: [1], text: "Haus", amount: 1 },
    { kind: "lost", side: "source", positions: [1], text: "Haus", amount: 0.5 },
    { kind: "added", side: "output", positions: [0, 1], text: "a b", amount: 2.1 },
    { kind: "repeated", side: "output", positions: [2, 3], first: 0, text: "a b", amount: 1 },
    { kind: "unknown", side: "output", positions: [2], text: "a", amount: 1 },
  ];
  assert.deepEqual(markTexts(marks, [REPEATED, DROPPED, LOST, ADDED]), {
    dropped: "Haus at 2", repeated: "a b at 3, first at 1", lost: "Haus at 2: 0.50", added: "a b at 1: 2.10",
  });
  const untold = { ...marks[0] as Mark, text: "" };
  assert.deepEqual(markTexts([untold], [DROPPED]), { dropped: "2" });
  assert.deepEqual(markTexts([untold, untold, untold], [DROPPED], 1), { dropped: "2; and 2 more" });
});

test("a repeated phrase is one entry", () => {
  const repeated = (text: string, start: number, first: number): Mark => ({ kind: "repeated", side: "output", text, positions: [start, start + 1], first, amount: 1 });
  const marks = [repeated("a b", 5, 0), repeated("c d", 9, 2), repeated("b c", 6, 1), repeated("c d", 7, 2)];
  assert.equal(markTexts(marks, [REPEATED])["repeated"], "a b c d at 6, first at 1; c d at 10, first at 3");
});

test("text that looks like a formula gets an apostrophe", () => {
  assert.deepEqual(["=1", "+a", "-1-1", "@a", "\n=1", "\uff1d1"].map(safe), ["'=1", "'+a", "'-1-1", "'@a", "'\n=1", "'\uff1d1"]);
  assert.deepEqual(["a=1", "-1", "+2.5e-3", ""].map(safe), ["a=1", "-1", "+2.5e-3", ""]);
});

test("long texts are folded to the clauses with marks", () => {
  const clause = (n: number) => Array.from({ length: n }, (_, i) => (i === n - 1 ? "end," : "word"));
  const words = [...clause(5), ...clause(8), ...clause(9), ...clause(6), ...clause(7), ...clause(4)];
  assert.deepEqual(folds(words, [24]), [[5, 22]]); // behind it, seven words are too few
  assert.deepEqual(folds(words, []), [[5, 35]]);
  assert.deepEqual(folds([], []), []);
  assert.deepEqual(folds(Array(100).fill("word"), [50]), [[12, 38], [62, 87]]);
});

test("where several source words in a row are missing", () => {
  const dropped = (at: number): Mark => ({ kind: "dropped", side: "source", positions: [at], text: "", amount: 1 });
  const output = { words: [], links: [0, 0, 4, 7, 6, 9], marks: [1, 2, 3, 5].map(dropped) };
  assert.deepEqual(gaps(output, [DROPPED]), [0, 7]);
});
