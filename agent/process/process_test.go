package process

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// sleeper starts a shell in a group of its own with a child that outlives it, and returns both.
func sleeper(t *testing.T, script string, env ...string) (cmd *exec.Cmd, child int) {
	t.Helper()
	cmd = exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err = strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return cmd, child
}

func gone(pid int) bool {
	p, err := Read(pid)
	return errors.Is(err, os.ErrNotExist) || p.Zombie
}

func orphan(t *testing.T, pid int) Orphan {
	t.Helper()
	p, err := Read(pid)
	if err != nil {
		t.Fatal(err)
	}
	return Orphan{PID: pid, Started: p.Started, Boot: Boot(), Mark: "MARK=x"}
}

func TestAnOrphanAndItsChildrenAreEnded(t *testing.T) {
	cmd, child := sleeper(t, "sleep 1000 & echo $!; wait", "MARK=x")
	n, err := orphan(t, cmd.Process.Pid).End()
	if n != 2 || err != nil || !gone(cmd.Process.Pid) || !gone(child) {
		t.Errorf("%d %v", n, err)
	}
}

func TestChildrenOfAnOrphanThatIsGoneAreEnded(t *testing.T) {
	cmd, child := sleeper(t, "sleep 1000 & echo $!", "MARK=x")
	o := orphan(t, cmd.Process.Pid)
	_ = cmd.Wait()
	if n, err := o.End(); n != 1 || err != nil || !gone(child) {
		t.Errorf("%d %v", n, err)
	}
}

func TestWhatIsNotSurelyMeantLives(t *testing.T) {
	cmd, child := sleeper(t, "sleep 1000 & echo $!; wait", "MARK=x")
	right := orphan(t, cmd.Process.Pid)
	tests := []struct {
		name   string
		change func(*Orphan)
	}{
		{"another start of the machine", func(o *Orphan) { o.Boot = "other" }},
		{"no start of the machine", func(o *Orphan) { o.Boot = "" }},
		{"the first process", func(o *Orphan) { o.PID = 1 }},
		{"a process that has the number now", func(o *Orphan) { o.Started--; o.Mark = "MARK=y" }},
		{"a process that came before", func(o *Orphan) { o.Started += 1 << 40 }},
		{"no process", func(o *Orphan) { o.PID = 1 << 30 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := right
			tt.change(&o)
			if n, err := o.End(); n != 0 || err != nil || gone(child) || gone(cmd.Process.Pid) {
				t.Errorf("%d %v", n, err)
			}
		})
	}
}

func TestAttackNamesInTheProcessTableCannotLie(t *testing.T) {
	line := "7 (a) R 1 (b) S 1 77 1 0 -1 0 0 0 0 0 100 50 0 0 20 0 1 0 12345 4096 3 0"
	p, err := parse(7, []byte(line))
	if err != nil || p.Group != 77 || p.Started != 12345 || p.CPU.Milliseconds() != 1500 || p.Memory != 3*int64(os.Getpagesize()) {
		t.Errorf("%+v %v", p, err)
	}
	for _, bad := range []string{"", "7", "7 (a) S 1 2", strings.Replace(line, "12345", "x", 1)} {
		if _, err := parse(7, []byte(bad)); err == nil {
			t.Errorf("%q is fine", bad)
		}
	}
}

func TestThisProcessIsListed(t *testing.T) {
	list, err := List()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.PID == os.Getpid() {
			if p.Memory < 1<<20 || p.Started == 0 || Owner(p.PID) != os.Getuid() {
				t.Errorf("%+v", p)
			}
			return
		}
	}
	t.Error("it is not")
}
