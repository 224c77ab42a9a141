import type { Device } from "../api";
import { age, count, plain, plural, span } from "../format";
import { adviceFor, deviceLevel } from "../health";
import { coded } from "../language/codes";
import { reasonOf } from "../language/said";
import { isUnder, nameOf } from "../path";
import { PointName } from "../point-name";
import { deviceAddress } from "../shell/place";

interface Props {
  devices: readonly Device[];
  branch: string;
  now: number;
}

const most = 100;

/** The devices of the branch, those in trouble first, each with what it says about its last error. */
export function DevicesPanel({ devices, branch, now }: Props) {
  const here = devices.filter((d) => isUnder(d.path, branch) || isUnder(branch, d.path));
  const rank = (d: Device) => (deviceLevel(d) === "bad" ? 0 : 1);
  const sorted = [...here].sort((a, b) => rank(a) - rank(b) || a.path.localeCompare(b.path));
  const elsewhere = devices.length - here.length;
  return (
    <section class="card" aria-labelledby="devices-title">
      <h2 id="devices-title">Devices</h2>
      <ul class="devices">
        {sorted.slice(0, most).map((d) => (
          <DeviceItem key={d.path} device={d} now={now} />
        ))}
      </ul>
      {sorted.length > most && (
        <p class="quiet">… and {count(sorted.length - most)} more that answer.</p>
      )}
      {elsewhere > 0 && <p class="quiet">{count(elsewhere)} more in other branches.</p>}
    </section>
  );
}

function DeviceItem({ device, now }: { device: Device; now: number }) {
  const level = deviceLevel(device);
  const read = device.last_read ? Date.parse(device.last_read) : Number.NaN;
  const facts = [
    plain(device.driver),
    device.line === device.driver ? "" : plain(device.line),
    `${plural(device.points, "point")}${device.interval > 0 ? ` each ${span(device.interval * 1000)}` : ""}`,
    !(device.latency_ms > 0) ? "" : `answers in ${span(device.latency_ms)}`,
    device.failures > 0
      ? `${count(device.failures)} of ${count(device.reads + device.failures)} requests failed`
      : "",
  ];
  return (
    <li class={`is-${level}`}>
      <div class="device-head">
        <span class="dot" aria-hidden="true" />
        <a class="link" title={device.path} href={deviceAddress(device.path)}>
          <PointName path={device.path} description={nameOf(device.path)} stacked />
        </a>
        <span class="state">{coded(plain(device.state))}</span>
        <span class="quiet number">{read > 0 ? age(now - read) : "never read"}</span>
      </div>
      <p class="quiet facts">{facts.filter((f) => f !== "").join(" · ")}</p>
      {level === "warn" && <p class="problem">{reasonOf(device.problem)}</p>}
      {level === "bad" && (
        <p class="problem">
          {adviceFor(device.error_kind)} <span class="detail">{reasonOf(device.last_error)}</span>
        </p>
      )}
    </li>
  );
}
