/** A reader's labels: kept by the web browser, and saved in files that `meta --labels` reads. */

import type { Contents } from "./data";

export const ERRORS = ["omission", "repetition", "addition"] as const;
export type ErrorKind = (typeof ERRORS)[number];

export interface Judgement {
  error: boolean;
  /** The words concerned, from 0: of the source for omissions, of the output for repetitions. */
  words: number[];
}

export class Labels {
  private kept = new Map<string, Judgement>();
  private readonly key: string;
  /** The errors that a reader can label: additions only if a metric marks them. */
  readonly errors: ErrorKind[];

  /** @param changed is told of every change */
  constructor(private readonly contents: Contents, private readonly changed: () => void) {
    this.key = `coverage-eval labels ${contents.id}`;
    this.errors = ERRORS.filter((error) => error !== "addition" || contents.kinds.some((kind) => kind.error === error));
    try {
      this.kept = new Map(JSON.parse(localStorage.getItem(this.key) ?? "[]"));
    } catch { /* a notebook's frame may keep nothing */ }
  }

  get(kind: ErrorKind, segment: number, system: string): Judgement | null {
    return this.kept.get(name(kind, segment, system)) ?? null;
  }

  /** Keeps a judgement; null takes it back. */
  set(kind: ErrorKind, segment: number, system: string, judgement: Judgement | null): void {
    if (judgement) this.kept.set(name(kind, segment, system), judgement);
    else this.kept.delete(name(kind, segment, system));
    this.store();
  }

  clear(): void {
    this.kept.clear();
    this.store();
  }

  count(kind: ErrorKind): number {
    return this.of(kind).length;
  }

  /** Plain labels, a line for each judged output; `?` for an error whose source words are not told. */
  tsv(kind: ErrorKind): string {
    const rows = this.of(kind);
    const withWords = kind === "omission" && rows.some(([, , item]) => item.error && item.words.length > 0);
    const lines = rows.map(([segment, system, item]) => {
      const words = item.error ? item.words.map((position) => position + 1).join(" ") || "?" : "";
      return [segment, system, Number(item.error), ...(withWords ? [words] : [])].join("\t");
    });
    return [["segment", "system", "label", ...(withWords ? ["words"] : [])].join("\t"), ...lines, ""].join("\n");
  }

  /**
   * Reads labels from text made by `tsv`, and returns their number.
   *
   * Throws an Error that names the line if this is other text, or belongs to another report.
   */
  read(kind: ErrorKind, text: string): number {
    const { systems, segments } = this.contents;
    const [header = "", ...lines] = text.replaceAll("\r", "").replace(/\n+$/, "").split("\n");
    if (!/^segment\tsystem\tlabel(\twords)?$/.test(header)) throw new Error("line 1 is not the header of a file saved here");
    const found = lines.map((line, at): [string, Judgement] => {
      const [segment = "", system = "", label = "", words = ""] = line.split("\t");
      const positions = words.split(" ").filter((word) => word && word !== "?").map((word) => Number(word) - 1);
      const isPlace = (number: number) => Number.isInteger(number) && number >= 0;
      let wrong = "";
      if (!isPlace(Number(segment) - 1) || Number(segment) > segments) wrong = `segment ${segment}, but the report has ${segments}`;
      else if (!systems.includes(system)) wrong = `the report has no system ${system}`;
      else if (!/^[01]$/.test(label)) wrong = `the label is 0 or 1, not ${label}`;
      else if (!positions.every(isPlace)) wrong = `words are numbers from 1, not ${words}`;
      if (wrong) throw new Error(`line ${at + 2}: ${wrong}`);
      return [name(kind, Number(segment), system), { error: label === "1", words: positions }];
    });
    for (const [key, item] of found) this.kept.set(key, item);
    this.store();
    return found.length;
  }

  /** Segment, system and judgement, in the order of the text and then of the systems. */
  private of(kind: ErrorKind): [number, string, Judgement][] {
    const { systems } = this.contents;
    const found = [...this.kept].map(([key, item]): [string, number, string, Judgement] => [...(JSON.parse(key) as [string, number, string]), item]);
    return found
      .filter(([own, , system]) => own === kind && systems.includes(system))
      .map(([, segment, system, item]): [number, string, Judgement] => [segment, system, item])
      .sort((a, b) => a[0] - b[0] || systems.indexOf(a[1]) - systems.indexOf(b[1]));
  }

  private store(): void {
    try {
      localStorage.setItem(this.key, JSON.stringify([...this.kept]));
    } catch { /* kept as long as the page is open */ }
    this.changed();
  }
}

function name(kind: ErrorKind, segment: number, system: string): string {
  return JSON.stringify([kind, segment, system]);
}
