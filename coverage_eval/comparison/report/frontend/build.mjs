// Makes the bundle that the package carries; with --tests, the tests instead.

import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const here = import.meta.dirname;

async function bundle() {
  const { outputFiles } = await build({
    entryPoints: [join(here, "src/main.ts")],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    charset: "utf8",
    format: "iife",
    target: "es2022",
    write: false,
  });
  // The page holds the script between its own tags, which no text in it may end.
  return outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

if (process.argv.includes("--tests")) {
  await build({
    entryPoints: readdirSync(join(here, "tests"))
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => join(here, "tests", name)),
    bundle: true,
    platform: "node",
    format: "esm",
    outdir: join(here, "build"),
    outExtension: { ".js": ".mjs" },
  });
} else {
  const target = process.argv[2] ?? join(here, "../assets/report.js");
  if (!existsSync(join(here, "node_modules"))) throw new Error("run npm ci first");
  writeFileSync(target, await bundle());
}
