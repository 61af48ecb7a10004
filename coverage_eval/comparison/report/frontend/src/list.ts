/** A list of any length that only holds its visible rows; one row is chosen. */

import { h } from "./dom";

const ROW = 32;
const BEYOND = 8;
// Browsers limit the height of an element to 17 to 33 million pixels.
const HIGHEST = 10_000_000;

export class VirtualList {
  readonly element: HTMLElement;
  private readonly inner: HTMLElement;
  /** Whether j and k move, too. */
  hasLetters = true;
  private items: number[] = [];
  private chosen = -1;

  /**
   * @param fill puts an item's content into its row
   * @param choose is told of the position that the reader chooses
   */
  constructor(
    label: string,
    private readonly fill: (item: number, row: HTMLElement) => void,
    private readonly choose: (position: number) => void,
  ) {
    this.inner = h("div", { class: "rows", role: "presentation" });
    this.element = h(
      "div",
      {
        class: "list",
        role: "listbox",
        tabindex: 0,
        "aria-label": label,
        onscroll: () => this.draw(),
        onkeydown: (event: KeyboardEvent) => this.key(event),
      },
      this.inner,
    );
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(items: number[], chosen: number): void {
    this.items = items;
    this.inner.style.height = `${Math.min(HIGHEST, items.length * ROW)}px`;
    this.moveTo(chosen);
  }

  /** Marks the row at a position as chosen and brings it into sight. */
  moveTo(position: number): void {
    this.chosen = position;
    if (position >= 0) {
      const [first, count] = this.visible();
      if (position < first || position >= first + count) {
        this.element.scrollTop = Math.max(0, position - Math.floor(count / 2)) * this.step;
      }
    }
    this.draw();
  }

  /** Pixels of scrolling for a row; less than its height if the list is too long. */
  private get step(): number {
    return Math.min(ROW, HIGHEST / Math.max(1, this.items.length));
  }

  /** The first row in full sight, and the number of such rows. */
  private visible(): [number, number] {
    const count = Math.max(1, Math.floor(this.element.clientHeight / ROW));
    return [Math.ceil(this.element.scrollTop / this.step), count];
  }

  draw(): void {
    const [visible, count] = this.visible();
    const first = Math.max(0, visible - BEYOND);
    const last = Math.min(this.items.length, visible + count + BEYOND);
    const rows: HTMLElement[] = [];
    for (let position = first; position < last; position++) {
      const item = this.items[position] as number;
      const row = h("div", {
        id: `row-${item + 1}`,
        class: "row",
        role: "option",
        "aria-setsize": this.items.length,
        "aria-posinset": position + 1,
        "aria-selected": String(position === this.chosen),
        onclick: () => this.choose(position),
      });
      // Rows of a list that is too long keep their places on the screen.
      row.style.transform = `translateY(${visible * this.step + (position - visible) * ROW}px)`;
      this.fill(item, row);
      rows.push(row);
    }
    this.inner.replaceChildren(...rows);
    const chosen = this.items[this.chosen];
    const inSight = this.chosen >= first && this.chosen < last;
    if (chosen !== undefined && inSight) {
      this.element.setAttribute("aria-activedescendant", `row-${chosen + 1}`);
    } else this.element.removeAttribute("aria-activedescendant");
  }

  private key(event: KeyboardEvent): void {
    const page = this.visible()[1];
    const moves: Record<string, number> = {
      ArrowDown: this.chosen + 1,
      ArrowUp: this.chosen - 1,
      PageDown: this.chosen + page,
      PageUp: this.chosen - page,
      Home: 0,
      End: this.items.length - 1,
      ...(this.hasLetters &&
        !(event.ctrlKey || event.metaKey || event.altKey) && { j: this.chosen + 1, k: this.chosen - 1 }),
    };
    const wanted = moves[event.key];
    if (wanted === undefined || !this.items.length) return;
    event.preventDefault();
    this.choose(Math.max(0, Math.min(this.items.length - 1, wanted)));
  }
}
