import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mark } from "../src/data";
import { shownText } from "../src/dom";
import { figure } from "../src/figures";
import { ADDED, DROPPED, LOST, REPEATED } from "./kinds";
import { linked, markTexts } from "../src/segment";

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
