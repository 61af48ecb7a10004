/** The report's data: compressed blocks in the page, unpacked when they are asked for. */

export interface Metric {
  name: string;
  higherIsBetter: boolean | null; // null: neither is better in itself
}

/** A kind of mark, as its metric declares it. */
export interface Kind {
  key: string;
  style: string;
  /** "source" or "output". */
  side: string;
  /** The words marked, such as "dropped words". */
  many: string;
  meaning: string;
  /** The error that marks point at. */
  error: string;
  /** What a mark's amount is; "" if it is not told. */
  amount: string;
  /** The tables that count the marks: "words", "phrases" or "". */
  listed: string;
  /** Whether nearly every word has such a mark. */
  faint: boolean;
  /** Whether words show the marks at first. */
  shown: boolean;
  /** The metrics that find it, the best first. */
  metrics: string[];
}

export interface Contents {
  /** The metric and the system with the most errors; their worst segment comes first. */
  worst: { metric: string; system: string };
  systems: string[];
  /** The colour of each system. */
  colours: string[];
  metrics: Metric[];
  kinds: Kind[];
  segments: number;
  block: number;
}

/** Words that a metric points at; positions from 0. */
export interface Mark {
  /** The key of its kind. */
  kind: string;
  side: string;
  positions: number[];
  text: string;
  amount: number;
  /** Where the output says it first. */
  first?: number;
}

export interface Attention {
  source: string[];
  words: string[];
  weights: number[][];
}

export interface Output {
  words: string[];
  /** The text as it was written, a piece for each word with the space behind it; without, words and spaces. */
  pieces?: string[];
  links: number[] | null;
  marks: Mark[];
  attention?: Attention;
}

export interface Segment {
  source: string[] | null;
  sourcePieces?: string[];
  references: string[][];
  referencePieces?: (string[] | null)[];
  referenceLinks: (number[] | null)[];
  outputs: Output[];
}

/** A text as it was written. */
export function written(words: string[], pieces?: string[] | null): string {
  return pieces ? pieces.join("") : words.join(" ");
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
  read<T>(name: string): Promise<T | null> {
    let found = this.unpacked.get(name);
    if (!found) {
      const block = this.packed.get(name);
      found = block ? unpack(block.textContent ?? "") : Promise.resolve(null);
      this.unpacked.set(name, found);
      if (name.startsWith("segments/")) this.forgetBut(name);
    }
    return found as Promise<T | null>;
  }

  async need<T>(name: string): Promise<T> {
    const found = await this.read<T>(name);
    if (found === null) throw new Error(`the report has no block ${name}`);
    return found;
  }

  /** The scores of each segment of a system. */
  scores(metric: string, system: string): Promise<(number | null)[]> {
    return this.need(`score/${metric}/${system}`);
  }

  /** How many marks of a kind each segment of a system has; null if it has none at all. */
  counts(kind: string, system: string): Promise<number[] | null> {
    return this.read(`count/${kind}/${system}`);
  }

  /** Whether some segment has a mark of a kind. */
  occurs(kind: string, systems: string[]): boolean {
    return systems.some((system) => this.packed.has(`count/${kind}/${system}`));
  }

  segments(block: number): Promise<Segment[]> {
    return this.need(`segments/${block}`);
  }

  /** A segment by its index from 0, of blocks of a size. */
  async segment(index: number, size: number): Promise<Segment> {
    return (await this.segments(Math.floor(index / size)))[index % size] as Segment;
  }

  private forgetBut(name: string): void {
    this.segmentBlocks.push(name);
    if (this.segmentBlocks.length > KEPT) this.unpacked.delete(this.segmentBlocks.shift() ?? "");
  }
}

/** What a block holds: JSON, compressed by gzip, in base64. */
async function unpack(text: string): Promise<unknown> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
