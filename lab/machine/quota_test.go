package machine_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"voltbus/fault"
	"voltbus/lab/machine"
)

func TestAQuotaBindsAProcessAndGoesWithIt(t *testing.T) {
	q, err := machine.NewQuota(0.2)
	if fault.Is(err, fault.Unavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := q.Bind(cmd.Process.Pid); err != nil {
		t.Error(err)
	}
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", cmd.Process.Pid))
	if err != nil || !strings.Contains(string(groups), "voltbus-lab-") {
		t.Errorf("the process is in %s %v", groups, err)
	}
	if err := q.Lift(); err != nil {
		t.Error(err)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if err := q.Bind(cmd.Process.Pid); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a process that has ended is bound: %v", err)
	}
	if err := q.Remove(); err != nil {
		t.Error(err)
	}
}
