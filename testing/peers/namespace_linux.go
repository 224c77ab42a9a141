package peers

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// envNamespace tells a test that it runs in a network namespace of its own.
const envNamespace = "VOLTBUS_TEST_NAMESPACE"

// Namespace runs the calling test in a network namespace of its own, where loopback has more
// addresses, such as "10.66.0.2/24", with broadcasts. It runs the test again in another process:
// there it returns true; in the first one it returns false after that process ended, and the test
// has only to return. The test is skipped without root's rights or the program ip.
func Namespace(t *testing.T, addresses ...string) bool {
	t.Helper()
	if os.Getenv(envNamespace) == t.Name() {
		setUp(t, addresses)
		return true
	}
	if os.Getuid() != 0 {
		t.Skip("a network namespace needs root's rights: run the test as root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("the program ip is missing: install the package iproute2")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^") + "$"
	again := exec.CommandContext(t.Context(), program, "-test.run", pattern, "-test.count=1", "-test.v", "-test.timeout=5m")
	again.Env = append(os.Environ(), envNamespace+"="+t.Name())
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := again.CombinedOutput()
	if err != nil {
		t.Errorf("in the namespace: %v\n%s", err, out)
	} else {
		t.Logf("in the namespace:\n%s", out)
	}
	return false
}

func setUp(t *testing.T, addresses []string) {
	t.Helper()
	commands := [][]string{{"link", "set", "lo", "up"}}
	for _, address := range addresses {
		commands = append(commands, []string{"addr", "add", address, "brd", "+", "dev", "lo"})
	}
	for _, args := range commands {
		if out, err := exec.CommandContext(t.Context(), "ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
