// Package opcua is the driver for OPC UA servers over opc.tcp (OPC 10000).
//
//   - opcua.go is what the configuration sees; check.go says what is wrong with it. Package pointlist reads the list of points and
//     converts values.
//   - line.go is a connection with a session, trust.go chooses its security and judges the server's certificate. Devices of one
//     server share it.
//   - session.go reads, write.go writes, subscribe.go keeps the reports of monitored items, which publish.go gets from the server.
//   - survey.go browses a server for points, search.go lists what it offers. text.go says in words why a server declined.
package opcua

import (
	"crypto/x509"
	"net"
	"net/url"
	"os"
	"time"

	"voltbus/driver"
	"voltbus/driver/opcua/pointlist"
	"voltbus/point"
	"voltbus/protocol/opcua/client"
)

// Kind returns the OPC UA driver.
func Kind() driver.Kind {
	return driver.Kind{
		Name:      "opcua",
		Doc:       "OPC UA client: security with certificates, subscriptions, browsing, writes.",
		NewConfig: func() driver.Config { return NewConfig() },
		Dial:      dial,
		Search:    &driver.Search{Without: map[string]any{"registry": []any{}}, Run: search},
	}
}

// Config is a set of points of an OPC UA server.
type Config struct {
	// Endpoint is the URL of the server, such as opc.tcp://10.0.0.20:4840/plant; the port is 4840 if left out.
	Endpoint string `yaml:"endpoint" example:"opc.tcp://10.0.0.20:4840"`
	// Security is the security policy: best for the best that the server offers, Basic256Sha256, Aes128_Sha256_RsaOaep,
	// Aes256_Sha256_RsaPss, or none; best if left out, which never is none.
	Security string `yaml:"security" example:"Basic256Sha256"`
	// Mode is how messages are secured: encrypt (SignAndEncrypt) or sign; encrypt if left out.
	Mode string `yaml:"mode"`
	// Fingerprint is the SHA-256 fingerprint of the server's certificate: this certificate is trusted, and no other.
	Fingerprint string `yaml:"fingerprint"`
	// Trust is the PEM file with certificates that are trusted: those of servers, or of their authorities.
	Trust string `yaml:"trust"`
	// AcceptExpired trusts a certificate although its time is over.
	AcceptExpired bool `yaml:"accept_expired"`
	// Certificate is the PEM file with the certificate that this node shows; the node makes its own if left out.
	Certificate string `yaml:"certificate"`
	// Key is the PEM file with the RSA key of the certificate.
	Key string `yaml:"key"`
	// User is the user name; nobody in particular if left out.
	User string `yaml:"user"`
	// PasswordFile is the file with the password.
	PasswordFile string `yaml:"password_file"`
	// PlainPassword lets the password be sent readable if the server wants it so.
	PlainPassword bool `yaml:"plain_password"`

	// Timeout is how long one answer may take; 5s if left out.
	Timeout time.Duration `yaml:"timeout"`
	// MaxPerRequest is the most nodes in one request; what the server says if left out.
	MaxPerRequest int `yaml:"max_per_request"`
	// Sampling is how often the server looks for changes of a point that is subscribed to; 1s if left out. Points with the same
	// sampling share a subscription.
	Sampling time.Duration `yaml:"sampling"`
	// Queue is how many values of a point the server keeps between two reports; 10 if left out.
	Queue int `yaml:"queue"`

	// Registry is the list of points, the name of a CSV or YAML file that holds it, or the text of such a file. With [] a trial of
	// the device lists the points that it has.
	Registry pointlist.Registry `yaml:"registry"`

	items    []pointlist.Item // the registry, checked, in its order
	compiled bool
	problems []error // of compile and Load
	files    secrets
	keep     driver.Keep
}

// secrets are the contents of the files.
type secrets struct{ password, trust, certificate, key string }

// NewConfig returns a configuration with the defaults.
func NewConfig() *Config {
	return &Config{Security: securityBest, Mode: modeEncrypt, Timeout: 5 * time.Second, Sampling: time.Second, Queue: 10}
}

// The words of the configuration.
const (
	securityBest = "best"
	securityNone = "none"
	modeEncrypt  = "encrypt"
	modeSign     = "sign"
)

// LineName is the server with the user: their devices share a connection.
func (c *Config) LineName() string {
	name := c.Endpoint
	if u, err := c.url(); err == nil {
		name = u.String()
	}
	if c.User != "" {
		name += " as " + c.User
	}
	return name
}

// defaultPort is that of IANA for opc.tcp.
const defaultPort = "4840"

// url returns the endpoint with its port.
func (c *Config) url() (*url.URL, error) {
	u, err := url.Parse(c.Endpoint)
	if err == nil && u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), defaultPort)
	}
	return u, err
}

// Points lists the points of the registry, in its order.
func (c *Config) Points() []point.Info {
	c.compile()
	infos := make([]point.Info, len(c.items))
	for i := range c.items {
		infos[i] = c.items[i].Info()
	}
	return infos
}

// compile checks the registry, once.
func (c *Config) compile() {
	if !c.compiled {
		c.compiled = true
		c.items, c.problems = c.Registry.Items()
	}
}

// Encode implements driver.Encoder: the type of the node is known to the server only.
func (c *Config) Encode(place int, v point.Value) (point.Value, error) { return c.items[place].Fit(v) }

// SetKeep implements driver.Keeping: the node's own certificate is kept.
func (c *Config) SetKeep(keep driver.Keep) { c.keep = keep }

var (
	_ driver.Encoder = (*Config)(nil)
	_ driver.Keeping = (*Config)(nil)
)

// identity returns the certificate that the node shows.
func (c *Config) identity() (client.Identity, error) {
	if c.Certificate != "" {
		return client.ParseIdentity([]byte(c.files.certificate), []byte(c.files.key))
	}
	if c.keep == nil {
		return client.Identity{}, errNoIdentity
	}
	data, err := c.keep(keptName, func() ([]byte, error) {
		host, err := os.Hostname()
		if err != nil {
			return nil, err
		}
		cert, key, err := client.NewCertificate(host, ownValid)
		return append(cert, key...), err
	})
	if err != nil {
		return client.Identity{}, err
	}
	return client.ParseIdentity(data, client.KeyBlock(data))
}

const (
	// keptName is what the node's own certificate is kept by.
	keptName = "opcua.pem"
	// ownValid is how long it is valid.
	ownValid = 20 * 365 * 24 * time.Hour
)

// pool returns the certificates of the trust file.
func (c *Config) pool() (*x509.CertPool, []*x509.Certificate) {
	pool := x509.NewCertPool()
	var list []*x509.Certificate
	for _, der := range client.Blocks([]byte(c.files.trust)) {
		if cert, err := x509.ParseCertificate(der); err == nil {
			pool.AddCert(cert)
			list = append(list, cert)
		}
	}
	return pool, list
}
