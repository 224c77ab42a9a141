// Package exposition writes the metrics of a node in the text format of Prometheus.
package exposition

import (
	"context"
	"net/http"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/api/intake"
	"voltbus/api/stream"
	"voltbus/store"
)

// Health reports the node's health. It must answer at once.
type Health interface {
	Health(ctx context.Context) answer.Health
}

// Devices lists the devices in path order.
type Devices interface {
	Devices(ctx context.Context) ([]answer.Device, error)
}

// Stats describes the store.
type Stats interface {
	Stats(ctx context.Context) (store.Stats, error)
}

// Metrics holds the sources of the figures. A nil source has none.
type Metrics struct {
	Health   Health
	Devices  Devices
	Stats    Stats
	Ledger   stream.Ledger
	Nodes    stream.Nodes
	Intake   *intake.Intake
	Streams  *stream.Streams
	Requests func() [6]uint64 // by the first digit of the status
	MQTT     func() answer.MQTTStatus
	Started  time.Time
	Now      func() time.Time
}

// exposition writes the Prometheus text format, version 0.0.4.
type exposition struct{ buf []byte }

// family begins a metric. kind is "gauge" or "counter".
func (e *exposition) family(name, kind, help string) {
	e.buf = append(e.buf, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+kind+"\n"...)
}

// value writes a value of a metric; label and its value may be empty.
func (e *exposition) value(name, label, of string, v float64) {
	e.buf = append(e.buf, name...)
	if label != "" {
		e.buf = append(e.buf, "{"+label+`="`+escapeLabel(of)+`"}`...)
	}
	e.buf = append(e.buf, ' ')
	e.buf = strconv.AppendFloat(e.buf, v, 'g', -1, 64)
	e.buf = append(e.buf, '\n')
}

// single writes a metric that has one value.
func (e *exposition) single(name, kind, help string, v float64) {
	e.family(name, kind, help)
	e.value(name, "", "", v)
}

func escapeLabel(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}

// Serve answers with all figures.
func (m *Metrics) Serve(w http.ResponseWriter, r *exchange.Request) error {
	e := &exposition{}
	for _, part := range []func(context.Context, *exposition) error{
		m.healthMetrics, m.ledgerMetrics, m.storeMetrics, m.deviceMetrics, m.ingestMetrics, m.mqttMetrics, m.nodeMetrics, m.ownMetrics,
	} {
		if err := part(r.Context(), e); err != nil {
			return err
		}
	}
	out := exchange.NewOutput(w, e.buf)
	out.Begin("text/plain; version=0.0.4; charset=utf-8")
	return out.End()
}

// healthMetrics counts what is wrong, as health lists it.
func (m *Metrics) healthMetrics(ctx context.Context, e *exposition) error {
	if m.Health == nil {
		return nil
	}
	h := m.Health.Health(ctx)
	const name = "voltbus_concerns"
	e.family(name, "gauge", "What is not well, by the part of the node that it is about; health says it in words.")
	critical := 0
	for _, p := range h.Parts {
		count := 0
		for i := range h.Concerns {
			if h.Concerns[i].Part == p.Name {
				count++
			}
		}
		e.value(name, "part", p.Name, float64(count))
	}
	for i := range h.Concerns {
		if h.Concerns[i].Severity == "critical" {
			critical++
		}
	}
	e.single("voltbus_concerns_critical", "gauge", "Of what is not well, what is critical.", float64(critical))
	return nil
}

// account is a ledger figure for each origin.
type account struct {
	name, help string
	of         func(*answer.Origin) uint64
}

func accounts() []account {
	return []account{
		{"produced", "Samples produced by the origin.", func(o *answer.Origin) uint64 { return o.Produced }},
		{"acknowledged", "Samples of the origin that are on disk.", func(o *answer.Origin) uint64 { return o.Acknowledged }},
		{"stored", "Samples of the origin in the store.", func(o *answer.Origin) uint64 { return o.Stored }},
		{"refused", "Samples that could not be recorded.", func(o *answer.Origin) uint64 { return o.Refused }},
		{"missing", "Samples of the origin that never arrived.", func(o *answer.Origin) uint64 { return o.Missing }},
		{"repeated", "Samples of the origin that came again and were dropped.", func(o *answer.Origin) uint64 { return o.Repeated }},
		{"left_out", "Samples of the origin that were left out on their way here.", func(o *answer.Origin) uint64 { return o.Left }},
	}
}

func (m *Metrics) ledgerMetrics(ctx context.Context, e *exposition) error {
	if m.Ledger == nil {
		return nil
	}
	l, err := m.Ledger.Ledger(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts() {
		name := "voltbus_samples_" + a.name + "_total"
		e.family(name, "counter", a.help)
		for i := range l.Origins {
			e.value(name, "origin", l.Origins[i].Origin, float64(a.of(&l.Origins[i])))
		}
	}
	e.single("voltbus_log_bytes", "gauge", "Bytes of the durable log.", float64(l.Log.Bytes))
	e.single("voltbus_log_max_bytes", "gauge", "Bytes that the log may have.", float64(l.Log.MaxBytes))
	e.single("voltbus_log_blocks", "gauge", "Blocks in the log.", float64(l.Log.Blocks))
	e.single("voltbus_log_dropped_samples_total", "counter", "Samples dropped at the log's bound.", float64(l.Log.DroppedSamples))
	return nil
}

func (m *Metrics) storeMetrics(ctx context.Context, e *exposition) error {
	if m.Stats == nil {
		return nil
	}
	stats, err := m.Stats.Stats(ctx)
	if err != nil {
		return err
	}
	e.single("voltbus_store_bytes", "gauge", "Bytes of the store on disk.", float64(stats.Bytes))
	e.single("voltbus_store_samples", "gauge", "Samples in the store.", float64(stats.Samples))
	e.single("voltbus_store_points", "gauge", "Points that have samples.", float64(stats.Points))
	e.single("voltbus_store_overwritten_total", "counter", "Samples in the place of which another value of the same point and time was stored.", float64(stats.Overwritten))
	e.single("voltbus_store_damaged", "gauge", "Files and blocks set aside as damaged.", float64(len(stats.Damaged)))
	return nil
}

func (m *Metrics) deviceMetrics(ctx context.Context, e *exposition) error {
	if m.Devices == nil {
		return nil
	}
	list, err := m.Devices.Devices(ctx)
	if err != nil {
		return err
	}
	const name = "voltbus_devices"
	e.family(name, "gauge", "Devices by state.")
	for _, state := range []string{"online", "offline", "starting", "disabled", "hung", "elsewhere"} {
		n := 0
		for i := range list {
			if list[i].State == state {
				n++
			}
		}
		e.value(name, "state", state, float64(n))
	}
	var reads, failures, lost, misdated uint64
	for i := range list {
		reads += list[i].Reads
		failures += list[i].Failures
		lost += list[i].Lost
		misdated += list[i].Misdated
	}
	e.single("voltbus_device_reads_total", "counter", "Reads of devices.", float64(reads))
	e.single("voltbus_device_failures_total", "counter", "Reads of devices that failed.", float64(failures))
	e.single("voltbus_device_lost_reports_total", "counter", "Reports of devices that were lost before they were taken.", float64(lost))
	e.single("voltbus_device_misdated_total", "counter", "Samples of devices whose time was out of bounds.", float64(misdated))
	return nil
}

// ingestMetrics counts what arrived over HTTP for recording, since the start.
func (m *Metrics) ingestMetrics(_ context.Context, e *exposition) error {
	if m.Intake.Admission == nil {
		return nil
	}
	n := m.Intake.Counts()
	e.single("voltbus_ingest_accepted_total", "counter", "Readings sent over HTTP that are on disk.", float64(n.Accepted))
	e.single("voltbus_ingest_refused_total", "counter", "Readings sent over HTTP that were refused.", float64(n.Refused))
	e.single("voltbus_ingest_misdated_total", "counter", "Readings sent over HTTP whose time was out of bounds.", float64(n.Misdated))
	e.single("voltbus_ingest_bytes_total", "counter", "Bytes of bodies of readings, inflated.", float64(n.Bytes))
	e.single("voltbus_ingest_replayed_total", "counter", "Requests that were answered again and not recorded again.", float64(n.Replayed))
	return nil
}

// mqttMetrics counts the clients and messages of the MQTT broker.
func (m *Metrics) mqttMetrics(_ context.Context, e *exposition) error {
	if m.MQTT == nil {
		return nil
	}
	s := m.MQTT()
	for _, g := range []struct {
		name, help string
		value      int
	}{
		{"clients", "Clients that are connected to the MQTT broker.", s.Connected},
		{"devices", "Devices that may connect to the MQTT broker.", s.Devices},
		{"sessions", "Sessions of MQTT clients, connected or away.", s.Sessions},
		{"subscriptions", "Subscriptions of MQTT clients.", s.Subscriptions},
		{"retained_messages", "Retained MQTT messages.", s.Retained},
		{"waiting_messages", "MQTT messages that wait to be recorded.", s.Waiting},
	} {
		e.single("voltbus_mqtt_"+g.name, "gauge", g.help, float64(g.value))
	}
	for _, c := range []struct {
		name, help string
		value      uint64
	}{
		{"connects", "MQTT clients that were let in.", s.Connects},
		{"refused", "MQTT clients that were not let in.", s.Refused},
		{"received", "MQTT messages of clients.", s.Received},
		{"delivered", "MQTT messages to clients.", s.Delivered},
		{"recorded", "MQTT messages whose samples were recorded.", s.Recorded},
		{"samples", "Samples of MQTT messages.", s.Samples},
		{"unknown", "MQTT messages that no template took.", s.Unknown},
		{"undecoded", "MQTT messages that are not what their template says.", s.Undecoded},
		{"unauthorized", "MQTT messages and subscriptions outside of the rights.", s.Unauthorized},
		{"dropped", "MQTT messages that a slow or absent client did not get.", s.Dropped},
		{"overflow", "MQTT messages with QoS 0 that were not recorded because too many waited.", s.Overflow},
		{"not_recorded", "MQTT messages with QoS 1 or 2 that were refused because they could not be recorded.", s.NotRecorded},
		{"not_retained", "MQTT messages that were not retained because there was no room.", s.NotRetained},
	} {
		e.single("voltbus_mqtt_"+c.name+"_total", "counter", c.help, float64(c.value))
	}
	return nil
}

func (m *Metrics) ownMetrics(_ context.Context, e *exposition) error {
	e.single("voltbus_live_readers", "gauge", "Readers of live streams.", float64(m.Streams.Places.Count()))
	e.single("voltbus_live_readers_cut_total", "counter", "Readers cut off because they were too slow.", float64(m.Streams.Cut()))
	requestsBy := m.Requests()
	const requests = "voltbus_http_requests_total"
	e.family(requests, "counter", "Requests by the class of their status.")
	for class := 2; class < len(requestsBy); class++ {
		e.value(requests, "class", strconv.Itoa(class)+"xx", float64(requestsBy[class]))
	}
	const start = "process_start_time_seconds"
	e.single(start, "gauge", "Start of the program, seconds since 1970.", float64(m.Started.UnixMilli())/1000)
	e.single("voltbus_uptime_seconds", "gauge", "Time since the start.", m.Now().Sub(m.Started).Seconds())
	goMetrics(e)
	return nil
}

// goMetrics writes what the Go runtime measures without stopping the program.
func goMetrics(e *exposition) {
	names := []struct{ source, name, help string }{
		{"/memory/classes/total:bytes", "go_memory_total_bytes", "Memory taken from the system."},
		{"/memory/classes/heap/objects:bytes", "go_memory_heap_objects_bytes", "Memory of live and unswept objects."},
		{"/sched/goroutines:goroutines", "go_goroutines", "Goroutines."},
	}
	samples := make([]metrics.Sample, len(names))
	for i := range names {
		samples[i].Name = names[i].source
	}
	metrics.Read(samples)
	for i := range names {
		if samples[i].Value.Kind() == metrics.KindUint64 {
			e.single(names[i].name, "gauge", names[i].help, float64(samples[i].Value.Uint64()))
		}
	}
}
