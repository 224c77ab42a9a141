package account_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/broker/account"
	"voltbus/fault"
)

// shelf keeps devices in memory, and nothing while it is full.
type shelf struct {
	devices map[string]account.Device
	full    bool
}

var errFull = errors.New("the disk is full")

func (s *shelf) Devices(_ context.Context, each func(account.Device)) error {
	for _, d := range s.devices {
		each(d)
	}
	return nil
}

func (s *shelf) PutDevices(_ context.Context, list []account.Device) error {
	if s.full {
		return errFull
	}
	for _, d := range list {
		s.devices[d.Name] = d
	}
	return nil
}

func (s *shelf) RemoveDevice(_ context.Context, name string) error {
	if s.full {
		return errFull
	}
	delete(s.devices, name)
	return nil
}

// place is a registry on a shelf, with a clock that the test sets.
type place struct {
	*account.Registry
	shelf     *shelf
	now       time.Time
	dismissed []string
}

func open(t *testing.T) *place {
	t.Helper()
	p := &place{shelf: &shelf{devices: map[string]account.Device{}}, now: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)}
	r, err := account.Open(t.Context(), p.shelf, func() time.Time { return p.now }, func(device string, forget bool) {
		if forget {
			device += " for ever"
		}
		p.dismissed = append(p.dismissed, device)
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Registry = r
	return p
}

// add adds a device and returns its secret.
func (p *place) add(t *testing.T, name string) string {
	t.Helper()
	list := []account.NewDevice{{Name: name}}
	if err := p.Add(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	return list[0].Secret
}

func TestOnlyTheRightSecretOfAKnownDeviceLogsIn(t *testing.T) {
	p := open(t)
	secret := p.add(t, "meter-1")
	if kind, err := p.Login("meter-1", secret); err != nil || kind != "default" {
		t.Errorf("the right secret gave %q, %v", kind, err)
	}
	if err := p.Certify(t.Context(), "meter-1", [32]byte{1}, p.now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, secret string }{
		{"meter-1", ""}, {"meter-1", secret + "x"}, {"meter-1", secret[:20]}, {"meter-2", secret}, {"meter-2", ""}, {"", ""},
	} {
		if _, err := p.Login(c.name, c.secret); !fault.Is(err, fault.Refused) {
			t.Errorf("%q with %q gave %v, want Refused", c.name, c.secret, err)
		}
	}
}

func TestARotatedSecretReplacesTheOneBeforeAndEndsConnections(t *testing.T) {
	p := open(t)
	before := p.add(t, "meter-1")
	after, err := p.Rotate(t.Context(), "meter-1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Login("meter-1", before); err == nil {
		t.Error("the secret before still logs in")
	}
	if _, err := p.Login("meter-1", after); err != nil {
		t.Error(err)
	}
	if !slices.Equal(p.dismissed, []string{"meter-1"}) {
		t.Errorf("connections of %q ended, want those of meter-1, whose sessions stay", p.dismissed)
	}
}

func TestOnlyTheLastCertificateIsGoodAndOnlyWhileItLasts(t *testing.T) {
	p := open(t)
	p.add(t, "meter-1")
	if _, err := p.Certified("meter-1", [32]byte{}); err == nil {
		t.Error("a device without a certificate came in with none")
	}
	for _, fingerprint := range [][32]byte{{1}, {2}} {
		if err := p.Certify(t.Context(), "meter-1", fingerprint, p.now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Certified("meter-1", [32]byte{1}); !fault.Is(err, fault.Refused) {
		t.Errorf("the certificate before gave %v", err)
	}
	if kind, err := p.Certified("meter-1", [32]byte{2}); err != nil || kind != "default" {
		t.Errorf("the last certificate gave %q, %v", kind, err)
	}
	p.now = p.now.Add(time.Hour + time.Second)
	if _, err := p.Certified("meter-1", [32]byte{2}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "2026-07-01") {
		t.Errorf("an expired certificate gave %v", err)
	}
}

func TestDevicesAreAddedAllOrNone(t *testing.T) {
	p := open(t)
	p.add(t, "there")
	good := account.NewDevice{Name: "good"}
	for want, list := range map[fault.Kind][][]account.NewDevice{
		fault.Conflict: {{good, {Name: "there"}}},
		fault.Invalid:  {{good, good}, {good, {Name: "no name"}}, {good, {Name: "x", Kind: "no kind"}}, {good, {Name: "x", Secret: "short"}}},
	} {
		for _, l := range list {
			if err := p.Add(t.Context(), l); !fault.Is(err, want) {
				t.Errorf("%+v gave %v, want %v", l, err, want)
			}
		}
	}
	if _, is := p.Get("good"); is || p.Len() != 1 {
		t.Errorf("there are %d devices, want the one from before", p.Len())
	}
}

func TestWhatIsNotOnDiskDoesNotHold(t *testing.T) {
	p := open(t)
	secret := p.add(t, "meter-1")
	p.shelf.full = true
	if err := p.Add(t.Context(), []account.NewDevice{{Name: "meter-2"}}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	if _, err := p.Rotate(t.Context(), "meter-1"); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	if err := p.Remove(t.Context(), "meter-1"); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	if _, err := p.Login("meter-1", secret); err != nil || p.Len() != 1 || len(p.dismissed) != 0 {
		t.Errorf("%v with %d devices, %q dismissed; want all as before", err, p.Len(), p.dismissed)
	}
	p.shelf.full = false
	if err := p.Remove(t.Context(), "meter-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Login("meter-1", secret); err == nil || !slices.Equal(p.dismissed, []string{"meter-1 for ever"}) {
		t.Errorf("a removed device logs in (%v), %q dismissed", err, p.dismissed)
	}
}

func TestAListIsReadPageByPage(t *testing.T) {
	p := open(t)
	for _, name := range []string{"c", "a", "b"} {
		p.add(t, name)
	}
	first, more := p.List("", 2)
	if len(first) != 2 || first[0].Name != "a" || first[1].Name != "b" || !more {
		t.Errorf("the first page is %v, more %v", first, more)
	}
	if rest, more := p.List("b", 2); len(rest) != 1 || rest[0].Name != "c" || more {
		t.Errorf("the second page is %v, more %v", rest, more)
	}
}

func TestListsOfDevicesAreReadInBothForms(t *testing.T) {
	want := []account.NewDevice{{Name: "m1", Kind: "meter"}, {Name: "m2"}}
	for _, text := range []string{"\uFEFFKind, Name\nmeter,m1\n,m2\n", `[{"name":"m1","kind":"meter"},{"name":"m2"}]`} {
		if got, err := account.ParseList([]byte(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q gave %v, %v", text, got, err)
		}
	}
	for text, words := range map[string]string{
		"": "is empty", "name\n": "no devices", "kind\nmeter\n": "name among them", "name,colour\nm,red\n": `"colour" is not known`,
		`[{"name":"m","colour":"red"}]`: "not JSON as it should be",
	} {
		if _, err := account.ParseList([]byte(text)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), words) {
			t.Errorf("%q gave %v, want words of %q", text, err, words)
		}
	}
}
