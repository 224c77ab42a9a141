package setting

import (
	"fmt"
	"regexp"
	"time"

	"voltbus/meter/cluster"
)

// Cluster is the section metering.cluster.
type Cluster struct {
	// Members are all members of the cluster, this node too, by the names of their nodes. All members must list the same ones.
	// They cannot be changed when meters are registered.
	Members []Member `yaml:"members"`
	// Copies is how many members keep each meter: 1, or 2 so that its readings can be queried while one of them is
	// down. It must be the same at all members.
	Copies int `yaml:"copies" example:"1"`
	// Age is how long a reading waits at most for others before it is forwarded to the member that keeps it.
	Age time.Duration `yaml:"age" example:"20ms"`
	// Timeout is how long another member may take to answer a query. Afterwards the query is answered without it, and
	// the answer says so.
	Timeout time.Duration `yaml:"timeout" example:"10s"`
	// Late is how long a reading may wait for another member before the health of this node reports it.
	Late time.Duration `yaml:"late" example:"1m"`
}

// Member is a member of a cluster.
type Member struct {
	// Name is the name of its node.
	Name string `yaml:"name" example:"mds-1"`
	// URL is its address. That of this node may be left out.
	URL string `yaml:"url" example:"https://mds-1.example"`
	// TokenFile holds the token that it issued to this node as a member of the cluster, relative to this file. It is read anew when
	// the member refuses it.
	TokenFile string `yaml:"token_file" example:"mds-1.token"`
	// CAFile holds the certificates of the authorities that may vouch for it; those of the machine if left out.
	CAFile string `yaml:"ca_file" example:"mds-ca.pem"`
}

func defaultCluster() Cluster {
	return Cluster{Copies: 1, Age: 20 * time.Millisecond, Timeout: 10 * time.Second, Late: time.Minute}
}

// Enabled reports whether there is a cluster.
func (c *Cluster) Enabled() bool { return len(c.Members) > 0 }

// Names lists the names of the members.
func (c *Cluster) Names() (list []string) {
	for i := range c.Members {
		list = append(list, c.Members[i].Name)
	}
	return list
}

// Lists reports whether a node is a member.
func (c *Cluster) Lists(node string) bool {
	for i := range c.Members {
		if c.Members[i].Name == node {
			return true
		}
	}
	return false
}

const (
	maxLate          = 24 * time.Hour
	maxForwardAge    = 10 * time.Second
	minMemberTimeout = 100 * time.Millisecond
	maxMemberTimeout = time.Minute
)

var memberName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,57}$`)

func (c *Cluster) validate(r Report) {
	within(r, "copies", c.Copies, span{1, cluster.MostCopies, "1"})
	lasts(r, "age", c.Age, period{minAge, maxForwardAge, "1ms to 10s, such as 20ms"})
	lasts(r, "timeout", c.Timeout, period{minMemberTimeout, maxMemberTimeout, "100ms to 1m, such as 10s"})
	lasts(r, "late", c.Late, period{time.Second, maxLate, "1s to 24h, such as 1m"})
	switch n := len(c.Members); {
	case n == 1:
		r("members", "lists 1; write all members of the cluster, 2 to %d, or none", cluster.MostMembers)
	case n > cluster.MostMembers:
		r("members", "lists %d; write at most %d", n, cluster.MostMembers)
	}
	seen := map[string]bool{}
	for i := range c.Members {
		at := func(key, format string, args ...any) { r(fmt.Sprintf("members[%d].%s", i, key), format, args...) }
		m := &c.Members[i]
		switch {
		case !memberName.MatchString(m.Name):
			at("name", "%.64q is no name of a member; write the name of its node: up to 57 letters, digits, - and _", m.Name)
		case seen[m.Name]:
			at("name", "%q is there already; each member has one entry", m.Name)
		}
		seen[m.Name] = true
		if m.URL != "" {
			badAddress(at, "url", m.URL)
		}
	}
}

// ValidateFor reports what is wrong with a cluster for a node of a name.
func (c *Cluster) ValidateFor(node string, r Report) {
	if !c.Enabled() {
		return
	}
	if !c.Lists(node) {
		r("members", "do not list this node, whose node.name is %q; add it to the members, here and at all others", node)
	}
	for i := range c.Members {
		m := &c.Members[i]
		at := func(key, format string, args ...any) { r(fmt.Sprintf("members[%d].%s", i, key), format, args...) }
		if m.Name == node {
			continue
		}
		if m.URL == "" {
			at("url", "is missing; write the address of the member %s, such as https://%s.example", m.Name, m.Name)
		}
		if m.TokenFile == "" {
			at("token_file", "is missing; write the name of a file with the token that %s made by \"voltbus token create --member %s\"", m.Name, node)
		}
	}
}
