package enrol_test

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/bus"
	"voltbus/bus/dispatch"
	"voltbus/bus/peer"
	"voltbus/bus/permit"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/pki"
	"voltbus/identity/registry"
	"voltbus/uplink/enrol"
	"voltbus/wire"
)

// clock is set by hand. It is safe for concurrent use.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// house is a parent: a bus with a registry of children, wired as the node does it.
type house struct {
	t        testing.TB
	bus      *bus.Bus
	certs    *pki.Certificates
	children *registry.Children
	refused  chan bus.Violation
	tls      string
	clock    *clock
}

func openHouse(t testing.TB, name, dir string, c *clock) *house {
	t.Helper()
	h := &house{t: t, refused: make(chan bus.Violation, 1000), tls: filepath.Join(dir, "tls"), clock: c}
	store, err := catalog.Open(t.Context(), dir, c.now)
	must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	h.children, err = registry.OpenChildren(t.Context(), store, c.now)
	must(t, err)
	h.certs, err = pki.Open(h.tls, name, nil, c.now)
	must(t, err)
	key, err := identity.OpenKey(filepath.Join(dir, "node.nk"))
	must(t, err)
	h.bus, err = bus.Open(bus.Config{
		Name: name, Dir: t.TempDir(), Listen: "127.0.0.1:0", TLS: h.certs.ServerConfig(), Key: key,
		Log: slog.New(slog.DiscardHandler), Refused: func(v bus.Violation) { h.refused <- v },
		Admit: func(public string) (permit.Permit, bool) {
			if c, known := h.children.ByKey(public); known {
				return permit.Child(&c, public, h.clock.now()), true
			}
			i, known := h.children.InvitationOf(public)
			return permit.Invitation(&i), known
		},
	})
	must(t, err)
	t.Cleanup(func() { _ = h.bus.Close() })
	h.children.Notify(func(c registry.ChildChange) {
		for _, key := range c.Keys {
			h.bus.Repermit(key)
		}
	})
	host := enrol.NewHost(name, h.children, h.certs.Authority, func(context.Context, enrol.Entry) {})
	must(t, h.bus.Serve(wire.CallPrefix+wire.NodeName+".", func(ctx context.Context, r dispatch.Request) {
		_ = r.Respond(host.Answer(ctx, r.From, r.Method, r.Data))
	}))
	return h
}

// code makes an invitation.
func (h *house) code(wish registry.Invitation) *enrol.Code {
	h.t.Helper()
	if wish.Expires.IsZero() {
		wish.Expires = h.clock.now().Add(time.Hour)
	}
	_, secret, err := h.children.Invite(h.t.Context(), wish)
	must(h.t, err)
	fingerprint, err := pki.ParseFingerprint(h.certs.Fingerprint())
	must(h.t, err)
	return &enrol.Code{Addresses: []string{h.bus.Addr()}, Fingerprint: fingerprint, Secret: secret}
}

func knock(ctx context.Context, address string, config *tls.Config, key *identity.Key, name string) (enrol.Door, error) {
	j, err := peer.Join(ctx, address, config, key, name)
	if err != nil {
		return nil, err
	}
	return j, nil
}

func openParent(t testing.TB, dir string, c *clock) *enrol.Parent {
	t.Helper()
	p, err := enrol.OpenParent(dir, c.now)
	must(t, err)
	return p
}

// check asks how the child stands.
func check(t testing.TB, p *enrol.Parent) error {
	t.Helper()
	_, end, err := p.Check(t.Context(), knock)
	end()
	return err
}

// joined is a child that is approved, and the folder of its membership.
func (h *house) joined(name string) (*enrol.Parent, string) {
	h.t.Helper()
	dir := h.t.TempDir()
	p := openParent(h.t, dir, h.clock)
	_, err := p.Join(h.t.Context(), h.code(registry.Invitation{Approved: true}), enrol.JoinRequest{Node: name}, knock)
	must(h.t, err)
	return p, dir
}

func TestACodeSurvivesMailsAndIsRefusedWhenItDoesNot(t *testing.T) {
	c := &enrol.Code{
		Addresses: []string{"campus.example.org:4222", "10.0.0.1:4222"}, Fingerprint: pki.Fingerprint{1, 2, 3}, Secret: registry.NewInviteSecret(),
	}
	text := c.String()
	got, err := enrol.ParseCode(" " + text[:40] + "\r\n  " + text[40:] + "\n")
	if err != nil || got.String() != text {
		t.Fatalf("read back: %v", err)
	}
	for i := range text {
		wrong := []byte(text)
		if wrong[i] == 'A' {
			wrong[i] = 'B'
		} else {
			wrong[i] = 'A'
		}
		if _, err := enrol.ParseCode(string(wrong)); !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), text[10:30]) {
			t.Fatalf("character %d is wrong: %v", i, err)
		}
	}
	for _, short := range []string{"", "vb1", text[:len(text)-1], text + "A", strings.Repeat("vb1A", 5000)} {
		if _, err := enrol.ParseCode(short); !fault.Is(err, fault.Invalid) {
			t.Errorf("%.10q gives %v", short, err)
		}
	}
	rows, err := c.QR()
	if err != nil || len(rows) < 21 || len(rows) > 61 || !strings.HasPrefix(rows[0], "11111110") {
		t.Errorf("the picture has %d rows, %v", len(rows), err)
	}
}

func FuzzACodeFromAnywhereIsReadOrRefused(f *testing.F) {
	c := enrol.Code{Addresses: []string{"a:1"}}
	f.Add(c.String())
	f.Add("vb1AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := enrol.ParseCode(text)
		if err == nil && got.String() != strings.Join(strings.Fields(text), "") {
			t.Errorf("%q is read as %q", text, got)
		}
	})
}

func TestAnExpiredCodeIsRefused(t *testing.T) {
	c := &clock{}
	h := openHouse(t, "campus", t.TempDir(), c)
	code := h.code(registry.Invitation{})
	c.advance(2 * time.Hour)
	_, err := openParent(t, t.TempDir(), c).Join(t.Context(), code, enrol.JoinRequest{Node: "plant"}, knock)
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "has expired") {
		t.Errorf("an expired code: %v", err)
	}
}

func TestAttackACodeOfNobodyIsRefused(t *testing.T) {
	c := &clock{}
	h := openHouse(t, "campus", t.TempDir(), c)
	code := h.code(registry.Invitation{})
	code.Secret = registry.NewInviteSecret()
	_, err := openParent(t, t.TempDir(), c).Join(t.Context(), code, enrol.JoinRequest{Node: "plant"}, knock)
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "does not know this code") {
		t.Errorf("a wrong code: %v", err)
	}
}

func TestAttackAManInTheMiddleIsRefused(t *testing.T) {
	c := &clock{}
	h, other := openHouse(t, "campus", t.TempDir(), c), openHouse(t, "campus", t.TempDir(), c)
	code := h.code(registry.Invitation{Approved: true})
	honest := code.Addresses
	code.Addresses = []string{other.bus.Addr()}
	p := openParent(t, t.TempDir(), c)
	_, err := p.Join(t.Context(), code, enrol.JoinRequest{Node: "plant"}, knock)
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "does not come from the authority") {
		t.Fatalf("another node answers: %v", err)
	}
	code.Addresses = append(code.Addresses, honest...)
	if m, err := p.Join(t.Context(), code, enrol.JoinRequest{Node: "plant"}, knock); err != nil || m.Addresses[0] != honest[0] {
		t.Errorf("the honest one at the next address: %+v, %v", m, err)
	}
}

func TestAnAnswerThatWasLostCanBeAskedForAgain(t *testing.T) {
	c := &clock{}
	h := openHouse(t, "campus", t.TempDir(), c)
	code, p := h.code(registry.Invitation{}), openParent(t, t.TempDir(), c)
	lossy := func(ctx context.Context, address string, config *tls.Config, key *identity.Key, name string) (enrol.Door, error) {
		d, err := knock(ctx, address, config, key, name)
		return deaf{d}, err
	}
	if _, err := p.Join(t.Context(), code, enrol.JoinRequest{Node: "plant"}, lossy); !errors.Is(err, errLost) {
		t.Fatalf("the lost answer: %v", err)
	}
	if m, err := p.Join(t.Context(), code, enrol.JoinRequest{Node: "plant"}, knock); err != nil || m.State != enrol.Pending {
		t.Errorf("the second try: %+v, %v", m, err)
	}
	if list := h.children.List(); len(list) != 1 {
		t.Errorf("the children are %+v", list)
	}
}

var errLost = fault.E("test", fault.Unreachable, "", errors.New("the cable was pulled"))

// deaf is a connection whose answers are lost.
type deaf struct{ enrol.Door }

// Ask implements enrol.Door.
func (d deaf) Ask(ctx context.Context, method string, body []byte) ([]byte, error) {
	if _, err := d.Door.Ask(ctx, method, body); err != nil {
		return nil, err
	}
	return nil, errLost
}

// stay connects as a node does that stays: it listens.
func stay(ctx context.Context, address string, config *tls.Config, key *identity.Key, name string) (enrol.Door, error) {
	p, err := peer.DialParent(ctx, peer.Way{Address: address, TLS: config}, key, name)
	if err != nil {
		return nil, err
	}
	return p, p.Serve(func(context.Context, dispatch.Request) {})
}

func TestAttackACopiedKeyIsKeptAsideAndTold(t *testing.T) {
	h := openHouse(t, "campus", t.TempDir(), &clock{})
	p, _ := h.joined("plant")
	first, _, err := p.Open(t.Context(), stay)
	must(t, err)
	defer first.Close()
	if _, err := first.Ask(t.Context(), enrol.MethodWho, nil); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := check(t, p); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "is connected already") {
			t.Fatalf("the second one: %v", err)
		}
	}
	v := <-h.refused
	if v.Name != "@plant" || v.Conflict == "" || v.Address == "" {
		t.Errorf("told %+v", v)
	}
	if len(h.refused) > 0 {
		t.Errorf("told once more: %+v", <-h.refused)
	}
	if _, err := first.Ask(t.Context(), enrol.MethodWho, nil); err != nil {
		t.Errorf("the first one: %v", err)
	}
}

func TestARevokedChildIsCutOffAtOnceAndHearsWhy(t *testing.T) {
	h := openHouse(t, "campus", t.TempDir(), &clock{})
	p, _ := h.joined("plant")
	door, _, err := p.Open(t.Context(), knock)
	must(t, err)
	_, err = h.children.Revoke(t.Context(), "plant", "ann")
	must(t, err)
	<-door.Ended()
	if err := check(t, p); !fault.Is(err, fault.Refused) {
		t.Errorf("it returns: %v", err)
	}
	if m, _ := p.Current(); m.State != enrol.Revoked || !strings.Contains(m.Why, "was shut out") {
		t.Errorf("it knows %+v", m)
	}
}

// Each crash leaves files as they are after a step of Rotate.
func TestACrashDuringRotationLeavesAKeyThatTheParentTakes(t *testing.T) {
	h := openHouse(t, "campus", t.TempDir(), &clock{})
	crash := errors.New("crash")
	for name, dial := range map[string]enrol.Dial{
		"before": func(ctx context.Context, a string, c *tls.Config, k *identity.Key, n string) (enrol.Door, error) {
			d, err := knock(ctx, a, c, k, n)
			return broken{d, crash, false}, err
		},
		"after": func(ctx context.Context, a string, c *tls.Config, k *identity.Key, n string) (enrol.Door, error) {
			d, err := knock(ctx, a, c, k, n)
			return broken{d, crash, true}, err
		},
	} {
		p, dir := h.joined(name)
		if _, err := p.Rotate(t.Context(), dial); err == nil {
			t.Fatalf("%s: no crash", name)
		}
		if _, err := os.Stat(filepath.Join(dir, "parent.nk.next")); err != nil {
			t.Errorf("%s: the next key: %v", name, err)
		}
		again := openParent(t, dir, h.clock)
		if err := check(t, again); err != nil {
			t.Errorf("%s: after the crash: %v", name, err)
		}
		if _, err := again.Rotate(t.Context(), knock); err != nil {
			t.Errorf("%s: rotated again: %v", name, err)
		}
		if err := check(t, again); err != nil {
			t.Errorf("%s: with the new key: %v", name, err)
		}
	}
}

// broken is a connection on which a rotation ends with an error, before or after the parent did it.
type broken struct {
	enrol.Door
	err   error
	after bool
}

// Ask implements enrol.Door.
func (b broken) Ask(ctx context.Context, method string, body []byte) ([]byte, error) {
	if b.after {
		_, _ = b.Door.Ask(ctx, method, body) // the connection ends with the old key
	}
	return nil, b.err
}

func TestAChildBelievesARenewedAuthorityAndLearnsIt(t *testing.T) {
	c := &clock{}
	h := openHouse(t, "campus", t.TempDir(), c)
	p, dir := h.joined("plant")
	before, _ := p.Current()
	c.advance(8 * 365 * 24 * time.Hour) // less than a third of its life is left
	must(t, check(t, p))
	after, _ := p.Current()
	if after.Authority == before.Authority || after.Authority != h.certs.Authority() || after.Fingerprint != before.Fingerprint {
		t.Errorf("before %+v, after %+v", before, after)
	}
	c.advance(4 * 365 * 24 * time.Hour) // the old one has ended
	must(t, check(t, openParent(t, dir, c)))
}

func TestAttackAnAuthorityThatNobodyEndorsedIsRefused(t *testing.T) {
	c := &clock{}
	dir := t.TempDir()
	h := openHouse(t, "campus", dir, c)
	p, _ := h.joined("plant")
	must(t, h.bus.Close())
	must(t, os.RemoveAll(h.tls)) // as on a disk that is not restored
	m, _ := p.Current()
	other := openHouse(t, "campus", dir, c)
	m.Addresses = []string{other.bus.Addr()}
	must(t, p.Put(m))
	if err := check(t, p); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "does not come from the authority") {
		t.Errorf("a new authority: %v", err)
	}
}

func TestAParentThatWasRenamedIsTheSame(t *testing.T) {
	c := &clock{}
	dir := t.TempDir()
	h := openHouse(t, "campus", dir, c)
	p, _ := h.joined("plant")
	must(t, h.bus.Close())
	renamed := openHouse(t, "main-campus", dir, c)
	m, _ := p.Current()
	m.Addresses = []string{renamed.bus.Addr()}
	must(t, p.Put(m))
	must(t, check(t, p))
	if m, _ := p.Current(); m.Parent != "main-campus" || m.State != enrol.Approved {
		t.Errorf("it knows %+v", m)
	}
}

func TestAClockThatStandsBeforeTheJoiningDoesNotKeepANodeOut(t *testing.T) {
	h := openHouse(t, "campus", t.TempDir(), &clock{})
	_, dir := h.joined("plant")
	slow := &clock{}
	slow.advance(-50 * 365 * 24 * time.Hour)
	p := openParent(t, dir, slow)
	must(t, check(t, p))
	m, _ := p.Current()
	m.Joined = slow.now()
	must(t, p.Put(m))
	if err := check(t, p); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "are both clocks right?") {
		t.Errorf("without a moment that is known: %v", err)
	}
}

func TestAddressesWhereNobodyAnswersLeaveTimeForTheOthers(t *testing.T) {
	h := openHouse(t, "campus", t.TempDir(), &clock{})
	p, _ := h.joined("plant")
	m, _ := p.Current()
	m.Addresses = []string{"192.0.2.1:4222", "192.0.2.2:4222", h.bus.Addr()}
	must(t, p.Put(m))
	const all = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), all)
	defer cancel()
	_, end, err := p.Check(ctx, func(ctx context.Context, address string, c *tls.Config, k *identity.Key, name string) (enrol.Door, error) {
		if strings.HasPrefix(address, "192.0.2.") {
			if end, bound := ctx.Deadline(); !bound || time.Until(end) > all/2 {
				t.Errorf("%s may take until %v", address, end)
			}
			return nil, fault.E("test", fault.Unreachable, address, context.DeadlineExceeded)
		}
		return knock(ctx, address, c, k, name)
	})
	end()
	must(t, err)
}
