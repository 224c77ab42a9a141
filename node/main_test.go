package node_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

type jsonRaw = json.RawMessage

// The test binary is also the nodes that are killed: see crash_test.go and repeat_test.go.
func TestMain(m *testing.M) {
	if dir, ok := strings.CutPrefix(os.Getenv(crashEnv), serving); ok {
		serveChild(dir)
		return
	}
	if dir := os.Getenv(crashEnv); dir != "" {
		crashChild(dir)
		return
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*ipQueue[...]).recycle"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}
