import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MarkdownOptions } from "vitepress";

type ShikiTransformer = NonNullable<MarkdownOptions["codeTransformers"]>[number];

/** Of a class, its declarations. */
const classes = new Map<string, string>();

function classOf(style: string | Record<string, string>): string {
  const text = typeof style === "string" ? style : toDeclarations(style);
  const name = `code-${hashOf(text)}`;
  classes.set(name, text);
  return name;
}

const toDeclarations = (style: Record<string, string>): string =>
  Object.entries(style)
    .map(([property, value]) => `${property}:${value}`)
    .join(";");

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** Gives the words of code their colors by classes instead of a style attribute at each. A transformer of Shiki. */
export const codeColors: ShikiTransformer = {
  name: "colors-by-class",
  pre(node) {
    const { style } = node.properties;
    if (typeof style !== "string") return;
    delete node.properties["style"];
    this.addClassToHast(node, classOf(style));
  },
  tokens(lines) {
    for (const token of lines.flat()) {
      if (token.htmlStyle === undefined) continue;
      token.htmlAttrs = { ...token.htmlAttrs, class: classOf(token.htmlStyle) };
      token.htmlStyle = {};
    }
  },
};

/** The style sheet of the colors, relative to the base. Complete when all pages are rendered. */
export const COLORS_FILE = "code-colors.css";

export const writeCodeColors = (outDir: string): void =>
  writeFileSync(
    join(outDir, COLORS_FILE),
    [...classes].map(([name, declarations]) => `.${name}{${declarations}}\n`).join(""),
  );

/**
 * Moves the scripts of a page into files and removes its style attributes, so that a content security policy can forbid both
 * within pages (docs/design/console.md, "Content security policy"). What the two attributes of VitePress do is in the theme's
 * style sheet.
 */
export function withoutInline(html: string, { outDir, base }: { outDir: string; base: string }): string {
  return html
    .replace(/<script id="[\w-]+">(.*?)<\/script>/gs, (_all, code: string) => {
      const name = `assets/start.${hashOf(code)}.js`;
      mkdirSync(join(outDir, "assets"), { recursive: true });
      writeFileSync(join(outDir, name), code);
      return `<script src="${base}${name}"></script>`;
    })
    .replaceAll(/ style="(?:--vp-vh:0px;|position:relative;)"/g, "");
}
