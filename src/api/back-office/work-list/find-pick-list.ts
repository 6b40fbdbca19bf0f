import { Type } from "typebox";
import type { PickList } from "../../../fulfilment/work-list/pick-list.ts";
import { readPickList } from "../../../fulfilment/work-list/pick-lists-sql.ts";
import type { Context } from "../../../platform/context.ts";
import { fromTypeId } from "../../../platform/ids.ts";
import { type BackOfficeCaller, facilitiesOf, maySeeFacility } from "../access.ts";

export const PickListIdParams = Type.Object({ id: Type.String({ description: "Id of the pick list." }) });

/** Null for a missing pick list, and for one of a facility that the caller may not see. */
export async function findPickList(
  { db }: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<PickList | null> {
  const id = fromTypeId("pick", text);
  const pickList = id === null ? null : await readPickList(db, id);
  if (pickList === null || facilitiesOf(caller) === null) return pickList;
  return pickList.facilityId !== null && maySeeFacility(caller, pickList.facilityId) ? pickList : null;
}
