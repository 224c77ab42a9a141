// Package claim shares a range of system users among the nodes of a machine, so that no two agents run as the same user: processes of one
// user can signal and read each other, and whatever a user still runs ends with its agent.
//
// Who holds a user has a socket of its name, in Linux's abstract namespace. The kernel gives a name to
// one process, and takes it back when that ends, however it ends; there is no file that can be left
// behind.
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

// New returns claims for a node. The seed, such as the place of its data, says where in the range it
// looks first: users of nodes that run at different times are rarely the same then, too.
func New(users Range, seed string) *Claims {
	return &Claims{users: users, seed: seed, held: map[int]int{}}
}

// Hold claims a user that an agent has. It reports false if another node of this machine, or another
// agent of this one, has that user.
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
		_ = unix.Close(fd) // nothing was written
		if errors.Is(err, unix.EADDRINUSE) {
			return false, nil
		}
		return false, fault.E("claim.Hold", fault.Unavailable, "", fmt.Errorf("claim the user %d: %w", user, err))
	}
	c.held[user] = fd
	return true, nil
}

// Choose claims a user that nobody has, for an agent. Processes that a node left when it was killed
// keep their user from others. It fails with fault.Unavailable.
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
	_, _ = fmt.Fprintf(h, "%s\x00%s", c.seed, agent) // a hash takes all
	return int(h.Sum32() % uint32(c.users.Count))    //nolint:gosec // a count is positive and below 2³¹
}

// Release gives a user back whose agent is no more.
func (c *Claims) Release(user int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fd, ours := c.held[user]; ours {
		_ = unix.Close(fd) // nothing was written
		delete(c.held, user)
	}
}

// Close gives all users back. The claims may be used again.
func (c *Claims) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, fd := range c.held {
		_ = unix.Close(fd) // nothing was written
	}
	clear(c.held)
}
