package claim_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"voltbus/agent/claim"
	"voltbus/fault"
)

// free is a range that nothing else on the machine uses while the tests run.
var free = claim.Range{First: 64_950, Count: 3}

func claims(t *testing.T, seed string) *claim.Claims {
	t.Helper()
	c := claim.New(free, seed)
	t.Cleanup(c.Close)
	return c
}

func holds(t *testing.T, c *claim.Claims, user int, want bool) {
	t.Helper()
	if held, err := c.Hold(user); err != nil || held != want {
		t.Errorf("the user %d: %v, %v; want %v", user, held, err, want)
	}
}

func choose(t *testing.T, c *claim.Claims, agent string) int {
	t.Helper()
	user, err := c.Choose(agent)
	if err != nil {
		t.Fatal(err)
	}
	return user
}

func TestAUserBelongsToOneAgentOfAMachine(t *testing.T) {
	one, other := claims(t, "/data/one"), claims(t, "/data/other")
	holds(t, one, free.First, true)
	holds(t, one, free.First, false)
	holds(t, other, free.First, false)
	one.Release(free.First)
	holds(t, other, free.First, true)
	other.Close()
	holds(t, one, free.First, true)
}

func TestUsersAreChosenThatNobodyHas(t *testing.T) {
	one, other := claims(t, "/data"), claims(t, "/data")
	taken := map[int]bool{choose(t, one, "a"): true, choose(t, other, "a"): true, choose(t, one, "b"): true}
	if len(taken) != free.Count {
		t.Errorf("users were given twice: %v", taken)
	}
	_, err := other.Choose("b")
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "raise agents.users.count") {
		t.Errorf("more users than there are: %v", err)
	}
	one.Close()
	if user := choose(t, other, "b"); !taken[user] {
		t.Errorf("got %d", user)
	}
}

func TestAUserWithProcessesIsNotChosen(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root starts processes of other users")
	}
	c := claims(t, "/data")
	user := choose(t, c, "a")
	c.Release(user)
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	for range free.Count - 1 {
		if got := choose(t, c, "a"); got == user {
			t.Errorf("got %d, which has a process", got)
		}
	}
}
