/** What contains no end of a command: comments, quoted texts and names, and texts between dollars. */
const OPAQUE = /--[^\n]*|\/\*.*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$).*?\1/gsy;

/** The commands of a script, without comments and semicolons. */
export const splitCommands = (sql: string): string[] => splitAtTop(sql, ";");

/** The parts of a text between separators that are in no parentheses and in no quotes. Comments are left out. */
export function splitAtTop(sql: string, separator: "," | ";"): string[] {
  const parts = [""];
  let depth = 0;
  for (let at = 0; at < sql.length; ) {
    OPAQUE.lastIndex = at;
    const [opaque] = OPAQUE.exec(sql) ?? [];
    const text = opaque ?? sql.charAt(at);
    at += text.length;
    if (text === "(") depth += 1;
    if (text === ")") depth -= 1;
    if (text === separator && depth === 0) parts.push("");
    else if (!/^(--|\/\*)/.test(text)) parts[parts.length - 1] += text;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
