/** The form above the list: what is searched for, shown side by side and marked. */

import type { Contents, Kind } from "./data";
import { checkbox, choice, h, shownText } from "./dom";
import type { VirtualList } from "./list";
import { defaultView, isWorstHigh, labelOf, listedMetric, type Viewer } from "./view";

/** Milliseconds without typing before a search begins. */
const TYPING = 200;

export class Form {
  readonly element = h("form", {
    class: "filters",
    "aria-label": "Search, order and marks",
    onsubmit: (event: Event) => event.preventDefault(),
  });
  /** The entry whose segments are listed, if the reader came from a list of words. */
  readonly only = h("p", { class: "found" });

  constructor(
    private readonly viewer: Viewer,
    private readonly contents: Contents,
    private readonly list: VirtualList,
  ) {}

  draw(): void {
    const { viewer, contents } = this;
    const { view } = viewer;
    const focused = document.activeElement?.id;
    const { flags } = listedMetric(view, contents);
    this.element.replaceChildren(
      this.text(),
      ...(flags ? [checkbox("flagged", "only flagged", view.flagged, (flagged) => viewer.change({ flagged }))] : []),
      this.order(),
      this.whose(),
      h("fieldset", {}, h("legend", {}, "Side by side"), ...contents.systems.map((_, place) => this.system(place))),
      h(
        "details",
        { class: "menu", open: this.element.querySelector("details")?.open ?? false },
        h("summary", {}, "Marks"),
        ...contents.kinds.map((kind) => this.marks(kind)),
        checkbox("letters", "j and k move in the list", this.list.hasLetters, (on) => {
          this.list.hasLetters = on;
        }),
      ),
      h("button", { type: "button", id: "reset", onclick: () => viewer.change(defaultView(contents)) }, "Clear all"),
    );
    if (focused) this.element.querySelector<HTMLElement>(`#${CSS.escape(focused)}`)?.focus();
    this.only.replaceChildren(...(view.found ? this.entry() : []));
  }

  private text(): HTMLElement {
    const { viewer } = this;
    let timer = 0;
    const input = h("input", {
      id: "text",
      type: "search",
      value: viewer.view.text,
      size: 18,
      oninput: () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => viewer.change({ text: input.value }), TYPING);
      },
    });
    return h("span", { class: "field" }, h("label", { for: "text" }, "Search"), input);
  }

  private order(): HTMLElement {
    const { viewer } = this;
    const { metrics } = this.contents;
    const names = ["number", ...metrics.map(({ name }) => name)].map((name): [string, string] => [name, name]);
    return choice("sort", "Order by", names, viewer.view.sort, (sort) => {
      const metric = metrics.find(({ name }) => name === sort);
      viewer.change({ sort, descending: sort !== "number" && isWorstHigh(metric) });
    });
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

  private entry(): (Node | string)[] {
    const { found, entry } = this.viewer.view;
    const all = () => this.viewer.change({ found: "", entry: "" });
    return [
      "Only ",
      h("strong", {}, found.replaceAll("-", " ")),
      " ",
      h("bdi", {}, `“${shownText(entry)}”`),
      " ",
      h("button", { type: "button", onclick: all }, "Show all"),
    ];
  }
}
