import type { Command } from "commander";
import { type Diagnosis, diagnose } from "../../../signature-doctor/diagnose.ts";
import { FINDINGS } from "../../../signature-doctor/finding.ts";
import { bySeverity, sentenceOf, TEXTS } from "../../../signature-doctor/texts.ts";
import { Ended, EXIT, UsageError } from "../exit.ts";
import { createOutput } from "../output.ts";
import { readInput } from "../session.ts";

type Options = {
  readonly headers: string;
  readonly body: string;
  readonly secretFile?: string;
  readonly computed?: string;
  readonly arrival?: string;
  readonly json?: boolean;
};

const EXAMPLES = `
The secret is read from PARTNER_ORDERS_WEBHOOK_SECRET or from a file, and is never an argument: others could see it.
Nothing is sent: everything is computed here. The exit code is 0 if the request is genuine as it is, else 1.

Example:
  PARTNER_ORDERS_WEBHOOK_SECRET=$(cat secret) partner-orders verify --headers headers.txt --body body.json`;

export function addVerifyCommand(program: Command): void {
  program
    .command("verify")
    .description("Find out why the signature of a request does not fit.")
    .requiredOption("--headers <file>", "the headers: lines, JSON, or a curl command; - is standard input")
    .requiredOption("--body <file>", "the received bytes of the body; - is standard input")
    .option("--secret-file <file>", "file with the signing secret; - is standard input")
    .option("--computed <signature>", "the signature that your program has computed")
    .option("--arrival <time>", "when the request arrived, by the clock of your server")
    .addHelpText("after", EXAMPLES)
    .action(async (_options: unknown, command: Command) => verify(command.optsWithGlobals<Options>()));
}

async function verify({ headers, body, secretFile, computed = "", arrival = "", json = false }: Options) {
  if ([headers, body, secretFile].filter((file) => file === "-").length > 1)
    throw new UsageError("Only one of --headers, --body and --secret-file can be standard input.");
  const secret =
    secretFile === undefined
      ? (process.env["PARTNER_ORDERS_WEBHOOK_SECRET"] ?? "")
      : (await readInput(secretFile)).trim();
  if (secret === "")
    throw new UsageError(
      "Set PARTNER_ORDERS_WEBHOOK_SECRET, or name a file with the secret by --secret-file.",
    );
  const evidence = {
    headers: await readInput(headers),
    body: await readInput(body),
    secret,
    computed,
    arrival,
  };
  const diagnosis = await diagnose(evidence, new Date());
  print(diagnosis, json);
  if (diagnosis.verdict !== "genuine") throw new Ended(EXIT.rejected);
}

function print({ verdict, findings }: Diagnosis, isJson: boolean): void {
  const found = bySeverity(findings).map((finding) => ({
    code: finding.code,
    severity: FINDINGS[finding.code],
    text: sentenceOf(finding),
  }));
  const output = createOutput(isJson);
  if (isJson) {
    output.one({ verdict, findings: found });
    return;
  }
  output.line({}, [`${TEXTS.verdicts[verdict]}. ${TEXTS.verdictsAbout[verdict]}`]);
  for (const { severity, text } of found) output.line({}, [TEXTS.severities[severity].padEnd(7), text]);
}
