import { execFile, execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importCsv } from "../support/imports.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

/** A document is opened, one cell of it is typed into, and it is saved in a form. */
const MACRO = `Sub Edit(source, opening, cell, value, target, filter, options)
  Dim load(1) As New com.sun.star.beans.PropertyValue
  load(0).Name = "Hidden"
  load(0).Value = True
  load(1).Name = "FilterOptions"
  load(1).Value = opening
  document = StarDesktop.loadComponentFromURL(ConvertToURL(source), "_blank", 0, load())
  document.Sheets.getByIndex(0).getCellRangeByName(cell).setFormula(value)
  Dim save(1) As New com.sun.star.beans.PropertyValue
  save(0).Name = "FilterName"
  save(0).Value = filter
  save(1).Name = "FilterOptions"
  save(1).Value = options
  document.storeToURL(ConvertToURL(target), save())
  document.close(True)
End Sub`;
const module = (code: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "module.dtd">
<script:module xmlns:script="http://openoffice.org/2000/script" script:name="Module1" script:language="StarBasic">
${code.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}
</script:module>`;
const settings = (locale: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>${locale}</value></prop></item>
</oor:items>`;

/** As the spreadsheet names them: the filter, its options, and the ending of the file. */
const FORMS = {
  xlsx: ["Calc MS Excel 2007 XML", "", "xlsx"],
  utf8: ["Text - txt - csv (StarCalc)", "44,34,76,1,,0,false,true,false", "csv"],
  /** Semicolons and Windows-1252, as in Germany. */
  windows: ["Text - txt - csv (StarCalc)", "59,34,1,1,,0,false,true,false", "csv"],
} as const;
/** UTF-8 with commas, whose numbers and dates are recognised as Excel does. */
const OPENED_BY_DOUBLE_CLICK = "44,34,76,1,,1033,false,true";

type Edit = {
  readonly from: "xlsx" | "spreadsheet";
  readonly to: keyof typeof FORMS;
  readonly locale: string;
};

const hasSpreadsheet = (): boolean => {
  try {
    execFileSync("soffice", ["--version"], { stdio: "ignore", timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
};

const WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const run = promisify(execFile);

describe.skipIf(!hasSpreadsheet())("export, edit in a spreadsheet, import", () => {
  let test: TestService;
  let folder: string;
  let merchantId: string;
  const ids: string[] = [];

  beforeAll(async () => {
    test = await startTestService();
    folder = await mkdtemp(join(tmpdir(), "partner-orders-sheets-"));
    const merchant = { name: "M", accountEmail: "m@example.com" };
    merchantId = (await test.backOffice.post("/api/merchants", merchant)).body.id;
    for (const product of PRODUCTS) {
      const body = { price: { amount: "1234.50", currency: "EUR" }, ...product };
      ids.push((await test.backOffice.post(`/api/merchants/${merchantId}/products`, body)).body.id);
    }
  }, 60_000);
  afterAll(async () => {
    await test.close();
    await rm(folder, { recursive: true, force: true });
  });

  const PRODUCTS = [
    { sku: "00123", name: "Größe „M“, 5 €", barcode: "4006381333931", weightGrams: 380 },
    { sku: "12-10", name: "=1+1", barcode: "036000291452", description: '-5 %\nline; "two"' },
    { sku: "1E5", name: "Crème brûlée", barcode: "00000000000017" },
    { sku: "MAR1", name: "1.000,50", lowStockBelow: 7, imageUrl: "https://example.com/a.png" },
    { sku: "'quoted", name: "TRUE", description: "#N/A is no error here" },
  ];

  const spreadsheet = async (locale: string, macro: string): Promise<void> => {
    const profile = join(folder, locale);
    const basic = join(profile, "user/basic/Standard");
    const base = [`-env:UserInstallation=file://${profile}`, "--headless", "--norestore"];
    if (!(await mkdir(basic, { recursive: true }).then((made) => made === undefined))) {
      await writeFile(join(profile, "user/registrymodifications.xcu"), settings(locale));
      await run("soffice", [...base, "--terminate_after_init"], { timeout: 60_000 });
      await writeFile(join(basic, "Module1.xba"), module(MACRO));
    }
    await run("soffice", [...base, macro], { timeout: 60_000 });
  };

  /** Types a price into the second row of an export, and returns what the spreadsheet saves. */
  async function edited({ from, to, locale }: Edit): Promise<Buffer> {
    const exported = await test.backOffice.get(`/api/merchants/${merchantId}/products/export?format=${from}`);
    const [filter, options, ending] = FORMS[to];
    const source = join(folder, `from.${from === "xlsx" ? "xlsx" : "csv"}`);
    const target = join(folder, `to-${to}.${ending}`);
    await writeFile(source, exported.body);
    const opening = from === "xlsx" ? "" : OPENED_BY_DOUBLE_CLICK;
    const texts = [source, opening, "D3", "9.25", target, filter, options].map((text) => `"${text}"`);
    await spreadsheet(locale, `macro:///Standard.Module1.Edit(${texts.join(",")})`);
    return readFile(target);
  }

  /** Everything that is stored, but for the row of a product, and for what reports a change. */
  async function storedBut(id = ""): Promise<string[]> {
    const {
      audit_entries: _audit,
      changes: _changes,
      merchants: _counts,
      ...tables
    } = await dumpTables(test);
    return Object.values(tables).flatMap((rows) => rows.filter((row) => !row.includes(id)));
  }
  const product = async (id = "") => {
    const {
      price: _price,
      updatedAt: _updatedAt,
      ...rest
    } = (await test.backOffice.get(`/api/products/${id}`)).body;
    return rest;
  };

  it.each<[string, Edit, object]>([
    ["as a workbook", { from: "xlsx", to: "xlsx", locale: "en-US" }, { format: "xlsx" }],
    [
      "as CSV in UTF-8",
      { from: "xlsx", to: "utf8", locale: "en-US" },
      { encoding: "utf-8", separator: "comma" },
    ],
    [
      "in Germany as CSV",
      { from: "xlsx", to: "windows", locale: "de-DE" },
      { encoding: "windows-1252", separator: "semicolon", decimalSeparator: "comma" },
    ],
    ["in Germany, as a workbook", { from: "xlsx", to: "xlsx", locale: "de-DE" }, { format: "xlsx" }],
  ])(
    "changes exactly what was edited, saved %s",
    async (_, edit, recognised) => {
      const [others, own] = [await storedBut(ids[1]), await product(ids[1])];
      const file = await edited(edit);
      const { body } = await importCsv(test.backOffice, merchantId, file, {
        type: edit.to === "xlsx" ? WORKBOOK : "text/csv",
      });
      expect(body, JSON.stringify(body)).toMatchObject({ created: 0, changed: 1, recognised });
      expect(body.products[1]).toMatchObject({ id: ids[1], columns: ["price"], price: { amount: "9.25" } });
      expect([await storedBut(ids[1]), await product(ids[1])]).toEqual([others, own]);
      const price = { amount: "1234.50", currency: "EUR" };
      await test.backOffice.request("PATCH", `/api/products/${ids[1]}`, { body: { price } });
    },
    120_000,
  );

  it("refuses what a double click on CSV has damaged, by its line, and stores nothing", async () => {
    const before = await dumpTables(test);
    const file = await edited({ from: "spreadsheet", to: "utf8", locale: "en-US" });
    const { status, body } = await importCsv(test.backOffice, merchantId, file);
    expect(status, JSON.stringify(body)).toBe(422);
    expect(body.errors).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ line: 2, column: "sku", rule: "damaged", damage: "zeros", meant: "00123" }),
      ]),
    );
    expect(await dumpTables(test)).toEqual(before);
  }, 120_000);
});
