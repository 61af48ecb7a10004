/** What the reader looks at; the URL's fragment holds it, so a view can be shared. */

export interface View {
  /** Systems side by side. */
  show: string[];
  /** Kind of mark that a segment must have; "none" for no mark. */
  kind: string;
  /** The system that filters apply to; "" for any. */
  of: string;
  /** A breakdown's name, and the entry to show the segments of. */
  found: string;
  entry: string;
  /** A system that must not drop the entry. */
  not: string;
  /** The metric of the score filters. */
  metric: string;
  least: number | null;
  most: number | null;
  /** The system that must be better by the metric, and the one it must beat; "" for all others. */
  winner: string;
  loser: string;
  text: string;
  regex: boolean;
  within: string;
  /** "number", or the metric to sort by. */
  sort: string;
  /** The system to sort by, and the system to subtract; "" for none. */
  whose: string;
  minus: string;
  descending: boolean;
  /** The kinds of marks that words show. */
  marks: string[];
  /** The stretch of segments to show, from 1; null for all. */
  first: number | null;
  last: number | null;
  /** The segment that is open, from 1; 0 for the first of the list. */
  segment: number;
}

export interface Choices extends Record<"systems" | "metrics" | "kinds" | "hidden", string[]> {
  /** `hidden`: the kinds of marks that words do not show at first. */
  worst: { metric: string; system: string; descending: boolean };
}

/** The kinds of marks that words can show. */
export function markKinds(choices: Choices): string[] {
  const more = choices.systems.length > 1 ? ["different"] : [];
  return [...choices.kinds.filter((kind) => kind !== "missed"), ...more];
}

export function defaultView(choices: Choices): View {
  const { metric, system, descending } = choices.worst;
  // The system that the list is sorted by is shown.
  const show = choices.systems.slice(0, 3);
  if (!show.includes(system)) show.splice(-1, 1, system);
  return {
    show,
    kind: "", of: "", found: "", entry: "", not: "",
    metric, least: null, most: null,
    winner: "", loser: "",
    text: "", regex: false, within: "",
    sort: metric, whose: system, minus: "", descending,
    // Nearly every word differs from another output.
    marks: markKinds(choices).filter((kind) => kind !== "different" && !choices.hidden.includes(kind)),
    first: null, last: null,
    segment: 0,
  };
}

/** The fragment of a view, without "#": only what differs from the default. */
export function formatView(view: View, choices: Choices): string {
  const usual = defaultView(choices);
  const found = new URLSearchParams();
  for (const key of Object.keys(usual) as (keyof View)[]) {
    const value = view[key];
    if (JSON.stringify(value) === JSON.stringify(usual[key])) continue;
    if (Array.isArray(value)) for (const item of value.length ? value : [""]) found.append(key, item);
    else found.set(key, value === true ? "yes" : value === null || value === false ? "" : String(value));
  }
  return found.toString();
}

/** The view in a fragment; null for another fragment, such as the name of a heading. */
export function parseView(fragment: string, choices: Choices): View | null {
  if (!fragment.includes("=")) return fragment === "" ? defaultView(choices) : null;
  const said = new URLSearchParams(fragment);
  const view = defaultView(choices);
  const one = (key: string, known: string[], usual: string): string => {
    const value = said.get(key) ?? usual;
    return known.includes(value) ? value : usual;
  };
  const { systems, metrics, kinds } = choices;
  if (said.has("marks")) {
    const marks = said.getAll("marks");
    view.marks = markKinds(choices).filter((kind) => marks.includes(kind));
  }
  const shown = said.getAll("show").filter((name) => systems.includes(name));
  if (shown.length) view.show = [...new Set(shown)];
  view.kind = one("kind", [...kinds, "none"], "");
  for (const key of ["of", "not", "winner", "loser", "minus"] as const) {
    view[key] = one(key, systems, "");
  }
  view.whose = one("whose", systems, view.whose);
  view.metric = one("metric", metrics, view.metric);
  view.sort = one("sort", ["number", ...metrics], view.sort);
  view.within = one("within", ["source", "reference", "output"], "");
  for (const key of ["found", "entry", "text"] as const) view[key] = said.get(key) ?? "";
  for (const key of ["least", "most", "first", "last"] as const) view[key] = parseNumber(said.get(key) ?? "");
  view.regex = said.get("regex") === "yes";
  // An address with an order also has its direction.
  if (said.has("descending") || said.has("sort")) view.descending = said.get("descending") === "yes";
  const segment = Number(said.get("segment") ?? 0);
  view.segment = Number.isInteger(segment) && segment > 0 ? segment : 0;
  return view;
}

export function parseNumber(text: string): number | null {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? null : value;
}
