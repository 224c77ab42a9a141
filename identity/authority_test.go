package identity_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/pki"
)

// An authority that others trust is never replaced by another one because its files are damaged or deleted.
func TestAttackAnAuthorityThatIsTrustedIsNotReplacedUnasked(t *testing.T) {
	all := []string{"ca.pem", "ca.key", "ca-copy.pem", "ca-copy.key"}
	for _, tt := range []struct {
		name   string
		broken []string
		again  bool // the authority of before is found
	}{
		{"the certificate", all[:1], true},
		{"the key", all[1:2], true},
		{"both", all[:2], true},
		{"the copies", all[2:], true},
		{"the certificate and the copy of the key", []string{"ca.pem", "ca-copy.key"}, true},
		{"the certificate and its copy", []string{"ca.pem", "ca-copy.pem"}, false},
		{"the key and its copy", []string{"ca.key", "ca-copy.key"}, false},
		{"all", all, false},
	} {
		for way, spoil := range map[string]func(string) error{
			"deleted": os.Remove,
			"garbage": func(file string) error { return os.WriteFile(file, []byte("garbage"), 0o600) },
			"empty":   func(file string) error { return os.WriteFile(file, nil, 0o600) },
		} {
			t.Run(tt.name+" "+way, func(t *testing.T) {
				dir, h := filepath.Join(t.TempDir(), "tls"), newHand()
				first, err := pki.Open(dir, "n", nil, h.now)
				if err != nil || !first.Made() {
					t.Fatal("the first start:", err)
				}
				for _, name := range tt.broken {
					if err := spoil(filepath.Join(dir, name)); err != nil {
						t.Fatal(err)
					}
				}
				second, err := pki.Open(dir, "n", nil, h.now)
				if !tt.again {
					if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "run: mv '"+dir+"'") {
						t.Fatalf("it gives %v", err)
					}
					return
				}
				if err != nil || second.Fingerprint() != first.Fingerprint() || second.Made() {
					t.Fatal("it is another one:", err)
				}
				for _, name := range all {
					if err := os.Remove(filepath.Join(dir, name)); err != nil {
						t.Errorf("%s is not there again: %v", name, err)
					}
				}
			})
		}
	}
}

func TestAFirstStartThatWasKilledIsMadeGood(t *testing.T) {
	dir, h := t.TempDir(), newHand()
	first, err := pki.Open(dir, "n", nil, h.now)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ca.pem", "ca-copy.pem", "ca-copy.key", "server.pem", "server.key"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	second, err := pki.Open(dir, "n", nil, h.now)
	if err != nil || second.Fingerprint() == first.Fingerprint() || !second.Made() {
		t.Error(err)
	}
}

func TestWhoOnlyLooksAtTheDataMakesNoAuthority(t *testing.T) {
	dir := t.TempDir()
	c, err := catalog.Open(t.Context(), t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	o := identity.Options{Dir: dir, Node: "plant", Accounts: c, Looks: true}
	if _, err := identity.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, identity.TLSFolder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there are certificates now: %v", err)
	}
	o.Looks = false
	id, err := identity.Open(t.Context(), o)
	if err != nil || !id.Certificates.Made() {
		t.Fatalf("the node does not make its authority: %v", err)
	}
	o.Looks = true
	looks, err := identity.Open(t.Context(), o)
	if err != nil || looks.Certificates.Fingerprint() != id.Certificates.Fingerprint() {
		t.Errorf("who looks does not see the node's authority: %v", err)
	}
}
