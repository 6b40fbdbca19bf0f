import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createProgram, type SpecialCommands } from "../../src/cli/program.ts";
import { codeBlocksOf } from "../support/code-blocks.ts";

const NAME =
  /(?:npx partner-orders-admin|partner-orders-admin|npm run (?:--silent )?cli --|(?<![-\w])admin) (.+)/;
/** A word of a shell command, also one in quotes; or what ends the command. */
const WORDS = /'([^']*)'|"([^"]*)"|([|>#)])|([^\s'"|>#)]+)/g;
/** Ids that earlier commands of a page have stored. */
const VARIABLES: Readonly<Record<string, string>> = {
  $MERCHANT: "mer_01m7y7np16fe68bxp4h91tdmdn",
  $CONNECTION: "con_01m7y7np16fe68bxp4h91tdmdn",
};

/** The arguments of each command of the command line in the shell blocks of the documentation. */
const COMMANDS = globSync(["*.md", "docs/**/*.md"])
  .filter((path) => path !== "CHANGELOG.md")
  .flatMap((path) => codeBlocksOf(readFileSync(path, "utf8")).map((block) => ({ path, ...block })))
  .filter(({ language }) => language === "sh")
  .flatMap(({ path, code }) =>
    code
      .replaceAll("\\\n", " ")
      .split("\n")
      .flatMap((line) => {
        const [, text] = /^(?:alias|#)/.test(line) ? [] : (NAME.exec(line) ?? []);
        return text === undefined ? [] : [[`${path}: ${text}`, argumentsOf(text)] as const];
      }),
  );

function argumentsOf(text: string): string[] {
  const found: string[] = [];
  for (const [, single, double, end, word] of text.matchAll(WORDS)) {
    if (end !== undefined) break;
    const argument = single ?? double ?? word ?? "";
    found.push(VARIABLES[argument] ?? argument);
  }
  return found;
}

it("finds the commands of the documentation", () => expect(COMMANDS.length).toBeGreaterThan(20));

it.each(COMMANDS)("%s: the command line has this command with these options", async (_name, words) => {
  const ran: string[] = [];
  const note = async (): Promise<void> => void ran.push("ran");
  const special: SpecialCommands = {
    useService: () => undefined,
    importProducts: note,
    changeExposure: note,
    exportOrders: note,
    exportAudit: note,
    doctor: note,
    migrate: note,
    distribute: note,
  };
  const output = { write: async () => undefined, note: () => undefined };
  await createProgram(output, note, special).parseAsync(words, { from: "user" });
  expect(ran).toEqual(["ran"]);
});
