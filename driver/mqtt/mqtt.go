// Package mqtt is the driver for points of MQTT brokers: it subscribes to topics and reads values from their messages, as the
// templates of the node's own broker do, and writes by publishing to a topic.
//
// A broker sends messages as they come, so a read checks that the broker answers, and returns the latest value. Devices with
// the same broker, user and client share a connection.
package mqtt

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"voltbus/broker/setting"
	"voltbus/broker/template"
	"voltbus/driver"
	"voltbus/internal/strictyaml"
	"voltbus/point"
)

// Kind returns the MQTT driver.
func Kind() driver.Kind {
	return driver.Kind{
		Name:      "mqtt",
		Doc:       "Topics of an MQTT broker.",
		NewConfig: func() driver.Config { return NewConfig() },
		Dial:      dial,
	}
}

// Config is one device: a set of topics of a broker.
type Config struct {
	// Address is host or host:port of the broker; the port is 1883 or, with tls, 8883 if left out.
	Address string `yaml:"address"`
	// TLS secures the connection.
	TLS bool `yaml:"tls"`
	// CA is the PEM file with the authorities that the broker's certificate is checked against; those of the system if left
	// out.
	CA string `yaml:"ca"`
	// ServerName is the name that the broker's certificate must contain; the host of the address if left out.
	ServerName string `yaml:"server_name"`
	// User is the user name, if the broker wants one.
	User string `yaml:"user"`
	// PasswordFile is the file with the password.
	PasswordFile string `yaml:"password_file"`
	// Client is the client identifier; the broker chooses one if left out.
	Client string `yaml:"client"`
	// Timeout is how long the broker, or a device behind it, may take to answer; 5s if left out.
	Timeout time.Duration `yaml:"timeout"`
	// StaleAfter is the time without a message of its topic after which a point has the quality bad(stale); never if left
	// out.
	StaleAfter time.Duration `yaml:"stale_after"`
	// Points are the values in messages.
	Values []Point `yaml:"points"`

	password, ca string
	set          *template.Set
	infos        []point.Info
	entries      []entry
	broken       []error
}

// Point is a value of the messages of a topic.
type Point struct {
	// Name is that of the point.
	Name string `yaml:"name"`
	// Topic is where its messages are published.
	Topic string `yaml:"topic"`
	// Format is that of the payload: plain (the default) for one value as text, json or cbor for an object.
	Format string `yaml:"format"`
	// From is the place of the value in an object, such as sensor.temperature; the name if left out.
	From string `yaml:"from"`
	// Unit is that of the point.
	Unit string `yaml:"unit"`
	// Type is float (the default), int, bool or text.
	Type string `yaml:"type"`
	// Scale is the factor for numbers; 1 if left out.
	Scale float64 `yaml:"scale"`
	// Offset is added to numbers after that.
	Offset float64 `yaml:"offset"`
	// On are texts that are true, beside true, on and 1.
	On []string `yaml:"on"`
	// Off are texts that are false, beside false, off and 0.
	Off []string `yaml:"off"`
	// Bad are values that mean no value.
	Bad []string `yaml:"bad"`
	// Set is the topic where a value is published to write the point; it is read-only if left out.
	Set string `yaml:"set"`
	// Payload is what is published, with {value} for the value; {value} alone if left out.
	Payload string `yaml:"payload"`
	// To is the place of the value in an object that is published, in place of payload.
	To string `yaml:"to"`
	// Retain has the broker keep the value that was written.
	Retain bool `yaml:"retain"`
}

// entry is a point with its rules for reading and writing.
type entry struct {
	topic   string
	name    string // the name within the messages of its topic
	command *template.Command
	retain  bool
}

// NewConfig returns a configuration with the defaults.
func NewConfig() *Config { return &Config{Timeout: 5 * time.Second} }

// Bounds of files.
const (
	maxPassword = 4 << 10
	maxPEM      = 1 << 20
)

// Load reads the files named in the configuration.
func (c *Config) Load(files driver.Files) []error {
	var problems []error
	for _, f := range []struct {
		key, name string
		most      int64
		into      *string
	}{{"password_file", c.PasswordFile, maxPassword, &c.password}, {"ca", c.CA, maxPEM, &c.ca}} {
		if f.name == "" {
			continue
		}
		data, err := files.ReadFile(f.name, f.most)
		if err != nil {
			problems = append(problems, &driver.Problem{Key: f.key, Text: err.Error()})
			continue
		}
		*f.into = strings.TrimSpace(string(data))
	}
	c.compile()
	return problems
}

// compile builds the templates of the points, one for each topic.
func (c *Config) compile() {
	c.infos, c.entries, c.broken = nil, nil, nil
	var list []setting.Template
	at := map[string]int{}
	names := map[string]bool{}
	for i := range c.Values {
		p := &c.Values[i]
		key := fmt.Sprintf("points[%d]", i)
		problem := func(sub, format string, args ...any) {
			c.broken = append(c.broken, &driver.Problem{Key: key + "." + sub, Text: fmt.Sprintf(format, args...), Kind: strictyaml.Kind(format)})
		}
		format := cmp.Or(p.Format, setting.Plain)
		if names[p.Name] {
			problem("name", "%q is there already; give each point a name of its own", p.Name)
		}
		names[p.Name] = true
		if strings.ContainsAny(p.Topic, "+#") || p.Topic == "" {
			problem("topic", "%q is not a topic; write one without + and #", p.Topic)
		}
		if n, known := at[p.Topic]; known && (list[n].Format != format || format == setting.Plain) {
			problem("topic", "%q has a payload of another format at another point, or of one value; write each plain topic once", p.Topic)
			continue
		}
		n, known := at[p.Topic]
		if !known {
			n = len(list)
			at[p.Topic] = n
			list = append(list, setting.Template{Name: p.Topic, Topic: p.Topic, Device: "device", Format: format})
		}
		list[n].Points = append(list[n].Points, p.setting())
		c.infos = append(c.infos, point.Info{Path: point.Path(p.Name), Kind: kindOf(p.Type), Unit: p.Unit, Writable: p.Set != ""})
		c.entries = append(c.entries, entry{topic: p.Topic, name: p.Name, retain: p.Retain})
	}
	c.check(list)
}

// check checks the templates, and determines the commands of points.
func (c *Config) check(list []setting.Template) {
	section := setting.Default()
	section.Templates = list
	section.Validate(func(key, format string, args ...any) {
		if key = strings.TrimPrefix(key, "templates"); !strings.Contains(format, "is there already") {
			c.broken = append(c.broken, &driver.Problem{Key: "points", Text: strings.TrimPrefix(key, ".") + ": " + fmt.Sprintf(format, args...), Kind: strictyaml.Kind(format)})
		}
	})
	if len(c.broken) > 0 {
		return
	}
	set, err := template.Compile(list)
	if err != nil {
		c.broken = append(c.broken, &driver.Problem{Key: "points", Text: err.Error()})
		return
	}
	c.set = set
	for i := range c.entries {
		m := set.Find(c.entries[i].topic)
		if m == nil {
			continue
		}
		for _, command := range m.Commands() {
			if command.Point == point.Path("device").Join(c.entries[i].name) {
				c.entries[i].command = command
			}
		}
	}
}

func (p *Point) setting() setting.Point {
	s := setting.Point{
		Name: p.Name, From: p.From, Unit: p.Unit, Type: cmp.Or(p.Type, "float"), Scale: p.Scale, Offset: p.Offset, On: p.On, Off: p.Off, Bad: p.Bad,
	}
	if p.Set != "" {
		s.Set = setting.Set{Topic: p.Set, Payload: p.Payload, To: p.To}
	}
	return s
}

func kindOf(typ string) point.Kind {
	switch typ {
	case "int":
		return point.Int
	case "bool":
		return point.Bool
	case "text":
		return point.Text
	}
	return point.Float
}

// Validate reports every problem, as *driver.Problem.
func (c *Config) Validate() []error {
	problems := slices.Clone(c.broken)
	add := func(wrong bool, key, text string, args ...any) {
		if wrong {
			problems = append(problems, &driver.Problem{Key: key, Text: fmt.Sprintf(text, args...), Kind: strictyaml.Kind(text)})
		}
	}
	add(c.Address == "", "address", "is missing; write the host of the broker, or host:port")
	add(len(c.Values) == 0, "points", "there are none; write the name and topic of each")
	add(c.Timeout < 10*time.Millisecond || c.Timeout > 10*time.Minute, "timeout", "%s is out of range; write 10ms to 10m, such as 5s", c.Timeout)
	add(c.StaleAfter < 0, "stale_after", "%s is negative; write a time such as 10m", c.StaleAfter)
	add(!c.TLS && (c.CA != "" || c.ServerName != ""), "tls", "is off, but ca or server_name is there; write tls: true or remove them")
	add(c.ca != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(c.ca)), "ca", "%q holds no certificate; write a PEM file", c.CA)
	return problems
}

// LineName implements driver.Config: devices with the same broker, user and client share a connection.
func (c *Config) LineName() string {
	return fmt.Sprintf("mqtt %s %s %s", c.address(), c.User, c.Client)
}

func (c *Config) address() string {
	if _, _, err := net.SplitHostPort(c.Address); err == nil {
		return c.Address
	}
	port := "1883"
	if c.TLS {
		port = "8883"
	}
	return net.JoinHostPort(c.Address, port)
}

// Points implements driver.Config.
func (c *Config) Points() []point.Info { return slices.Clone(c.infos) }

// secure returns the TLS configuration for the broker.
func (c *Config) secure() *tls.Config {
	s := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if s.ServerName == "" {
		s.ServerName, _, _ = net.SplitHostPort(c.address())
	}
	if c.ca != "" {
		s.RootCAs = x509.NewCertPool()
		s.RootCAs.AppendCertsFromPEM([]byte(c.ca))
	}
	return s
}
