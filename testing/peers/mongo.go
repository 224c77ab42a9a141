package peers

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// The user and the database of the server that StartMongo starts.
const (
	MongoUser     = "plant"
	MongoPassword = "a secret of tests"
	MongoDatabase = "readings"
)

// StartSecureMongo is StartMongo over TLS, and returns the PEM file with the authority of its certificate.
func StartSecureMongo(t testing.TB) (s *Server, ca string) {
	t.Helper()
	s = built(t, "ferretdb")
	ca, key := certificate(t, s.Dir)
	return startMongo(t, s, "--listen-addr=", "--listen-tls="+s.Addr, "--listen-tls-cert-file="+ca, "--listen-tls-key-file="+key), ca
}

// StartMongo starts a FerretDB, which has the protocol of MongoDB and keeps its documents in SQLite. It knows users, and neither replica
// sets nor collections with a validator. It is ended when the test ends.
func StartMongo(t testing.TB) *Server {
	t.Helper()
	s := built(t, "ferretdb")
	return startMongo(t, s, "--listen-addr="+s.Addr)
}

func startMongo(t testing.TB, s *Server, options ...string) *Server {
	t.Helper()
	data := filepath.Join(s.Dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	s.args = append([]string{
		"--handler=sqlite", "--sqlite-url=file:" + data + "/", "--state-dir=" + s.Dir, "--listen-addr=" + s.Addr, "--debug-addr=-", "--telemetry=disable",
		"--log-level=ERROR", "--test-enable-new-auth", "--setup-database=" + MongoDatabase, "--setup-username=" + MongoUser, "--setup-password=" + MongoPassword,
	}, options...)
	s.Start(t)
	t.Cleanup(s.Kill)
	return s
}

// ReadMongo starts a client of the server that is the driver of MongoDB. It is stopped when the test ends.
func ReadMongo(t testing.TB, s *Server) *Conversation {
	t.Helper()
	uri := "mongodb://" + MongoUser + ":" + url.PathEscape(MongoPassword) + "@" + s.Addr + "/" + MongoDatabase
	return converse(t, filepath.Join(folder(), "mongo_peer.py"), uri, MongoDatabase)
}
