import { useState } from "preact/hooks";
import type { Device } from "../api";
import { parentOf } from "../path";
import { deviceAddress, go } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { DevicesPanel } from "../site/devices-panel";
import { DeviceStep } from "../welcome/device-step";
import "../welcome/welcome.css";

const addPath = "/devices/add";

/** All devices, those in trouble first, and the way to another one. */
export function DevicesScreen(props: ScreenProps) {
  const { api, place, books, problem, session } = props;
  if (place.path === addPath) return <AddDevice {...props} />;
  if (!books) return <p class="asking">{problem || "Asking the node for its devices…"}</p>;
  return (
    <div class="screen">
      <header class="panel-head">
        <h1>Devices</h1>
        {includes(session.role, "engineer") && (
          <a class="button primary" href={addPath}>
            Add a device
          </a>
        )}
      </header>
      <DeviceList devices={books.devices} now={api.now()} />
    </div>
  );
}

function DeviceList({ devices, now }: { devices: readonly Device[]; now: number }) {
  const [search, setSearch] = useState("");
  const words = search.toLowerCase().split(/\s+/);
  const has = (d: Device) =>
    words.every((w) => `${d.path} ${d.driver} ${d.line} ${d.state}`.toLowerCase().includes(w));
  const found = devices.filter(has);
  return (
    <>
      <input
        type="search"
        aria-label="Search devices"
        placeholder="Words of a path, driver, line or state"
        value={search}
        onInput={(e) => setSearch(e.currentTarget.value)}
      />
      {devices.length === 0 && <p class="quiet">The node has no devices yet.</p>}
      {devices.length > 0 && found.length === 0 && (
        <p class="quiet">No device has all these words.</p>
      )}
      {found.length > 0 && <DevicesPanel devices={found} branch="" now={now} />}
    </>
  );
}

/** Describes a device of any driver that the node has, tries it, and adds it to the configuration. */
function AddDevice({ api, books, session }: ScreenProps) {
  const [site, setSite] = useState<string>();
  const usual = parentOf(books?.devices[0]?.path ?? "");
  return (
    <div class="screen welcome">
      <h1>Add a device</h1>
      <DeviceStep
        api={api}
        role={session.role}
        label="New device"
        site={site ?? usual}
        onSite={setSite}
        onAdded={(path) => go(deviceAddress(path))}
      />
      <p class="quiet">
        Meters that are read by concentrators are registered under <a href="/metering">Meters</a>,
        and devices that log in to the broker of this node under <a href="/mqtt">MQTT</a>. What is
        added here is written to the configuration file of the node, and stays.
      </p>
    </div>
  );
}
