import { useEffect, useState } from "react";
import { type Diagnosis, diagnose, type Evidence } from "../../../../packages/signature-doctor/diagnose.ts";

/** Whether the browser computes signatures on this page: it must have been loaded over TLS or from this machine. */
export const canDiagnose = (): boolean => globalThis.isSecureContext;

/** What is wrong with a request. Null until it is known. Nothing but this tab's memory has the evidence. */
export function useDiagnosis(evidence: Evidence | null): Diagnosis | null {
  const [diagnosis, setDiagnosis] = useState<Diagnosis | null>(null);
  // The parts, not the object: that is a new one whenever the page is drawn.
  const { headers, body, secret, computed, arrival } = evidence ?? {};
  useEffect(() => {
    let isCurrent = true;
    setDiagnosis(null);
    if (headers === undefined || body === undefined || secret === undefined || !canDiagnose()) return;
    const given = { headers, body, secret, computed: computed ?? "", arrival: arrival ?? "" };
    void diagnose(given, new Date()).then((found) => {
      if (isCurrent) setDiagnosis(found);
    });
    return () => {
      isCurrent = false;
    };
  }, [headers, body, secret, computed, arrival]);
  return diagnosis;
}
