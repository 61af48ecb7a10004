/** The list of segments: a page of rows, each with its text around what is wrong, and its scores. */

import type { Contents, Data, Segment } from "./data";
import { figure, h } from "./dom";
import { firstFound, highlight, isInSight } from "./highlight";
import { line, markedPieces, type Run, runsOf } from "./line";
import { type Scores, segmentElement } from "./segment";
import { labelOf, listedMetric, shownKinds, type Viewer } from "./view";

/** Segments on a page of the list. */
const PAGE = 50;
/** Characters of a row's text, of which some stand before what is wrong. */
const SNIPPET = 260;
const PIXELS = 7;

/** A system's scores in the list, and which of them are flagged. */
export interface Column {
  scores: (number | null)[];
  flags: boolean[] | null;
}

export class Rows {
  readonly element = h("div", {
    class: "rows",
    role: "list",
    "aria-label": "Segments",
    onkeydown: (event: KeyboardEvent) => this.key(event),
  });
  readonly pager = h("div", { class: "pager" });
  /** Whether j and k move, too. */
  hasLetters = true;
  private found: number[] = [];
  private columns = new Map<string, Column>();
  private page = 0;
  private drawn = 0;

  constructor(
    private readonly viewer: Viewer,
    private readonly contents: Contents,
    private readonly data: Data,
  ) {}

  /** Shows the page of the open segment, or the first one. */
  async show(found: number[], columns: Map<string, Column>): Promise<void> {
    this.found = found;
    this.columns = columns;
    const open = this.viewer.view.segment - 1;
    const position = found.indexOf(open);
    this.page = Math.max(0, Math.floor(position / PAGE));
    await this.draw();
  }

  focus(): void {
    this.buttons()[0]?.focus({ preventScroll: true });
  }

  /** Draws the page, unless another one is asked for before its segments are read. */
  async draw(): Promise<void> {
    const turn = ++this.drawn;
    const { view } = this.viewer;
    const open = view.segment - 1;
    const items = this.found.slice(this.page * PAGE, (this.page + 1) * PAGE);
    // A link leads to its segment, whatever is listed.
    if (open >= 0 && open < this.contents.segments && !items.includes(open)) items.unshift(open);
    const drawn: HTMLElement[] = [];
    for (const item of items) {
      const segment = await this.data.segment(item, this.contents.block);
      drawn.push(await this.item(item, segment, item === open));
      if (turn !== this.drawn) return;
    }
    if (open >= this.contents.segments) {
      drawn.unshift(
        h(
          "p",
          { role: "status" },
          `There is no segment ${view.segment}: the last one is ${this.contents.segments.toLocaleString("en")}.`,
        ),
      );
    }
    if (!drawn.length) drawn.push(h("p", {}, "No segment matches."));
    this.element.replaceChildren(...drawn);
    this.drawPager();
    highlight(this.element.querySelectorAll(".snippet, .segment .words"), view.text);
  }

  /** Brings the open segment into sight, and in it what was searched for. */
  reveal(block: ScrollLogicalPosition): void {
    const open = document.getElementById(`row-${this.viewer.view.segment}`)?.parentElement;
    open?.scrollIntoView({ block });
    const match = open && firstFound(open.querySelector(".segment"));
    if (match && !isInSight(match)) match.startContainer.parentElement?.scrollIntoView({ block: "center" });
  }

  private drawPager(): void {
    const pages = Math.ceil(this.found.length / PAGE);
    const go = (page: number, label: string) =>
      h(
        "button",
        {
          type: "button",
          disabled: page < 0 || page >= pages,
          onclick: () => {
            this.page = page;
            this.viewer.look({ segment: 0 });
            this.element.scrollIntoView();
          },
        },
        label,
      );
    const [first, last] = [this.page * PAGE + 1, Math.min(this.found.length, (this.page + 1) * PAGE)];
    const where = `${first.toLocaleString("en")}–${last.toLocaleString("en")} of ${this.found.length.toLocaleString("en")}`;
    this.pager.replaceChildren(
      ...(pages > 1 ? [go(this.page - 1, "← previous"), h("span", {}, where), go(this.page + 1, "next →")] : []),
    );
  }

  private async item(item: number, segment: Segment, isOpen: boolean): Promise<HTMLElement> {
    const number = item + 1;
    const button = h(
      "button",
      {
        type: "button",
        class: "row",
        id: `row-${number}`,
        "aria-expanded": String(isOpen),
        onclick: () => this.toggle(number, isOpen),
      },
      h("span", { class: "place" }, h("span", { class: "hidden" }, "Segment "), String(number)),
      h("bdi", { class: "snippet" }, ...this.snippet(segment)),
      h("span", { class: "scores" }, ...this.scores(item)),
    );
    const opened = isOpen && (await this.opened(item, segment));
    return h("div", { class: "item", role: "listitem" }, button, opened);
  }

  private toggle(number: number, isOpen: boolean): void {
    this.viewer.look({ segment: isOpen ? 0 : number });
  }

  /** The text around what is found, or else around the first flagged words. */
  private snippet(segment: Segment): (Node | string)[] {
    const { contents } = this;
    const { view } = this.viewer;
    const output = segment.outputs[contents.systems.indexOf(view.whose)]!;
    const kinds = shownKinds(view, contents);
    const marks = output.marks.filter(({ quiet }) => view.quiet || !quiet);
    const of = (side: string) => kinds.filter((kind) => kind.side === side);
    const source = segment.source ?? segment.references[0] ?? "";
    const texts: [string, Run[]][] = [
      [source, segment.source === null ? [] : runsOf(source, marks, of("source"))],
      [output.text, runsOf(output.text, marks, of("output"))],
    ];
    const wanted = view.text.toLowerCase();
    const at = (text: string) => (wanted ? text.toLowerCase().indexOf(wanted) : -1);
    const [text, runs] = texts.find(([item]) => at(item) >= 0) ?? texts.find(([, found]) => found.length) ?? texts[0]!;
    const longest = runs.reduce((best, run) => (run.end - run.start > best.end - best.start ? run : best), {
      start: 0,
      end: 0,
    });
    const place = at(text) >= 0 ? at(text) : longest.start;
    const lead = Math.max(12, Math.floor(this.element.clientWidth / PIXELS / 4));
    let first = Math.max(0, place - lead);
    if (first) first = text.indexOf(" ", first) + 1 || first;
    if (first > place) first = place;
    const shown = line("", text);
    shown.runs = runs;
    const pieces = markedPieces(shown, first, Math.min(text.length, first + SNIPPET));
    if (!text.trim()) return [h("em", {}, "(empty)")];
    return first ? ["… ", ...pieces] : pieces;
  }

  private scores(item: number): HTMLElement[] {
    const metric = listedMetric(this.viewer.view, this.contents);
    return [...this.columns].map(([system, { scores, flags }]) => {
      const colour = this.contents.colours[this.contents.systems.indexOf(system)];
      return h(
        "span",
        { class: flags?.[item] ? "flagged" : null },
        h("i", { class: "dot", style: `--system: ${colour}` }),
        h("bdi", {}, labelOf(system, this.contents)),
        ` ${metric.figure} ${figure(scores[item])}`,
        flags?.[item] && h("span", { class: "hidden" }, ", flagged"),
      );
    });
  }

  private async opened(item: number, segment: Segment): Promise<HTMLElement> {
    const { contents, data } = this;
    const { view } = this.viewer;
    const scores: Scores = new Map();
    for (const { name } of contents.metrics) {
      const row = new Map<string, number | null>();
      for (const system of view.show) row.set(system, (await data.scores(name, system))[item] ?? null);
      scores.set(name, row);
    }
    const showing = {
      contents,
      show: view.show,
      chosen: [view.chosen, view.whose].find((name) => view.show.includes(name)) ?? view.show[0]!,
      choose: (chosen: string) => this.viewer.look({ chosen }),
      kinds: shownKinds(view, contents),
      quiet: view.quiet,
    };
    return segmentElement(segment, item + 1, showing, scores);
  }

  private buttons(): HTMLElement[] {
    return [...this.element.querySelectorAll<HTMLElement>(".row")];
  }

  private key(event: KeyboardEvent): void {
    const buttons = this.buttons();
    const here = buttons.indexOf(event.target as HTMLElement);
    if (here < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, number> = {
      ArrowDown: here + 1,
      ArrowUp: here - 1,
      Home: 0,
      End: buttons.length - 1,
      ...(this.hasLetters && { j: here + 1, k: here - 1 }),
    };
    const wanted = moves[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    buttons[Math.max(0, Math.min(buttons.length - 1, wanted))]!.focus();
  }
}
