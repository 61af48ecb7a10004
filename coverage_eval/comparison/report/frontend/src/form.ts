/** The bar over the list: what is searched for, which outputs, in which order, and what is marked. */

import type { Contents, Kind } from "./data";
import { checkbox, choice, h, shownText } from "./dom";
import type { Column, Rows } from "./rows";
import { defaultView, labelOf, listedMetric, type Viewer } from "./view";

/** Milliseconds without typing before a search begins. */
const TYPING = 200;
const NARROW = "(max-width: 48rem)";
/** Function words that the menu names. */
const NAMED = 6;

export class Form {
  readonly count = h("p", { class: "count", role: "status" });
  readonly element = h("form", {
    class: "bar",
    role: "search",
    "aria-label": "Segments",
    onsubmit: (event: Event) => event.preventDefault(),
  });
  /** Why not all segments are listed, if the reader followed a link. */
  readonly only = h("p", { class: "found" });
  private flagged = "";

  constructor(
    private readonly viewer: Viewer,
    private readonly contents: Contents,
    private readonly rows: Rows,
  ) {
    matchMedia(NARROW).addEventListener("change", () => this.draw());
    document.addEventListener("click", (event) => {
      const menu = this.element.querySelector("details");
      if (menu?.open && event.target instanceof Node && event.target.isConnected && !menu.contains(event.target)) {
        menu.open = false;
      }
    });
  }

  draw(): void {
    const { viewer, contents } = this;
    const { view } = viewer;
    const focused = document.activeElement?.id;
    const chosen = [this.order(), ...(contents.systems.length > 1 ? [this.whose()] : [])];
    const isNarrow = matchMedia(NARROW).matches;
    const { flags } = listedMetric(view, contents);
    this.element.replaceChildren(
      this.text(),
      ...(flags
        ? [
            h(
              "button",
              {
                type: "button",
                id: "flagged",
                "aria-pressed": String(view.flagged),
                onclick: () => viewer.change({ flagged: !viewer.view.flagged }),
              },
              this.flagged,
            ),
          ]
        : []),
      ...(isNarrow ? [] : chosen),
      this.menu(isNarrow ? chosen : []),
      this.count,
    );
    if (focused) this.element.querySelector<HTMLElement>(`#${CSS.escape(focused)}`)?.focus();
    this.drawOnly();
  }

  /** Says how many segments are listed, and how many are flagged of the system that the list is about. */
  tell(found: number, column: Column | undefined): void {
    const { view } = this.viewer;
    this.count.textContent = `${format(found)} of ${format(this.contents.segments)} segments`;
    this.flagged = `Flagged ${format(column?.flags?.filter(Boolean).length ?? 0)}`;
    const button = this.element.querySelector("#flagged");
    if (!button) return;
    button.textContent = this.flagged;
    const { name } = listedMetric(view, this.contents);
    button.setAttribute("title", `${name} of ${labelOf(view.whose, this.contents)}`);
  }

  private menu(first: HTMLElement[]): HTMLElement {
    const { viewer, contents } = this;
    const { view } = viewer;
    const words = contents.functionWords;
    return h(
      "details",
      {
        class: "menu",
        open: this.element.querySelector("details")?.open ?? false,
        onkeydown: (event: KeyboardEvent) => {
          const menu = event.currentTarget as HTMLDetailsElement;
          if (event.key !== "Escape" || !menu.open) return;
          menu.open = false;
          menu.querySelector("summary")?.focus();
        },
      },
      h("summary", {}, "Show"),
      h(
        "div",
        {},
        ...first,
        h("h3", {}, "Side by side"),
        ...contents.systems.map((_, place) => this.system(place)),
        contents.kinds.length > 0 && h("h3", {}, "Marks"),
        ...contents.kinds.map((kind) => this.marks(kind)),
        words.length > 0 &&
          checkbox(
            "quiet",
            `function words alone: ${words.slice(0, NAMED).map(shownText).join(", ")}${words.length > NAMED ? ", …" : ""}`,
            view.quiet,
            (quiet) => viewer.look({ quiet }),
          ),
        h("h3", {}, "Keys"),
        checkbox("letters", "j and k move in the list", this.rows.hasLetters, (on) => {
          this.rows.hasLetters = on;
        }),
        h("button", { type: "button", id: "reset", onclick: () => viewer.change(defaultView(contents)) }, "Clear all"),
      ),
    );
  }

  private text(): HTMLElement {
    const { viewer } = this;
    let timer = 0;
    const input = h("input", {
      id: "text",
      type: "search",
      placeholder: "Search",
      "aria-label": "Search",
      value: viewer.view.text,
      oninput: () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => viewer.change({ text: input.value }), TYPING);
      },
    });
    return input;
  }

  private order(): HTMLElement {
    const { viewer } = this;
    const names: [string, string][] = [
      ...this.contents.metrics.map(({ name }): [string, string] => [name, `worst ${name}`]),
      ["number", "number"],
    ];
    return choice("sort", "Order", names, viewer.view.sort, (sort) => viewer.change({ sort, from: "", to: "" }));
  }

  private whose(): HTMLElement {
    const { viewer, contents } = this;
    const names = contents.systems.map((name): [string, string] => [name, labelOf(name, contents)]);
    return choice("whose", "of", names, viewer.view.whose, (whose) => {
      const { show } = viewer.view;
      viewer.change({ whose, show: show.includes(whose) ? show : defaultView(contents, whose).show });
    });
  }

  /** Whether a system is shown; one always is. */
  private system(place: number): HTMLElement {
    const { viewer } = this;
    const { systems } = this.contents;
    const name = systems[place]!;
    return checkbox(`show-${place}`, labelOf(name, this.contents), viewer.view.show.includes(name), (on) => {
      const show = systems.filter((item) => (item === name ? on : viewer.view.show.includes(item)));
      viewer.change({ show: show.length ? show : [name] });
    });
  }

  /** Whether words show the marks of a kind. */
  private marks({ key, style, meaning }: Kind): HTMLElement {
    const { viewer, contents } = this;
    const label = h("span", {}, h("mark", { class: `run ${style}` }, key), ` ${meaning}`);
    return checkbox(`mark-${key}`, label, viewer.view.marks.includes(key), (on) => {
      const keys = contents.kinds.map((kind) => kind.key);
      viewer.look({ marks: keys.filter((item) => (item === key ? on : viewer.view.marks.includes(item))) });
    });
  }

  private drawOnly(): void {
    const { found, entry, from, to } = this.viewer.view;
    const { figure } = listedMetric(this.viewer.view, this.contents);
    const range = [from && `from ${Number(from).toFixed(2)}`, to && `below ${Number(to).toFixed(2)}`].filter(Boolean);
    const reasons = [
      ...(found ? [h("b", {}, found.replaceAll("-", " ")), " ", h("bdi", {}, `“${shownText(entry)}”`)] : []),
      ...(range.length ? [`${figure} ${range.join(" and ")}`] : []),
    ];
    const all = () => this.viewer.change({ found: "", entry: "", from: "", to: "" });
    this.only.replaceChildren(
      ...(reasons.length ? ["Only ", ...reasons, " ", h("button", { type: "button", onclick: all }, "Show all")] : []),
    );
  }
}

function format(number: number): string {
  return number.toLocaleString("en");
}
