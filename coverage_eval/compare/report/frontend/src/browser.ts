/** The browser of segments: filters, the list, the open segment, and the view they share. */

import { type Contents, type Data, written } from "./data";
import { choice, h, shownText } from "./dom";
import { figure } from "./figures";
import { VirtualList } from "./list";
import { select } from "./select";
import { type Scores, segmentElement } from "./segment";
import { type Choices, type View, defaultView, formatView, parseView } from "./view";

const SNIPPET = 160;
/** Milliseconds without typing before a search begins. */
const TYPING = 200;

export class Browser {
  private view: View;
  private found: number[] = [];
  private searching = new AbortController();
  private drawn = 0;
  private readonly choices: Choices;
  private readonly columns = new Map<string, (number | null)[]>();
  private readonly form = h("form", { class: "filters", "aria-label": "Filters", onsubmit: (e: Event) => e.preventDefault() });
  private readonly count = h("p", { class: "count", role: "status" });
  private readonly head = h("div", { class: "row head", role: "group", "aria-label": "Sort by" });
  /** What the last change was of; Back undoes changes one by one, and typed text at once. */
  private changed = "";
  private byLink = false;
  private readonly list: VirtualList;
  private readonly pane = h("div", { class: "pane", tabindex: -1 });
  private readonly legend = h("div", { class: "shown-marks", role: "group", "aria-label": "Marks" });
  private readonly snippets = new Map<number, string>();

  constructor(private readonly root: HTMLElement, private readonly contents: Contents, private readonly data: Data) {
    const { metric, system } = contents.worst;
    const own = contents.metrics.find((item) => item.name === metric);
    const descending = !own || own.higherIsBetter === false;
    this.choices = {
      systems: contents.systems, kinds: contents.kinds.map(({ key }) => key),
      hidden: contents.kinds.filter(({ shown }) => !shown).map(({ key }) => key), worst: { metric, system, descending },
      metrics: contents.metrics.map((item) => item.name),
    };
    this.view = parseView(location.hash.slice(1), this.choices) ?? defaultView(this.choices);
    this.list = new VirtualList(
      "Segments", (item, row) => this.fill(item, row), (position) => this.open(position),
    );
  }

  async start(): Promise<void> {
    this.root.replaceChildren(
      this.form, this.count, this.legend,
      h("div", { class: "panes" }, h("div", { class: "lists" }, this.head, this.list.element), this.pane),
    );
    document.addEventListener("click", (event) => {
      const link = (event.target as HTMLElement).closest<HTMLElement>("a[href^='#']");
      this.byLink = link !== null;
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
    const view = parseView(location.hash.slice(1), this.choices);
    if (!view) return;
    // Back from a heading.
    if (!byLink && formatView(view, this.choices) === formatView(this.view, this.choices)) return;
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
    this.changed = changed;
    void this.update();
  }

  /** Puts the view into the address, as a step that Back undoes if it is a new one. */
  private remember(isStep = false): void {
    // In a notebook's frame there is no address to change.
    try {
      history[isStep ? "pushState" : "replaceState"](null, "", `#${formatView(this.view, this.choices)}`);
    } catch { /* nothing to share */ }
  }

  private async update(): Promise<void> {
    this.searching.abort();
    const { signal } = (this.searching = new AbortController());
    this.say("Reading segments …");
    let found: number[];
    try {
      found = await select(this.view, this.contents, this.data, signal);
      await this.loadColumns();
      signal.throwIfAborted();
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.found = found;
    this.say(`${count(found.length)} of ${count(this.contents.segments)} segments`);
    this.drawHead();
    this.remember();
    this.list.show(this.found, this.found.length ? this.position : -1);
    await this.drawSegment(this.found[this.position]);
  }

  private say(text: string): void {
    this.count.textContent = text;
  }

  /** Position of the open segment in the list; the first is open if none was chosen. */
  private get position(): number {
    return Math.max(0, this.found.indexOf(this.view.segment - 1));
  }

  /** The metric in the list: what it is sorted by, or what finds the marks in the filter. */
  private get listed(): string {
    const { sort, kind } = this.view;
    if (sort !== "number") return sort;
    return this.contents.kinds.find(({ key }) => key === kind)?.metrics[0] ?? this.contents.worst.metric;
  }

  /** The systems in the list: those side by side, and those in the filters. */
  private get columnSystems(): string[] {
    const { show, of, sort, whose } = this.view;
    const named = [...show, of, ...(sort === "number" ? [] : [whose])];
    return this.choices.systems.filter((name) => named.includes(name));
  }

  private async loadColumns(): Promise<void> {
    for (const system of this.columnSystems) {
      const scores = await this.data.scores(this.listed, system);
      this.columns.set(`${this.listed}/${system}`, scores);
    }
  }

  /** Column names; a click sorts, a second click reverses. */
  private drawHead(): void {
    const { sort, whose, descending } = this.view;
    const systems = this.columnSystems;
    this.head.style.setProperty("--systems", String(systems.length));
    const column = (name: string, isSorted: boolean, usual: boolean, part: Partial<View>, ...content: (HTMLElement | string)[]) => {
      const direction = isSorted ? (descending ? "descending" : "ascending") : "";
      const press = () => {
        this.change({ ...part, descending: isSorted ? !descending : usual });
        this.drawForm();
      };
      return h("button", { type: "button", class: "number", onclick: press, "aria-pressed": String(isSorted), "aria-label": `${name}${direction ? `, ${direction}` : ""}` },
        ...content, direction && h("span", {}, descending ? " ▼" : " ▲"));
    };
    const metric = this.listed;
    const own = this.contents.metrics.find((item) => item.name === metric);
    const usual = !own || own.higherIsBetter === false;
    this.head.replaceChildren(
      column("Number", sort === "number", false, { sort: "number" }, "#"),
      h("span", {}, `text; ${metric} of:`),
      ...systems.map((name) => column(
        `${metric} of ${shownText(name)}`, sort === metric && whose === name, usual, { sort: metric, whose: name },
        h("i", { class: "dot", style: `--system: ${this.contents.colours[this.choices.systems.indexOf(name)]}` }), h("bdi", {}, shownText(name)))),
    );
  }

  private fill(item: number, row: HTMLElement): void {
    row.style.setProperty("--systems", String(this.columnSystems.length));
    const known = this.snippets.get(item);
    const text = h("bdi", { class: "snippet" }, known ?? "…");
    if (known === undefined) void this.readSnippet(item, text);
    row.append(
      h("span", { class: "number" }, String(item + 1)), text,
      ...this.columnSystems.map((system) =>
        h("span", { class: "number" }, figure(this.columns.get(`${this.listed}/${system}`)?.[item])),
      ),
    );
  }

  /** Writes the beginning of a segment into its row, if that is still in sight. */
  private async readSnippet(item: number, cell: HTMLElement): Promise<void> {
    const { source, sourcePieces, references, referencePieces } = await this.data.segment(item, this.contents.block);
    const known = source ? written(source, sourcePieces) : written(references[0] ?? [], referencePieces?.[0]);
    const text = shownText(known.slice(0, SNIPPET));
    this.snippets.set(item, text);
    cell.textContent = text;
  }

  private open(position: number): void {
    const item = this.found[position];
    if (item === undefined) return;
    this.view.segment = item + 1;
    this.remember();
    this.list.moveTo(position);
    void this.drawSegment(item);
  }

  private async drawSegment(item: number | undefined): Promise<void> {
    const turn = ++this.drawn;
    if (item === undefined) {
      this.pane.replaceChildren(h("p", {}, "No segment matches these filters."));
      return;
    }
    const element = await this.segment(item);
    if (turn === this.drawn) this.pane.replaceChildren(element);
  }

  private async segment(item: number): Promise<HTMLElement> {
    const segment = await this.data.segment(item, this.contents.block);
    const scores: Scores = new Map();
    for (const metric of this.choices.metrics) {
      const row = new Map<string, number | null>();
      for (const system of this.view.show) {
        row.set(system, (await this.data.scores(metric, system))[item] ?? null);
      }
      scores.set(metric, row);
    }
    const { contents, view } = this;
    return segmentElement(segment, item + 1, { contents, show: view.show, marks: new Set(view.marks) }, scores);
  }

  private drawForm(): void {
    const { view, choices } = this;
    const kinds = this.contents.kinds.map(({ key, many }): [string, string] => [key, many]);
    const found = view.found
      ? h("p", { class: "found" }, "Only ", h("strong", {}, view.found.replaceAll("-", " ")), " ",
          h("bdi", {}, `“${shownText(view.entry)}”`), " ",
          h("button", { type: "button", onclick: () => { this.change({ found: "", entry: "" }); this.drawForm(); } }, "Show all"))
      : null;
    this.form.replaceChildren(
      h("div", { class: "filters" },
        h("span", { class: "field systems" }, h("span", {}, "Show"), ...choices.systems.map((name) => this.systemBox(name))),
        this.textField(),
        choice("kind", "With", [["", "anything"], ...kinds, ["none", "no mark"]], view.kind, (kind) => this.change({ kind })),
        choice("of", "of", [["", "any system"], ...pairs(choices.systems)], view.of, (of) => this.change({ of })),
        choice("sort", "Order by", [["number", "number"], ...pairs(choices.metrics)], view.sort, (sort) => this.change({ sort })),
        h("button", { type: "button", id: "reset", onclick: () => { this.change(defaultView(choices)); this.drawForm(); } }, "Clear all filters"),
      ),
      ...(found ? [found] : []),
    );
    this.legend.replaceChildren(
      h("span", { class: "note" }, "Marks by the scores:"),
      ...choices.kinds.filter((kind) => this.data.occurs(kind, choices.systems)).map((kind) => this.markToggle(kind)),
    );
  }

  /** A button that shows or hides a kind of mark. */
  private markToggle(kind: string): HTMLElement {
    const { style, meaning } = this.contents.kinds.find(({ key }) => key === kind)!;
    const button = h("button", {
      type: "button", class: "toggle", id: `mark-${kind}`, "aria-pressed": String(this.view.marks.includes(kind)), title: meaning,
      onclick: () => {
        const on = !this.view.marks.includes(kind);
        const { marks } = this.view;
        this.view.marks = this.choices.kinds.filter((item) => (item === kind ? on : marks.includes(item)));
        button.setAttribute("aria-pressed", String(on));
        this.remember();
        void this.drawSegment(this.found[this.position]);
      },
    }, h("span", { class: `word ${style}`, style: "--amount: .6" }, kind));
    return h("span", { class: "field" }, button, h("small", {}, meaning));
  }

  private systemBox(name: string): HTMLElement {
    const { systems } = this.choices;
    return checkbox(`show-${systems.indexOf(name)}`, shownText(name), this.view.show.includes(name), (on) => {
      const show = systems.filter((item) => (item === name ? on : this.view.show.includes(item)));
      this.change({ show: show.length ? show : [name] });
      if (!show.length) this.drawForm();
    });
  }

  private textField(): HTMLElement {
    let timer = 0;
    const input = h("input", {
      id: "text", type: "search", value: this.view.text, size: 18,
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

function pairs(values: string[]): [string, string][] {
  return values.map((value) => [value, value]);
}

function checkbox(id: string, label: string, on: boolean, changed: (on: boolean) => void): HTMLElement {
  const input = h("input", { id, type: "checkbox", checked: on, onchange: () => changed(input.checked) });
  return h("span", { class: "field" }, input, h("label", { for: id }, label));
}
