/** The browser of segments: a form, the list, the open segment, and the view that they share. */

import type { Contents, Data } from "./data";
import { h } from "./dom";
import { Form } from "./form";
import { Pane } from "./pane";
import { type Column, Rows, readColumns } from "./rows";
import { select } from "./select";
import { defaultView, formatView, labelOf, listedMetric, parseView, type View, type Viewer } from "./view";

export class Browser implements Viewer {
  view: View;
  private searching = new AbortController();
  private readonly count = h("p", { class: "count", role: "status" });
  private readonly form: Form;
  private readonly rows: Rows;
  private readonly pane: Pane;
  /** What the last change was of; Back undoes changes one by one, and typed text at once. */
  private changed = "";
  private byLink = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly contents: Contents,
    private readonly data: Data,
  ) {
    this.view = parseView(location.hash.slice(1), contents) ?? defaultView(contents);
    this.rows = new Rows(this, contents, data);
    this.form = new Form(this, contents, this.rows.list);
    this.pane = new Pane(this, contents, data);
  }

  async start(): Promise<void> {
    const panes = h("div", { class: "panes" }, this.rows.element, this.pane.element);
    this.root.replaceChildren(this.form.element, this.count, this.form.only, panes);
    document.addEventListener("click", (event) => {
      this.byLink = (event.target as HTMLElement).closest("a[href^='#']") !== null;
    });
    document.getElementById("skip")?.addEventListener("click", (event) => {
      event.preventDefault();
      this.goToList();
    });
    addEventListener("hashchange", () => this.follow());
    this.form.draw();
    await this.update();
    // A link to a view opens there; otherwise the page starts at the top.
    if (location.hash.includes("=")) this.root.scrollIntoView();
  }

  change(part: Partial<View>): void {
    // Another list begins at its top; other systems side by side leave the segment open.
    this.view = { ...this.view, segment: part.show ? this.view.segment : 0, ...part };
    const changed = Object.keys(part).join(" ");
    this.remember(changed !== "text" || this.changed !== "text");
    if (changed !== "text") this.form.draw();
    this.changed = changed;
    void this.update();
  }

  look(part: Partial<View>): void {
    this.view = { ...this.view, ...part };
    this.remember();
    void this.pane.draw(this.rows.opened);
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
    this.form.draw();
    const { top, bottom } = this.root.getBoundingClientRect();
    const inSight = top < innerHeight && bottom > 0;
    void this.update().then(() => {
      // The reader may be elsewhere already.
      if (this.view === view && (byLink || !inSight)) this.goToList();
    });
  }

  private goToList(): void {
    this.root.scrollIntoView();
    this.rows.list.element.focus({ preventScroll: true });
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

  /** Reads the list of the view, unless another one is asked for before it is read. */
  private async update(): Promise<void> {
    this.searching.abort();
    this.searching = new AbortController();
    const { signal } = this.searching;
    this.count.textContent = "Reading segments …";
    try {
      const found = await select(this.view, this.contents, this.data, signal);
      const columns = await readColumns(this.view, this.contents, this.data);
      signal.throwIfAborted();
      this.count.textContent = this.describe(found.length, columns.get(this.view.whose));
      this.rows.show(found, columns);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.remember();
    await this.pane.draw(this.rows.opened);
  }

  /** How many segments are listed, and how many are flagged of the system that the list is about. */
  private describe(found: number, column: Column | undefined): string {
    const { view, contents } = this;
    const listed = `${format(found)} of ${format(contents.segments)} segments`;
    if (!column?.flags) return listed;
    const flagged = format(column.flags.filter(Boolean).length);
    const { name, rule } = listedMetric(view, contents);
    return `${listed}; ${name} flags ${flagged} of ${labelOf(view.whose, contents)}${rule && `: ${rule}`}`;
  }
}

function format(number: number): string {
  return number.toLocaleString("en");
}
