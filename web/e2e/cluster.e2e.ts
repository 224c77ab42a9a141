import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { Replicas } from "./stand-cluster";

const open = useBrowser();

async function cluster(more: object = {}, replicas = new Replicas()) {
  const opened = await open({
    site: building,
    address: "/cluster",
    handlers: replicas.handlers,
    ...more,
  });
  return { replicas, ...opened };
}

describe("cluster", () => {
  test("shows each replica, and an administrator removes one", async () => {
    const { page, replicas, complaints } = await cluster({ role: "administrator" });
    await page.getByText("everything is acknowledged by three").waitFor();
    await page.getByText("broker-4: 19,204 samples, 41.2 s").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    page.on("dialog", (d) => void d.accept());
    let leave = () => {};
    replicas.left = new Promise((resolve) => {
      leave = resolve;
    });
    await page.getByRole("button", { name: "Remove broker-4" }).click();
    await page.getByRole("region", { name: "broker-4" }).getByText("leaving").waitFor();
    leave();
    await page.getByRole("region", { name: "broker-4" }).waitFor({ state: "detached" });
    expect(replicas.removed).toEqual(["broker-4"]);
    expect(complaints).toEqual([]);
  });

  test("drains a replica when the administrator confirms it, and has it take clients again", async () => {
    const { page, replicas, complaints } = await cluster({ role: "administrator" });
    const asked: string[] = [];
    page.on("dialog", (d) => {
      asked.push(d.message());
      void (asked.length === 1 ? d.dismiss() : d.accept());
    });
    const drain = page.getByRole("button", { name: "Drain: broker-2" });
    await drain.click();
    expect(replicas.drains).toEqual([]);
    await drain.click();
    await page.getByRole("button", { name: "Take clients again: broker-2" }).click();
    await drain.waitFor();
    expect(asked).toEqual(Array(2).fill(expect.stringContaining("MQTT clients and devices go")));
    expect(replicas.drains).toEqual([{ undo: false }, { undo: true }]);
    expect(await page.getByRole("button", { name: "Drain: broker-4" }).count()).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("adds a witness, and says why not", async () => {
    const { page, replicas, complaints } = await cluster({ role: "administrator" });
    const form = page.getByRole("form", { name: "Add a replica" });
    await form.getByLabel("Name of its node").fill("broker-5");
    await form.getByLabel("Address for the other replicas, host:port").fill("10.0.0.5:6222");
    await form.getByRole("checkbox", { name: "Witness" }).check();
    replicas.refuses = "10.0.0.5:6222 is the address of broker-2";
    await form.getByRole("button", { name: "Add" }).click();
    await form.getByText("is the address of broker-2").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    replicas.refuses = "";
    await form.getByRole("button", { name: "Add" }).click();
    await page.getByRole("region", { name: "broker-5" }).waitFor();
    const asked = { name: "broker-5", address: "10.0.0.5:6222", witness: true };
    expect(replicas.added).toEqual([asked, asked]);
    await form.waitFor({ state: "detached" });
    expect(complaints.filter((c) => !c.includes("409"))).toEqual([]);
  });

  test("lets a viewer look only", async () => {
    const { page } = await cluster({ role: "viewer" });
    await page.getByText("everything is acknowledged by three").waitFor();
    expect(await page.getByRole("button", { name: /Remove|Drain|Add/ }).count()).toBe(0);
  });

  test("fits on a phone, and shows hostile text as text", async () => {
    const { page, complaints } = await cluster(
      { browser: phone },
      new Replicas(`broker-4${attacks[0]}`),
    );
    await page.getByText("everything is acknowledged by three").waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("is in the navigation of a replica", async () => {
    const { page } = await cluster();
    await page.getByRole("link", { name: "Cluster" }).first().waitFor();
  });
});
