import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../platform/connection-key.ts";
import { searchReachable } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import type { Certification, CertificationKey } from "./certification.ts";
import type { CheckResult } from "./checks.ts";
import type { Progress } from "./script.ts";

type Row = ConnectionKeyRow & {
  id: string;
  endpoint_id: string;
  endpoint_updated_at: Date;
  product_id: string;
  status: Certification["status"];
  reason: string | null;
  progress: StoredProgress;
  results: CheckResult[];
  lost_at: Date | null;
  repeated_at: Date | null;
  otherwise: string | null;
  created_at: Date;
  finished_at: Date | null;
};

/** JSON has times as text. */
type StoredProgress = Omit<Progress, "phaseAt" | "question"> & {
  phaseAt: string;
  question: { eventId: string; challenge: string; askedAt: string } | null;
};

/** Stores a run that has just begun. False: another run of the connection is open. */
export async function insertCertification(tx: Queryable, run: Certification, lookAt: Date): Promise<boolean> {
  const rows = await tx.query({
    name: "insert-certification",
    text: `
      insert into certifications (
        merchant_id, connection_id, id, endpoint_id, endpoint_updated_at, product_id, progress, look_at, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict do nothing
      returning id`,
    values: [
      run.merchantId,
      run.connectionId,
      run.id,
      run.endpointId,
      run.endpointUpdatedAt,
      run.productId,
      JSON.stringify(run.progress),
      lookAt,
      run.createdAt,
    ],
  });
  return rows.length > 0;
}

export async function readCertification(
  db: Queryable,
  { merchantId, connectionId, id }: CertificationKey,
): Promise<Certification | null> {
  const [row] = await db.query<Row>({
    name: "read-certification",
    text: `
      select merchant_id, connection_id, id, endpoint_id, endpoint_updated_at, product_id, status, reason, progress, results,
             lost_at, repeated_at, otherwise, created_at, finished_at
      from certifications
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [merchantId, connectionId, id],
  });
  return row === undefined ? null : toCertification(row);
}

/** The run of a connection that is open, if any. */
export async function readOpenCertification(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
): Promise<Certification | null> {
  const [row] = await db.query<Row>({
    name: "read-open-certification",
    text: `
      select merchant_id, connection_id, id, endpoint_id, endpoint_updated_at, product_id, status, reason, progress, results,
             lost_at, repeated_at, otherwise, created_at, finished_at
      from certifications
      where merchant_id = $1 and connection_id = $2 and finished_at is null`,
    values: [merchantId, connectionId],
  });
  return row === undefined ? null : toCertification(row);
}

/** When the newest run of an endpoint has ended. Null: none has. */
export async function readLastFinish(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  endpointId: string,
): Promise<Date | null> {
  const [row] = await db.query<{ finished_at: Date | null }>({
    name: "read-last-finish",
    text: `
      select max(finished_at) as finished_at
      from certifications
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3`,
    values: [merchantId, connectionId, endpointId],
  });
  return row?.finished_at ?? null;
}

/** Newest first. Returns one row more than the page if there is one. */
export async function listCertifications(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  { afterId, limit }: PagePosition,
): Promise<Certification[]> {
  const rows = await db.query<Row>({
    name: "list-certifications",
    text: `
      select merchant_id, connection_id, id, endpoint_id, endpoint_updated_at, product_id, status, reason, progress, results,
             lost_at, repeated_at, otherwise, created_at, finished_at
      from certifications
      where merchant_id = $1 and connection_id = $2 and id < $3
      order by id desc
      limit $4 + 1`,
    values: [merchantId, connectionId, afterId, limit],
  });
  return rows.map(toCertification);
}

/** Deletes all runs of a connection but the newest `kept`. The open one is the newest. */
export async function deleteOldCertifications(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  kept: number,
): Promise<void> {
  await tx.query({
    name: "delete-old-certifications",
    text: `
      delete from certifications
      where merchant_id = $1 and connection_id = $2 and id in (
        select c.id
        from certifications c
        where c.merchant_id = $1 and c.connection_id = $2
        order by c.id desc
        offset $3)`,
    values: [merchantId, connectionId, kept],
  });
}

/** Open runs that a worker should look at, those first that have waited longest. A scan over all shards of a small index. */
export async function listDueCertifications(db: Queryable, now: Date): Promise<CertificationKey[]> {
  const rows = await searchReachable(db, "list-due-certifications", (merchants) =>
    db.query<ConnectionKeyRow & { id: string }>({
      name: "list-due-certifications",
      text: `
        select c.merchant_id, c.connection_id, c.id
        from certifications c
        where c.finished_at is null and c.look_at <= $1 and ($2::uuid[] is null or c.merchant_id = any($2))
        order by c.look_at, c.id
        limit 100`,
      values: [now, merchants],
    }),
  );
  return rows.map((row) => ({ ...toConnectionKey(row), id: row.id }));
}

/** Locks an open run that is due. Null: another worker has it or has looked at it, or it has ended. */
export async function lockDueCertification(
  tx: Queryable,
  { merchantId, connectionId, id }: CertificationKey,
  now: Date,
): Promise<Certification | null> {
  const [row] = await tx.query<Row>({
    name: "lock-due-certification",
    text: `
      select merchant_id, connection_id, id, endpoint_id, endpoint_updated_at, product_id, status, reason, progress, results,
             lost_at, repeated_at, otherwise, created_at, finished_at
      from certifications
      where merchant_id = $1 and connection_id = $2 and id = $3 and finished_at is null and look_at <= $4
      for update skip locked`,
    values: [merchantId, connectionId, id, now],
  });
  return row === undefined ? null : toCertification(row);
}

/** Stores how far a locked run has come. */
export async function updateCertification(tx: Queryable, run: Certification, lookAt: Date): Promise<void> {
  await tx.query({
    name: "update-certification",
    text: `
      update certifications
      set status = $4, reason = $5, progress = $6, results = $7, look_at = $8, finished_at = $9
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [
      run.merchantId,
      run.connectionId,
      run.id,
      run.status,
      run.reason,
      JSON.stringify(run.progress),
      JSON.stringify(run.results),
      lookAt,
      run.finishedAt,
    ],
  });
}

/** Ends an open run by request. False: it has ended before. */
export async function cancelOpenCertification(
  db: Queryable,
  { merchantId, connectionId, id }: CertificationKey,
  now: Date,
): Promise<boolean> {
  const rows = await db.query({
    name: "cancel-certification",
    text: `
      update certifications
      set status = 'canceled', finished_at = $4
      where merchant_id = $1 and connection_id = $2 and id = $3 and finished_at is null
      returning id`,
    values: [merchantId, connectionId, id, now],
  });
  return rows.length > 0;
}

/** Notes what has become of the creation whose response is lost. What was noted first stays. */
export async function noteLostCreation(
  db: Queryable,
  { merchantId, connectionId, id }: CertificationKey,
  { lostAt, repeatedAt, otherwise }: Pick<Certification, "lostAt" | "repeatedAt" | "otherwise">,
): Promise<void> {
  await db.query({
    name: "note-lost-creation",
    text: `
      update certifications
      set lost_at = coalesce(lost_at, $4), repeated_at = coalesce(repeated_at, $5), otherwise = coalesce(otherwise, $6)
      where merchant_id = $1 and connection_id = $2 and id = $3 and finished_at is null`,
    values: [merchantId, connectionId, id, lostAt, repeatedAt, otherwise],
  });
}

/** Deletes the runs of a connection that has ended. */
export async function deleteCertifications(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
): Promise<void> {
  await tx.query({
    name: "delete-certifications",
    text: "delete from certifications where merchant_id = $1 and connection_id = $2",
    values: [merchantId, connectionId],
  });
}

const toCertification = (row: Row): Certification => ({
  ...toConnectionKey(row),
  id: row.id,
  endpointId: row.endpoint_id,
  endpointUpdatedAt: row.endpoint_updated_at,
  productId: row.product_id,
  status: row.status,
  reason: row.reason,
  progress: toProgress(row.progress),
  results: row.results,
  lostAt: row.lost_at,
  repeatedAt: row.repeated_at,
  otherwise: row.otherwise,
  createdAt: row.created_at,
  finishedAt: row.finished_at,
});

const toProgress = ({ phaseAt, question, ...progress }: StoredProgress): Progress => ({
  ...progress,
  phaseAt: new Date(phaseAt),
  question: question === null ? null : { ...question, askedAt: new Date(question.askedAt) },
});
