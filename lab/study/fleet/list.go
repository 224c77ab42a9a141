// Package fleet contains the experiments about MQTT: fleets of devices that publish to a broker. They repeat those of a published load test
// and of public benchmarks, with their figures beside ours.
package fleet

import (
	"context"
	"slices"
	"strings"

	"voltbus/lab/experiment"
	"voltbus/lab/fleetsim"
	"voltbus/lab/peers"
)

// List returns the experiments.
func List() []experiment.Experiment {
	list := []experiment.Experiment{clients(), search(all())}
	for _, c := range all() {
		list = append(list, search([]setup{c}))
	}
	return append(list, storm(), failover(), pairs(), fanIn(), fanOut())
}

// source is where the published figures come from.
const source = "EXPAND: extreme performance testing of custom IoT workloads (domX, Fed4FIRE+, 2022): an MQTT broker in replicas, in containers, loaded by " +
	"simulated devices on 4 to 8 other machines of 4 cores; TLS, QoS 0, 21 topics, three profiles."

// published labels its figures.
const published = "EXPAND-2022"

// simulated is how all experiments measure.
const simulated = "The broker is a whole node in a process of its own, which records what it gets. Simulated devices are in other processes on the same machine; each has a name and a secret of its own, and over TLS offers the key exchanges X25519 and P-256 as small devices do. " +
	"A message is due by a schedule that does not wait for answers, and its response time runs from when it was due to its answer. With QoS 1 the answer is a PUBACK, which means that the value is on disk. " +
	"With QoS 0 there is no answer: a PINGREQ follows each message, and its PINGRESP says that the broker has taken the message."

// sharing is a limit of what runs on one machine.
const sharing = "Simulated devices and broker share the processors; the report says what both used and whether the simulator was the limit."

// common are settings of all experiments.
func common(qos string) []experiment.Setting {
	return []experiment.Setting{
		{Name: "tls", Default: "true", Doc: "whether connections are encrypted"},
		{Name: "qos", Default: qos, Doc: "of messages: 0, 1 or 2"},
	}
}

// peersOf let the brokers of others do the same.
func peersOf(run func(ctx context.Context, b *experiment.Bench, kind string) error) []experiment.Peer {
	at := func(kind string) func(context.Context, *experiment.Bench) error {
		return func(ctx context.Context, b *experiment.Bench) error { return run(ctx, b, kind) }
	}
	var list []experiment.Peer
	for _, p := range peers.Fleets() {
		list = append(list, experiment.Peer{Name: p.Name, Find: p.Find, Run: at(p.Name)})
	}
	return list
}

// peer is the broker of another project of that name.
func peer(name string) *peers.Fleet {
	list := peers.Fleets()
	i := slices.IndexFunc(list, func(p peers.Fleet) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// promises say what the answers of peers mean.
func promises() string {
	var all []string
	for _, p := range peers.Fleets() {
		all = append(all, p.Name+": "+p.Promise)
	}
	return strings.Join(all, " ")
}

// note records whether the simulator was the limit.
func note(h *hub, l *fleetsim.Look, r *fleetsim.Running) {
	h.trial.Generator(l.HeadRoom)
	h.trial.Also("processor of the simulator", "cores", l.Cores())
	if s := l.Limit(len(r.Processes())); s != "" {
		h.bench.Note("%s", s+".")
	}
	if l.Lost+l.Failed+l.Skipped > 0 {
		h.bench.Note("%d connections were lost, %d could not be made, %d messages were skipped; the first trouble: %s", l.Lost, l.Failed, l.Skipped, l.First)
	}
}
