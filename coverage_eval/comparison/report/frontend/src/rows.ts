/** The list of segments: a head that sorts it, and rows with the beginnings of texts, scores and flags. */

import type { Contents, Data } from "./data";
import { figure, h, shownText } from "./dom";
import { VirtualList } from "./list";
import { isWorstHigh, labelOf, listedMetric, type View, type Viewer } from "./view";

const SNIPPET = 160;

/** A system's scores in the list, and which of them are flagged. */
export interface Column {
  scores: (number | null)[];
  flags: boolean[] | null;
}

/** The columns of the list by system: those side by side, and the one that it is about. */
export async function readColumns(view: View, contents: Contents, data: Data): Promise<Map<string, Column>> {
  const { name: metric } = listedMetric(view, contents);
  const columns = new Map<string, Column>();
  for (const system of contents.systems.filter((name) => view.show.includes(name) || name === view.whose)) {
    columns.set(system, { scores: await data.scores(metric, system), flags: await data.flags(metric, system) });
  }
  return columns;
}

export class Rows {
  readonly list: VirtualList;
  readonly element: HTMLElement;
  private readonly head = h("div", { class: "row head", role: "group", "aria-label": "Sort by" });
  private readonly snippets = new Map<number, string>();
  private found: number[] = [];
  private columns = new Map<string, Column>();

  constructor(
    private readonly viewer: Viewer,
    private readonly contents: Contents,
    private readonly data: Data,
  ) {
    this.list = new VirtualList(
      "Segments",
      (item, row) => this.fill(item, row),
      (position) => this.open(position),
    );
    this.element = h("div", { class: "lists" }, this.head, this.list.element);
  }

  show(found: number[], columns: Map<string, Column>): void {
    this.found = found;
    this.columns = columns;
    this.drawHead();
    this.list.show(found, found.length ? this.position : -1);
  }

  /** The open segment; the first is open if none was chosen, and none if the list is empty. */
  get opened(): number | undefined {
    return this.found[this.position];
  }

  private get position(): number {
    return Math.max(0, this.found.indexOf(this.viewer.view.segment - 1));
  }

  private open(position: number): void {
    const item = this.found[position];
    if (item === undefined) return;
    this.viewer.look({ segment: item + 1 });
    this.list.moveTo(position);
  }

  private drawHead(): void {
    const { contents } = this;
    const { view } = this.viewer;
    const metric = listedMetric(view, contents);
    this.head.style.setProperty("--systems", String(this.columns.size));
    const systems = [...this.columns.keys()].map((name) => {
      const label = labelOf(name, contents);
      const dot = h("i", { class: "dot", style: `--system: ${contents.colours[contents.systems.indexOf(name)]}` });
      const part = { sort: metric.name, whose: name };
      // A narrow column breaks a name behind a sign rather than inside a word.
      const pieces = label.split(/(?<=[_.])/).flatMap((piece) => [piece, h("wbr")]);
      return this.sorter(`${metric.figure} of ${label}`, part, isWorstHigh(metric), dot, h("bdi", {}, ...pieces));
    });
    this.head.replaceChildren(
      this.sorter("Number", { sort: "number" }, false, "#"),
      h("span", { class: "what" }, h("span", {}, contents.text), h("span", {}, metric.figure)),
      ...systems,
    );
  }

  /** The name of a column; a click sorts by it, and a second click reverses. */
  private sorter(
    name: string,
    part: Partial<View>,
    descending: boolean,
    ...content: (HTMLElement | string)[]
  ): HTMLElement {
    const { view } = this.viewer;
    const isSorted = view.sort === part.sort && (part.whose ?? view.whose) === view.whose;
    const direction = view.descending ? "descending" : "ascending";
    return h(
      "button",
      {
        type: "button",
        class: "number",
        "aria-pressed": String(isSorted),
        "aria-label": isSorted ? `${name}, ${direction}` : name,
        onclick: () => this.viewer.change({ ...part, descending: isSorted ? !view.descending : descending }),
      },
      ...content,
      isSorted && h("span", {}, view.descending ? " ▼" : " ▲"),
    );
  }

  private fill(item: number, row: HTMLElement): void {
    row.style.setProperty("--systems", String(this.columns.size));
    const known = this.snippets.get(item);
    const text = h("bdi", { class: "snippet" }, known ?? "…");
    if (known === undefined) void this.readSnippet(item, text);
    const figures = [...this.columns].map(([system, { scores, flags }]) => {
      const isFlagged = flags?.[item];
      return h(
        "span",
        { class: isFlagged ? "number flagged" : "number" },
        h("span", { class: "hidden" }, `${labelOf(system, this.contents)} `),
        figure(scores[item]),
        isFlagged && h("span", { class: "hidden" }, ", flagged"),
      );
    });
    row.append(h("span", { class: "number" }, String(item + 1)), text, ...figures);
  }

  /** Writes the beginning of a segment into its row, if that is still in sight. */
  private async readSnippet(item: number, cell: HTMLElement): Promise<void> {
    const { source, references } = await this.data.segment(item, this.contents.block);
    const text = shownText((source ?? references[0] ?? "").slice(0, SNIPPET));
    this.snippets.set(item, text);
    cell.textContent = text;
  }
}
