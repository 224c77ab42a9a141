// Package ownstatus reports the status of a node to its parent.
package ownstatus

import (
	"context"
	"math"
	"sync"
	"time"

	"voltbus/agent"
	"voltbus/audit"
	"voltbus/audit/head"
	"voltbus/config"
	"voltbus/device"
	"voltbus/health"
	"voltbus/history"
	"voltbus/identity/registry"
	"voltbus/internal/host"
	"voltbus/operation/configuration"
	"voltbus/presence"
	"voltbus/uplink/enrol"
	"voltbus/uplink/neighbour"
	"voltbus/uplink/replica"
)

// Own holds the parts of this node from which its status is derived. It is safe for concurrent use.
type Own struct {
	Version    string
	Data       string // the data directory
	Started    time.Time
	Config     func() *config.Config // in use
	Health     *health.Health
	Heads      *head.Heads
	Audit      *audit.Log
	Presence   *presence.AgentHealth
	Fleet      *device.Fleet
	Settings   *configuration.Part // nil for a node without a file
	Agents     *registry.Agents
	Supervisor *agent.Supervisor // nil for a node that runs no agents
	History    *history.History
	Parent     *enrol.Parent
	Neighbours *neighbour.Neighbours
	Link       *Link

	use gauge
}

// gauge measures the processor use of this process between two readings.
type gauge struct {
	mu   sync.Mutex
	at   time.Time
	used time.Duration
}

func (g *gauge) look() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, used := time.Now(), host.Processor()
	before, had := used-g.used, !g.at.IsZero()
	took := now.Sub(g.at)
	g.at, g.used = now, used
	if !had || took <= 0 {
		return 0
	}
	return before.Seconds() / took.Seconds()
}

// figures is the number of digits of constantly changing figures.
const figures = 3

// Status returns this node's status.
func (o *Own) Status(ctx context.Context) replica.Status {
	v := o.Health.Verdict(ctx)
	s := replica.Status{
		Version: o.Version, Roles: o.roles(), Started: o.Started.Unix(),
		Memory: int64(replica.Rounded(float64(host.Memory()), figures)), CPU: math.Round(o.use.look()*100) / 100,
		Alerts: v.Counts.AlarmsHere, Health: health.Status(v.Concerns), Audit: o.Heads.Own(),
	}
	free, size := host.FreeSpace(o.Data)
	s.Disk, s.DiskSize = int64(replica.Rounded(float64(free), figures)), size
	if t, known := host.Temperature(host.System()); known {
		t = math.Round(2*t) / 2
		s.Temperature = &t
	}
	for _, d := range o.Fleet.Devices() {
		s.Devices++
		s.Points += d.Points
		if d.Status == device.Offline || d.Status == device.Hung || d.Refuses {
			s.DevicesFailing++
		}
	}
	s.Agents, s.AgentsFailing = o.failingAgents()
	if o.Settings != nil {
		s.Note = o.Settings.Note()
	}
	if damage := o.Audit.Status().Damage; s.Note == "" && damage != "" {
		s.Note = "the audit log is damaged: " + damage
	}
	o.Link.Add(ctx, &s)
	return s
}

// roles returns the roles of this node, derived from its parts.
func (o *Own) roles() []string {
	cfg := o.Config()
	_, member := o.Parent.Current()
	var words []string
	for _, r := range []struct {
		word string
		is   bool
	}{
		{"collector", len(cfg.Devices) > 0},
		{"concentrator", len(o.Neighbours.Children()) > 0},
		{"store", o.History.Store() != nil},
		{"agents", len(o.Agents.List()) > 0},
		{"child", member},
	} {
		if r.is {
			words = append(words, r.word)
		}
	}
	return words
}

// failingAgents counts the agents, and those that do not work.
func (o *Own) failingAgents() (all, failing int) {
	names := map[string]bool{}
	if o.Supervisor != nil {
		for _, a := range o.Supervisor.List() {
			names[a.Name] = true
		}
	}
	for _, a := range o.Agents.List() {
		if a.Active() {
			names[a.Name] = true
		}
	}
	return len(names), len(o.Health.Agents())
}
