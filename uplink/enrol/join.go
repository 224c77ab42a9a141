package enrol

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/pki"
	"voltbus/identity/registry"
)

// Door is a connection on which another node can be asked.
type Door interface {
	Ask(ctx context.Context, method string, body []byte) ([]byte, error)
	// Ended is closed when the connection has ended.
	Ended() <-chan struct{}
	Close()
}

// Dial connects to the bus of another node, which config recognises, with a key, under a name. It fails
// with fault.Refused if another node answers or the key is not known there, fault.Unreachable if nobody
// answers.
type Dial func(ctx context.Context, address string, config *tls.Config, key *identity.Key, name string) (Door, error)

// JoinRequest is what a node says of itself when it joins.
type JoinRequest struct {
	Name    string // what it wants to be called; "" for what the invitation says, or else Node
	Node    string // what it calls itself
	Version string // of its program
}

// ErrSelf says that a node was given a code of its own.
var ErrSelf = errors.New("the code is one of this node itself; run voltbus join on the node that is to join")

var errMember = errors.New("this node has a parent already; voltbus leave makes it forget that one")

// Join makes this node the child of the one that a code is of: it makes a key, asks, and keeps the
// membership, which may still wait for approval. It can be repeated after anything that went wrong:
// the key is the same until the node has a parent.
func (p *Parent) Join(ctx context.Context, code *Code, wish JoinRequest, dial Dial) (Membership, error) {
	if m, member := p.Current(); member {
		return m, fault.E("enrol.Join", fault.Conflict, m.Parent, errMember)
	}
	key, err := identity.OpenKey(filepath.Join(p.dir, KeyFile))
	if err != nil {
		return Membership{}, err
	}
	welcome, at, err := p.apply(ctx, code, key, wish, dial)
	if err != nil {
		return Membership{}, err
	}
	m := Membership{
		Parent: welcome.Node, Addresses: first(code.Addresses, at), Fingerprint: code.Fingerprint.String(), Authority: welcome.Authority,
		Name: welcome.Name, Prefix: welcome.Prefix, State: welcome.State, Joined: p.now().UTC(),
	}
	return m, p.Put(m)
}

// first puts the address that answered before the others.
func first(addresses []string, at int) []string {
	list := []string{addresses[at]}
	for i, a := range addresses {
		if i != at {
			list = append(list, a)
		}
	}
	return list
}

// apply enrols at the first address that answers, and returns which that was.
func (p *Parent) apply(ctx context.Context, code *Code, key *identity.Key, wish JoinRequest, dial Dial) (*Welcome, int, error) {
	inviter, err := code.Secret.Key()
	if err != nil {
		return nil, 0, err
	}
	id := registry.InviteID(inviter.Public())
	proof, err := key.Sign(registry.JoinText(id, wish.Name, wish.Node, key.Public()))
	if err != nil {
		return nil, 0, err
	}
	body, err := json.Marshal(Request{Name: wish.Name, Node: wish.Node, Public: key.Public(), Proof: proof, Version: wish.Version})
	if err != nil {
		return nil, 0, fault.E("enrol.Join", fault.Invalid, wish.Name, err)
	}
	config := pki.Trust{Fingerprint: code.Fingerprint}.ClientConfig(p.now, nil)
	door, at, err := dialAny(ctx, code.Addresses, func(ctx context.Context, address string) (Door, error) {
		return dial(ctx, address, config.Clone(), inviter, identity.InvitePrefix+id)
	})
	if err != nil {
		return nil, 0, err
	}
	defer door.Close()
	var w Welcome
	return &w, at, question(ctx, door.Ask, MethodEnrol, body, &w)
}

// question asks and reads the answer.
func question(ctx context.Context, ask Asker, method string, body []byte, into *Welcome) error {
	b, err := ask(ctx, method, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil || into.Name == "" {
		return fault.E("enrol.question", fault.Corrupt, method, fmt.Errorf("the answer cannot be read: %w", errors.Join(err, errRequest)))
	}
	return nil
}

// dialAny tries the addresses in turn. A refusal counts more than silence. If ctx has an end, each address gets its
// part of the time, so that those where nobody answers leave some for the others.
func dialAny(ctx context.Context, addresses []string, dial func(context.Context, string) (Door, error)) (Door, int, error) {
	var worst error
	for i, address := range addresses {
		door, err := dialOne(ctx, address, len(addresses)-i, dial)
		if err == nil {
			return door, i, nil
		}
		if worst == nil || (fault.Is(err, fault.Refused) && !fault.Is(worst, fault.Refused)) {
			worst = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, 0, worst
}

// dialOne tries one of so many addresses that are left.
func dialOne(ctx context.Context, address string, left int, dial func(context.Context, string) (Door, error)) (Door, error) {
	if end, ok := ctx.Deadline(); ok {
		part, cancel := context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
		ctx = part
	}
	return dial(ctx, address)
}

// Open connects to the parent with a key that it takes, and settles on that. Who waits for approval, is
// shut out, or is connected already is admitted only to hear that when it asks.
func (p *Parent) Open(ctx context.Context, dial Dial) (Door, *identity.Key, error) {
	m, member := p.Current()
	if !member {
		return nil, nil, fault.E("enrol.Open", fault.NotFound, ParentFile, errNoParent)
	}
	config, err := p.TLS()
	if err != nil {
		return nil, nil, err
	}
	keys, err := p.Keyring.Read()
	if err != nil {
		return nil, nil, err
	}
	for i, key := range keys {
		door, _, err := dialAny(ctx, m.Addresses, func(ctx context.Context, address string) (Door, error) {
			return dial(ctx, address, config.Clone(), key, m.Caller())
		})
		if err == nil {
			return door, key, p.Keyring.Settled(key)
		}
		if i == len(keys)-1 || !fault.Is(err, fault.Refused) {
			return nil, nil, err
		}
	}
	return nil, nil, fault.E("enrol.Open", fault.NotFound, KeyFile, errNoParent) // there is always a key, or an error
}

// Check asks the parent how this node stands with it, and keeps that. Its error is what the parent
// answers, so that of a node that waits is fault.Unavailable and says so. wait, if not nil, is closed
// when it is worth to ask again.
func (p *Parent) Check(ctx context.Context, dial Dial) (wait <-chan struct{}, end func(), err error) {
	door, _, err := p.Open(ctx, dial)
	if err != nil {
		return nil, func() {}, err
	}
	var w Welcome
	if err = question(ctx, door.Ask, MethodWho, nil, &w); err == nil {
		defer door.Close()
		return nil, func() {}, errors.Join(p.Met(w.Node, w.Prefix), p.Report(w.State, ""))
	}
	if state, why := StateOf(err); state != "" {
		err = errors.Join(err, p.Report(state, why))
	}
	return door.Ended(), door.Close, err
}

// Rotate makes a new key, has the parent take it in place of the old one, and uses it from then on. A
// crash at any moment leaves a key that the parent takes. It asks on the connection that is attached, or
// else on one of its own; if the parent says that there is one already, this program may be making it
// just now, and it is waited for. Rotations come one after another.
func (p *Parent) Rotate(ctx context.Context, dial Dial) (*identity.Key, error) {
	unlock, err := p.rotating.Lock(ctx, struct{}{})
	if err != nil {
		return nil, fault.E("enrol.Rotate", fault.Timeout, KeyFile, fmt.Errorf("another new key is being made: %w", err))
	}
	defer unlock()
	next, err := p.rotate(ctx, dial)
	if !heldBack(err) || !p.Connection.await(ctx) {
		return next, err
	}
	if used, rerr := identity.ReadKey(filepath.Join(p.dir, KeyFile)); rerr == nil && next != nil && used.Public() == next.Public() {
		return next, nil // that connection has it already
	}
	return p.rotate(ctx, dial)
}

// rotate is Rotate without patience. With an error it may return the key that was about to be taken.
func (p *Parent) rotate(ctx context.Context, dial Dial) (*identity.Key, error) {
	m, member := p.Current()
	if !member {
		return nil, fault.E("enrol.Rotate", fault.NotFound, ParentFile, errNoParent)
	}
	asking := p.Connection.attached()
	if asking == nil {
		door, _, err := p.Open(ctx, dial)
		if err != nil {
			return nil, err
		}
		defer door.Close()
		asking = door.Ask
	}
	old, next, err := p.Keyring.pair()
	if err != nil {
		return nil, err
	}
	body, err := rotation(m.Name, old, next)
	if err != nil {
		return nil, err
	}
	var w Welcome
	p.replace(old.Public())
	err = question(ctx, asking, MethodRotate, body, &w)
	if fault.Is(err, fault.Unreachable) || fault.Is(err, fault.Timeout) { // the old key's connection ends when the new one is taken
		err = p.taken(ctx, next, dial, err)
	}
	if err != nil {
		p.replace("")
		return next, err
	}
	if err := p.Keyring.Settled(next); err != nil {
		return nil, err
	}
	return next, p.comeBack()
}

// comeBack makes whoever is connected with the old key come back with the new one, which nobody else has.
func (p *Parent) comeBack() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.current.Bundled {
		p.notify()
		return nil
	}
	m := p.current
	m.Bundled = false
	return p.put(m)
}

// taken returns nil if the parent knows the key, or else otherwise.
func (p *Parent) taken(ctx context.Context, next *identity.Key, dial Dial, otherwise error) error {
	door, key, err := p.Open(ctx, dial)
	if err != nil {
		return errors.Join(otherwise, err)
	}
	door.Close()
	if key.Public() != next.Public() {
		return otherwise
	}
	return nil
}

func rotation(name string, old, next *identity.Key) ([]byte, error) {
	text := registry.RotateText(name, old.Public(), next.Public())
	proof, err := next.Sign(text)
	if err != nil {
		return nil, err
	}
	consent, err := old.Sign(text)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Rotation{Public: next.Public(), Proof: proof, Consent: consent})
}
