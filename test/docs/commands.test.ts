import { CommanderError } from "commander";
import { expect, it } from "vitest";
import { createProgram, type SpecialCommands } from "../../src/cli/program.ts";
import { PAGES } from "../support/code-blocks.ts";

const NAME =
  /(?:npx partner-orders-admin|partner-orders-admin|npm run (?:--silent )?cli --|(?<![-\w])admin) (.+)/;
/** A word of a shell command, also one in quotes; or what ends the command. */
const WORDS = /'([^']*)'|"([^"]*)"|([|>#)])|([^\s'"|>#)]+)/g;
/** What pages write where a reader has a value. */
const PLACEHOLDER = /^(?:\$\w+|<.+>|…)$/;
const VALUE = "mer_01m7y7np16fe68bxp4h91tdmdn";

const ran: string[] = [];
const note = async (): Promise<void> => void ran.push("ran");
const SPECIAL: SpecialCommands = {
  useService: () => undefined,
  importProducts: note,
  changeExposure: note,
  exportOrders: note,
  exportAudit: note,
  doctor: note,
  migrate: note,
  distribute: note,
  api: note,
};
const create = (words: readonly string[] = []) =>
  createProgram(words, { writeOut: () => undefined, writeErr: () => undefined }, note, SPECIAL);

/** `ran`, or the code of the error that ended the program before it did. */
async function parse(words: readonly string[]): Promise<string> {
  ran.length = 0;
  try {
    await create(words).parseAsync(words, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.code;
    throw error;
  }
  return ran.join();
}

const GROUPS = create().commands;

const commandsOf = (path: string, text: string) => {
  const [, words] = NAME.exec(text) ?? [];
  return words === undefined ? [] : [[`${path}: ${words}`, argumentsOf(words)] as const];
};

/** The commands of blocks that no test runs. */
const IN_BLOCKS = PAGES.flatMap(({ path, blocks }) =>
  blocks
    .filter(({ language, notRun }) => language === "sh" && notRun !== null)
    .flatMap(({ code }) => code.replaceAll("\\\n", " ").split("\n"))
    .flatMap((line) => commandsOf(path, line)),
);

/** The commands within sentences and tables, by their whole name or, where a page says so, without it. */
const IN_TEXT = PAGES.filter(({ path }) => !/^CHANGELOG/.test(path)).flatMap(({ path, text }) =>
  [...text.replace(/^```.*?^```$/gms, "").matchAll(/`([^`\n]+)`/g)].flatMap(([, code = ""]) => {
    if (code.includes("<verb>")) return []; // The form of all commands.
    if (NAME.test(code)) return commandsOf(path, code);
    const [group = "", verb = ""] = code.split(" ");
    const isCommand = GROUPS.find((command) => command.name() === group)?.commands.some(
      (command) => command.name() === verb,
    );
    return isCommand === true ? [[`${path}: ${code}`, argumentsOf(code)] as const] : [];
  }),
);

function argumentsOf(text: string): string[] {
  const found: string[] = [];
  for (const [, single, double, end, word] of text.matchAll(WORDS)) {
    if (end !== undefined) break;
    const argument = single ?? double ?? word ?? "";
    found.push(PLACEHOLDER.test(argument) ? VALUE : argument);
  }
  return found;
}

it("finds the commands of the documentation", () => {
  expect(IN_BLOCKS.length).toBeGreaterThanOrEqual(3);
  expect(IN_TEXT.length).toBeGreaterThan(20);
});

it.each(IN_BLOCKS)("%s: the command line has this command with these options", async (_name, words) => {
  expect(await parse(words)).toBe("ran");
});

it.each(IN_TEXT)(
  "%s: the command line has this command with these options, if not all",
  async (_name, words) => {
    expect([
      "ran",
      "commander.missingArgument",
      "commander.missingMandatoryOptionValue",
      "commander.helpDisplayed",
    ]).toContain(await parse(words));
  },
);
