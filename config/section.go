package config

import (
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // time zones for machines without any

	"go.yaml.in/yaml/v3"

	"voltbus/internal/strictyaml"
	metersetting "voltbus/meter/setting"
	"voltbus/point"
)

// Bounds of the values of the file.
const (
	maxName     = 64
	minLog      = 16 * MiB
	minAudit    = MiB
	minMemory   = 64 * MiB
	minBlockAge = time.Millisecond
	maxBlockAge = time.Second
	maxBlock    = 100_000
	maxQueue    = 10_000
	maxRate     = 100_000_000
	maxPoints   = 50_000_000
	minRetry    = time.Minute
	maxRetry    = 30 * 24 * time.Hour
)

// report records a problem with a key.
type report func(key, format string, args ...any)

// checkSections checks everything but the devices. A key that could not be decoded holds its default and so has no second problem.
func (l *loader) checkSections(root *yaml.Node, cfg *Config) {
	r := func(key, format string, args ...any) { l.report(l.file, root, key, format, args...) }
	cfg.Node.validate(r)
	cfg.Listen.validate(r)
	cfg.Log.validate(r)
	cfg.validateCluster(r)
	cfg.Audit.validate(r)
	cfg.Store.validate(r)
	cfg.Recorder.validate(r)
	cfg.Ingest.validate(r)
	cfg.Metering.Validate(func(key, format string, args ...any) { r("metering."+key, format, args...) })
	cfg.Metering.Cluster.ValidateFor(cfg.Node.Name, func(key, format string, args ...any) { r("metering.cluster."+key, format, args...) })
	cfg.Agents.validate(r)
	cfg.Control.validate(r)
	cfg.Uplink.validate(r)
	cfg.MQTT.Validate(func(key, format string, args ...any) { r("mqtt."+key, format, args...) })
	cfg.Sinks.Validate(r)
	cfg.Sources.Validate(r)
	cfg.Judge.Validate(cfg.Sinks.Names(), r)
	checkMeters(r, cfg)
	checkMeterStore(r, cfg)
	checkForms(r, "live.publish", cfg.Live.Publish)
}

// checkMeters reports that a concentrator's readings would not go to its parent.
func checkMeters(r report, cfg *Config) {
	m := &cfg.Metering
	selects := func(p point.Pattern) bool { return p.Match("meters/1/1") }
	if m.Concentrates() && m.Concentrator.Target() == metersetting.ToParent && len(cfg.Uplink.Select) > 0 && !slices.ContainsFunc(cfg.Uplink.Select, selects) {
		r("uplink.select", "leaves out the readings of meters that this concentrator hands to its parent; add meters/**")
	}
}

func (n *Node) validate(r report) {
	if n.Name != "" && nodeName(n.Name) != n.Name {
		r("node.name", "%q is not a name; write up to %d letters, digits, - and _, such as plant-1", n.Name, maxName)
	}
	if n.Data == "" {
		r("node.data", "is empty; write a directory such as data")
	}
	if _, err := time.LoadLocation(n.TimeZone); err != nil || n.TimeZone == "Local" {
		r("node.time_zone", "%.80q is not a time zone; write one such as Europe/Berlin or America/New_York", n.TimeZone)
	}
}

// nodeName returns the characters of a text that may form a node's name.
func nodeName(text string) string {
	name, _, _ := strings.Cut(text, ".")
	name = strings.Map(func(r rune) rune {
		if (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') || r == '-' || r == '_' {
			return r
		}
		return -1
	}, name)
	return name[:min(len(name), maxName)]
}

// hostName matches names of hosts (RFC 1123, 2.1), the first label of which may be "*".
var hostName = regexp.MustCompile(`^(\*\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

func (n *Listen) validate(r report) {
	taken := map[Address]string{}
	for _, one := range []struct {
		key     string
		address Address
	}{{"listen.http", n.HTTP}, {"listen.bus", n.Bus}, {"listen.mqtt", n.MQTT}, {"listen.mqtts", n.MQTTS}} {
		if _, port, err := net.SplitHostPort(string(one.address)); err != nil || port == "0" {
			continue
		}
		if other, is := taken[one.address]; is {
			r(one.key, "%q is the address of %s already; write another port", one.address, other)
		}
		taken[one.address] = one.key
	}
	for i, name := range n.Names {
		if net.ParseIP(name) == nil && !hostName.MatchString(name) {
			r(fmt.Sprintf("listen.names[%d]", i), "%q is neither a host name nor an IP address; write it without port, such as mqtt.example.com", name)
		}
	}
	if n.MQTTWebSocket && n.HTTP.Off() {
		r("listen.mqtt_websocket", "is at /mqtt of listen.http, which is off; set listen.http too")
	}
	switch {
	case n.ClientCA != "" && n.HTTP.Off():
		r("listen.client_ca", "is for listen.http, which is off; set listen.http too")
	case n.ClientCA == "" && n.ClientRevoked != "":
		r("listen.client_revoked", "is for certificates of listen.client_ca; set listen.client_ca too")
	case n.ClientCA == "" && len(n.ClientConcentrators) > 0:
		r("listen.client_concentrators", "is for certificates of listen.client_ca; set listen.client_ca too")
	}
}

func (n *Log) validate(r report) {
	if n.MaxBytes < minLog {
		r("log.max_bytes", "%v is too small; write at least %v, such as 1GiB", n.MaxBytes, minLog)
	}
}

func (n *Audit) validate(r report) {
	if n.MaxBytes < minAudit {
		r("audit.max_bytes", "%v is too small; write at least %v, such as 256MiB", n.MaxBytes, minAudit)
	}
	if n.Keep < 0 || (n.Keep > 0 && n.Keep < 24*time.Hour) {
		r("audit.keep", "%s is too short; write at least 1d, or 0 to keep everything", duration(n.Keep))
	}
}

func (n *Store) validate(r report) {
	if n.Retention.Age < 0 || (n.Retention.Age > 0 && n.Retention.Age < 24*time.Hour) {
		r("store.retention.age", "%s is too short; write at least 1d, or 0 to keep everything", duration(n.Retention.Age))
	}
	if n.Memory < minMemory {
		r("store.memory", "%v is too small; write at least %v, such as 512MiB", n.Memory, minMemory)
	}
	if n.Engine == "none" && n.Retention != (Retention{}) {
		r("store.retention", `nothing is kept with the engine none; remove the retention, or write "engine: duckdb"`)
	}
	n.validateDatabase(r)
}

func (n *Recorder) validate(r report) {
	if n.MaxAge < minBlockAge || n.MaxAge > maxBlockAge {
		r("recorder.max_age", "%s is out of range; write 1ms to 1s, such as 5ms", duration(n.MaxAge))
	}
	if n.MaxBlock < 1 || n.MaxBlock > maxBlock {
		r("recorder.max_block", "%d is out of range; write 1 to %d, such as 10000", n.MaxBlock, maxBlock)
	}
	if n.Queue < 1 || n.Queue > maxQueue {
		r("recorder.queue", "%d is out of range; write 1 to %d, such as 64", n.Queue, maxQueue)
	}
}

func (n *Ingest) validate(r report) {
	if n.Requests < 1 || n.Requests > maxRate {
		r("ingest.requests", "%d is out of range; write 1 to %d, such as 20000", n.Requests, maxRate)
	}
	if n.Samples < 1 || n.Samples > maxRate {
		r("ingest.samples", "%d is out of range; write 1 to %d, such as 5000000", n.Samples, maxRate)
	}
	if n.Points < 1 || n.Points > maxPoints {
		r("ingest.points", "%d is out of range; write 1 to %d, such as 1000000", n.Points, maxPoints)
	}
	if n.ChildPoints < 1 || n.ChildPoints > maxPoints {
		r("ingest.child_points", "%d is out of range; write 1 to %d, such as 2000000", n.ChildPoints, maxPoints)
	}
	if n.Retry < minRetry || n.Retry > maxRetry {
		r("ingest.retry", "%s is out of range; write 1m to 30d, such as 24h", duration(n.Retry))
	}
	if n.ClockAhead < 0 {
		r("ingest.clock_ahead", "%s is negative; write such as 5m, or 0 for any time", duration(n.ClockAhead))
	}
	if n.ClockBehind < 0 {
		r("ingest.clock_behind", "%s is negative; write such as 8760h, or 0 for any time", duration(n.ClockBehind))
	}
}

// The bounds of the section "agents".
const (
	minAgentMemory = 32 * MiB
	minAgentFiles  = 64
	maxAgentFiles  = 1 << 20

	minAgentProcesses = 16
	maxNice           = 19
	maxUser           = 1<<31 - 1
	maxGrace          = 10 * time.Minute
	minAgentLog       = 64 * KiB
	maxAgentLogs      = 1000

	minFloodMessages = 100
	minFloodBytes    = 64 * KiB
	minSubscriptions = 100
	maxSubscriptions = 60_000
	maxConnections   = 10_000
)

func (n *Agents) validate(r report) {
	if n.Users.First < 1000 || n.Users.First > maxUser {
		r("agents.users.first", "%d is out of range; write 1000 to %d, such as 730000", n.Users.First, maxUser)
	}
	if n.Users.Count < 0 || n.Users.Count > maxUser-n.Users.First {
		r("agents.users.count", "%d is out of range; write 0 or more, such as 100000", n.Users.Count)
	}
	n.validateBounds(r)
	if n.Nice < 0 || n.Nice > maxNice {
		r("agents.nice", "%d is out of range; write 0 to %d, such as 5", n.Nice, maxNice)
	}
	if n.Grace < time.Second || n.Grace > maxGrace {
		r("agents.grace", "%s is out of range; write 1s to 10m, such as 10s", duration(n.Grace))
	}
	n.Log.validate(r)
	n.Flood.validate(r)
	for _, p := range []struct {
		key   string
		paths []string
	}{{"agents.read", n.Read}, {"agents.write", n.Write}} {
		for i, path := range p.paths {
			if !filepath.IsAbs(path) {
				r(fmt.Sprintf("%s[%d]", p.key, i), "%q is not a whole path; write one that begins with /", path)
			}
		}
	}
}

// validateBounds checks the limits of an agent.
func (n *Agents) validateBounds(r report) {
	if n.Memory < 0 || (n.Memory > 0 && n.Memory < minAgentMemory) {
		r("agents.memory", "%v is too small; write at least %v, or 0 for no bound", n.Memory, minAgentMemory)
	}
	if n.Files < minAgentFiles || n.Files > maxAgentFiles {
		r("agents.files", "%d is out of range; write %d to %d, such as 1024", n.Files, minAgentFiles, maxAgentFiles)
	}
	if n.Processes < minAgentProcesses || n.Processes > maxAgentFiles {
		r("agents.processes", "%d is out of range; write %d to %d, such as 256", n.Processes, minAgentProcesses, maxAgentFiles)
	}
	if n.FileSize < 0 || (n.FileSize > 0 && n.FileSize < minAgentMemory) {
		r("agents.file_size", "%v is too small; write at least %v, or 0 for no bound", n.FileSize, minAgentMemory)
	}
}

func (n *AgentFlood) validate(r report) {
	if n.Messages < minFloodMessages || n.Messages > maxRate {
		r("agents.flood.messages", "%d is out of range; write %d to %d, such as 150000", n.Messages, minFloodMessages, maxRate)
	}
	if n.Bytes < minFloodBytes {
		r("agents.flood.bytes", "%v is too small; write at least %v, such as 96MiB", n.Bytes, minFloodBytes)
	}
	if n.Subscriptions < minSubscriptions || n.Subscriptions > maxSubscriptions {
		r("agents.flood.subscriptions", "%d is out of range; write %d to %d, such as 10000", n.Subscriptions, minSubscriptions, maxSubscriptions)
	}
	if n.Connections < 1 || n.Connections > maxConnections {
		r("agents.flood.connections", "%d is out of range; write 1 to %d, such as 32", n.Connections, maxConnections)
	}
}

func (n *AgentLog) validate(r report) {
	if n.MaxBytes < minAgentLog {
		r("agents.log.max_bytes", "%v is too small; write at least %v, such as 10MiB", n.MaxBytes, minAgentLog)
	}
	if n.Keep < 1 || n.Keep > maxAgentLogs {
		r("agents.log.keep", "%d is out of range; write 1 to %d, such as 5", n.Keep, maxAgentLogs)
	}
	if n.Lines < 1 || n.Lines > maxRate {
		r("agents.log.lines", "%d is out of range; write 1 to %d, such as 500", n.Lines, maxRate)
	}
}

// duration formats a duration as in the file, in quotes.
func duration(t time.Duration) string {
	return fmt.Sprintf("%q", strictyaml.FormatDuration(t))
}
