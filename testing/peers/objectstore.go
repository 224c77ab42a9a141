package peers

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// The keys of the object store that StartObjectStore starts.
const (
	StoreUser   = "plant-key"
	StoreSecret = "a secret of tests"
)

// built returns a server that "make" builds from a module below tools, which is not started. The test is skipped, loudly, where it was not built.
func built(t testing.TB, name string) *Server {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(Root(), "build", "tools", name+"-v*"))
	if err != nil || len(found) == 0 {
		t.Skipf("NOT TESTED: %s is not built: run `make peers`", name)
	}
	return &Server{program: found[len(found)-1], Dir: t.TempDir(), Addr: net.JoinHostPort("127.0.0.1", FreePort(t))}
}

// StartObjectStore starts a VersityGW, an object store with the protocol of S3 that checks signatures and checksums, with buckets, which are
// folders of Files. It is ended when the test ends.
func StartObjectStore(t testing.TB, buckets ...string) *Server {
	t.Helper()
	return startStore(t, built(t, "versitygw"), buckets)
}

// StartSecureObjectStore is StartObjectStore over TLS, and returns the PEM file with the authority of its certificate.
func StartSecureObjectStore(t testing.TB, buckets ...string) (s *Server, ca string) {
	t.Helper()
	s = built(t, "versitygw")
	ca, key := certificate(t, s.Dir)
	return startStore(t, s, buckets, "--cert", ca, "--key", key), ca
}

func startStore(t testing.TB, s *Server, buckets []string, options ...string) *Server {
	t.Helper()
	for _, name := range append(buckets, "../properties") {
		if err := os.MkdirAll(filepath.Join(s.Files(), name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.args = append([]string{"--port", s.Addr, "--access", StoreUser, "--secret", StoreSecret, "--quiet"}, options...)
	s.args = append(s.args, "posix", "--sidecar", filepath.Join(s.Dir, "properties"), s.Files())
	s.Start(t)
	t.Cleanup(s.Kill)
	return s
}

// Files is the folder with the buckets of an object store.
func (s *Server) Files() string { return filepath.Join(s.Dir, "files") }

// ReadParquet starts a reader of Parquet for an object store. It is stopped when the test ends.
func ReadParquet(t testing.TB, s *Server) *Conversation {
	t.Helper()
	return converse(t, filepath.Join(folder(), "parquet_peer.py"), s.Addr, StoreUser, StoreSecret)
}
