/** Numbers as the command prints them: two digits, halves to even, no sign on zero. */

export function figure(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  let rounded = value;
  // Only odd eighths lie exactly between two hundredths, where toFixed goes up.
  if (Math.abs((value * 8) % 2) === 1) {
    const lower = Math.floor(value * 100);
    rounded = (lower % 2 === 0 ? lower : lower + 1) / 100;
  }
  const text = rounded.toFixed(2);
  return text === "-0.00" ? "0.00" : text;
}
