import { useCallback, useState } from "preact/hooks";
import { count, plain } from "../format";
import type { AllApplications, MQTTStatus, MQTTUnknowns } from "../generated/api";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { Application } from "./application";
import { Message } from "./message";
import { facts } from "./words";
import "./mqtt.css";

const often = 5_000;

const NoBroker = () => (
  <div class="card nothing">
    <h1>This node has no MQTT broker</h1>
    <p>
      Give it an address for devices: <code>mqtts</code>, <code>mqtt</code> or{" "}
      <code>mqtt_websocket</code> in the section <code>listen</code> of its configuration. It takes
      effect when the node starts anew.
    </p>
  </div>
);

/** The MQTT broker: its counts, programs outside, and the messages that no template takes. */
export function MqttScreen({ api, session, epoch }: ScreenProps) {
  const [changes, setChanges] = useState(0);
  const [added, setAdded] = useState("");
  const ask = useCallback(async () => {
    const status = await api.get<MQTTStatus>("mqtt");
    if (!status.broker) return { status, topics: [], applications: [] };
    const [unknown, outside] = await Promise.all([
      api.get<MQTTUnknowns>("mqtt/unknown"),
      api.get<AllApplications>("mqtt/applications"),
    ]);
    return { status, topics: unknown.topics, applications: outside.applications };
  }, [api]);
  const { data, problem } = usePoll(ask, often, epoch + changes);
  if (data && !data.status.broker) return <NoBroker />;
  const engineer = includes(session.role, "engineer");
  const add = async (topic: string, template: string) => {
    await api.send("POST", "mqtt/templates", { template });
    setAdded(topic);
    setChanges((n) => n + 1);
  };
  return (
    <div class="screen mqtt">
      <h1>MQTT</h1>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {!data && !problem && <p class="asking">Asking the broker…</p>}
      {data && (
        <section class="card panel" aria-labelledby="broker-title">
          <h2 id="broker-title">Broker</h2>
          <dl class="mqtt-facts">
            {facts(data.status).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{count(value)}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {data && data.applications.length > 0 && (
        <section class="card panel" aria-labelledby="applications-title">
          <h2 id="applications-title">Applications outside</h2>
          <ul class="unknown" aria-label="Applications outside">
            {data.applications.map((a) => (
              <Application key={a.name} application={a} />
            ))}
          </ul>
        </section>
      )}
      {data && (
        <section class="card panel" aria-labelledby="unknown-title">
          <h2 id="unknown-title">Messages without a template</h2>
          <p role="status" class="done">
            {added && `Messages of ${plain(added)} become points from now on.`}
          </p>
          {data.topics.length === 0 && (
            <p class="quiet">
              A template takes every message that arrived. One that none takes is shown here, with a
              template that would.
            </p>
          )}
          <ul class="unknown" aria-label="Messages without a template">
            {data.topics.map((u) => (
              <Message key={u.topic} message={u} mayAdd={engineer} now={api.now()} onAdd={add} />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
