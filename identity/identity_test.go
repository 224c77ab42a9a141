package identity_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/pki"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hand is a clock that the test sets.
type hand struct{ at time.Time }

func (h *hand) now() time.Time { return h.at }

func newHand() *hand { return &hand{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func accounts(t *testing.T, dir string, h *hand) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), dir, h.now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func open(t *testing.T, dir string, c *catalog.Catalog, h *hand) *identity.Identity {
	t.Helper()
	id, err := identity.Open(t.Context(), identity.Options{Dir: dir, Node: "node 1/ü", Accounts: c, Now: h.now})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func adminToken(t *testing.T, dir string) string {
	t.Helper()
	token, err := identity.ReadToken(filepath.Join(dir, identity.AdminTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestOpenMakesWhatIsMissingAndKeepsIt(t *testing.T) {
	dir, h := t.TempDir(), newHand()
	c := accounts(t, dir, h)
	first := open(t, dir, c, h)
	token := adminToken(t, dir)
	second := open(t, dir, c, h)
	if first.Node.Public() != second.Node.Public() || first.Admin.Public() != second.Admin.Public() {
		t.Error("the keys changed at the second start")
	}
	if first.Node.Public() == first.Admin.Public() {
		t.Error("node and administrator share a key")
	}
	if first.Certificates.Fingerprint() != second.Certificates.Fingerprint() {
		t.Error("the authority changed at the second start")
	}
	if adminToken(t, dir) != token {
		t.Error("the token changed at the second start")
	}
	user, err := second.Logins.Recognise(t.Context(), identity.Token, token)
	if d := cmp.Diff(identity.User{Name: "admin", Role: identity.Administrator}, user); d != "" || err != nil {
		t.Error(d, err)
	}
	members, err := c.Members(t.Context())
	want := []identity.Member{
		{Public: first.Admin.Public(), Name: "admin", Role: identity.Administrator, Created: h.at},
		{Public: first.Node.Public(), Name: "node 1/ü", Role: identity.Administrator, Created: h.at},
	}
	if d := cmp.Diff(want, members); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestSecretsArePrivate(t *testing.T) {
	dir, h := t.TempDir(), newHand()
	c := accounts(t, dir, h)
	open(t, dir, c, h)
	for _, name := range []string{"node.nk", "admin.nk", "admin.token", "tls/ca.key", "tls/server.key"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("has mode %v", info.Mode())
			}
			if err := os.Chmod(file, 0o644); err != nil {
				t.Fatal(err)
			}
			defer func() { must(t, os.Chmod(file, 0o600)) }()
			_, err = identity.Open(t.Context(), identity.Options{Dir: dir, Node: "n", Accounts: c, Now: h.now})
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "chmod 600") {
				t.Errorf("when others can read it: %v; want refused with chmod 600", err)
			}
		})
	}
}

func TestTheClearTokenIsNowhereButInItsFile(t *testing.T) {
	dir, h := t.TempDir(), newHand()
	open(t, dir, accounts(t, dir, h), h)
	token := adminToken(t, dir)
	if err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == identity.AdminTokenFile {
			return err
		}
		b, err := os.ReadFile(file)
		if strings.Contains(string(b), token) {
			t.Errorf("%s holds the token", file)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestRemovingTheTokenFileMakesANewTokenAndEndsTheOld(t *testing.T) {
	dir, h := t.TempDir(), newHand()
	c := accounts(t, dir, h)
	id := open(t, dir, c, h)
	old := adminToken(t, dir)
	session, _, err := id.Logins.Login(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, identity.AdminTokenFile)); err != nil {
		t.Fatal(err)
	}
	id = open(t, dir, c, h)
	if _, err := id.Logins.Recognise(t.Context(), identity.Token, old); !fault.Is(err, fault.Refused) {
		t.Errorf("the old token gives %v, want refused", err)
	}
	if _, err := id.Logins.Recognise(t.Context(), identity.Session, session); !fault.Is(err, fault.Refused) {
		t.Errorf("the session of the old token gives %v, want refused", err)
	}
	if _, err := id.Logins.Recognise(t.Context(), identity.Token, adminToken(t, dir)); err != nil {
		t.Errorf("the new token gives %v", err)
	}
}

func TestALostCatalogueLearnsTheTokenAgain(t *testing.T) {
	dir, h := t.TempDir(), newHand()
	open(t, dir, accounts(t, dir, h), h)
	token := adminToken(t, dir)
	id := open(t, dir, accounts(t, t.TempDir(), h), h)
	if _, err := id.Logins.Recognise(t.Context(), identity.Token, token); err != nil {
		t.Errorf("the token gives %v", err)
	}
}

func TestRecogniseRefuses(t *testing.T) {
	dir, h := t.TempDir(), newHand()
	id := open(t, dir, accounts(t, dir, h), h)
	token := adminToken(t, dir)
	session, _, err := id.Logins.Login(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		purpose identity.Purpose
		secret  string
	}{
		{"nothing", identity.Token, ""},
		{"a short text", identity.Token, "secret"},
		{"a megabyte", identity.Token, strings.Repeat("a", 1<<20)},
		{"letters that no token has", identity.Token, strings.Repeat("!", 43)},
		{"a well-formed token that nobody issued", identity.Token, strings.Repeat("a", 43)},
		{"a session shown as a token", identity.Token, session},
		{"a token shown as a session", identity.Session, token},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			user, err := id.Logins.Recognise(t.Context(), tt.purpose, tt.secret)
			if !fault.Is(err, fault.Refused) || user != (identity.User{}) {
				t.Errorf("got %+v, %v; want refused", user, err)
			}
			if tt.secret != "" && strings.Contains(err.Error(), tt.secret) {
				t.Error("the error repeats the secret")
			}
		})
	}
}

func TestSessionsEnd(t *testing.T) {
	tests := []struct {
		name string
		end  func(*testing.T, *identity.Logins, *hand, string)
	}{
		{"by time", func(_ *testing.T, _ *identity.Logins, h *hand, _ string) { h.at = h.at.Add(identity.SessionLife) }},
		{"by logout", func(t *testing.T, l *identity.Logins, _ *hand, s string) {
			if err := l.Logout(t.Context(), s); err != nil {
				t.Error(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, h := t.TempDir(), newHand()
			id := open(t, dir, accounts(t, dir, h), h)
			secret, session, err := id.Logins.Login(t.Context(), adminToken(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			if want := h.at.Add(identity.SessionLife); !session.Expires.Equal(want) {
				t.Errorf("ends %v, want %v", session.Expires, want)
			}
			if _, err := id.Logins.Recognise(t.Context(), identity.Session, secret); err != nil {
				t.Errorf("at first it gives %v", err)
			}
			tt.end(t, id.Logins, h, secret)
			if _, err := id.Logins.Recognise(t.Context(), identity.Session, secret); !fault.Is(err, fault.Refused) {
				t.Errorf("after its end it gives %v, want refused", err)
			}
		})
	}
}

func TestIssueGivesATokenWithARole(t *testing.T) {
	dir, h := t.TempDir(), newHand()
	id := open(t, dir, accounts(t, dir, h), h)
	want := identity.User{Name: "grafana", Role: identity.Viewer}
	token, err := id.Logins.Issue(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := id.Logins.Recognise(t.Context(), identity.Token, token)
	if got != want || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := id.Logins.Issue(t.Context(), identity.User{Name: "x"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a user without a role gives %v, want invalid", err)
	}
}

func TestDamagedKeysAreNotReplacedSilently(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "node.nk")
	for name, content := range map[string]string{"nothing": "", "garbage": "SUAGARBAGE", "a huge file": strings.Repeat("S", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := identity.OpenKey(file); !fault.Is(err, fault.Corrupt) {
				t.Errorf("got %v, want corrupt", err)
			}
		})
	}
}

func TestSignaturesVerify(t *testing.T) {
	k, err := identity.OpenKey(filepath.Join(t.TempDir(), "k.nk"))
	if err != nil {
		t.Fatal(err)
	}
	sig, err := k.Sign([]byte("nonce"))
	if err != nil {
		t.Fatal(err)
	}
	if !identity.Verify(k.Public(), []byte("nonce"), sig) {
		t.Error("a good signature is refused")
	}
	if identity.Verify(k.Public(), []byte("other"), sig) || identity.Verify("junk", []byte("nonce"), sig) {
		t.Error("a wrong signature is accepted")
	}
}

func handshake(t *testing.T, certs *pki.Certificates, client *tls.Config) (*x509.Certificate, error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		server := tls.Server(conn, certs.ServerConfig())
		_ = server.HandshakeContext(context.Background())
		_ = server.Close()
	}()
	defer func() { <-done }()
	dialer := tls.Dialer{Config: client}
	conn, err := dialer.DialContext(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

func TestTheServerIsTrustedByEveryNameOfIt(t *testing.T) {
	h := newHand()
	certs, err := pki.Open(t.TempDir(), "plant-7", []string{"voltbus.example", "192.0.2.7", "not a name"}, h.now)
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "plant-7", "voltbus.example", "192.0.2.7", host} {
		config := certs.ClientConfig()
		config.ServerName, config.Time = name, h.now
		if _, err := handshake(t, certs, config); err != nil {
			t.Errorf("as %s: %v", name, err)
		}
	}
	config := certs.ClientConfig()
	config.ServerName, config.Time = "elsewhere.example", h.now
	if _, err := handshake(t, certs, config); err == nil {
		t.Error("it is trusted as elsewhere.example")
	}
}

func TestCertificatesAreRenewed(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		name      string
		later     time.Duration
		damage    string
		server    bool
		authority bool
	}{
		{"not while they are young", 200 * day, "", false, false},
		{"the server's when a third of its life is left", 300 * day, "", true, false},
		{"both when the authority comes to its end", 8 * 365 * day, "", true, true},
		{"both when the clock was set back to before they began", -90 * day, "", true, true},
		{"the server's when its file is damaged", 0, "server.pem", true, false},
		{"nothing when the authority's key is damaged, which has a copy", 0, "ca.key", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, h := t.TempDir(), newHand()
			certs, err := pki.Open(dir, "n", nil, h.now)
			if err != nil {
				t.Fatal(err)
			}
			config := certs.ClientConfig()
			config.ServerName, config.Time = "localhost", h.now
			before, err := handshake(t, certs, config)
			if err != nil {
				t.Fatal(err)
			}
			authority := certs.Fingerprint()
			h.at = h.at.Add(tt.later)
			if tt.damage != "" {
				if err := os.WriteFile(filepath.Join(dir, tt.damage), []byte("garbage"), 0o600); err != nil {
					t.Fatal(err)
				}
				if certs, err = pki.Open(dir, "n", nil, h.now); err != nil {
					t.Fatal(err)
				}
			}
			config.InsecureSkipVerify = true // only to see what is shown
			after, err := handshake(t, certs, config)
			if err != nil {
				t.Fatal(err)
			}
			if changed := !before.Equal(after); changed != tt.server {
				t.Errorf("server certificate renewed: %v, want %v", changed, tt.server)
			}
			if changed := certs.Fingerprint() != authority; changed != tt.authority {
				t.Errorf("authority renewed: %v, want %v", changed, tt.authority)
			}
		})
	}
}

func TestRolesIncludeTheLesser(t *testing.T) {
	tests := []struct {
		role, needed identity.Role
		want         bool
	}{
		{identity.Administrator, identity.Viewer, true},
		{identity.Viewer, identity.Viewer, true},
		{identity.Viewer, identity.Operator, false},
		{identity.Nobody, identity.Viewer, false},
		{identity.Nobody, identity.Nobody, false},
	}
	for _, tt := range tests {
		if got := tt.role.Includes(tt.needed); got != tt.want {
			t.Errorf("%v includes %v: %v, want %v", tt.role, tt.needed, got, tt.want)
		}
	}
}
