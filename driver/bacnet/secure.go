package bacnet

import (
	"fmt"
	"net/url"

	"voltbus/driver"
	"voltbus/driver/bacnet/network"
	"voltbus/protocol/bacnet/sc"
)

// SC is a BACnet/SC network (ASHRAE 135 annex AB), with the files that its authority gave this node.
type SC struct {
	// Hub is the address of the primary hub, such as wss://10.0.0.2:4443/; left out, the network is BACnet/IP.
	Hub string `yaml:"hub" example:"wss://10.0.0.2:4443/"`
	// Failover is the address of the hub that is used while the primary one cannot be reached.
	Failover string `yaml:"failover"`
	// Certificate is the PEM file with this node's operational certificate.
	Certificate string `yaml:"certificate"`
	// Key is the PEM file with its private key.
	Key string `yaml:"key"`
	// CA is the PEM file with the authorities that the hub's certificate is checked against.
	CA string `yaml:"ca"`

	files network.Secrets // by load
}

func (s *SC) wanted() bool {
	return s.Hub != "" || s.Failover != "" || s.Certificate != "" || s.Key != "" || s.CA != ""
}

func (s *SC) check(k *checker, c *Config) {
	if !s.wanted() {
		return
	}
	checkHub(k, "sc.hub", s.Hub)
	if s.Failover != "" {
		checkHub(k, "sc.failover", s.Failover)
	}
	k.add(s.Certificate == "", "sc.certificate", "is missing; write the PEM file with this node's certificate")
	k.add(s.Key == "", "sc.key", "is missing; write the PEM file with the private key")
	k.add(s.CA == "", "sc.ca", "is missing; write the PEM file with the authority of the hub's certificate")
	k.add(c.Local != "", "local", "is of BACnet/IP, and sc of BACnet/SC; leave one of them out")
	k.add(c.BBMD != "", "bbmd", "is of BACnet/IP, and sc of BACnet/SC; leave one of them out")
}

func checkHub(k *checker, key, text string) {
	u, err := url.Parse(text)
	k.add(err != nil || u.Scheme != "wss" || u.Hostname() == "" || u.User != nil, key,
		"%q is no address of a BACnet/SC hub; write such as wss://10.0.0.2:4443/", text)
}

// maxPEM bounds the size of a certificate file, far above any real one.
const maxPEM = 1 << 20

// load reads the files.
func (s *SC) load(files driver.Files) []error {
	if s.Certificate == "" || s.Key == "" || s.CA == "" {
		return nil // check reports it
	}
	var read network.Secrets
	for _, f := range []struct {
		key, name string
		into      *string
	}{{"sc.certificate", s.Certificate, &read.Certificate}, {"sc.key", s.Key, &read.Key}, {"sc.ca", s.CA, &read.CA}} {
		pem, err := files.ReadFile(f.name, maxPEM)
		if err != nil {
			return []error{&driver.Problem{Key: f.key, Text: fmt.Sprintf("cannot be read: %v", err)}}
		}
		*f.into = string(pem)
	}
	if _, err := sc.ParseCertificates([]byte(read.Certificate), []byte(read.Key), []byte(read.CA)); err != nil {
		return []error{&driver.Problem{Key: "sc", Text: err.Error()}}
	}
	s.files = read
	return nil
}
