import { read } from "../../api/read.ts";

/** The page shows the system as it is, without being loaded again. The service reads it at most once in some seconds. */
const REFRESH_MS = 10_000;

export const systemQuery = () => ({ ...read("/api/system"), refetchInterval: REFRESH_MS });

export const checksQuery = () => ({ ...read("/api/system/checks"), staleTime: 60_000 });
