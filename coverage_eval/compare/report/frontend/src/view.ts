/** What the reader looks at; the URL's fragment holds it, so a view can be shared. */

export interface View {
  /** Systems side by side. */
  show: string[];
  /** Kind of mark that a segment must have; "none" for no mark. */
  kind: string;
  /** The system that filters apply to; "" for any. */
  of: string;
  /** A list's name, and the entry to show the segments of. */
  found: string;
  entry: string;
  text: string;
  /** "number", or the metric to sort by. */
  sort: string;
  /** The system to sort by. */
  whose: string;
  descending: boolean;
  /** The kinds of marks that words show. */
  marks: string[];
  /** The segment that is open, from 1; 0 for the first of the list. */
  segment: number;
}

export interface Choices extends Record<"systems" | "metrics" | "kinds" | "hidden", string[]> {
  /** `hidden`: the kinds of marks that words do not show at first. */
  worst: { metric: string; system: string; descending: boolean };
}

export function defaultView(choices: Choices): View {
  const { metric, system, descending } = choices.worst;
  // The system that the list is sorted by is shown.
  const show = choices.systems.slice(0, 3);
  if (!show.includes(system)) show.splice(-1, 1, system);
  return {
    show,
    kind: "", of: "", found: "", entry: "", text: "",
    sort: metric, whose: system, descending,
    marks: choices.kinds.filter((kind) => !choices.hidden.includes(kind)),
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
    else found.set(key, value === true ? "yes" : value === false ? "" : String(value));
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
    view.marks = kinds.filter((kind) => marks.includes(kind));
  }
  const shown = said.getAll("show").filter((name) => systems.includes(name));
  if (shown.length) view.show = [...new Set(shown)];
  view.kind = one("kind", [...kinds, "none"], "");
  view.of = one("of", systems, "");
  view.whose = one("whose", systems, view.whose);
  view.sort = one("sort", ["number", ...metrics], view.sort);
  for (const key of ["found", "entry", "text"] as const) view[key] = said.get(key) ?? "";
  // An address with an order also has its direction.
  if (said.has("descending") || said.has("sort")) view.descending = said.get("descending") === "yes";
  const segment = Number(said.get("segment") ?? 0);
  view.segment = Number.isInteger(segment) && segment > 0 ? segment : 0;
  return view;
}
