/** Kinds of marks as some metrics declare them. */

import type { Kind } from "../src/data";

const kind = (key: string, side: string, error: string, more: Partial<Kind> = {}): Kind => ({
  key, style: key, side, many: `${key} words`, meaning: `${key} word`, error, amount: "", listed: "",
  faint: false, shown: true, metrics: [], ...more,
});

export const REPEATED = kind("repeated", "output", "repetition", { listed: "phrases" });
export const DROPPED = kind("dropped", "source", "omission", { listed: "words" });
export const LOST = kind("lost", "source", "omission", { amount: "coverage", faint: true, shown: false });
export const ADDED = kind("added", "output", "addition", { amount: "strength" });
