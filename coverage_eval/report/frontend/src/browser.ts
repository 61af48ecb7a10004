/** The browser of segments: filters, the list, the open segment, and the view they share. */

import { systemColour } from "./charts";
import { segmentsCsv } from "./csv";
import { type Contents, type Data, written } from "./data";
import { choice, h, pause, save, shownText } from "./dom";
import { figure } from "./figures";
import { VirtualList } from "./list";
import { judge } from "./judge";
import { minimap, type Strip } from "./minimap";
import { ERRORS, Labels } from "./labels";
import { TooSlow, search } from "./search";
import { select } from "./select";
import { type Scores, segmentElement } from "./segment";
import { type Choices, type View, defaultView, formatView, markKinds, parseNumber, parseView } from "./view";

/** Segments that every print shows. */
const WORST = 10;
/** Segments that a print of the list shows. */
const PRINTED = 40;
const SNIPPET = 160;
// Milliseconds without typing before a search begins, without scrolling before rows are read, and
// between two reports of progress.
const TYPING = 200;
const SCROLLING = 80;
const PROGRESS = 500;
// Milliseconds that a button says what it has done.
const SAID = 2000;

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
  private readonly saving = h("span", { class: "field" });
  private readonly reading = h("small", { id: "labels-said", role: "status" });
  private readonly labels: Labels;
  /** The last link that led here, its place on the page, and the address before; Back returns there. */
  private cameFrom: { link: HTMLElement; top: number; address: string } | null = null;
  /** What the last change was of; Back undoes changes one by one, and typed text at once. */
  private changed = "";
  private byLink = false;
  private readonly list: VirtualList;
  private readonly pane = h("div", { class: "pane", tabindex: -1 });
  private readonly exporting = h("button", { type: "button", id: "segments-csv", onclick: () => void this.export() }, "Save these segments as CSV");
  private readonly map = h("div", { class: "map" });
  private readonly legend = h("div", { class: "shown-marks", role: "group", "aria-label": "Marks" });
  /** The worst segments, for a print that the reader starts from the browser's own menu. */
  private worst: HTMLElement[] = [];
  private moreIsOpen = false;
  private readonly printed = h("div", { class: "printed" });
  private readonly snippets = new Map<number, string>();
  private readonly unread: [number, HTMLElement][] = [];

  constructor(private readonly root: HTMLElement, private readonly contents: Contents, private readonly data: Data) {
    const { metric, system } = contents.worst;
    const own = contents.metrics.find((item) => item.name === metric);
    const descending = !own || own.higherIsBetter === false;
    this.choices = {
      systems: contents.systems, kinds: contents.kinds.map(({ key }) => key),
      hidden: contents.kinds.filter(({ shown }) => !shown).map(({ key }) => key), worst: { metric, system, descending },
      metrics: contents.metrics.map((item) => item.name),
    };
    this.labels = new Labels(contents, () => this.drawSaving());
    this.view = parseView(location.hash.slice(1), this.choices) ?? defaultView(this.choices);
    this.list = new VirtualList(
      "Segments", (item, row) => this.fill(item, row), (position) => this.open(position),
    );
  }

  async start(): Promise<void> {
    this.root.replaceChildren(
      this.form, this.map, this.count, this.legend,
      h("div", { class: "panes" }, h("div", { class: "lists" }, this.head, this.list.element), this.pane),
      this.printed,
    );
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("click", (event) => {
      const link = (event.target as HTMLElement).closest<HTMLElement>("a[href^='#']");
      this.byLink = link !== null;
      if (link?.getAttribute("href")?.includes("=")) this.cameFrom = { link, top: scrollY, address: location.hash };
    });
    document.getElementById("skip")?.addEventListener("click", (event) => {
      event.preventDefault();
      this.goToList();
    });
    addEventListener("hashchange", () => this.follow());
    addEventListener("beforeprint", () => {
      if (!this.printed.firstChild) this.printed.append(h("h2", {}, `The ${this.worst.length} worst segments`), ...this.worst);
    });
    addEventListener("afterprint", () => this.printed.replaceChildren());
    this.drawForm();
    await this.update();
    this.worst = await Promise.all(this.found.slice(0, WORST).map((item) => this.segment(item)));
    // A link to a view opens there; otherwise the page starts at the top.
    if (location.hash.includes("=")) this.root.scrollIntoView();
  }

  /** A link in the page, or the reader, has changed the fragment. */
  private follow(): void {
    const { byLink } = this;
    this.byLink = false;
    const view = parseView(location.hash.slice(1), this.choices);
    if (!view) return;
    // Back from a heading or the glossary.
    if (!byLink && formatView(view, this.choices) === formatView(this.view, this.choices)) return;
    this.view = view;
    this.changed = "";
    this.drawForm();
    const from = !byLink && this.cameFrom?.address === location.hash ? this.cameFrom : null;
    const { top, bottom } = this.root.getBoundingClientRect();
    const inSight = top < innerHeight && bottom > 0;
    void this.update().then(() => {
      if (this.view !== view) return;  // the reader is elsewhere already
      if (from) {
        from.link.focus({ preventScroll: true });
        scrollTo({ top: from.top, behavior: "instant" });
      } else if (byLink || !inSight) this.goToList();
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
    const total = this.contents.segments;
    let [done, of] = [0, total];
    const progress = setInterval(() => this.say(`Reading segments: ${count(done)} of ${count(of)} …`), PROGRESS);
    const watch = { signal, progress: (...said: [number, number]) => { [done, of] = said; } };
    const { view, contents, data } = this;
    try {
      const found = await select(view, contents, data, (left) => search(left, view, contents, data, watch));
      await this.loadColumns();
      if (signal.aborted) return;
      this.found = found;
      this.say(`${count(found.length)} of ${count(total)} segments`);
    } catch (error) {
      if (signal.aborted) return;
      this.found = [];
      if (error instanceof SyntaxError) this.say(`Not a regular expression: ${error.message}`);
      else if (error instanceof TooSlow) this.say(`Stopped: ${error.message}; try a simpler expression.`);
      else throw error;
    } finally {
      clearInterval(progress);
    }
    this.drawHead();
    void this.drawMap();
    this.remember();
    this.list.show(this.found, this.found.length ? this.position : -1);
    await this.drawSegment(this.found[this.position]);
  }

  /** Where in the text the listed metric is bad. */
  private async drawMap(): Promise<void> {
    const metric = this.contents.metrics.find((item) => item.name === this.listed);
    if (!metric || metric.higherIsBetter === null || this.contents.segments < 2) return;
    const strips: Strip[] = [];
    for (const system of this.columnSystems) strips.push({ system, scores: await this.data.scores(metric.name, system) });
    this.map.replaceChildren(minimap(
      strips, { name: metric.name, higherIsBetter: metric.higherIsBetter }, this.contents, [this.view.first, this.view.last], (this.found[this.position] ?? 0) + 1,
      (first, last) => { this.change({ first, last }); this.drawForm(); },
      (segment) => {
        const place = this.found.indexOf(segment - 1);
        if (place >= 0) this.open(place);
      },
    ));
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
    const { sort, kind, metric } = this.view;
    if (sort !== "number") return sort;
    return this.contents.kinds.find(({ key }) => key === kind)?.metrics[0] ?? metric;
  }

  /** The systems in the list: those side by side, and those in the filters. */
  private get columnSystems(): string[] {
    const { show, of, winner, loser, sort, whose, minus } = this.view;
    const named = [...show, of, winner, loser, ...(sort === "number" ? [] : [whose, minus])];
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
    const { sort, whose, minus, descending } = this.view;
    const systems = this.columnSystems;
    this.head.style.setProperty("--systems", String(systems.length));
    const column = (name: string, isSorted: boolean, usual: boolean, part: Partial<View>, ...content: (HTMLElement | string)[]) => {
      const direction = isSorted ? (descending ? "descending" : "ascending") : "";
      const press = () => {
        this.change({ minus: "", ...part, descending: isSorted ? !descending : usual });
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
        `${metric} of ${shownText(name)}`, sort === metric && whose === name && !minus, usual, { sort: metric, whose: name },
        h("i", { class: "dot", style: `--system: ${systemColour(this.choices.systems.indexOf(name))}` }), h("bdi", {}, shownText(name)))),
    );
  }

  private fill(item: number, row: HTMLElement): void {
    row.style.setProperty("--systems", String(this.columnSystems.length));
    const known = this.snippets.get(item);
    const text = h("bdi", { class: "snippet" }, known ?? "…");
    // Rows that are added during reading are read later.
    if (known === undefined && this.unread.push([item, text]) === 1) void this.readSnippets();
    row.append(
      h("span", { class: "number" }, String(item + 1)), text,
      ...this.columnSystems.map((system) =>
        h("span", { class: "number" }, figure(this.columns.get(`${this.listed}/${system}`)?.[item])),
      ),
    );
  }

  /** Writes the beginnings of segments into the rows that are still in sight. */
  private async readSnippets(): Promise<void> {
    await pause(SCROLLING);
    for (const [item, cell] of this.unread) {
      if (!cell.isConnected) continue;
      const segment = await this.data.segment(item, this.contents.block);
      const known = segment.source ? written(segment.source, segment.sourcePieces) : written(segment.references[0] ?? [], segment.referencePieces?.[0]);
      const text = shownText(known.slice(0, SNIPPET));
      this.snippets.set(item, text);
      cell.textContent = text;
    }
    this.unread.length = 0;
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
    const { contents, labels, view } = this;
    return segmentElement(segment, item + 1, { contents, labels, show: view.show, marks: new Set(view.marks) }, scores);
  }

  private drawForm(): void {
    const { view, choices } = this;
    const systems = (none: string): [string, string][] => [["", none], ...pairs(choices.systems)];
    const found = view.found
      ? h("p", { class: "found" }, "Only ", h("strong", {}, view.found.replaceAll("-", " ")), " ",
          h("bdi", {}, `“${shownText(view.entry)}”`), " ",
          h("button", { type: "button", onclick: () => { this.change({ found: "", entry: "", not: "" }); this.drawForm(); } }, "Show all"))
      : null;
    const isFiltered = view.kind !== "" || view.of !== "" || view.found !== "" || view.winner !== "" || view.least !== null || view.most !== null;
    const more = h("details", { class: "more", open: this.moreIsOpen || isFiltered, ontoggle: () => { this.moreIsOpen = more.open; } },
      h("summary", {}, "More: filters, files, print, labels"),
      h("div", { class: "filters" },
        fieldset(
          "Filter",
          choice("kind", "With", [["", "anything"], ...this.contents.kinds.map(({ key, many }): [string, string] => [key, many]), ["none", "no mark"]], view.kind, (kind) => this.change({ kind })),
          choice("of", "of", systems("any system"), view.of, (of) => this.change({ of })),
          choice("within", "Text in", [["", "all texts"], ["source", "source"], ["reference", "reference"], ["output", "outputs"]], view.within, (within) => this.change({ within })),
          checkbox("regex", "regular expression", view.regex, (regex) => this.change({ regex })),
        ),
        fieldset(
          "Scores",
          choice("metric", "Metric", pairs(choices.metrics), view.metric, (metric) => this.change({ metric })),
          this.numberField("least", "from"), this.numberField("most", "to"),
          choice("winner", "where", systems("any"), view.winner, (winner) => this.change({ winner })),
          choice("loser", "is better than", systems("all others"), view.loser, (loser) => this.change({ loser })),
        ),
        fieldset("Order", choice("minus", "minus", systems("nothing"), view.minus, (minus) => this.change({ minus }))),
        h("div", { class: "actions" },
          this.exporting,
          h("button", { type: "button", id: "print", onclick: () => void this.print() }, `Print these segments (at most ${PRINTED})`),
        ),
      ),
    );
    this.form.replaceChildren(
      h("div", { class: "filters" },
        h("span", { class: "field systems" }, h("span", {}, "Show"), ...choices.systems.map((name) => this.systemBox(name))),
        this.textField(),
        choice("sort", "Order by", [["number", "number"], ...pairs(choices.metrics)], view.sort, (sort) => this.change({ sort })),
        choice("whose", "of", pairs(choices.systems), view.whose, (whose) => this.change({ whose })),
        checkbox("descending", "highest first", view.descending, (descending) => this.change({ descending })),
        h("button", { type: "button", id: "reset", onclick: () => { this.change(defaultView(choices)); this.drawForm(); } }, "Clear all filters"),
        h("button", { type: "button", id: "copy-link", onclick: () => this.copyLink() }, "Copy link"),
        choices.systems.length > 1
          ? h("button", { type: "button", id: "judge", title: "The most decisive segments of the first two systems shown, without their names", onclick: () => void this.judge() }, "Judge blind")
          : null,
      ),
      ...(found ? [found] : []),
      more,
    );
    this.legend.replaceChildren(
      h("span", { class: "note" }, "Marks by the scores:"),
      ...markKinds(choices).filter((kind) => kind === "different" || this.data.occurs(kind, choices.systems)).map((kind) => this.markToggle(kind)),
      this.saving,
      h("span", { class: "note keys" }, "j k: next, previous segment; /: search; ← →: from word to word."),
    );
    this.drawSaving();
  }

  /** A button that shows or hides a kind of mark. */
  private markToggle(kind: string): HTMLElement {
    const { style, meaning } = this.contents.kinds.find(({ key }) => key === kind)
      ?? { style: kind, meaning: "word missing from the other output" };
    const name = kind === "label" ? style : kind;
    const button = h("button", {
      type: "button", class: "toggle", id: `mark-${kind}`, "aria-pressed": String(this.view.marks.includes(kind)), title: meaning,
      onclick: () => {
        const on = !this.view.marks.includes(kind);
        const { marks } = this.view;
        this.view.marks = markKinds(this.choices).filter((item) => (item === kind ? on : marks.includes(item)));
        button.setAttribute("aria-pressed", String(on));
        this.remember();
        void this.drawSegment(this.found[this.position]);
      },
    }, h("span", { class: `word ${style}`, style: "--amount: .6" }, name));
    return h("span", { class: "field" }, button, h("small", {}, meaning));
  }

  /** Buttons that save the reader's labels, if there are some, and read them. */
  private drawSaving(): void {
    const buttons = ERRORS.filter((kind) => this.labels.count(kind)).map((kind) =>
      h("button", {
        type: "button", id: `labels-${kind}`,
        title: `For coverage-eval meta --labels labels-${kind}.tsv --kind ${kind}`,
        onclick: () => save(`labels-${kind}.tsv`, "text/tab-separated-values", this.labels.tsv(kind)),
      }, `Save ${count(this.labels.count(kind))} ${kind} labels`),
    );
    const clear = h("button", { type: "button", id: "labels-clear", onclick: () => {
      if (!confirm("Delete all your labels for this report?")) return;
      this.labels.clear();
      void this.drawSegment(this.found[this.position]);
    } }, "Delete labels");
    const file = h("input", {
      id: "labels-file", type: "file", accept: ".tsv", multiple: true, hidden: true, "aria-label": "Files of labels",
      onchange: () => void this.readLabels([...(file.files ?? [])]),
    });
    const read = h("button", {
      type: "button", id: "labels-read", title: "labels-omission.tsv or labels-repetition.tsv, as this page saves them",
      onclick: () => file.click(),
    }, "Load saved labels");
    this.saving.replaceChildren(...buttons, ...(buttons.length ? [clear] : []), read, file, this.reading);
  }

  /** Reads labels from files; the file names tell the kind of error. */
  private async readLabels(files: File[]): Promise<void> {
    const said: string[] = [];
    for (const file of files) {
      const kind = ERRORS.find((name) => file.name.includes(name));
      try {
        if (!kind) throw new Error(`its name must contain ${ERRORS.join(" or ")}`);
        said.push(`${file.name}: ${count(this.labels.read(kind, await file.text()))} labels`);
      } catch (error) {
        said.push(`${file.name} was not loaded: ${(error as Error).message}`);
      }
    }
    this.reading.textContent = shownText(said.join("; "));
    void this.drawSegment(this.found[this.position]);
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

  private numberField(name: "least" | "most", label: string): HTMLElement {
    const input = h("input", {
      id: name, type: "number", step: "any", value: this.view[name],
      onchange: () => this.change({ [name]: parseNumber(input.value) }),
    });
    return h("span", { class: "field" }, h("label", { for: name }, label), input);
  }

  private async export(): Promise<void> {
    const { found, contents, data, exporting: button } = this;
    const systems = this.view.of ? [this.view.of] : this.choices.systems;
    const [name, all] = [button.textContent, count(found.length)];
    button.disabled = true;
    const file = await segmentsCsv(found, systems, contents, data, (done) => {
      button.textContent = `Writing segments: ${count(done)} of ${all} …`;
    });
    save("segments.csv", "text/csv", file);
    button.disabled = false;
    button.textContent = name;
  }

  private copyLink(): void {
    const said = (text: string) => {
      const button = document.getElementById("copy-link");
      if (!button) return;
      button.textContent = text;
      setTimeout(() => { button.textContent = "Copy link"; }, SAID);
    };
    // A page from a file may not write to the clipboard by itself; the address has the link, too.
    void (navigator.clipboard?.writeText(location.href) ?? Promise.reject(new Error("no clipboard")))
      .then(() => said("Copied"), () => said("Copy it from the address bar"));
  }

  private judge(): Promise<void> {
    const [first = "", second = ""] = [...this.view.show, ...this.choices.systems.filter((name) => !this.view.show.includes(name))];
    return judge(this.contents, this.data, this.listed, [first, second]);
  }

  /** Prints the report with the first filtered segments instead of the open one. */
  private async print(): Promise<void> {
    const items = this.found.slice(0, PRINTED);
    const said = `The first ${items.length} of ${count(this.found.length)} filtered segments`;
    this.printed.replaceChildren(h("p", {}, said), ...await Promise.all(items.map((item) => this.segment(item))));
    print();
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
    if (event.key === "j") this.open(this.position + 1);
    else if (event.key === "k") this.open(this.position - 1);
    else if (event.key === "/") document.getElementById("text")?.focus();
    else return;
    event.preventDefault();
  }
}

function count(number: number): string {
  return number.toLocaleString("en");
}

function pairs(values: string[]): [string, string][] {
  return values.map((value) => [value, value]);
}

function fieldset(legend: string, ...children: (HTMLElement | null)[]): HTMLElement {
  return h("fieldset", {}, h("legend", {}, legend), ...children);
}

function checkbox(id: string, label: string, on: boolean, changed: (on: boolean) => void): HTMLElement {
  const input = h("input", { id, type: "checkbox", checked: on, onchange: () => changed(input.checked) });
  return h("span", { class: "field" }, input, h("label", { for: id }, label));
}
