package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/store/postgres"
	"voltbus/store/postgres/setting"
	"voltbus/testing/peers"
)

func TestThePasswordComesFromItsFileForEachConnection(t *testing.T) {
	o := fresh(t)
	o.URL = server.URL("guarded", "voltbus")
	server.Query(t, "GRANT CREATE ON DATABASE voltbus TO guarded")
	o.PasswordFile = filepath.Join(t.TempDir(), "password")
	write := func(password string) {
		if err := os.WriteFile(o.PasswordFile, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("wrong")
	_, err := postgres.Open(t.Context(), o)
	wantError(t, err, fault.Refused, "store.password_file")
	write("right")
	s := open(t, o)
	appendBlocks(t, s, block("edge-1", 1, 10))
	wantEachOnce(t, s, "edge-1", 1, 10)
}

// certify writes a certificate for 127.0.0.1, signed by itself, and its key to a directory that the
// server may read.
func certify(t *testing.T) (cert, key string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "vb-tls-") //nolint:usetesting // another user must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "database"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	giveToServer(t, dir, cert, key)
	return cert, key
}

// giveToServer makes files those of the user as whom the shared server runs.
func giveToServer(t *testing.T, files ...string) {
	t.Helper()
	var like syscall.Stat_t
	if err := syscall.Stat(strings.TrimSpace(server.Query(t, "SHOW data_directory")), &like); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Chown(f, int(like.Uid), int(like.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheServersCertificateIsVerified(t *testing.T) {
	fresh(t) // skips without a server
	cert, key := certify(t)
	other, _ := certify(t)
	port := peers.FreePort(t)
	own := peers.StartedPostgreSQL(t, "listen_addresses=127.0.0.1", "port="+port, "ssl=on", "ssl_cert_file="+cert, "ssl_key_file="+key)
	o := postgres.Options{URL: "postgres://voltbus@127.0.0.1:" + port + "/voltbus", Writer: "edge-1", TLS: setting.TLS{CA: cert}}
	s := open(t, o)
	appendBlocks(t, s, block("edge-1", 1, 10))
	wantEachOnce(t, s, "edge-1", 1, 10)
	used := own.Query(t, "SELECT count(*) FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE usename = 'voltbus' AND NOT ssl")
	if strings.TrimSpace(used) != "0" {
		t.Errorf("%s connections are not encrypted", used)
	}
	o.Writer, o.TLS.CA = "edge-2", other
	_, err := postgres.Open(t.Context(), o)
	wantError(t, err, fault.Unreachable, "certificate")
}

func TestAServerWithoutEncryptionIsRefusedWhereItIsWanted(t *testing.T) {
	fresh(t) // skips without a server
	cert, _ := certify(t)
	port := peers.FreePort(t)
	peers.StartedPostgreSQL(t, "listen_addresses=127.0.0.1", "port="+port)
	_, err := postgres.Open(t.Context(), postgres.Options{
		URL: "postgres://voltbus@127.0.0.1:" + port + "/voltbus", Writer: "edge-1", TLS: setting.TLS{CA: cert},
	})
	wantError(t, err, fault.Unreachable, "TLS")
}
