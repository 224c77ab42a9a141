// Package setting defines the section "sources" of the configuration: the brokers whose messages are recorded, which ones, and how they
// are read. The comments of the fields are the reference documentation.
package setting

import (
	"fmt"

	broker "voltbus/broker/setting"
	sinks "voltbus/sink/setting"
)

// Source is an entry of "sources".
type Source struct {
	// Name identifies the source in messages and commands, and its files in the data directory.
	Name string `yaml:"name" example:"meters"`
	// Kind is what is read from: kafka for topics of Kafka, rabbitmq for a queue of AMQP 0-9-1, amqp1 for an address of AMQP 1.0.
	Kind string `yaml:"kind" enum:"amqp1,kafka,rabbitmq"`
	// URL is the address of the broker; the guide on sources tells which parts each kind reads.
	URL string `yaml:"url" example:"kafkas://kafka-1.example:9093,kafka-2.example:9093"`
	// User is the user name.
	User string `yaml:"user" example:"plant"`
	// PasswordFile holds the password, relative to this file. It is read anew for each connection.
	PasswordFile string `yaml:"password_file" example:"secrets/kafka"`
	// CA is the PEM file with the authorities that the broker's certificate is checked against, relative to this file.
	// Default: those of the system.
	CA string `yaml:"ca" example:"secrets/kafka-ca.pem"`
	// Certificate is the PEM file with the certificate that this node shows, relative to this file.
	Certificate string `yaml:"certificate" example:"secrets/plant.pem"`
	// Key is the PEM file with the private key of the certificate, relative to this file.
	Key string `yaml:"key" example:"secrets/plant-key.pem"`
	// From is the topic, the queue or the address that is read. For kafka several topics may be written, with commas between them.
	From string `yaml:"from" example:"readings"`
	// Group is the consumer group of Kafka. Sources with the same one share the messages. Default: voltbus-, the node's name, - and name.
	Group string `yaml:"group" example:"plant"`
	// Under is the path that everything read lies below: it is put in front of the names in the messages.
	Under string `yaml:"under" example:"campus/meters"`
	// Whole says that the names in the messages are whole paths: nothing is put in front of them, and what does not lie
	// below under is refused.
	Whole bool `yaml:"whole"`
	// Format is what the messages are, as for readings sent over HTTP, if there are no templates.
	Format string `yaml:"format" enum:"json,senml,senml-cbor,line,csv"`
	// Precision is the unit of times that are whole numbers, for json, line and csv. Default: ns for line, ms for others.
	Precision string `yaml:"precision" enum:"ns,us,ms,s,m,h"`
	// Layout makes paths of line protocol. Default: {measurement}/{tags}/{field}.
	Layout string `yaml:"layout" example:"{tag:building}/{measurement}/{field}"`
	// Templates turn messages into points, as mqtt.templates do. The topic that they select is the topic of Kafka, / and the key; or
	// the routing key of AMQP, with / in place of its dots. They are used in place of format.
	Templates []broker.Template `yaml:"templates"`
	// DeadLetters is the topic, the exchange or the address that gets a copy of messages that cannot be read. Default: they are
	// kept in the data directory, the last ones of them.
	DeadLetters string `yaml:"dead_letters" example:"unreadable"`
	// Batch is the largest number of messages that are recorded together. Default: 5000.
	Batch int `yaml:"batch" example:"1000"`
}

// The kinds of sources.
const (
	Kafka    = sinks.Kafka
	RabbitMQ = sinks.RabbitMQ
	AMQP1    = sinks.AMQP1
)

// The formats, beside templates.
const (
	JSON      = "json"
	SenML     = "senml"
	SenMLCBOR = "senml-cbor"
	Line      = "line"
	CSV       = "csv"
)

// DefaultBatch is the largest number of messages that are recorded together if nothing else is written.
const DefaultBatch = 5000

// Completed returns the entry with what was left out, for a node.
func (s Source) Completed(node string) Source {
	if s.Group == "" {
		s.Group = "voltbus-" + node + "-" + s.Name
	}
	if s.Batch == 0 {
		s.Batch = DefaultBatch
	}
	return s
}

// Access returns where the broker is and who this node is there.
func (s *Source) Access() sinks.Access {
	return sinks.Access{URL: s.URL, User: s.User, PasswordFile: s.PasswordFile, CA: s.CA, Certificate: s.Certificate, Key: s.Key}
}

// List is the section "sources".
type List []Source

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
