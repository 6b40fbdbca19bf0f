import type { Page } from "playwright-core";
import { visit } from "../support/browser.ts";
import { createExposedProduct, createPartner, type Partner } from "../support/builders.ts";
import { createFacility, routeAll, setStock } from "../support/facilities.ts";
import { placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

export const BARCODE = "4006381333931";
export const OTHER_BARCODE = "4012345678901";

/** A facility where people pack: with pens, which have the barcode, and ink, which has the other one. */
export type Hall = {
  readonly world: World;
  readonly partner: Partner;
  readonly facility: string;
  /** A product with a barcode and stock. */
  stocked(name: string, barcode: string, onHand: number): Promise<string>;
  /** An order of pens that can be shipped. */
  placeReady(externalOrderId: string, quantity?: number): Promise<string>;
  /** An order as the operator sees it. */
  detailOf(orderId: string): ReturnType<typeof readDetail>;
  /** The packing table, in a new browser of a person of the warehouse. */
  openTable(): Promise<Page>;
  /** The same of the page for returns. */
  openDoor(): Promise<Page>;
};

export async function startHall(): Promise<Hall> {
  const world = await startWorld();
  const { service } = world;
  const partner = await createPartner(service);
  const facility = await createHall(world, "Hall one");
  const stocked = async (name: string, barcode: string, onHand: number) => {
    const id = await createExposedProduct(service, partner.merchantId, partner.connectionId);
    const body = { name, barcode, weightGrams: 100 };
    await service.backOffice.request("PATCH", `/api/products/${id}`, { body });
    await setStock(service, facility, id, onHand);
    return id;
  };
  await stocked("Ink", OTHER_BARCODE, 50);
  const pens = await stocked("Fineliner", BARCODE, 50);
  const placeReady = async (externalOrderId: string, quantity = 2) => {
    const lines = [{ productId: pens, quantity }];
    const { id } = await placeAcceptedOrder(service, partner, { externalOrderId, lines });
    await routeAll(service);
    return id;
  };
  const openPage = async (path: string, heading: string) => {
    const page = await world.open(world.people.warehouse);
    await visit(page, path, heading);
    return page;
  };
  return {
    ...{ world, partner, facility, stocked, placeReady },
    detailOf: (orderId) => readDetail(service, orderId),
    openTable: () => openPage("/work/pack", "Packing table"),
    openDoor: () => openPage("/returns", "Returns"),
  };
}

export async function createHall({ service }: World, name: string): Promise<string> {
  const id = await createFacility(service);
  await service.backOffice.request("PATCH", `/api/facilities/${id}`, { body: { name } });
  return id;
}

/** Later than the second suffix of a scanner. */
const PERSON_S = 0.06;
let pressedAtS = 0;

/**
 * As a scanner does it: all keys at once, and Enter. Wherever the focus is. Keys do not wait for each other here: on a busy machine a
 * pause between two would end the code. An empty code is Enter alone, from a person.
 */
export async function scan(page: Page, ...codes: string[]): Promise<void> {
  const keyboard = await page.context().newCDPSession(page);
  for (const code of codes) {
    const keys = [...code].map((key) => ({ key, text: key }));
    if (code === "") pressedAtS = Math.max(Date.now() / 1_000, pressedAtS) + PERSON_S;
    const enter = {
      ...{ key: "Enter", code: "Enter", text: "\r", windowsVirtualKeyCode: 13 },
      ...(code === "" && { timestamp: pressedAtS }),
    };
    await Promise.all(
      [...keys, enter].flatMap((key) => [
        keyboard.send("Input.dispatchKeyEvent", { type: "keyDown", ...key }),
        keyboard.send("Input.dispatchKeyEvent", { ...key, type: "keyUp" }),
      ]),
    );
  }
  await keyboard.detach();
}
