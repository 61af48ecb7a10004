import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultView, formatView, parseView, type View } from "../src/view";

const choices = { systems: ["a", "b & c=d#", "ü"], metrics: ["BLEU", "DROP"], kinds: ["dropped", "lost"], hidden: ["lost"], worst: { metric: "DROP", system: "ü", descending: true } };

test("a view is read back from its fragment", () => {
  const view: View = {
    show: ["ü", "b & c=d#"], kind: "dropped", of: "ü", found: "dropped-words", entry: "+ 1%&",
    text: "a=b&c #", sort: "DROP", whose: "ü", descending: true, marks: ["lost"], segment: 17,
  };
  assert.deepEqual(parseView(formatView(view, choices), choices), view);
});

test("a view without marks, in the order of the text, is read back", () => {
  const view: View = { ...defaultView(choices), marks: [], sort: "number", descending: false };
  assert.deepEqual(parseView(formatView(view, choices), choices), view);
});

test("the system with the most errors is shown, its worst segment first", () => {
  const many = { ...choices, systems: ["a", "b", "c", "d"], worst: { metric: "DROP", system: "d", descending: true } };
  const { show, sort, whose, descending, marks } = defaultView(many);
  assert.deepEqual([show, sort, whose, descending, marks], [["a", "b", "d"], "DROP", "d", true, ["dropped"]]);
});

test("the default view has an empty fragment, and a heading is no view", () => {
  assert.equal(formatView(defaultView(choices), choices), "");
  assert.deepEqual(parseView("", choices), defaultView(choices));
  assert.equal(parseView("where", choices), null);
});

test("values that the report does not have are ignored", () => {
  const view = parseView("show=x&kind=x&of=x&marks=dropped&sort=x&descending=yes&segment=-1", choices);
  assert.deepEqual(view, defaultView(choices));
});
