package opcua

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gopcua/opcua/ua"

	"voltbus/protocol/opcua/client"
)

// policies are the security policies that are used, the best first (Part 7, clause 6.6).
var policies = []struct{ name, uri string }{ //nolint:gochecknoglobals // a table
	{"Aes256_Sha256_RsaPss", ua.SecurityPolicyURIAes256Sha256RsaPss},
	{"Aes128_Sha256_RsaOaep", ua.SecurityPolicyURIAes128Sha256RsaOaep},
	{"Basic256Sha256", ua.SecurityPolicyURIBasic256Sha256},
}

func policyNames() []string {
	names := make([]string, len(policies))
	for i, p := range policies {
		names[i] = p.name
	}
	return names
}

// policyURI returns the URI of a policy by its name, "" if it is not known.
func policyURI(name string) string {
	for _, p := range policies {
		if strings.EqualFold(p.name, name) {
			return p.uri
		}
	}
	return ""
}

// policyRank orders policies, the best first; those that are not used come last.
func policyRank(uri string) int {
	i := slices.IndexFunc(policies, func(p struct{ name, uri string }) bool { return p.uri == uri })
	if i < 0 {
		return len(policies)
	}
	return i
}

// policyName returns the name of a security policy.
func policyName(uri string) string {
	_, name, found := strings.Cut(uri, "#")
	if !found {
		return uri
	}
	return name
}

var errNoIdentity = errors.New("there is no certificate to show to the server; write certificate and key, which `voltbus opcua certificate` makes")

// choose finds the endpoint that the configuration wants among those of a server.
func (c *Config) choose(endpoints []*ua.EndpointDescription) (*ua.EndpointDescription, error) {
	mode := ua.MessageSecurityModeSignAndEncrypt
	if c.Mode == modeSign {
		mode = ua.MessageSecurityModeSign
	}
	var fit, offered []*ua.EndpointDescription
	for _, e := range endpoints {
		if e == nil || !strings.HasPrefix(e.EndpointURL, "opc.tcp:") {
			continue
		}
		offered = append(offered, e)
		switch {
		case c.Security == securityNone && e.SecurityMode == ua.MessageSecurityModeNone:
			fit = append(fit, e)
		case c.Security != securityNone && e.SecurityMode == mode && policyRank(e.SecurityPolicyURI) < len(policies) &&
			(c.Security == securityBest || e.SecurityPolicyURI == policyURI(c.Security)):
			fit = append(fit, e)
		}
	}
	if len(fit) == 0 {
		return nil, fmt.Errorf("the server offers %s; write security and mode for one of them", offersOf(offered))
	}
	slices.SortStableFunc(fit, func(a, b *ua.EndpointDescription) int {
		return cmp.Compare(policyRank(a.SecurityPolicyURI), policyRank(b.SecurityPolicyURI))
	})
	return fit[0], nil
}

// offersOf lists the securities of endpoints in the words of the configuration.
func offersOf(endpoints []*ua.EndpointDescription) string {
	var list []string
	for _, e := range endpoints {
		text := policyName(e.SecurityPolicyURI) + " with mode " + modeName(e.SecurityMode)
		if e.SecurityMode == ua.MessageSecurityModeNone {
			text = "no security (none)"
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return "no endpoint over opc.tcp"
	}
	return strings.Join(list, ", ")
}

// modeName returns the word of the configuration for a mode.
func modeName(mode ua.MessageSecurityMode) string {
	switch mode {
	case ua.MessageSecurityModeSign:
		return modeSign
	case ua.MessageSecurityModeSignAndEncrypt:
		return modeEncrypt
	default:
		return securityNone
	}
}

// trusted says why the certificate of a server is not trusted; nil if it is.
func (c *Config) trusted(der []byte, now time.Time) error {
	chain, err := x509.ParseCertificates(der)
	if err != nil || len(chain) == 0 {
		return errors.New("the server shows no certificate that can be read")
	}
	cert, mark := chain[0], client.Fingerprint(der)
	about := fmt.Sprintf("the certificate of the server (%s, fingerprint %s)", cmp.Or(cert.Subject.CommonName, cert.Subject.String()), mark)
	switch {
	case c.Fingerprint == "" && c.Trust == "":
		return fmt.Errorf("%s is not trusted: compare the fingerprint with that at the server, then write fingerprint: %s", about, mark)
	case c.Fingerprint != "" && fingerprint(c.Fingerprint) == mark:
	case c.inFile(chain, now):
	case c.Fingerprint != "" && c.Trust == "":
		return fmt.Errorf("%s is another than the one with the configured fingerprint: if it was changed on purpose, write fingerprint: %s; otherwise somebody may stand between", about, mark)
	default:
		return fmt.Errorf("%s is neither in the file trust nor signed by one that is there: add it to the file, or write fingerprint: %s", about, mark)
	}
	switch {
	case c.AcceptExpired:
	case now.After(cert.NotAfter):
		return fmt.Errorf("%s has expired on %s: renew it at the server, or write accept_expired: true until then", about, cert.NotAfter.UTC().Format(time.DateTime))
	case now.Before(cert.NotBefore):
		return fmt.Errorf("%s is valid from %s on: check the clocks of both machines, or write accept_expired: true", about, cert.NotBefore.UTC().Format(time.DateTime))
	}
	return nil
}

// inFile reports whether the trust file has a certificate, or its authority.
func (c *Config) inFile(chain []*x509.Certificate, now time.Time) bool {
	pool, list := c.pool()
	for _, cert := range list {
		if cert.Equal(chain[0]) {
			return true
		}
	}
	if c.AcceptExpired {
		now = chain[0].NotAfter
	}
	between := x509.NewCertPool()
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: pool, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err == nil
}
