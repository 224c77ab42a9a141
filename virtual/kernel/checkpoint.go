package kernel

import (
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"voltbus/fault"
)

// checkpointVersion is that of the form below.
const checkpointVersion = 1

// checkpoint is a run at a moment, as JSON.
type checkpoint struct {
	Version  int                    `json:"version"`
	Now      time.Duration          `json:"now"`
	Order    uint64                 `json:"order"`
	Seeds    []Seed                 `json:"seeds"`
	Tally    Tally                  `json:"tally"`
	Failures []Failure              `json:"failures"`
	Digest   []byte                 `json:"digest"` // its inner state
	Due      []*Event               `json:"due"`
	Actors   map[string]memberState `json:"actors"`
	Links    []linkState            `json:"links"`
}

type memberState struct {
	Random []byte `json:"random"`
	State  []byte `json:"state"`
	Failed bool   `json:"failed,omitempty"`
}

type linkState struct {
	Random []byte    `json:"random"`
	Tally  LinkTally `json:"tally"`
	Cuts   []Span    `json:"cuts"` // that were made during the run
}

// Save returns the whole run between two events. It fails with fault.Unavailable, naming the actor, if one of them
// cannot be kept.
func (k *Kernel) Save() ([]byte, error) {
	k.trail.flush(1)
	c := checkpoint{
		Version: checkpointVersion, Now: k.now, Order: k.order, Seeds: k.seeds, Tally: k.tally, Failures: k.failures,
		Due: k.due, Actors: map[string]memberState{},
	}
	var err error
	if c.Digest, err = k.trail.digest.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(k.members)) {
		m := k.members[name]
		s := memberState{Failed: m.failed}
		if s.Random, err = m.source.MarshalBinary(); err != nil {
			return nil, err
		}
		if s.State, err = m.actor.Save(); err != nil {
			return nil, fault.E("kernel.Save", fault.Unavailable, name, err)
		}
		c.Actors[name] = s
	}
	for _, l := range k.links {
		random, err := l.source.MarshalBinary()
		if err != nil {
			return nil, err
		}
		c.Links = append(c.Links, linkState{random, l.tally, l.more})
	}
	return json.Marshal(c)
}

// Load puts a world that was just made, with the same actors and links, to where a run was saved. What happens from then
// on is the same as in that run, until something is changed.
func (k *Kernel) Load(data []byte) error {
	var c checkpoint
	wrong := func(err error) error { return fault.E("kernel.Load", fault.Corrupt, "checkpoint", err) }
	if err := json.Unmarshal(data, &c); err != nil {
		return wrong(err)
	}
	if c.Version != checkpointVersion {
		return wrong(fmt.Errorf("version %d; this program reads %d", c.Version, checkpointVersion))
	}
	if len(c.Links) != len(k.links) || len(c.Seeds) == 0 {
		return wrong(fmt.Errorf("it has %d links and the world %d; branch with the file that the run was made with", len(c.Links), len(k.links)))
	}
	k.trail.digest = sha256.New()
	k.trail.pending.Reset()
	if err := k.trail.digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(c.Digest); err != nil {
		return wrong(err)
	}
	k.now, k.order, k.seeds, k.tally, k.failures = c.Now, c.Order, c.Seeds, c.Tally, c.Failures
	if err := k.loadActors(c.Actors); err != nil {
		return wrong(err)
	}
	for i, s := range c.Links {
		l := k.links[i]
		l.tally, l.more = s.Tally, s.Cuts
		if err := l.source.UnmarshalBinary(s.Random); err != nil {
			return wrong(err)
		}
	}
	return k.loadDue(c.Due)
}

func (k *Kernel) loadActors(states map[string]memberState) error {
	if len(states) != len(k.members) {
		return fmt.Errorf("it has %d actors and the world %d; branch with the file that the run was made with", len(states), len(k.members))
	}
	for name, s := range states {
		m := k.members[name]
		if m == nil {
			return fmt.Errorf("it has an actor %q, and the world has not", name)
		}
		m.failed = s.Failed
		if err := m.source.UnmarshalBinary(s.Random); err != nil {
			return err
		}
		if err := m.actor.Load(s.State); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (k *Kernel) loadDue(due []*Event) error {
	for _, e := range due {
		if e == nil || k.members[e.To] == nil || e.At < k.now || e.Over < 0 || e.Over > len(k.links) {
			return fault.E("kernel.Load", fault.Corrupt, "checkpoint", errors.New("it has an event that cannot come"))
		}
	}
	k.due = due // a heap as it was saved
	return nil
}

// Reseed has all random numbers from now on follow from another seed. Seeds tells of it.
func (k *Kernel) Reseed(seed uint64) {
	k.opts.Seed = seed
	k.seeds = append(k.seeds, Seed{k.now, seed})
	for name, m := range k.members {
		*m.source = *source(seed, "actor "+name)
	}
	for _, l := range k.links {
		*l.source = *source(seed, "link "+l.From+" → "+l.To)
	}
}
