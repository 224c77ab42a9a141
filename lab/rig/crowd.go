package rig

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/pki"
	"voltbus/internal/memory"
	"voltbus/operation/children"
	"voltbus/uplink/sender"
)

// Crowd is many children of a node in one process: each has a key, an encrypted connection and the
// sender of a node, but its log is in memory, and it reports a few samples each interval.
type Crowd struct {
	Address     string        `json:"address"` // of the parent's bus
	Fingerprint string        `json:"fingerprint"`
	Authority   string        `json:"authority"`
	Keys        string        `json:"keys"` // folder, see Register
	Children    int           `json:"children"`
	Points      int           `json:"points"` // of each child, one sample of each a report
	Interval    time.Duration `json:"interval"`
}

const (
	crowdKind = "crowd"
	orderLook = "look"
)

// CrowdStatus is how a crowd is.
type CrowdStatus struct {
	Connected    int    `json:"connected"`
	Produced     uint64 `json:"produced"`     // samples
	Acknowledged uint64 `json:"acknowledged"` // by the parent
}

// CrowdName is the name of a child of a crowd.
func CrowdName(i int) string { return "child-" + strconv.Itoa(i+1) }

// Register makes the keys of a crowd in a folder and has the children known by the parent.
func (c *Crowd) Register(ctx context.Context, parent *Running) error {
	door, err := client.Do(ctx, parent.Client, children.Reach, struct{}{})
	if err != nil {
		return err
	}
	c.Address, c.Fingerprint, c.Authority = parent.Bus, door.Fingerprint, door.Authority
	for i := range c.Children {
		key, err := identity.OpenKey(c.key(i))
		if err != nil {
			return err
		}
		name := CrowdName(i)
		if _, err := client.Do(ctx, parent.Client, children.Add, client.NewChild{Name: name, Public: key.Public(), Prefix: "crowd/" + name}.Arguments()); err != nil {
			return err
		}
	}
	return nil
}

func (c *Crowd) key(i int) string { return filepath.Join(c.Keys, CrowdName(i)+".nk") }

// Open starts the process. Stop it.
func (c *Crowd) Open(program []string) (*Gathered, error) {
	child, err := Start(program, crowdKind, c)
	return &Gathered{child}, err
}

// Gathered is a crowd that runs. One goroutine uses it.
type Gathered struct{ *Child }

// Look returns how the crowd is.
func (g *Gathered) Look() (CrowdStatus, error) { return g.order(orderLook) }

// Hush ends the reports. What was reported before is sent.
func (g *Gathered) Hush() (CrowdStatus, error) { return g.order(orderHush) }

func (g *Gathered) order(what string) (s CrowdStatus, err error) {
	if _, err := fmt.Fprintln(g.In, what); err != nil {
		return s, g.failed(err)
	}
	return s, g.Next(&s)
}

// serveCrowd plays the children in this process until in is closed.
func serveCrowd(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	lines.Scan()
	var c Crowd
	if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
		return fault.E("rig.Serve", fault.Invalid, crowdKind, err)
	}
	memory.Tune()
	trust, err := pki.ParseTrust(c.Fingerprint, c.Authority)
	if err != nil {
		return err
	}
	config := trust.ClientConfig(time.Now, func(string) {})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	talking, hush := context.WithCancel(ctx)
	defer hush()
	var running sync.WaitGroup
	members := make([]*member, c.Children)
	for i := range members {
		if members[i], err = c.member(i, config); err != nil {
			return err
		}
		running.Go(func() { _ = members[i].sender.Run(ctx) }) // always nil
		running.Go(func() { members[i].report(talking, &c, i) })
	}
	for lines.Scan() {
		if lines.Text() == orderHush {
			hush()
		}
		if err := say(out, look(members)); err != nil {
			break
		}
	}
	cancel()
	running.Wait()
	return nil
}

func look(members []*member) (s CrowdStatus) {
	for _, m := range members {
		status := m.sender.Status()
		if status.State == sender.Connected {
			s.Connected++
		}
		for i := range status.Origins {
			s.Acknowledged += status.Origins[i].Position.Samples
		}
		s.Produced += m.log.position().Samples
	}
	return s
}
