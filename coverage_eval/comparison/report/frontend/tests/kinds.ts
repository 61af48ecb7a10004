/** A report's contents, with kinds of marks as some metrics declare them. */

import type { Contents, Kind } from "../src/data";

const kind = (key: string, side: string, error: string, more: Partial<Kind> = {}): Kind => ({
  key,
  style: key,
  side,
  error,
  meaning: `${key} word`,
  listed: "",
  shown: true,
  ...more,
});

export const REPEATED = kind("repeated", "output", "repetition", { listed: "phrases" });
export const DROPPED = kind("dropped", "source", "omission", { listed: "words" });
export const LOST = kind("lost", "source", "omission", { shown: false });

export const contents: Contents = {
  worst: { metric: "DROP", system: "ü" },
  systems: ["a", "b & c=d#", "ü"],
  labels: ["a", "b & c=d#", "ü"],
  text: "source",
  colours: ["red", "blue", "green"],
  kinds: [REPEATED, DROPPED, LOST],
  functionWords: ["the"],
  segments: 5,
  block: 2,
  metrics: [
    { name: "DROP", figure: "DROP", higherIsBetter: false, flags: true },
    { name: "BLEU", figure: "BLEU", higherIsBetter: true, flags: false },
  ],
};
