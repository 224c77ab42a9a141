// Package setting has the section "cluster" of the configuration.
package setting

import (
	"fmt"
	"net"
	"slices"
	"strconv"
)

// Cluster is the section "cluster".
type Cluster struct {
	// Replicas are all replicas of the cluster, this node too, by the names of their nodes: 3 to 5. Of 3 or 4, any one may be
	// down; of 5, any two. They count until the replica has met the others; then the list that "voltbus cluster add" and
	// "remove" change counts, and this one is not read any more.
	Replicas []Replica `yaml:"replicas"`
	// Listen is the address for the other replicas. If left out, it is the address of this node in the list.
	Listen string `yaml:"listen" example:"0.0.0.0:6222"`
	// MQTTAddress is where MQTT clients reach this replica. When another replica is drained, it tells its clients of MQTT 5 the
	// addresses of those that are left (Server Reference). If left out, clients must know the others themselves.
	MQTTAddress string `yaml:"mqtt_address" example:"broker-1.example.com:8883"`
	// KeyFile holds the key that all replicas share, 32 random bytes in base64, relative to this file. Whoever has it
	// can read and write the log.
	KeyFile string `yaml:"key_file" example:"secrets/cluster.key"`
}

// Replica is an entry of "cluster.replicas".
type Replica struct {
	// Name is the name of its node.
	Name string `yaml:"name" example:"broker-1"`
	// Address is where it listens for the other replicas.
	Address string `yaml:"address" example:"10.0.0.1:6222"`
	// Witness is true for a replica that only has the logs and counts for the majority: no MQTT clients, devices, agents and history.
	// It needs "store: {engine: none}". It is one from the first start of the cluster on.
	Witness bool `yaml:"witness"`
}

// Enabled reports whether this node is a replica.
func (c *Cluster) Enabled() bool { return len(c.Replicas) > 0 }

// Each calls a function with each replica.
func (c *Cluster) Each(do func(name, address string, witness bool)) {
	for _, r := range c.Replicas {
		do(r.Name, r.Address, r.Witness)
	}
}

// Witness reports whether a replica is a witness.
func (c *Cluster) Witness(name string) bool {
	return slices.ContainsFunc(c.Replicas, func(r Replica) bool { return r.Name == name && r.Witness })
}

// Validate reports what is wrong with the section of a node. named returns how a text must be written to be the name of a node.
func (c *Cluster) Validate(self string, named func(string) string, r func(key, format string, args ...any)) {
	if !c.Enabled() {
		if c.KeyFile != "" || c.Listen != "" {
			r("replicas", "is missing; list the 3 to 5 replicas, each with name and address, or remove the section")
		}
		return
	}
	if n := len(c.Replicas); n < 3 || n > 5 {
		r("replicas", "lists %d; write 3 to 5: a majority of them must be there to acknowledge anything", n)
	}
	if c.KeyFile == "" {
		r("key_file", "is missing; make a key with \"head -c 32 /dev/urandom | base64\", and write the name of its file")
	}
	if c.Listen != "" && !isAddress(c.Listen) && !isAddress("every.interface"+c.Listen) {
		r("listen", "%q is not an address; write host:port, such as 0.0.0.0:6222, or :6222", c.Listen)
	}
	if c.MQTTAddress != "" && !isAddress(c.MQTTAddress) {
		r("mqtt_address", "%q is not an address that clients reach; write host:port, such as broker-1.example.com:8883", c.MQTTAddress)
	}
	c.validateReplicas(self, named, r)
}

// isAddress reports whether a text is host:port.
func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	n, bad := strconv.Atoi(port)
	return err == nil && bad == nil && n > 0 && n < 1<<16 && host != ""
}

func (c *Cluster) validateReplicas(self string, named func(string) string, r func(key, format string, args ...any)) {
	names, addresses, witnesses := map[string]bool{}, map[string]bool{}, 0
	for i, one := range c.Replicas {
		at := fmt.Sprintf("replicas[%d].", i)
		switch {
		case one.Name == "" || named(one.Name) != one.Name:
			r(at+"name", "%q is not a name; write the node.name of the replica", one.Name)
		case names[one.Name]:
			r(at+"name", "%q is there already; each replica has one entry", one.Name)
		}
		if !isAddress(one.Address) {
			r(at+"address", "%q is not an address of a replica; write host:port, such as 10.0.0.1:6222", one.Address)
		} else if addresses[one.Address] {
			r(at+"address", "%q is there already; each replica has an address of its own", one.Address)
		}
		names[one.Name], addresses[one.Address] = true, true
		if one.Witness {
			witnesses++
		}
	}
	if witnesses > 0 && len(c.Replicas)-witnesses < 2 {
		r("replicas", "lists %d witnesses among %d; at least 2 must be none", witnesses, len(c.Replicas))
	}
	if !names[self] {
		r("replicas", "do not list this node, whose node.name is %q; add it here and at all others", self)
	}
}
