import { posix } from "node:path";

/** Where a reader of the site finds a file of the repository: relative to the root of the site. Null: not published. */
export type FindPublished = (file: string) => string | null;

/**
 * Rewrites the links of a page from the paths of the repository to those of the site. A link to a file that is not published
 * becomes its text.
 * @param source the page's file in the repository @param path the page's path on the site
 */
export function rewriteLinks(
  text: string,
  { source, path }: { source: string; path: string },
  find: FindPublished,
): string {
  return outsideCode(text, (part) =>
    part.replace(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?!\w+:|#)([^)\s]+)\)/g, (_all, image, label, target) => {
      const [file = "", anchor] = target.split("#");
      const published = find(posix.join(posix.dirname(source), file));
      if (published === null) return image === "" ? label : "";
      return `${image}[${label}](${relativeTo(path, published)}${anchor === undefined ? "" : `#${anchor}`})`;
    }),
  );
}

/** Pages are linked relatively, so that the links are right in the Markdown of a page too. VitePress needs `./`. */
function relativeTo(path: string, target: string): string {
  const relative = posix.relative(posix.dirname(path), target);
  return relative.startsWith(".") ? relative : `./${relative}`;
}

/** Applies a function to what is not in a block of code. */
function outsideCode(text: string, change: (part: string) => string): string {
  return text
    .split(/^(```.*?^```$)/ms)
    .map((part) => (part.startsWith("```") ? part : change(part)))
    .join("");
}
