package machine

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"voltbus/fault"
)

// Network is network namespaces of Linux that stand for machines, joined by a bridge which this machine is at, too. The
// addresses are from the range for measurements (RFC 2544). Remove it when the processes in the namespaces have ended.
type Network struct {
	name     string
	subnet   byte
	machines int
}

// NewNetwork makes so many machines, at most 200. It fails with fault.Unavailable where this user may make none.
func NewNetwork(machines int) (*Network, error) {
	var seed [3]byte
	_, _ = rand.Read(seed[:]) // never fails
	n := &Network{name: "vbl" + hex.EncodeToString(seed[:]), subnet: seed[0], machines: machines}
	bridge := [][]string{
		{"link", "add", n.name, "type", "bridge"},
		{"addr", "add", fmt.Sprintf("198.18.%d.1/24", n.subnet), "dev", n.name},
		{"link", "set", n.name, "up"},
	}
	err := run(bridge)
	for i := 0; i < machines && err == nil; i++ {
		err = run(n.join(i))
	}
	if err != nil {
		err = fault.E("machine.NewNetwork", fault.Unavailable, "network namespaces", fmt.Errorf("cannot make a machine: %w; run the lab as root, with the program ip (package iproute2)", err))
		return nil, errors.Join(err, n.Remove())
	}
	return n, nil
}

// join are the commands that make a machine and plug it into the bridge.
func (n *Network) join(i int) [][]string {
	space, here, there := n.space(i), fmt.Sprintf("%sh%d", n.name, i), fmt.Sprintf("%st%d", n.name, i)
	return [][]string{
		{"netns", "add", space},
		{"link", "add", here, "type", "veth", "peer", "name", there, "netns", space},
		{"link", "set", here, "master", n.name, "up"},
		{"-n", space, "link", "set", "lo", "up"},
		{"-n", space, "addr", "add", n.Address(i) + "/24", "dev", there},
		{"-n", space, "link", "set", there, "up"},
	}
}

func run(commands [][]string) error {
	for _, args := range commands {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil { //nolint:noctx // takes a moment, also when a run was stopped
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

func (n *Network) space(i int) string { return fmt.Sprintf("%s-%d", n.name, i) }

// Address is the IP address of a machine, counted from 0.
func (n *Network) Address(i int) string { return fmt.Sprintf("198.18.%d.%d", n.subnet, i+2) }

// Program is how a program is started at a machine. The process that is started is the program's.
func (n *Network) Program(i int, program []string) []string {
	return append([]string{"ip", "netns", "exec", n.space(i)}, program...)
}

// Remove removes the machines and the bridge.
func (n *Network) Remove() error {
	for i := range n.machines { // what was not made fails, and need not be removed
		_ = run([][]string{{"netns", "del", n.space(i)}})
	}
	if err := run([][]string{{"link", "show", n.name}}); err != nil {
		return nil //nolint:nilerr // there is none
	}
	return run([][]string{{"link", "del", n.name}})
}
