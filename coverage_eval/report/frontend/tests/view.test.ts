import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultView, formatView, parseView, type View } from "../src/view";

const choices = { systems: ["a", "b & c=d#", "ü"], metrics: ["BLEU", "DROP"], kinds: ["dropped", "lost"], worst: { metric: "DROP", system: "ü", descending: true } };

test("a view comes back from its fragment", () => {
  const view: View = {
    show: ["ü", "b & c=d#"], kind: "dropped", of: "ü", found: "dropped-words", entry: "+ 1%&",
    not: "a", metric: "BLEU", least: -0.5, most: 12, winner: "a", loser: "ü", text: "a=b&c #",
    regex: true, within: "output", sort: "DROP", whose: "ü", minus: "a", descending: true,
    marks: ["lost", "different"], segment: 17,
  };
  assert.deepEqual(parseView(formatView(view, choices), choices), view);
});

test("no mark at all, and the order of the text, come back, too", () => {
  const view: View = { ...defaultView(choices), marks: [], sort: "number", descending: false };
  assert.deepEqual(parseView(formatView(view, choices), choices), view);
});

test("the system with the most errors is shown, its worst segment first", () => {
  const many = { ...choices, systems: ["a", "b", "c", "d"], worst: { metric: "DROP", system: "d", descending: true } };
  const { show, sort, whose, descending, marks } = defaultView(many);
  assert.deepEqual([show, sort, whose, descending, marks], [["a", "b", "d"], "DROP", "d", true, ["dropped"]]);
});

test("the default says nothing, and headings are no views", () => {
  assert.equal(formatView(defaultView(choices), choices), "");
  assert.deepEqual(parseView("", choices), defaultView(choices));
  assert.equal(parseView("where", choices), null);
});

test("what the report does not have is not believed", () => {
  const view = parseView("show=x&kind=x&of=x&metric=x&marks=dropped&sort=x&descending=yes&least=x&most=&segment=-1&within=x", choices);
  assert.deepEqual(view, defaultView(choices));
});
