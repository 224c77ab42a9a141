import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { building } from "./sites";
import { AuditLog } from "./stand-audit";
import { busy, Control, inMinutes, slot, task } from "./stand-control";

const open = useBrowser();
const zone = (n: number) => `campus/hq/floor ${Math.ceil(n / 3)}/zone ${n}/setpoint`;
const pageOf = (path: string) => `/point/${path.split("/").map(encodeURIComponent).join("/")}`;

/** Opens a screen of a building with a control. */
async function enter(control: Control, address: string, role = "operator") {
  const handlers = { ...control.handlers, ...new AuditLog([]).handlers };
  return open({ site: building, address, role, handlers, began: control.began });
}

describe("a point's page", () => {
  test("says what will happen, asks, sets, and says what happened", async () => {
    const control = new Control(building);
    const { page, complaints } = await enter(control, pageOf(zone(6)));
    const form = page.getByRole("form", { name: "Set the point" });
    await form.getByLabel(/^Value/).fill("23,5");
    await form.getByLabel(/^For/).selectOption("900");
    await form.getByLabel("Reason").fill("a guest is cold");
    const prospect = form.getByRole("status", { name: "What will happen" });
    await prospect.getByText("It wins: the point is set to 23.5 °C at once.").waitFor();
    await form.getByRole("button", { name: "Set…" }).click();
    expect(control.sent).toEqual([]);
    const dialog = page.getByRole("dialog");
    await dialog.getByText("It ends by itself after 15 min").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(control.sent).toEqual([]);
    await form.getByRole("button", { name: "Set…" }).click();
    await dialog.getByRole("button", { name: "Set it now" }).click();
    await page.getByText("Done: the device reports 23.5 °C.").waitFor();
    expect(control.sent).toMatchObject([
      { point: zone(6), value: 23.5, level: 8, lease: 900, reason: "a guest is cold" },
    ]);
    expect(control.sent[0]?.id).toMatch(/^web-/);
    const array = page.getByRole("region", { name: "Priority array" });
    expect(await array.getByRole("row").count()).toBe(18);
    await array.getByRole("row", { name: /8 Manual operator 23.5 °C counts you/ }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("follows what others do, and lets go of what is one's own", async () => {
    const control = new Control(building);
    control.change(zone(6), {
      array: [slot("person:admin", 8, 23), slot("agent:comfort", 12, 21, { reason: "occupied" })],
    });
    const { page } = await enter(control, pageOf(zone(6)));
    const doing = page.getByRole("status", { name: "Command status" });
    await doing.getByText("The device reports 23 °C, as commanded.").waitFor();
    expect(await page.getByRole("button", { name: /Release level 12/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Release level 8 of person:admin" }).click();
    await page.getByText("The point then follows the agent comfort at level 12: 21 °C.").waitFor();
    await page.getByRole("button", { name: "Release it" }).click();
    await doing.getByText("The device reports 21 °C").waitFor();
    control.change(zone(6), { array: [], output: "unknown" });
    await doing.getByText("What the point has is not known").waitFor();
  });

  test("says of a read-only point that nothing can be set", async () => {
    const { page } = await enter(new Control(building), pageOf("campus/plant/boiler1/flow"));
    await page.getByText("This point is read-only: nothing can be set.").waitFor();
    expect(await page.getByRole("form").count()).toBe(0);
  });

  test("shows a viewer everything, and lets nothing be set", async () => {
    const { page } = await enter(busy(building), pageOf(zone(1)), "viewer");
    await page.getByText("To set a point needs the role operator.").waitFor();
    await page.getByRole("row", { name: /8 Manual operator .* ann/ }).waitFor();
    expect(await page.getByRole("button", { name: /^Release/ }).count()).toBe(0);
    await page.getByText("The audit log is for the role engineer").waitFor();
  });

  test("says who is in the way before and after", async () => {
    const control = busy(building);
    const { page } = await enter(control, pageOf(zone(1)));
    const form = page.getByRole("form", { name: "Set the point" });
    await form.getByLabel(/^Value/).fill("23");
    await form.getByText(/It would be refused: ann holds level 8/).waitFor();
    expect(await form.getByRole("button", { name: "Set…" }).isDisabled()).toBe(true);
    await form.getByLabel("Level").selectOption("9");
    await form.getByText(/It waits: .* of ann/).waitFor();
    // Somebody else takes that level between the look and the command
    const held = control.points.get(zone(1));
    held?.array.push(slot("agent:fast", 9, 19));
    await form.getByRole("button", { name: "Set…" }).click();
    await page.getByRole("button", { name: "Set it now" }).click();
    const alert = form.getByRole("alert");
    await alert.getByText("Refused: agent:fast holds level 9.").waitFor();
    await alert.getByText(/^the agent fast at level 9/).waitFor();
  });

  test("shows an engineer what was done, and leads to all of it", async () => {
    const control = new Control(building);
    const log = new AuditLog([
      {
        ...{ actor: "person:ann", action: "control.command", subject: zone(6) },
        ...{ outcome: "accepted", detail: { value: 22 } },
      },
      { actor: "person:ann", action: "login", subject: "ann" },
    ]);
    const handlers = { ...control.handlers, ...log.handlers };
    const began = control.began;
    const { page } = await open({ site: building, address: pageOf(zone(6)), handlers, began });
    const entries = page.getByRole("region", { name: "Entries" });
    await entries.getByText("✓ accepted").waitFor();
    expect(await entries.getByRole("row").count()).toBe(2);
    await page.getByRole("link", { name: "All in the audit log" }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get("subject")).toBe(zone(6));
  });
});

describe("the pages of a point and of its device", () => {
  test.each([pageOf(zone(6)), "/device/campus/hq/floor%202/zone%206"])(
    "hold one stream, by which they hear of commands: %s",
    async (address) => {
      const control = new Control(building);
      const { page } = await enter(control, "/people");
      const streams: string[] = [];
      page.on("request", (r) => {
        if (r.resourceType() === "eventsource") streams.push(new URL(r.url()).pathname);
      });
      await page.goto(new URL(address, page.url()).href);
      const told = page.getByText(/19.5 °C/).first();
      await page
        .getByText(zone(6).split("/").at(-1) ?? "")
        .first()
        .waitFor();
      expect(await told.count()).toBe(0);
      control.change(zone(6), { array: [slot("agent:comfort", 12, 19.5)] });
      await told.waitFor();
      expect(streams).toEqual(["/api/v1/stream"]);
    },
  );
});

describe("the device page", () => {
  test("leads to what can be set, and says who holds it", async () => {
    const { page } = await enter(busy(building), "/device/campus/hq/floor%201/zone%201");
    const list = page.getByRole("list", { name: "Points that can be set" });
    await list.getByText(/21.5 °C by ann/).waitFor();
    await list.getByRole("link", { name: "Set setpoint" }).click();
    await page.getByRole("heading", { name: "Priority array" }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "Page of co2" }).click();
    await page.getByText("This point is read-only").waitFor();
  });
});

describe("a revert", () => {
  const device = "/device/campus/hq/floor%201/zone%201";

  test("ends all commands of a device, after it has said of whom", async () => {
    const control = busy(building);
    const { page, complaints } = await enter(control, device, "engineer");
    await page.getByRole("button", { name: "Revert…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/This ends \d+ commands? on 1 point, of .*ann/).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(control.reverts).toEqual([]);
    await page.getByRole("button", { name: "Revert…" }).click();
    await dialog.getByRole("button", { name: "Revert it" }).click();
    await page.getByText("1 point goes back.").waitFor();
    expect(control.reverts).toEqual([{ path: "campus/hq/floor 1/zone 1" }]);
    await expect.poll(() => page.getByRole("button", { name: "Revert…" }).isDisabled()).toBe(true);
    expect(complaints).toEqual([]);
  });

  test("sends the points of a device back one after the other, where that is chosen", async () => {
    const control = busy(building);
    const fan = "campus/hq/ahu1/fan on";
    const supply = "campus/hq/ahu1/supply temperature";
    const array = control.points.get(fan)?.array ?? [];
    control.change(supply, { writable: true, array });
    const { page, complaints } = await enter(control, "/device/campus/hq/ahu1", "engineer");
    await page.getByRole("button", { name: "Revert…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/This ends 2 commands on 2 points/).waitFor();
    const choice = dialog.getByLabel("The points go back");
    expect(await choice.locator("option").allTextContents()).toEqual([
      "all at once",
      "one after the other, over 1 min",
      "one after the other, over 10 min",
      "one after the other, over 1 h",
    ]);
    await choice.selectOption({ label: "one after the other, over 10 min" });
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Revert it" }).click();
    await page.getByText(/2 points go back, the last one in \d+ min/).waitFor();
    expect(control.reverts).toEqual([{ path: "campus/hq/ahu1", spread: 600 }]);
    expect(complaints).toEqual([]);
  });

  test("ends all commands of a point", async () => {
    const control = busy(building);
    const { page } = await enter(control, pageOf(zone(1)), "engineer");
    await page.getByRole("button", { name: "Revert…" }).click();
    await page.getByRole("button", { name: "Revert it" }).click();
    await page.getByText("1 point goes back.").waitFor();
    expect(control.reverts).toEqual([{ path: zone(1) }]);
  });

  test.each([device, pageOf(zone(1))])("is not for operators: %s", async (address) => {
    const { page } = await enter(busy(building), address);
    await page
      .getByText(/21.5 °C/)
      .first()
      .waitFor();
    expect(await page.getByRole("button", { name: "Revert…" }).count()).toBe(0);
  });
});

describe("the overview of control", () => {
  test("shows first what is not as it should be", async () => {
    const { page, complaints } = await enter(busy(building), "/control", "administrator");
    const rows = page.getByRole("region", { name: "List of commanded points" }).getByRole("row");
    await expect.poll(() => rows.count()).toBe(5);
    expect(await rows.nth(1).textContent()).toContain("failed");
    expect(await rows.nth(2).textContent()).toContain("differs");
    await page.getByRole("button", { name: "Mine", exact: true }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(page.url()).toContain("show=mine");
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("approves what waits, with a word of what that does", async () => {
    const control = busy(building);
    const { page } = await enter(control, "/control");
    await page.getByRole("button", { name: `Approve 26 for ${zone(3)}` }).click();
    await page.getByText("The command of carla counts from now on").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("Nothing waits for approval.").waitFor();
    await page.getByRole("row", { name: /zone 3/ }).waitFor();
    expect(control.waiting).toEqual([]);
  });

  test("does not let approve what is one's own", async () => {
    const control = new Control(building);
    control.waiting.push(slot("person:admin", 8, 26, { path: zone(3), until: inMinutes(9) }));
    const { page } = await enter(control, "/control");
    await page.getByText("Somebody else must agree.").waitFor();
    expect(await page.getByRole("button", { name: /^Approve/ }).count()).toBe(0);
    await page.getByRole("button", { name: /^Withdraw/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
    await page.getByText("Nothing waits for approval.").waitFor();
  });

  test("releases everything of one's own with one button", async () => {
    const control = busy(building);
    const { page } = await enter(control, "/control");
    await page.getByRole("button", { name: "Release everything of mine now" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("This ends 1 command on 1 point and 1 reservation.").waitFor();
    await dialog.getByRole("button", { name: "Release everything" }).click();
    await page
      .getByRole("status", { name: "What was released" })
      .getByText("Ended: 1 command on 1 point and 1 reservation. 1 point went back.")
      .waitFor();
    expect(control.tasks.map((t) => t.task)).toEqual(["fan test", "tune"]);
    expect(control.points.get(zone(1))?.array).toHaveLength(2);
  });

  test("overrides points, and back", async () => {
    const control = new Control(building);
    const { page } = await enter(control, "/control");
    const form = page.getByRole("form", { name: "Override points" });
    await form.getByLabel(/^Points/).fill("campus/hq/floor 1/**");
    await form.getByLabel("Reason").fill("repair");
    await form.getByRole("button").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("It selects 3 points that can be set; none is commanded now.").waitFor();
    await dialog.getByRole("button", { name: "Override" }).click();
    const list = page.getByRole("list", { name: "Overrides" });
    await list.getByText("campus/hq/floor 1/**").waitFor();
    await page.getByRole("button", { name: /^Clear the override/ }).click();
    await page.getByRole("button", { name: "Clear it" }).click();
    await page.getByText("No override.").waitFor();
  });

  test("shows a viewer everything, and offers nothing", async () => {
    const { page } = await enter(busy(building), "/control", "viewer");
    await page.getByRole("region", { name: "List of commanded points" }).waitFor();
    const main = page.getByRole("main");
    const offers = main.getByRole("button", { name: /Release|Approve|Refuse|Clear|Override/ });
    expect(await offers.count()).toBe(0);
    await page.getByRole("main").getByRole("link", { name: "Reservations" }).click();
    await page.getByText("To reserve needs the role operator; yours is viewer.").waitFor();
  });

  test("says what the node refuses", async () => {
    const control = busy(building);
    const { page } = await enter(control, "/control");
    await page.getByRole("button", { name: /^Approve/ }).click();
    control.waiting.length = 0; // somebody was faster
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("it does not wait any more").waitFor();
  });

  test.each(["/control", "/control/schedule", pageOf(zone(1))])("fits a phone: %s", async (at) => {
    const control = busy(building);
    const { handlers, began } = control;
    const { page } = await open({ site: building, address: at, browser: phone, handlers, began });
    await page.getByRole("heading", { level: 2 }).first().waitFor();
    await expect.poll(() => sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });
});

describe("the schedule", () => {
  const morning = () => {
    const control = new Control(building);
    control.tasks.push(task("fan test", "person:ann", "campus/hq/ahu1", [-1, 45]));
    return control;
  };

  test("is walked by keyboard, and tells of a reservation", async () => {
    const { page } = await enter(morning(), "/control/schedule");
    const bar = page.getByRole("group", { name: "Schedule" }).getByRole("link");
    expect(await bar.getAttribute("aria-label")).toMatch(
      /^fan test, ann, campus\/hq\/ahu1, .* goes on$/,
    );
    expect((await bar.boundingBox())?.height).toBeGreaterThan(20);
    await bar.focus();
    await page.keyboard.press("Enter");
    const chosen = page.getByRole("region", { name: "Chosen reservation" });
    await chosen.getByText("priority low, gives way to high until it begins").waitFor();
    await chosen.getByText("needs the role engineer").waitFor();
    expect(page.url()).toContain("task=fan+test");
  });

  test("shows who, what and when stands in the way of a reservation", async () => {
    const control = morning();
    const { page } = await enter(control, "/control/schedule");
    const form = page.getByRole("form", { name: "Reserve" });
    await form.getByLabel("Name").fill("balance");
    await form.getByLabel(/^Devices/).fill("campus/hq");
    await form.getByText("It would be refused, for these stand in the way:").waitFor();
    await form.getByRole("button", { name: "Reserve" }).click();
    const alert = form.getByRole("alert");
    await alert.getByText("Nothing is reserved: person:ann has reserved").waitFor();
    await alert.getByText(/^ann with the reservation fan test of campus\/hq\/ahu1/).waitFor();
    await page.getByRole("link", { name: /fan test, .* in the way$/ }).waitFor();
    expect(await page.locator(".gantt-bar.is-wanted rect").isVisible()).toBe(true);
    expect(control.tasks).toHaveLength(1);
  });

  test("makes a reservation and cancels it", async () => {
    const control = new Control(building);
    const { page } = await enter(control, "/control/schedule");
    const form = page.getByRole("form", { name: "Reserve" });
    await form.getByLabel("Name").fill("balance");
    await form.getByLabel("Add a device").selectOption("campus/plant/boiler1");
    await form.getByText("Nothing is in the way.").waitFor();
    await form.getByRole("button", { name: "Reserve" }).click();
    await form.getByText("balance is reserved.").waitFor();
    await page.getByRole("link", { name: /^balance, you, campus\/plant\/boiler1/ }).click();
    await page.getByRole("button", { name: "Cancel the reservation" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the reservation" }).click();
    await page.getByText("Nothing is reserved then.").waitFor();
    expect(control.tasks).toEqual([]);
  });
});
