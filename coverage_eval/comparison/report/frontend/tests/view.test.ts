import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultView, formatView, parseView, type View } from "../src/view";
import { contents } from "./kinds";

test("a view is read back from its fragment", () => {
  const view: View = {
    show: ["b & c=d#", "ü"],
    chosen: "ü",
    found: "dropped-words",
    entry: "+ 1%&",
    flagged: true,
    text: "a=b&c #",
    sort: "DROP",
    whose: "ü",
    from: "12.5",
    to: "25",
    marks: ["lost"],
    quiet: true,
    segment: 17,
  };
  assert.deepEqual(parseView(formatView(view, contents), contents), view);
  const bare: View = { ...defaultView(contents), marks: [], sort: "number" };
  assert.deepEqual(parseView(formatView(bare, contents), contents), bare);
});

test("the system with the most errors is shown, its worst segment first", () => {
  const many = { ...contents, systems: ["a", "b", "c", "d"], worst: { metric: "DROP", system: "d" } };
  const { show, sort, whose, marks } = defaultView(many);
  assert.deepEqual([show, sort, whose, marks], [["a", "b", "d"], "DROP", "d", ["repeated", "dropped"]]);
});

test("the default view has an empty fragment, a heading is no view, and unknown values are ignored", () => {
  assert.equal(formatView(defaultView(contents), contents), "");
  assert.deepEqual(parseView("", contents), defaultView(contents));
  assert.equal(parseView("where", contents), null);
  const view = parseView("show=x&chosen=x&flagged=x&marks=dropped&marks=repeated&sort=x&segment=-1", contents);
  assert.deepEqual(view, defaultView(contents));
});

test("a link to the list of a system shows that system, and nothing else than the default", () => {
  const many = { ...contents, systems: ["a", "b", "c", "d", "e"] };
  const view = parseView("whose=e&segment=3", many)!;
  assert.deepEqual([view.show, view.whose], [["a", "b", "e"], "e"]);
  assert.equal(formatView(view, many), "whose=e&segment=3");
  assert.deepEqual(parseView("whose=e&show=a", many)!.show, ["a"]);
});
