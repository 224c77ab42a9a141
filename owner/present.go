package owner

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"voltbus/bus/mesh"
)

// The pace at which replicas are asked who is connected to them.
const (
	lookEvery = 2 * time.Second
	lookTime  = time.Second      // for one replica to answer
	seenFor   = 15 * time.Second // somebody counts as connected after it was said
	askFor    = time.Minute      // replicas are asked about somebody after this one was
)

// present is what replicas are asked.
const present = "present"

// Present knows who is connected to any of the replicas. It is safe for concurrent use.
type Present struct {
	mesh  *mesh.Mesh // nil for a node alone
	local func() func(requester string) bool

	mu    sync.Mutex
	asked map[string]time.Time // about whom, and when
	seen  map[string]time.Time // who was connected elsewhere, and when
}

// NewPresent returns who is connected, from a function that says it of this replica. It starts nothing.
func NewPresent(m *mesh.Mesh, local func() func(requester string) bool) *Present {
	return &Present{mesh: m, local: local, asked: map[string]time.Time{}, seen: map[string]time.Time{}}
}

// Look returns a function that reports whether somebody is connected to a replica. It does not wait: what others say of somebody is known
// some seconds after it was asked first.
func (p *Present) Look() func(requester string) bool {
	local := p.local()
	if p.mesh == nil {
		return local
	}
	return func(requester string) bool {
		if local(requester) {
			return true
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked[requester] = time.Now()
		return time.Since(p.seen[requester]) < seenFor
	}
}

// Run asks the other replicas, and answers them, until ctx ends; then it returns nil.
func (p *Present) Run(ctx context.Context) error {
	if p.mesh == nil {
		<-ctx.Done()
		return nil
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	asking.Go(func() { p.follow(ctx) })
	return p.mesh.Answer(ctx, present, p.answer)
}

// answer returns those of a list who are connected to this replica.
func (p *Present) answer(_ context.Context, _ string, data []byte) []byte {
	var list, here []string
	if json.Unmarshal(data, &list) == nil {
		local := p.local()
		for _, requester := range list {
			if local(requester) {
				here = append(here, requester)
			}
		}
	}
	out, err := json.Marshal(here)
	if err != nil { // not of strings
		return []byte("[]")
	}
	return out
}

func (p *Present) follow(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.look(ctx)
		}
	}
}

func (p *Present) look(ctx context.Context) {
	list := p.wanted()
	if len(list) == 0 {
		return
	}
	question, err := json.Marshal(list)
	if err != nil {
		return
	}
	for _, replica := range p.mesh.Others() {
		one, cancel := context.WithTimeout(ctx, lookTime)
		data, err := p.mesh.Ask(one, replica, present, question)
		cancel()
		var there []string
		if err != nil || json.Unmarshal(data, &there) != nil {
			continue
		}
		p.mu.Lock()
		for _, requester := range there {
			p.seen[requester] = time.Now()
		}
		p.mu.Unlock()
	}
}

// wanted returns about whom this replica was asked lately, and forgets the others.
func (p *Present) wanted() (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for requester, at := range p.asked {
		if time.Since(at) > askFor {
			delete(p.asked, requester)
			delete(p.seen, requester)
			continue
		}
		list = append(list, requester)
	}
	return list
}
