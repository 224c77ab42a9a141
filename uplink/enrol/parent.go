// Package enrol makes one node the child of another: invitation codes, joining, key renewal, and the child's record of its parent. It
// makes no decisions about connections, and does not know the bus: it is given functions for requests.
package enrol

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/pki"
	"voltbus/identity/registry"
	"voltbus/internal/atomicfile"
	"voltbus/internal/keymutex"
	"voltbus/point"
)

// Files in a child's data directory.
const (
	ParentFile = "parent.json" // the membership
	ParentCopy = "parent.copy" // a copy, in case the other is damaged
)

// State is the state of a child's membership.
type State string

// The states of a child, at both ends.
const (
	Pending  = State(registry.ChildPending)  // pending approval
	Approved = State(registry.ChildApproved) // may connect
	Revoked  = State(registry.ChildRevoked)  // is shut out
	Expired  = State("expired")              // its bundle was not used in time; it may connect once that is renewed
)

// Membership is what a child knows about its parent. Values are not modified once they are shared.
type Membership struct {
	Parent      string     `json:"parent"`      // the parent's name, for people
	Addresses   []string   `json:"addresses"`   // host:port of the parent's bus, in the order to try
	Fingerprint string     `json:"fingerprint"` // of the parent's authority at the time of joining, in hexadecimal
	Authority   string     `json:"authority"`   // the certificate of the parent's authority, PEM; the newest one learned
	Name        string     `json:"name"`        // this node's name at the parent
	Prefix      point.Path `json:"prefix"`      // below which the parent accepts this node's points; "" for anywhere
	State       State      `json:"state"`
	Why         string     `json:"why,omitempty"` // the state in words, as reported by the parent
	Joined      time.Time  `json:"joined"`
	Bundled     bool       `json:"bundled,omitempty"` // the key came in a bundle, so others may have it: it is replaced on the first connection
}

// Caller is the child's name on the parent's bus.
func (m *Membership) Caller() string { return identity.ChildPrefix + m.Name }

// Parent is the membership of this node, in a file in its data directory, with its keys and the connection. It is safe for
// concurrent use.
type Parent struct {
	Keyring    *Keyring
	Connection *Connection

	dir      string
	now      func() time.Time
	rotating keymutex.Mutex[struct{}]

	mu      sync.Mutex
	current Membership
	member  bool
	changed chan struct{}
	renewed string // the public key being replaced, or last replaced
}

var errMembership = errors.New("it cannot be read as a membership")

// OpenParent reads the membership in the data directory; its absence is no error.
func OpenParent(dir string, now func() time.Time) (*Parent, error) {
	p := &Parent{
		Keyring: &Keyring{dir: dir}, Connection: &Connection{arrived: make(chan struct{})},
		dir: dir, now: now, changed: make(chan struct{}),
	}
	file := filepath.Join(dir, ParentFile)
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return nil, fault.E("enrol.OpenParent", fault.Unavailable, file, err)
	}
	if p.current, err = parseMembership(b); err != nil {
		return nil, fault.E("enrol.OpenParent", fault.Corrupt, file, fmt.Errorf("%w; run: mv '%s' '%s.damaged'", err, file, file))
	}
	p.member = true
	return p, nil
}

// CheckMembership returns what is wrong with the content of ParentFile.
func CheckMembership(content []byte) error {
	_, err := parseMembership(content)
	return err
}

func parseMembership(content []byte) (m Membership, err error) {
	if err := json.Unmarshal(content, &m); err != nil {
		return m, fmt.Errorf("%w: %w", errMembership, err)
	}
	if _, err := pki.ParseTrust(m.Fingerprint, m.Authority); err != nil || m.Name == "" || len(m.Addresses) == 0 {
		return m, errMembership
	}
	return m, nil
}

// Current returns the membership; false if this node has no parent.
func (p *Parent) Current() (Membership, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current, p.member
}

// Changed returns a channel that is closed at the next change of the membership. Ask for it before
// Current, so that no change is missed.
func (p *Parent) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// Put stores a membership durably, then publishes it.
func (p *Parent) Put(m Membership) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.put(m)
}

func (p *Parent) put(m Membership) error {
	b, err := json.MarshalIndent(&m, "", "  ")
	if err != nil {
		return fault.E("enrol.Put", fault.Invalid, ParentFile, err)
	}
	file := filepath.Join(p.dir, ParentFile)
	if err := (atomicfile.Writer{}).Write(file, append(b, '\n'), 0o600); err != nil {
		return fault.E("enrol.Put", fault.Unavailable, file, err)
	}
	p.current, p.member = m, true
	p.notify()
	_ = atomicfile.Writer{}.Write(filepath.Join(p.dir, ParentCopy), append(b, '\n'), 0o600) // only used if the other is damaged
	return nil
}

func (p *Parent) notify() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Report stores what the parent reported about this node's state, if it is new. It does nothing for a node
// without a parent.
func (p *Parent) Report(state State, why string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.member || (p.current.State == state && p.current.Why == why) {
		return nil
	}
	m := p.current
	m.State, m.Why = state, why
	return p.put(m)
}

// Met stores the parent's present name and the prefix that it assigned, if they are new.
func (p *Parent) Met(name string, prefix point.Path) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.member || (p.current.Parent == name && p.current.Prefix == prefix) {
		return nil
	}
	m := p.current
	m.Parent, m.Prefix = name, prefix
	return p.put(m)
}

// learn stores the certificate of a trusted authority. One that cannot be written is learned at the next
// connection: as long as the old one is valid, its endorsement is trusted.
func (p *Parent) learn(authority string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.member || strings.TrimSpace(p.current.Authority) == strings.TrimSpace(authority) {
		return
	}
	m := p.current
	m.Authority = authority
	_ = p.put(m)
}

// TLS returns the configuration for connecting to the parent: it is identified by its fingerprint, whatever
// its name. New certificates of its authority are learned in the process. A clock that is earlier than the
// time of joining is known to be wrong, such as on a board without a battery after its start: that time is
// used instead, so that such a board can connect and its wrong clock be noticed.
func (p *Parent) TLS() (*tls.Config, error) {
	m, member := p.Current()
	if !member {
		return nil, fault.E("enrol.TLS", fault.NotFound, ParentFile, errNoParent)
	}
	trust, err := pki.ParseTrust(m.Fingerprint, m.Authority)
	if err != nil {
		return nil, err
	}
	return trust.ClientConfig(func() time.Time { return later(p.now(), m.Joined) }, p.learn), nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

var errNoParent = errors.New("this node has no parent; voltbus join makes it the child of one")

// Leave removes the parent, with the key that it knew. The parent is not notified: there a person revokes or
// removes the child.
func (p *Parent) Leave() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.member {
		return fault.E("enrol.Leave", fault.NotFound, ParentFile, errNoParent)
	}
	for _, name := range []string{ParentFile, ParentCopy, nextFile, KeyFile} { // the membership first: without it the keys are useless
		if err := os.Remove(filepath.Join(p.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.E("enrol.Leave", fault.Unavailable, name, err)
		}
	}
	p.current, p.member = Membership{}, false
	p.notify()
	return nil
}

// Replaced reports whether the parent has replaced this key by another, or is just being asked to. It ends the connections of
// the replaced key.
func (p *Parent) Replaced(key *identity.Key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewed == key.Public()
}

var errReplaced = errors.New("this key was replaced by a new one; the connection is made anew with that")

// While runs connect with the node's key, and keeps rotations from replacing that key meanwhile. A key already
// replaced is fault.Unreachable: the parent would take a connection with it for that of a copy.
func (p *Parent) While(ctx context.Context, key *identity.Key, connect func() error) error {
	unlock, err := p.rotating.Lock(ctx, struct{}{})
	if err != nil {
		return fault.E("enrol.While", fault.Timeout, KeyFile, fmt.Errorf("a new key is being made: %w", err))
	}
	defer unlock()
	if p.Replaced(key) {
		return fault.E("enrol.While", fault.Unreachable, KeyFile, errReplaced)
	}
	return connect()
}

func (p *Parent) replace(public string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.renewed = public
}
