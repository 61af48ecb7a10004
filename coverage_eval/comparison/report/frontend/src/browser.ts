/** The browser of segments: a menu, the list, the open segment, and the view they share. */

import type { Contents, Data, Metric } from "./data";
import { checkbox, choice, figure, h, shownText } from "./dom";
import { VirtualList } from "./list";
import { type Scores, segmentElement } from "./segment";
import { select } from "./select";
import { defaultView, formatView, isWorstHigh, listedMetric, parseView, type View } from "./view";

const SNIPPET = 160;
/** Milliseconds without typing before a search begins. */
const TYPING = 200;

/** A system's scores in the list, and which of them are flagged. */
interface Column {
  scores: (number | null)[];
  flags: boolean[] | null;
}

export class Browser {
  private view: View;
  private found: number[] = [];
  private searching = new AbortController();
  private drawn = 0;
  private columns = new Map<string, Column>();
  private readonly form = h("form", {
    class: "filters",
    "aria-label": "Search, order and marks",
    onsubmit: (event: Event) => event.preventDefault(),
  });
  private readonly count = h("p", { class: "count", role: "status" });
  private readonly only = h("p", { class: "found" });
  private readonly head = h("div", { class: "row head", role: "group", "aria-label": "Sort by" });
  /** What the last change was of; Back undoes changes one by one, and typed text at once. */
  private changed = "";
  private byLink = false;
  private readonly list: VirtualList;
  private readonly pane = h("div", { class: "pane", tabindex: 0, role: "region", "aria-label": "The open segment" });
  private readonly snippets = new Map<number, string>();

  constructor(
    private readonly root: HTMLElement,
    private readonly contents: Contents,
    private readonly data: Data,
  ) {
    this.view = parseView(location.hash.slice(1), contents) ?? defaultView(contents);
    this.list = new VirtualList(
      "Segments",
      (item, row) => this.fill(item, row),
      (position) => this.open(position),
    );
  }

  async start(): Promise<void> {
    this.root.replaceChildren(
      this.form,
      this.count,
      this.only,
      h("div", { class: "panes" }, h("div", { class: "lists" }, this.head, this.list.element), this.pane),
    );
    document.addEventListener("click", (event) => {
      this.byLink = (event.target as HTMLElement).closest("a[href^='#']") !== null;
    });
    document.getElementById("skip")?.addEventListener("click", (event) => {
      event.preventDefault();
      this.goToList();
    });
    addEventListener("hashchange", () => this.follow());
    this.drawForm();
    await this.update();
    // A link to a view opens there; otherwise the page starts at the top.
    if (location.hash.includes("=")) this.root.scrollIntoView();
  }

  /** A link in the page, or the reader, has changed the fragment. */
  private follow(): void {
    const { byLink } = this;
    this.byLink = false;
    const view = parseView(location.hash.slice(1), this.contents);
    if (!view) return;
    // Back from a heading.
    if (!byLink && formatView(view, this.contents) === formatView(this.view, this.contents)) return;
    this.view = view;
    this.changed = "";
    this.drawForm();
    const { top, bottom } = this.root.getBoundingClientRect();
    const inSight = top < innerHeight && bottom > 0;
    void this.update().then(() => {
      // The reader may be elsewhere already.
      if (this.view === view && (byLink || !inSight)) this.goToList();
    });
  }

  private goToList(): void {
    this.root.scrollIntoView();
    this.list.element.focus({ preventScroll: true });
  }

  private change(part: Partial<View>): void {
    // Another list begins at its top; other systems side by side leave the segment open.
    this.view = { ...this.view, segment: part.show ? this.view.segment : 0, ...part };
    const changed = Object.keys(part).join(" ");
    this.remember(changed !== "text" || this.changed !== "text");
    if (changed !== "text") this.drawForm();
    this.changed = changed;
    void this.update();
  }

  /** Puts the view into the address, as a step that Back undoes if it is a new one. */
  private remember(isStep = false): void {
    // In a notebook's frame there is no address to change.
    try {
      history[isStep ? "pushState" : "replaceState"](null, "", `#${formatView(this.view, this.contents)}`);
    } catch {
      /* nothing to share */
    }
  }

  private async update(): Promise<void> {
    this.searching.abort();
    this.searching = new AbortController();
    const { signal } = this.searching;
    this.count.textContent = "Reading segments …";
    try {
      const found = await select(this.view, this.contents, this.data, signal);
      const columns = await this.readColumns();
      signal.throwIfAborted();
      [this.found, this.columns] = [found, columns];
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.count.textContent = `${count(this.found.length)} of ${count(this.contents.segments)} segments${this.countFlags()}`;
    this.drawHead();
    this.remember();
    this.list.show(this.found, this.found.length ? this.position : -1);
    await this.drawSegment();
  }

  private countFlags(): string {
    const flags = this.columns.get(this.view.whose)?.flags;
    return flags
      ? `; ${this.metric.name} flags ${count(flags.filter(Boolean).length)} of ${this.label(this.view.whose)}`
      : "";
  }

  /** Position of the open segment in the list; the first is open if none was chosen. */
  private get position(): number {
    return Math.max(0, this.found.indexOf(this.view.segment - 1));
  }

  /** The metric in the list. */
  private get metric(): Metric {
    return listedMetric(this.view, this.contents);
  }

  private label(system: string): string {
    return shownText(this.contents.labels[this.contents.systems.indexOf(system)] ?? system);
  }

  /** The systems in the list: those side by side, and the one that it is about. */
  private async readColumns(): Promise<Map<string, Column>> {
    const { show, whose } = this.view;
    const columns = new Map<string, Column>();
    for (const system of this.contents.systems.filter((name) => show.includes(name) || name === whose)) {
      columns.set(system, {
        scores: await this.data.scores(this.metric.name, system),
        flags: await this.data.flags(this.metric.name, system),
      });
    }
    return columns;
  }

  /** Column names; a click sorts, a second click reverses. */
  private drawHead(): void {
    const { sort, whose, descending } = this.view;
    const { name: metric } = this.metric;
    this.head.style.setProperty("--systems", String(this.columns.size));
    const column = (
      name: string,
      isSorted: boolean,
      usual: boolean,
      part: Partial<View>,
      ...content: (HTMLElement | string)[]
    ) => {
      const direction = isSorted ? (descending ? "descending" : "ascending") : "";
      return h(
        "button",
        {
          type: "button",
          class: "number",
          "aria-pressed": String(isSorted),
          "aria-label": `${name}${direction ? `, ${direction}` : ""}`,
          onclick: () => this.change({ ...part, descending: isSorted ? !descending : usual }),
        },
        ...content,
        direction && h("span", {}, descending ? " ▼" : " ▲"),
      );
    };
    this.head.replaceChildren(
      column("Number", sort === "number", false, { sort: "number" }, "#"),
      h("span", { class: "what" }, h("span", {}, this.contents.text), h("span", {}, metric)),
      ...[...this.columns.keys()].map((name) =>
        column(
          `${metric} of ${this.label(name)}`,
          sort === metric && whose === name,
          isWorstHigh(this.metric),
          { sort: metric, whose: name },
          h("i", { class: "dot", style: `--system: ${this.contents.colours[this.contents.systems.indexOf(name)]}` }),
          h("bdi", {}, this.label(name)),
        ),
      ),
    );
  }

  private fill(item: number, row: HTMLElement): void {
    row.style.setProperty("--systems", String(this.columns.size));
    const known = this.snippets.get(item);
    const text = h("bdi", { class: "snippet" }, known ?? "…");
    if (known === undefined) void this.readSnippet(item, text);
    row.append(
      h("span", { class: "number" }, String(item + 1)),
      text,
      ...[...this.columns].map(([system, { scores, flags }]) =>
        h(
          "span",
          { class: flags?.[item] ? "number flagged" : "number" },
          h("span", { class: "hidden" }, `${this.label(system)} `),
          figure(scores[item]),
          flags?.[item] && h("span", { class: "hidden" }, ", flagged"),
        ),
      ),
    );
  }

  /** Writes the beginning of a segment into its row, if that is still in sight. */
  private async readSnippet(item: number, cell: HTMLElement): Promise<void> {
    const { source, references } = await this.data.segment(item, this.contents.block);
    const text = shownText((source ?? references[0] ?? "").slice(0, SNIPPET));
    this.snippets.set(item, text);
    cell.textContent = text;
  }

  private open(position: number): void {
    const item = this.found[position];
    if (item === undefined) return;
    this.view.segment = item + 1;
    this.remember();
    this.list.moveTo(position);
    void this.drawSegment();
  }

  /** Draws the open segment. */
  private async drawSegment(): Promise<void> {
    const turn = ++this.drawn;
    const item = this.found[this.position];
    const element = item === undefined ? h("p", {}, "No segment matches.") : await this.segment(item);
    if (turn !== this.drawn) return;
    this.pane.replaceChildren(element);
    this.pane.scrollTop = 0;
  }

  private async segment(item: number): Promise<HTMLElement> {
    const { contents, view } = this;
    const segment = await this.data.segment(item, contents.block);
    const scores: Scores = new Map();
    for (const { name } of contents.metrics) {
      const row = new Map<string, number | null>();
      for (const system of view.show) row.set(system, (await this.data.scores(name, system))[item] ?? null);
      scores.set(name, row);
    }
    const chosen = [view.chosen, view.whose].find((name) => view.show.includes(name)) ?? view.show[0]!;
    const showing = {
      contents,
      show: view.show,
      chosen,
      kinds: contents.kinds.filter(({ key }) => view.marks.includes(key)),
      choose: (system: string) => {
        view.chosen = system;
        this.remember();
        void this.drawSegment();
      },
    };
    return segmentElement(segment, item + 1, showing, scores);
  }

  private drawForm(): void {
    const { view, contents } = this;
    const { systems, metrics } = contents;
    const focused = document.activeElement?.id;
    this.form.replaceChildren(
      this.textField(),
      ...(this.metric.flags
        ? [checkbox("flagged", "only flagged", view.flagged, (flagged) => this.change({ flagged }))]
        : []),
      choice(
        "sort",
        "Order by",
        [["number", "number"], ...metrics.map(({ name }): [string, string] => [name, name])],
        view.sort,
        (sort) =>
          this.change({
            sort,
            descending: sort !== "number" && isWorstHigh(metrics.find(({ name }) => name === sort)),
          }),
      ),
      choice(
        "whose",
        "of",
        systems.map((name) => [name, this.label(name)]),
        view.whose,
        (whose) =>
          this.change({ whose, show: view.show.includes(whose) ? view.show : defaultView(contents, whose).show }),
      ),
      h(
        "fieldset",
        {},
        h("legend", {}, "Side by side"),
        ...systems.map((name, place) =>
          checkbox(`show-${place}`, this.label(name), view.show.includes(name), (on) => {
            const show = systems.filter((item) => (item === name ? on : view.show.includes(item)));
            this.change({ show: show.length ? show : [name] });
          }),
        ),
      ),
      h(
        "details",
        { class: "menu", open: this.form.querySelector("details")?.open ?? false },
        h("summary", {}, "Marks"),
        ...contents.kinds.map(({ key, style, meaning }) =>
          checkbox(
            `mark-${key}`,
            h("span", {}, h("mark", { class: `run ${style}` }, key), ` ${meaning}`),
            view.marks.includes(key),
            (on) => {
              view.marks = contents.kinds
                .map((kind) => kind.key)
                .filter((item) => (item === key ? on : view.marks.includes(item)));
              this.remember();
              void this.drawSegment();
            },
          ),
        ),
        checkbox("letters", "j and k move in the list", this.list.hasLetters, (on) => {
          this.list.hasLetters = on;
        }),
      ),
      h("button", { type: "button", id: "reset", onclick: () => this.change(defaultView(contents)) }, "Clear all"),
    );
    if (focused) this.form.querySelector<HTMLElement>(`#${CSS.escape(focused)}`)?.focus();
    const entry = view.found && [
      "Only ",
      h("strong", {}, view.found.replaceAll("-", " ")),
      " ",
      h("bdi", {}, `“${shownText(view.entry)}”`),
      " ",
      h("button", { type: "button", onclick: () => this.change({ found: "", entry: "" }) }, "Show all"),
    ];
    this.only.replaceChildren(...(entry || []));
  }

  private textField(): HTMLElement {
    let timer = 0;
    const input = h("input", {
      id: "text",
      type: "search",
      value: this.view.text,
      size: 18,
      oninput: () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => this.change({ text: input.value }), TYPING);
      },
    });
    return h("span", { class: "field" }, h("label", { for: "text" }, "Search"), input);
  }
}

function count(number: number): string {
  return number.toLocaleString("en");
}
