package opcua

import (
	"fmt"
	"strings"
	"time"

	"voltbus/driver"
	"voltbus/internal/strictyaml"
	"voltbus/protocol/opcua/client"
)

// Bounds of files.
const (
	maxPassword = 4 << 10
	maxPEM      = 1 << 20
)

// Load reads the registry and the other files that the configuration names.
func (c *Config) Load(files driver.Files) []error {
	problems := c.Registry.Load(files)
	for _, f := range []struct {
		key, name string
		most      int64
		into      *string
	}{
		{"password_file", c.PasswordFile, maxPassword, &c.files.password},
		{"trust", c.Trust, maxPEM, &c.files.trust},
		{"certificate", c.Certificate, maxPEM, &c.files.certificate},
		{"key", c.Key, maxPEM, &c.files.key},
	} {
		if f.name == "" {
			continue
		}
		data, err := files.ReadFile(f.name, f.most)
		if err != nil {
			problems = append(problems, &driver.Problem{Key: f.key, Text: err.Error()})
			continue
		}
		*f.into = string(data)
	}
	c.files.password = strings.TrimRight(c.files.password, "\r\n")
	c.compiled = false
	c.compile()
	return problems
}

// checker collects problems.
type checker struct{ problems []error }

func (k *checker) add(wrong bool, key, text string, args ...any) {
	if wrong {
		k.problems = append(k.problems, &driver.Problem{Key: key, Text: fmt.Sprintf(text, args...), Kind: strictyaml.Kind(text)})
	}
}

// Validate reports every problem of the configuration and of each point, as *driver.Problem.
func (c *Config) Validate() []error {
	k := &checker{}
	u, err := c.url()
	switch {
	case c.Endpoint == "":
		k.add(true, "endpoint", "is missing; write the URL of the server, such as opc.tcp://10.0.0.20:4840")
	case err != nil || u.Scheme != "opc.tcp" || u.Hostname() == "":
		k.add(true, "endpoint", "%q is no URL of an OPC UA server; write one such as opc.tcp://10.0.0.20:4840", c.Endpoint)
	}
	c.checkSecurity(k)
	k.add(c.Timeout < 50*time.Millisecond || c.Timeout > 10*time.Minute, "timeout", "%v is out of range; write a duration from 50ms to 10m, such as 5s", c.Timeout)
	k.add(c.MaxPerRequest < 0 || c.MaxPerRequest > 100_000, "max_per_request", "%d is out of range; write a number from 1 to 100000, or leave it out", c.MaxPerRequest)
	k.add(c.Sampling < 10*time.Millisecond || c.Sampling > 24*time.Hour, "sampling", "%v is out of range; write a duration from 10ms to 24h, such as 1s", c.Sampling)
	k.add(c.Queue < 1 || c.Queue > 10_000, "queue", "%d is out of range; write a number from 1 to 10000, such as 10", c.Queue)
	k.add(c.Registry.Missing(), "registry", "is empty; write a list of points, or the name of a CSV or YAML file")
	c.compile()
	return append(k.problems, c.problems...)
}

func (c *Config) checkSecurity(k *checker) {
	if policyURI(c.Security) == "" {
		k.add(c.Security != securityBest && c.Security != securityNone, "security", "%q is not known; write %s, %s or %s", c.Security, securityBest, strings.Join(policyNames(), ", "), securityNone)
	}
	k.add(c.Mode != modeEncrypt && c.Mode != modeSign, "mode", "%q is not known; write %s or %s", c.Mode, modeEncrypt, modeSign)
	digits := strings.TrimLeft(fingerprint(c.Fingerprint), "0123456789abcdef")
	k.add(c.Fingerprint != "" && (digits != "" || len(fingerprint(c.Fingerprint)) != 64), "fingerprint", "%q is no SHA-256 fingerprint; write its 64 hexadecimal digits", c.Fingerprint)
	if c.files.trust != "" {
		_, list := c.pool()
		k.add(len(list) == 0, "trust", "%q holds no certificate; write a PEM file", c.Trust)
	}
	k.add((c.Certificate == "") != (c.Key == ""), "key", "and certificate belong together; write both, or leave both out for the certificate that the node makes")
	if c.files.certificate != "" && c.files.key != "" {
		_, err := client.ParseIdentity([]byte(c.files.certificate), []byte(c.files.key))
		k.add(err != nil, "certificate", "%v", err)
	}
	k.add(c.User == "" && c.PasswordFile != "", "user", "is missing; write the user name that the password is for")
	k.add(c.User != "" && c.PasswordFile == "", "password_file", "is missing; write the file with the password of the user")
}

// fingerprint returns the digits of a fingerprint as people write it: with or without colons and the name of the hash.
func fingerprint(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	text = strings.TrimPrefix(strings.TrimPrefix(text, "sha256:"), "sha-256:")
	return strings.NewReplacer(":", "", " ", "").Replace(text)
}
