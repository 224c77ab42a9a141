package peers

import (
	"path/filepath"
	"testing"
)

// DNP3 is a master or an outstation made of opendnp3, which a test commands; the commands
// and what it answers stand in dnp3_peer.py. It is used by one goroutine.
type DNP3 struct{ *Conversation }

// StartDNP3 starts dnp3_peer.py. It is stopped when the test ends.
func StartDNP3(t testing.TB) *DNP3 {
	t.Helper()
	return &DNP3{converse(t, filepath.Join(folder(), "dnp3_peer.py"))}
}
