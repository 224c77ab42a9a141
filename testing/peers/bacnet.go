package peers

import (
	"path/filepath"
	"testing"
)

// BACnet starts bacnet_peer.py with arguments, such as "device", "10.66.0.11/24", "11", "480", "20",
// and waits until it is ready. It is stopped when the test ends. It belongs into a [Namespace].
func BACnet(t testing.TB, args ...string) *Process {
	t.Helper()
	script := filepath.Join(folder(), "bacnet_peer.py")
	return start(t, Python(t), append([]string{script}, args...))
}

// BACnetSite starts bacnet_site.py, a device that logs and has alarms, with an address such as "10.66.0.11/24" and an instance, and
// waits until it is ready. It is stopped when the test ends. It belongs into a [Namespace].
func BACnetSite(t testing.TB, args ...string) *Process {
	t.Helper()
	return start(t, Python(t), append([]string{filepath.Join(folder(), "bacnet_site.py")}, args...))
}

// BACnetSC starts bacnet_sc_peer.py, a hub, a device or a client of BACnet/SC, with arguments, and waits until it is ready. It is
// stopped when the test ends. Addr of a hub has its port.
func BACnetSC(t testing.TB, args ...string) *Process {
	t.Helper()
	return start(t, Python(t), append([]string{filepath.Join(folder(), "bacnet_sc_peer.py")}, args...))
}

// BACnetClient starts bacnet_client.py, a client that a test commands, with an address such as "10.66.0.3/24"; the commands and what it
// answers stand in the file. It is stopped when the test ends. It belongs into a [Namespace].
func BACnetClient(t testing.TB, args ...string) *Conversation {
	t.Helper()
	return converse(t, filepath.Join(folder(), "bacnet_client.py"), args...)
}
