package setting

import (
	"fmt"
	"net"
	"strings"

	"voltbus/protocol/mqtt/topic"
)

// Publish is an entry of "mqtt.publish".
type Publish struct {
	// Name identifies the broker in messages, and the file of its position in the data directory.
	Name string `yaml:"name" example:"cloud"`
	// Address is host:port of the broker.
	Address string `yaml:"address" example:"broker.example:8883"`
	// TLS secures the connection.
	TLS bool `yaml:"tls"`
	// CA is the PEM file with the authorities that the broker's certificate is checked against, relative to this file. Default:
	// those of the system.
	CA string `yaml:"ca" example:"secrets/broker-ca.pem"`
	// ServerName is the name that the broker's certificate must contain. Default: the host of the address.
	ServerName string `yaml:"server_name"`
	// User is the user name, if the broker wants one.
	User string `yaml:"user" example:"plant"`
	// PasswordFile holds the password, relative to this file. It is read anew for each connection.
	PasswordFile string `yaml:"password_file" example:"secrets/broker"`
	// Client is the client identifier. Default: the broker chooses one.
	Client string `yaml:"client" example:"plant-1"`
	// Points are patterns of the points whose samples are published.
	Points []string `yaml:"points" example:"[\"plant/**\"]"`
	// Format is the format of the payload: json for an object with point, time, value and quality, plain for the value,
	// sparkplug for an edge node of Sparkplug B that has the points as its metrics. Default: json.
	Format string `yaml:"format" enum:"json,plain,sparkplug"`
	// Topic is where samples are published; {node} and {path} stand for the names of node and point. Default:
	// voltbus/{node}/{path}.
	Topic string `yaml:"topic" example:"plant/{path}"`
	// Group is the group of the edge node, for sparkplug.
	Group string `yaml:"group" example:"plant"`
	// Retain has the broker keep the last message of each topic.
	Retain bool `yaml:"retain"`
}

// SparkplugB is the format of Sparkplug B.
const SparkplugB = "sparkplug"

// DefaultTopic is where samples are published if nothing else is written.
const DefaultTopic = "voltbus/{node}/{path}"

// Completed returns the entry with what was left out.
func (p Publish) Completed() Publish {
	if p.Format == "" {
		p.Format = JSON
	}
	if p.Topic == "" {
		p.Topic = DefaultTopic
	}
	return p
}

func (p *Publish) validate(r Report) {
	if !IsKindName(p.Name) {
		r("name", "%q is not a name; write up to %d letters, digits, - and _, such as cloud", p.Name, MaxName)
	}
	if _, _, err := net.SplitHostPort(p.Address); err != nil {
		r("address", "%q is not an address; write host:port, such as broker.example:8883", p.Address)
	}
	if !p.TLS && (p.CA != "" || p.ServerName != "") {
		r("tls", "is off, but ca or server_name is there; write tls: true or remove them")
	}
	if len(p.Points) == 0 {
		r("points", "are missing; write patterns such as [\"plant/**\"]")
	}
	if p.Format == SparkplugB {
		if p.Group == "" || strings.ContainsAny(p.Group, "/+#") {
			r("group", "%q is not a level of a topic; write a name such as plant", p.Group)
		}
		if p.Topic != "" {
			r("topic", "Sparkplug B names its topics itself; remove it")
		}
		return
	}
	t := p.Completed().Topic
	plain := strings.NewReplacer("{node}", "n", "{path}", "p").Replace(t)
	if err := topic.Check(plain, maxLevels); err != nil || strings.ContainsAny(plain, "{}") {
		r("topic", "%q is not a topic; write one with {node} and {path}, such as plant/{path}", t)
	} else if !strings.Contains(t, "{path}") && p.Format == Plain {
		r("topic", "%q is the same for all points, whose payload does not name them; write {path} in it", t)
	}
}

func validatePublish(r Report, list []Publish) {
	names := map[string]bool{}
	for i := range list {
		at := fmt.Sprintf("publish[%d].", i)
		if names[list[i].Name] {
			r(at+"name", "%q is there already; give each broker a name of its own", list[i].Name)
		}
		names[list[i].Name] = true
		list[i].validate(func(key, format string, args ...any) { r(at+key, format, args...) })
	}
}
