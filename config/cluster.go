package config

import (
	"fmt"
	"net"
	"strconv"
)

// Cluster is the section "cluster".
type Cluster struct {
	// Replicas are all replicas of the cluster, this node too, by the names of their nodes: 3 to 5. Of 3 or 4, any one may be
	// down; of 5, any two. They count until the replica has met the others; then the list that "voltbus cluster add" and
	// "remove" change counts, and this one is not read any more.
	Replicas []Replica `yaml:"replicas"`
	// Listen is the address for the other replicas. If left out, it is the address of this node in the list.
	Listen Address `yaml:"listen" example:"0.0.0.0:6222"`
	// KeyFile holds the key that all replicas share, 32 random bytes in base64, relative to this file. Whoever has it
	// can read and write the log.
	KeyFile string `yaml:"key_file" example:"secrets/cluster.key"`
}

// Replica is an entry of "cluster.replicas".
type Replica struct {
	// Name is the name of its node.
	Name string `yaml:"name" example:"broker-1"`
	// Address is where it listens for the other replicas.
	Address Address `yaml:"address" example:"10.0.0.1:6222"`
}

// Enabled reports whether this node is a replica.
func (c *Cluster) Enabled() bool { return len(c.Replicas) > 0 }

// Addresses returns the addresses of all replicas by name.
func (c *Cluster) Addresses() map[string]string {
	list := make(map[string]string, len(c.Replicas))
	for _, r := range c.Replicas {
		list[r.Name] = string(r.Address)
	}
	return list
}

func (c *Cluster) validate(r report, cfg *Config) {
	if !c.Enabled() {
		if c.KeyFile != "" || c.Listen != "" {
			r("cluster.replicas", "is missing; list the 3 to 5 replicas, each with name and address, or remove the section")
		}
		return
	}
	if n := len(c.Replicas); n < 3 || n > 5 {
		r("cluster.replicas", "lists %d; write 3 to 5: a majority of them must be there to acknowledge anything", n)
	}
	if c.KeyFile == "" {
		r("cluster.key_file", "is missing; make a key with \"head -c 32 /dev/urandom | base64\", and write the name of its file")
	}
	if cfg.Metering.Role != "off" {
		r("cluster", "and metering.role exclude each other; remove one: several metering data systems share their meters by metering.cluster")
	}
	c.validateReplicas(r, cfg.Node.Name)
}

func (c *Cluster) validateReplicas(r report, self string) {
	names, addresses := map[string]bool{}, map[Address]bool{}
	for i, one := range c.Replicas {
		at := fmt.Sprintf("cluster.replicas[%d].", i)
		switch {
		case one.Name == "" || nodeName(one.Name) != one.Name:
			r(at+"name", "%q is not a name; write the node.name of the replica", one.Name)
		case names[one.Name]:
			r(at+"name", "%q is there already; each replica has one entry", one.Name)
		}
		host, port, err := net.SplitHostPort(string(one.Address))
		if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 1 || host == "" {
			r(at+"address", "%q is not an address of a replica; write host:port, such as 10.0.0.1:6222", one.Address)
		} else if addresses[one.Address] {
			r(at+"address", "%q is there already; each replica has an address of its own", one.Address)
		}
		names[one.Name], addresses[one.Address] = true, true
	}
	if !names[self] {
		r("cluster.replicas", "do not list this node, whose node.name is %q; add it here and at all others", self)
	}
}
