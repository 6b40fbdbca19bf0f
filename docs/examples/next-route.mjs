// app/webhooks/route.js of a Next.js application.
import { openInbox } from "./inbox.mjs";
import { isGenuine } from "./verify-webhook.mjs";

export const runtime = "nodejs"; // Not "edge", which has no node:crypto.

const BODY_BYTES_MAX = 1_048_576;
const inbox = openInbox("inbox.jsonl");

export async function POST(request) {
  if (Number(request.headers.get("content-length")) > BODY_BYTES_MAX)
    return new Response(null, { status: 413 });
  const body = Buffer.from(await request.arrayBuffer()); // Not json(): the signature is over the bytes.
  const genuine = isGenuine(process.env.WEBHOOK_SECRET, Object.fromEntries(request.headers), body);
  if (!genuine) return new Response(null, { status: 401 });
  inbox.add(JSON.parse(body)); // If it throws, the response is 500, and the service sends the event again.
  return new Response(null, { status: 204 });
}
