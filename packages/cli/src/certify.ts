import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Certification, CertificationCheck } from "../../sdk/src/index.ts";
import { Ended, EXIT, UsageError } from "./exit.ts";
import { knownEndpoint } from "./listen-endpoint.ts";
import { plain } from "./output.ts";
import type { Session } from "./session.ts";

export type CertifyOptions = { readonly exec?: string };

const LOOK_MS = 1_000;

/** Begins a run, prints each result when it is there, and ends with the run. */
export async function certify(
  session: Session,
  given: string | undefined,
  { exec }: CertifyOptions,
): Promise<void> {
  const { client, output } = session;
  const endpointId = given ?? (await knownEndpoint(session, "test"));
  if (endpointId === null)
    throw new UsageError("Name a test endpoint, or run listen first, whose endpoint is examined then.");
  // After a run, the service asks for a pause of a minute: the error says it, instead of a silent wait.
  const run = await client.certifications.create({ endpointId }, { attemptsMax: 1 });
  const { externalOrderId } = run.lostCreation;
  output.note(`Certification ${run.id} of ${endpointId}`);
  if (exec === undefined)
    output.note(
      `Within ten minutes, create a test order with the externalOrderId ${externalOrderId} and the header Test-Fault: lost-response, by the program that places your orders.`,
    );
  else runProgram(session, exec, externalOrderId);
  const ended = await follow(session, run);
  if (output.isJson) output.one(ended);
  const failures = ended.checks.filter(({ result }) => result === "failed").length;
  if (ended.status === "passed") return output.note("The certification has passed.");
  const reason = ended.reason ?? `${failures} of ${ended.checks.length} checks failed.`;
  if (ended.status === "canceled") throw new Ended(EXIT.rejected, "The certification was canceled.");
  throw new Ended(EXIT.rejected, `The certification has failed: ${reason}`);
}

/** Prints results as they come. A signal cancels the run, so that the next one can begin. */
async function follow({ client, output }: Session, begun: Certification): Promise<Certification> {
  const printed = new Set<string>();
  const stopping = new AbortController();
  const stop = () => (stopping.signal.aborted ? process.exit(130) : stopping.abort());
  process.on("SIGINT", stop).on("SIGTERM", stop);
  for (let run = begun; ; run = await client.certifications.get(run.id)) {
    for (const check of run.checks) {
      if (check.result === "pending" || printed.has(check.check)) continue;
      printed.add(check.check);
      if (!output.isJson) print(check);
    }
    if (run.finishedAt !== null) return run;
    await wait(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (stopping.signal.aborted) return client.certifications.cancel(run.id);
  }
}

function print({ check, result, examines, seen, why, remedy }: CertificationCheck): void {
  const lines = [
    `${result.padEnd(8)} ${check}: ${examines}`,
    `         ${seen ?? ""}`,
    ...(result === "failed" || result === "advice"
      ? [`         Why: ${why}`, `         To pass: ${remedy}`]
      : []),
  ];
  for (const line of lines) process.stdout.write(`${plain(line)}\n`);
}

/** It may do nothing else than place the order. If it fails, the report says what has arrived. */
function runProgram({ output }: Session, exec: string, externalOrderId: string): void {
  const child = spawn(exec, {
    shell: true,
    stdio: ["ignore", output.isJson ? "ignore" : "inherit", "inherit"],
    env: { ...process.env, CERTIFICATION_EXTERNAL_ORDER_ID: externalOrderId },
  });
  void once(child, "close").then(([code]) => {
    if (code !== 0) output.note(`The program of --exec ended with ${code}.`);
  });
}
