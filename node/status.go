package node

import (
	"context"
	"math"
	"sync"
	"time"

	"voltbus/device"
	"voltbus/internal/host"
	"voltbus/uplink/enrol"
	"voltbus/uplink/replica"
	"voltbus/uplink/sender"
)

// gauge measures how much of the processors this process uses between two looks.
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

// openReports lets this node report to its parent, and children to it.
func openReports(_ context.Context, n *Node) error {
	use := new(gauge)
	n.reporter = replica.NewReporter(replica.Config{
		Own:     func(ctx context.Context) replica.Status { return n.status(ctx, use) },
		Origins: n.ownOrigins, Ledger: n.ledgers.Here, Parent: n.neighbours.Parent, Up: n.neighbours.AskParent,
		Down: func(ctx context.Context, child, method string, body []byte) ([]byte, error) {
			return n.neighbours.AskNewer(ctx, child, method, body, "tell its ledger")
		},
		Kept: n.heads.FromParent, File: n.kept, Log: n.log, Now: now,
	}, n.nodes)
	return nil
}

// figures is to how many digits a figure is told that changes all the time.
const figures = 3

// status says how this node is.
func (n *Node) status(ctx context.Context, use *gauge) replica.Status {
	s := replica.Status{
		Version: n.opts.Version.Version, Roles: n.roles(), Started: n.started.Unix(),
		Memory: int64(replica.Rounded(float64(host.Memory()), figures)), CPU: math.Round(use.look()*100) / 100,
		Alerts: len(n.presence.List()), Health: n.Health(ctx).Status, Audit: n.heads.Own(),
	}
	free, size := host.FreeSpace(n.opts.Config.Node.Data)
	s.Disk, s.DiskSize = int64(replica.Rounded(float64(free), figures)), size
	if t, known := host.Temperature(host.System()); known {
		t = math.Round(2*t) / 2
		s.Temperature = &t
	}
	for _, d := range n.fleet.Devices() {
		s.Devices++
		s.Points += d.Points
		if d.Status == device.Offline || d.Status == device.Hung || d.Refuses {
			s.DevicesFailing++
		}
	}
	s.Agents, s.AgentsFailing = n.failingAgents()
	if n.settings != nil {
		s.Note = n.settings.Note()
	}
	if damage := n.audit.Status().Damage; s.Note == "" && damage != "" {
		s.Note = "the audit log is damaged: " + damage
	}
	n.linkStatus(ctx, &s)
	return s
}

// roles says in words what this node is there for, by what it is made of.
func (n *Node) roles() []string {
	cfg := n.Config()
	_, member := n.parent.Current()
	var words []string
	for _, r := range []struct {
		word string
		is   bool
	}{
		{"collector", len(cfg.Devices) > 0},
		{"concentrator", len(n.neighbours.Children()) > 0},
		{"store", n.history.Store() != nil},
		{"agents", len(n.agents.List()) > 0},
		{"child", member},
	} {
		if r.is {
			words = append(words, r.word)
		}
	}
	return words
}

// failingAgents counts the agents, and those that do not work.
func (n *Node) failingAgents() (all, failing int) {
	names := map[string]bool{}
	if n.supervisor != nil {
		for _, a := range n.supervisor.List() {
			names[a.Name] = true
		}
	}
	for _, a := range n.agents.List() {
		if a.Active() {
			names[a.Name] = true
		}
	}
	return len(names), len(n.health.Agents())
}

// linkStatus says how the way to the parent is, and what waits for it.
func (n *Node) linkStatus(ctx context.Context, s *replica.Status) {
	m, member := n.parent.Current()
	if !member {
		return
	}
	up := n.sender.Status()
	s.Link = string(up.State)
	switch {
	case m.State != enrol.Approved:
		s.Link, s.LinkNote = string(m.State), m.Why
	case s.Link == "":
		s.Link = string(sender.Connecting)
	case up.Err != nil:
		s.LinkNote = up.Err.Error()
	default:
		for i := range up.Origins {
			if err := up.Origins[i].Err; err != nil {
				s.LinkNote = err.Error()
			}
		}
	}
	if s.Waiting = n.waiting(); s.Waiting == 0 {
		return
	}
	log, err := n.blocks.State(ctx)
	place := max(n.sender.Place()+1, log.First)
	if err != nil || place > log.Last {
		return
	}
	share := float64(log.Last-place+1) / float64(log.Last-log.First+1)
	s.WaitingOctets = uint64(replica.Rounded(share*float64(log.Bytes), figures))
	if at, err := n.blocks.Written(ctx, place); err == nil {
		s.WaitingSince = at.Unix()
	}
}

// waiting counts the samples that the parent does not have yet, those that the selection leaves out
// included until it is known that they are.
func (n *Node) waiting() (samples uint64) {
	has := n.sender.Acknowledged()
	for origin, p := range n.ownPositions() {
		samples += p.Samples - min(p.Samples, has[origin].Samples)
	}
	for origin, p := range n.recorder.Others() {
		samples += p.Samples - min(p.Samples, has[origin].Samples)
	}
	return samples
}
