/** The pane beside the list, with the open segment. */

import type { Contents, Data } from "./data";
import { h } from "./dom";
import { type Scores, segmentElement } from "./segment";
import type { View, Viewer } from "./view";

export class Pane {
  readonly element = h("div", { class: "pane", tabindex: 0, role: "region", "aria-label": "The open segment" });
  private drawn = 0;

  constructor(
    private readonly viewer: Viewer,
    private readonly contents: Contents,
    private readonly data: Data,
  ) {}

  /** Draws a segment, unless another one is asked for before it is read. */
  async draw(item: number | undefined): Promise<void> {
    const turn = ++this.drawn;
    const element = item === undefined ? h("p", {}, "No segment matches.") : await this.segment(item, this.viewer.view);
    if (turn !== this.drawn) return;
    this.element.replaceChildren(element);
    this.element.scrollTop = 0;
  }

  private async segment(item: number, view: View): Promise<HTMLElement> {
    const { contents, data } = this;
    const segment = await data.segment(item, contents.block);
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
      kinds: contents.kinds.filter(({ key }) => view.marks.includes(key)),
    };
    return segmentElement(segment, item + 1, showing, scores);
  }
}
