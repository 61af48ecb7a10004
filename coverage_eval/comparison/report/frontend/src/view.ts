/** What the reader looks at; the URL's fragment holds it, so a view can be shared. */

import type { Contents, Kind, Metric } from "./data";
import { shownText } from "./dom";

/** What the reader chose. A view is never changed, only replaced: whoever keeps one keeps what it was. */
export interface View {
  /** Systems side by side. */
  readonly show: readonly string[];
  /** The output whose errors the source shows; "" for the one that the list is about. */
  readonly chosen: string;
  /** "number", or the metric to sort by. */
  readonly sort: string;
  /** The system that the list is about: its scores sort it, and its flags filter it. */
  readonly whose: string;
  /** Whether only segments are listed that the metric flags. */
  readonly flagged: boolean;
  readonly text: string;
  /** Only scores from one to below another, such as a bar of a histogram has; "" for no limit. */
  readonly from: string;
  readonly to: string;
  /** A list's name, and the entry to show the segments of. */
  readonly found: string;
  readonly entry: string;
  /** The kinds of marks that words show. */
  readonly marks: readonly string[];
  /** Whether function words are marked alone. */
  readonly quiet: boolean;
  /** The segment that is open, from 1; 0 for none. */
  readonly segment: number;
}

/** Who has the view, and the two ways to replace it. */
export interface Viewer {
  readonly view: View;
  /** Another list: other segments, another order, other systems. */
  change(part: Partial<View>): void;
  /** The same list; another segment is open, or is shown otherwise. */
  look(part: Partial<View>): void;
}

/** The view that a page opens with, or that of the list of another system. */
export function defaultView({ systems, kinds, worst }: Contents, whose = worst.system): View {
  // The system that the list is about is shown.
  const show = systems.slice(0, 3);
  if (!show.includes(whose)) show.splice(-1, 1, whose);
  return {
    show,
    chosen: "",
    sort: worst.metric,
    whose,
    flagged: false,
    text: "",
    from: "",
    to: "",
    found: "",
    entry: "",
    marks: kinds.filter(({ shown }) => shown).map(({ key }) => key),
    quiet: false,
    segment: 0,
  };
}

/** What a system is called on the page. */
export function labelOf(system: string, { systems, labels }: Contents): string {
  return shownText(labels[systems.indexOf(system)] ?? system);
}

export function isWorstHigh(metric: Metric | undefined): boolean {
  return !metric || metric.higherIsBetter === false;
}

/** The metric in the list: what it is sorted by, or the one with the most errors. */
export function listedMetric(view: View, contents: Contents): Metric {
  const name = view.sort === "number" ? contents.worst.metric : view.sort;
  return contents.metrics.find((metric) => metric.name === name) as Metric;
}

/** The kinds of marks that words show. */
export function shownKinds(view: View, { kinds }: Contents): Kind[] {
  return kinds.filter(({ key }) => view.marks.includes(key));
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
  const { systems, metrics, kinds } = contents;
  const usual = defaultView(
    contents,
    systems.find((name) => name === given.get("whose")),
  );
  const known = (key: "chosen" | "sort", values: string[]) =>
    values.find((value) => value === given.get(key)) ?? usual[key];
  const show = systems.filter((name) => given.getAll("show").includes(name));
  const marks = kinds.map(({ key }) => key).filter((key) => given.getAll("marks").includes(key));
  const segment = Number(given.get("segment") ?? 0);
  return {
    whose: usual.whose,
    show: show.length ? show : usual.show,
    chosen: known("chosen", systems),
    sort: known("sort", ["number", ...metrics.map(({ name }) => name)]),
    flagged: given.get("flagged") === "yes",
    text: given.get("text") ?? "",
    from: given.get("from") ?? "",
    to: given.get("to") ?? "",
    found: given.get("found") ?? "",
    entry: given.get("entry") ?? "",
    marks: given.has("marks") ? marks : usual.marks,
    quiet: given.get("quiet") === "yes",
    segment: Number.isInteger(segment) && segment > 0 ? segment : 0,
  };
}
