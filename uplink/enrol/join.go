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

// Door is a connection for requests to another node.
type Door interface {
	Ask(ctx context.Context, method string, body []byte) ([]byte, error)
	// Ended is closed when the connection has ended.
	Ended() <-chan struct{}
	Close()
}

// Dial connects to the bus of another node, which config authenticates, with a key and a name. It fails with
// fault.Refused if a different node answers or the key is unknown there, fault.Unreachable if none answers.
type Dial func(ctx context.Context, address string, config *tls.Config, key *identity.Key, name string) (Door, error)

// JoinRequest is what a node reports about itself when it joins.
type JoinRequest struct {
	Name    string // the name it asks for; "" for the invitation's, or else Node
	Node    string // its own name
	Version string // version of its program
}

// ErrSelf means that a node was given its own code.
var ErrSelf = errors.New("the code is one of this node itself; run voltbus join on the node that is to join")

var errMember = errors.New("this node has a parent already; voltbus leave makes it forget that one")

// Join makes this node the child of the node that issued a code: it generates a key, sends the request, and
// stores the membership, which may still be pending approval. It can be repeated after any failure: the key
// stays the same until the node has a parent.
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

// first moves the address that answered to the front.
func first(addresses []string, at int) []string {
	list := []string{addresses[at]}
	for i, a := range addresses {
		if i != at {
			list = append(list, a)
		}
	}
	return list
}

// apply enrols at the first address that answers, and returns that address.
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

// question sends a request and decodes the answer.
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

// dialAny tries the addresses in turn. A refusal takes precedence over silence. If ctx has a deadline, each address
// gets its share of the time, so that unresponsive ones leave some for the others.
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

// dialOne tries one of the given number of remaining addresses.
func dialOne(ctx context.Context, address string, left int, dial func(context.Context, string) (Door, error)) (Door, error) {
	if end, ok := ctx.Deadline(); ok {
		part, cancel := context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
		ctx = part
	}
	return dial(ctx, address)
}

// Open connects to the parent with a key that it accepts, and settles on that key. A child that is pending,
// shut out, or already connected is admitted only to be told so when it asks.
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

// Check asks the parent for the state of this node, and stores it. Its error is the parent's answer: for a
// pending node it is fault.Unavailable. wait, if not nil, is closed when it is worth asking again.
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

// Rotate generates a new key, makes the parent accept it in place of the old one, and uses it from then on. A
// crash at any moment leaves a key that the parent accepts. It uses the attached connection, or else its own;
// if the parent reports an existing connection, this program may be establishing it just now, and Rotate
// waits for it. Rotations are serialised.
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
		return next, nil // that connection already has it
	}
	return p.rotate(ctx, dial)
}

// rotate is Rotate without waiting. With an error it may return the key that was about to be accepted.
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
	if fault.Is(err, fault.Unreachable) || fault.Is(err, fault.Timeout) { // the old key's connection ends when the new one is accepted
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

// comeBack makes a connection with the old key reconnect with the new one, which no copy has.
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

// taken returns nil if the parent knows the key, and otherwise the given error.
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
