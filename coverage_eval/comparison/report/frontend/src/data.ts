/**
 * The report's data: compressed blocks in the page, unpacked when they are asked for. The interfaces
 * are of what coverage_eval/comparison/report/data.py writes, as a test compares them.
 */

export interface Metric {
  name: string;
  /** What the score of a segment is called. */
  figure: string;
  higherIsBetter: boolean | null; // null: neither is better in itself
  /** Whether it says of single segments that they have an error. */
  flags: boolean;
}

/** A kind of mark, as its metric declares it. */
export interface Kind {
  key: string;
  style: string;
  /** "source" or "output". */
  side: string;
  meaning: string;
  /** The error that marks point at. */
  error: string;
  /** The tables that count the marks: "words", "phrases" or "". */
  listed: string;
  /** Whether words show the marks at first. */
  shown: boolean;
}

/** The metric and the system with the most errors; their worst segment comes first. */
export interface Worst {
  metric: string;
  system: string;
}

export interface Contents {
  worst: Worst;
  systems: string[];
  /** What each system is called: its name without the ending that all names share. */
  labels: string[];
  /** The colour of each system. */
  colours: string[];
  metrics: Metric[];
  /** Where a word has several marks, it shows the first of these. */
  kinds: Kind[];
  /** Words that are marked quietly where nothing else is marked beside them. */
  functionWords: string[];
  /** Which text the list shows of a segment. */
  text: string;
  segments: number;
  block: number;
}

/** Words that a metric points at. */
export interface Mark {
  /** The key of its kind. */
  kind: string;
  /** The characters of its words; none for a text that belongs to no line. */
  spans: Steps;
  text: string;
  /** Whether it is of function words alone, which are marked on demand. */
  quiet: boolean;
}

/** Pieces of a text: how far each starts behind the end of the one before, and how long it is, in turns. */
export type Steps = number[];

export interface Attention {
  source: string[];
  words: string[];
  weights: number[][];
}

export interface Output {
  text: string;
  /** The words that links count; null without links. */
  words: Steps | null;
  /** Numbers of source and output words, in turns; null if they are not known. */
  links: number[] | null;
  marks: Mark[];
  attention: Attention | null;
}

export interface Segment {
  source: string | null;
  sourceWords: Steps | null;
  references: string[];
  referenceWords: (Steps | null)[];
  referenceLinks: (number[] | null)[];
  outputs: Output[];
}

/** Where pieces of a text start and end. */
export function spansOf(steps: Steps | null): [number, number][] {
  const spans: [number, number][] = [];
  let end = 0;
  for (let i = 0; steps && i < steps.length; i += 2) {
    const start = end + steps[i]!;
    end = start + steps[i + 1]!;
    spans.push([start, end]);
  }
  return spans;
}

/** How many blocks of segments stay unpacked; columns always do. */
const KEPT = 100;

export class Data {
  private readonly packed = new Map<string, Element>();
  private readonly unpacked = new Map<string, Promise<unknown>>();
  private readonly segmentBlocks: string[] = [];

  constructor(root: ParentNode) {
    for (const block of root.querySelectorAll("script[data-block]")) {
      this.packed.set(block.getAttribute("data-block") ?? "", block);
    }
  }

  /** A block by its name; null if the report has none of that name. */
  private read<T>(name: string): Promise<T | null> {
    let content = this.unpacked.get(name);
    if (!content) {
      const block = this.packed.get(name);
      content = block ? unpack(block.textContent ?? "") : Promise.resolve(null);
      this.unpacked.set(name, content);
      if (name.startsWith("segments/")) this.forgetBut(name);
    }
    return content as Promise<T | null>;
  }

  async need<T>(name: string): Promise<T> {
    const content = await this.read<T>(name);
    if (content === null) throw new Error(`the report has no block ${name}`);
    return content;
  }

  /** The scores of each segment of a system. */
  scores(metric: string, system: string): Promise<(number | null)[]> {
    return this.need(`score/${metric}/${system}`);
  }

  /** Whether a metric flags each segment of a system; null if it flags no segments. */
  flags(metric: string, system: string): Promise<boolean[] | null> {
    return this.read(`flags/${metric}/${system}`);
  }

  /** A segment by its index from 0, of blocks of a size. */
  async segment(index: number, size: number): Promise<Segment> {
    const block = await this.need<Segment[]>(`segments/${Math.floor(index / size)}`);
    return block[index % size] as Segment;
  }

  private forgetBut(name: string): void {
    this.segmentBlocks.push(name);
    if (this.segmentBlocks.length > KEPT) this.unpacked.delete(this.segmentBlocks.shift() ?? "");
  }
}

/** What a block holds: JSON, compressed by gzip, in base64. */
async function unpack(text: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
