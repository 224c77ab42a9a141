// Package claim shares a range of system users among the nodes of a machine, so that no two agents run as the same user: processes of one
// user can signal and read each other, and when an agent ends, everything its user still runs is ended.
//
// The holder of a user has a socket of that name in Linux's abstract namespace. The kernel gives a name to one process, and frees it when
// that process ends, however it ends; no file can be left behind.
package claim

import (
	"errors"
	"fmt"
	"hash/fnv"
	"sync"

	"golang.org/x/sys/unix"

	"voltbus/agent/process"
	"voltbus/fault"
)

// Range is a range of users.
type Range struct {
	First int
	Count int
}

// Claims are the users that a node holds. Its methods are safe for concurrent use.
type Claims struct {
	users Range
	seed  string

	mu   sync.Mutex
	held map[int]int // file descriptors
}

// New returns claims for a node. The seed, such as the path of its data, determines where in the range it
// starts to look: so even nodes that run at different times rarely use the same users.
func New(users Range, seed string) *Claims {
	return &Claims{users: users, seed: seed, held: map[int]int{}}
}

// Hold claims the user that an agent already has. It reports false if another node of this machine, or
// another agent of this one, holds it.
func (c *Claims) Hold(user int) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hold(user)
}

func (c *Claims) hold(user int) (bool, error) {
	if _, ours := c.held[user]; ours {
		return false, nil
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, fault.E("claim.Hold", fault.Unavailable, "", fmt.Errorf("claim the user %d: %w", user, err))
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("@voltbus/agents/%d", user)}); err != nil {
		_ = unix.Close(fd) // nothing to flush
		if errors.Is(err, unix.EADDRINUSE) {
			return false, nil
		}
		return false, fault.E("claim.Hold", fault.Unavailable, "", fmt.Errorf("claim the user %d: %w", user, err))
	}
	c.held[user] = fd
	return true, nil
}

// Choose claims a free user for an agent. The processes that a killed node left behind keep their users from
// others. It fails with fault.Unavailable.
func (c *Claims) Choose(agent string) (int, error) {
	busy, err := process.Users()
	if err != nil {
		return 0, fault.E("claim.Choose", fault.Unavailable, agent, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.users.Count {
		user := c.users.First + (c.start(agent)+i)%c.users.Count
		if busy[user] {
			continue
		}
		if held, err := c.hold(user); held || err != nil {
			return user, err
		}
	}
	return 0, fault.E("claim.Choose", fault.Unavailable, agent,
		fmt.Errorf("all %d users of agents.users are taken on this machine; raise agents.users.count", c.users.Count))
}

// start is the position in the range at which the search for an agent's user begins.
func (c *Claims) start(agent string) int {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s\x00%s", c.seed, agent) // a hash never fails
	return int(h.Sum32() % uint32(c.users.Count))    //nolint:gosec // a count is positive and below 2³¹
}

// Release frees the user of an agent that no longer exists.
func (c *Claims) Release(user int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fd, ours := c.held[user]; ours {
		_ = unix.Close(fd) // nothing to flush
		delete(c.held, user)
	}
}

// Close frees all users. The claims may be used again.
func (c *Claims) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, fd := range c.held {
		_ = unix.Close(fd) // nothing to flush
	}
	clear(c.held)
}
