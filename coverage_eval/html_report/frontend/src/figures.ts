/** Numbers as the command prints them: two digits, halves to even, no sign on zero. */

const FORMAT = new Intl.NumberFormat("en-US", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  roundingMode: "halfEven",
  signDisplay: "negative",
  useGrouping: false,
} as Intl.NumberFormatOptions);

export function figure(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : FORMAT.format(value);
}
