/** The browser of segments: a bar, the list with an open segment, and the view that they share. */

import type { Contents, Data } from "./data";
import { Form } from "./form";
import { type Column, Rows } from "./rows";
import { select } from "./select";
import { defaultView, formatView, listedMetric, parseView, type View, type Viewer } from "./view";

export class Browser implements Viewer {
  view: View;
  private searching = new AbortController();
  private readonly form: Form;
  private readonly rows: Rows;
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
    this.form = new Form(this, contents, this.rows);
  }

  async start(): Promise<void> {
    this.root.replaceChildren(this.form.element, this.form.only, this.rows.element, this.rows.pager);
    document.addEventListener("click", (event) => {
      this.byLink = (event.target as HTMLElement).closest("a[href^='#']") !== null;
    });
    document.getElementById("skip")?.addEventListener("click", (event) => {
      event.preventDefault();
      this.goToList();
      this.rows.focus();
    });
    addEventListener("hashchange", () => this.follow());
    this.form.draw();
    await this.update();
    // A link to a view opens there; otherwise the page starts at the top.
    if (location.hash.includes("=")) this.goToList();
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
    void this.redraw();
  }

  /** Draws the page of the list again; whoever had the focus keeps it. */
  private async redraw(): Promise<void> {
    const focused = document.activeElement?.id;
    await this.rows.draw();
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    this.rows.reveal("nearest");
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
      if (this.view !== view || !(byLink || !inSight)) return;
      this.goToList();
      if (byLink)
        (document.getElementById(`row-${view.segment}`) ?? this.root.querySelector<HTMLElement>(".row"))?.focus({
          preventScroll: true,
        });
    });
  }

  private goToList(): void {
    this.root.scrollIntoView();
    this.rows.reveal("start");
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
    this.form.count.textContent = "Reading segments …";
    try {
      const found = await select(this.view, this.contents, this.data, signal);
      const columns = await this.readColumns();
      signal.throwIfAborted();
      this.form.tell(found.length, columns.get(this.view.whose));
      this.remember();
      await this.rows.show(found, columns);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }

  /** The scores in the list by system: of that which the list is about, then of those side by side. */
  private async readColumns(): Promise<Map<string, Column>> {
    const { view, contents, data } = this;
    const { name: metric } = listedMetric(view, contents);
    const columns = new Map<string, Column>();
    for (const system of [view.whose, ...contents.systems.filter((name) => view.show.includes(name))]) {
      columns.set(system, { scores: await data.scores(metric, system), flags: await data.flags(metric, system) });
    }
    return columns;
  }
}
