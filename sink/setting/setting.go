// Package setting defines the section "sinks" of the configuration: where readings are sent, which ones, and in what shape. The
// comments of the fields are the reference documentation.
package setting

import (
	"fmt"
	"time"
)

// Sink is an entry of "sinks".
type Sink struct {
	// Name identifies the destination in messages and commands, and its files in the data directory.
	Name string `yaml:"name" example:"cloud"`
	// Kind is what the destination is.
	Kind string `yaml:"kind" enum:"amqp1,clickhouse,elasticsearch,influxdb,kafka,mongodb,mysql,opentelemetry,prometheus,rabbitmq,s3,sqlite"`
	// URL is its address; the guide on destinations tells which parts each kind reads. For sqlite it is left out.
	URL string `yaml:"url" example:"https://search.example:9200"`
	// User is the user name. Without one, the password is sent as a token.
	User string `yaml:"user" example:"plant"`
	// PasswordFile holds the password or the token, relative to this file. It is read anew for each connection.
	PasswordFile string `yaml:"password_file" example:"secrets/search"`
	// CA is the PEM file with the authorities that the destination's certificate is checked against, relative to this file.
	// Default: those of the system.
	CA string `yaml:"ca" example:"secrets/search-ca.pem"`
	// Certificate is the PEM file with the certificate that this node shows, relative to this file.
	Certificate string `yaml:"certificate" example:"secrets/plant.pem"`
	// Key is the PEM file with the private key of the certificate, relative to this file.
	Key string `yaml:"key" example:"secrets/plant-key.pem"`
	// Into is the index, table, bucket or file that receives the readings, or the topic, queue or metric. For s3 it is the bucket, and the
	// beginning of the names of objects after a /. Default: voltbus.
	Into string `yaml:"into" example:"readings"`
	// Points are patterns of the points whose readings are sent. Default: all.
	Points []string `yaml:"points" example:"[\"plant/**\"]"`
	// Except are patterns of points, of those selected by points, whose readings are not sent.
	Except []string `yaml:"except" example:"[\"**/password\"]"`
	// Names is what a point is called at the destination: {path} stands for its path, {node} for the name of this node, {1} to {9} for
	// the segments of its path, {last} for the last one. Default: {path}.
	Names string `yaml:"names" example:"{1}.{last}"`
	// Tags are sent with each reading, by name. Their texts may have the same placeholders as names.
	Tags map[string]string `yaml:"tags" example:"{building: \"{1}\", owner: facilities}"`
	// Units converts readings: from the unit on the left to that on the right.
	Units map[string]string `yaml:"units" example:"{degF: degC, kW: W}"`
	// Batch is the largest number of readings in a request. Default: what suits the kind.
	Batch int `yaml:"batch" example:"5000"`
	// Every is how long readings wait for others, so that requests or files are larger. Default: 5m for s3, and not longer than needed for others.
	Every time.Duration `yaml:"every" example:"5m"`
	// From is the day from whose beginning in UTC a new destination gets the history, too: YYYY-MM-DD. Default: it gets what is recorded from now on.
	From string `yaml:"from" example:"2026-01-01"`
}

// DefaultInto is the name that receives the readings if nothing else is written.
const DefaultInto = "voltbus"

// DefaultNames is what a point is called if nothing else is written.
const DefaultNames = "{path}"

// Completed returns the entry with what was left out.
func (s Sink) Completed() Sink {
	if s.Into == "" {
		s.Into = DefaultInto
	}
	if s.Names == "" {
		s.Names = DefaultNames
	}
	if len(s.Points) == 0 {
		s.Points = []string{"**"}
	}
	return s
}

// Since returns when the history begins that a new destination gets; false for none.
func (s *Sink) Since() (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, s.From)
	return t, err == nil && s.From != ""
}

// List is the section "sinks".
type List []Sink

// Names returns the names of the destinations.
func (l List) Names() (list []string) {
	for i := range l {
		list = append(list, l[i].Name)
	}
	return list
}

// Files calls a function with the key of each file that an entry may name, such as [0].ca.
func (l List) Files(each func(key string, file *string, secret bool)) {
	for i := range l {
		s, at := &l[i], fmt.Sprintf("[%d].", i)
		each(at+"password_file", &s.PasswordFile, true)
		each(at+"ca", &s.CA, false)
		each(at+"certificate", &s.Certificate, false)
		each(at+"key", &s.Key, true)
	}
}
