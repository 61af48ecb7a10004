/** What the reader looks at; the URL's fragment holds it, so a view can be shared. */

import type { Contents, Metric } from "./data";

export interface View {
  /** Systems side by side. */
  show: string[];
  /** The output whose errors the source shows; "" for the one that the list is about. */
  chosen: string;
  /** "number", or the metric to sort by. */
  sort: string;
  /** The system that the list is about: its scores sort it, and its flags filter it. */
  whose: string;
  descending: boolean;
  /** Whether only segments are listed that the metric flags. */
  flagged: boolean;
  text: string;
  /** A list's name, and the entry to show the segments of. */
  found: string;
  entry: string;
  /** The kinds of marks that words show. */
  marks: string[];
  /** The segment that is open, from 1; 0 for the first of the list. */
  segment: number;
}

/** The view that a page opens with, or that of the list of another system. */
export function defaultView({ systems, kinds, metrics, worst }: Contents, whose = worst.system): View {
  // The system that the list is about is shown.
  const show = systems.slice(0, 3);
  if (!show.includes(whose)) show.splice(-1, 1, whose);
  return {
    show,
    chosen: "",
    sort: worst.metric,
    whose,
    descending: isWorstHigh(metrics.find(({ name }) => name === worst.metric)),
    flagged: false,
    text: "",
    found: "",
    entry: "",
    marks: kinds.filter(({ shown }) => shown).map(({ key }) => key),
    segment: 0,
  };
}

export function isWorstHigh(metric: Metric | undefined): boolean {
  return !metric || metric.higherIsBetter === false;
}

/** The metric in the list: what it is sorted by, or the one with the most errors. */
export function listedMetric(view: View, contents: Contents): Metric {
  const name = view.sort === "number" ? contents.worst.metric : view.sort;
  return contents.metrics.find((metric) => metric.name === name) as Metric;
}

/** The fragment of a view, without "#": only what differs from the default. */
export function formatView(view: View, contents: Contents): string {
  const usual = { ...defaultView(contents, view.whose), whose: contents.worst.system };
  const fragment = new URLSearchParams();
  for (const key of Object.keys(usual) as (keyof View)[]) {
    const value = view[key];
    if (JSON.stringify(value) === JSON.stringify(usual[key])) continue;
    if (Array.isArray(value)) for (const item of value.length ? value : [""]) fragment.append(key, item);
    else fragment.set(key, value === true ? "yes" : value === false ? "" : String(value));
  }
  return fragment.toString();
}

/** The view in a fragment; null for another fragment, such as the name of a heading. */
export function parseView(fragment: string, contents: Contents): View | null {
  if (!fragment.includes("=")) return fragment === "" ? defaultView(contents) : null;
  const given = new URLSearchParams(fragment);
  const { systems } = contents;
  const view = defaultView(
    contents,
    systems.find((name) => name === given.get("whose")),
  );
  const known = (key: "chosen" | "sort", values: string[]) => {
    const value = given.get(key) ?? "";
    if (values.includes(value)) view[key] = value;
  };
  known("chosen", systems);
  known("sort", ["number", ...contents.metrics.map(({ name }) => name)]);
  for (const key of ["found", "entry", "text"] as const) view[key] = given.get(key) ?? "";
  if (given.has("marks")) {
    const marks = given.getAll("marks");
    view.marks = contents.kinds.map(({ key }) => key).filter((key) => marks.includes(key));
  }
  const show = systems.filter((name) => given.getAll("show").includes(name));
  if (show.length) view.show = show;
  view.flagged = given.get("flagged") === "yes";
  if (given.has("descending")) view.descending = given.get("descending") === "yes";
  const segment = Number(given.get("segment") ?? 0);
  view.segment = Number.isInteger(segment) && segment > 0 ? segment : 0;
  return view;
}
