package opcua

import (
	"context"
	"fmt"
	"strings"

	"github.com/gopcua/opcua/ua"

	"voltbus/driver"
	"voltbus/driver/registry"
	"voltbus/fault"
	"voltbus/protocol/opcua/client"
)

// Offer is a way to connect to a server.
type Offer struct {
	Server      string // the name that it gives itself; hostile
	Security    string // a word for the key security
	Mode        string // a word for the key mode
	Users       string // who may connect: anybody, user or certificate
	Fingerprint string // of the server's certificate; "" without one
}

// secure reports whether messages are secured.
func (o *Offer) secure() bool { return o.Mode != securityNone }

// search asks a server what it offers: each way to connect to it is a device, the best security first.
func search(ctx context.Context, cfg driver.Config) (list []driver.Neighbour, err error) {
	const op = "opcua.Search"
	c, is := cfg.(*Config)
	if !is {
		return nil, fault.E(op, fault.Internal, "", fmt.Errorf("configuration is a %T", cfg))
	}
	offers, err := c.Offers(ctx)
	if err != nil {
		return nil, err
	}
	for i := range offers {
		if o := &offers[i]; !o.secure() || policyURI(o.Security) != "" {
			list = append(list, neighbour(c.Endpoint, o))
		}
	}
	return list, nil
}

// Offers asks the server of the configuration how one can connect to it, the best security first. Nothing proves the answer.
func (c *Config) Offers(ctx context.Context) ([]Offer, error) {
	const op = "opcua.Offers"
	opts, err := c.options()
	if err != nil {
		return nil, fault.E(op, fault.Invalid, c.Endpoint, err)
	}
	found, err := client.Endpoints(ctx, opts)
	if err != nil {
		return nil, lost(op, ctx, c.Endpoint, err)
	}
	var list []Offer
	for rank := range len(policies) + 1 {
		for _, e := range found {
			if e != nil && strings.HasPrefix(e.EndpointURL, "opc.tcp:") && policyRank(e.SecurityPolicyURI) == rank {
				list = append(list, offerOf(e))
			}
		}
	}
	return list, nil
}

func offerOf(e *ua.EndpointDescription) Offer {
	o := Offer{Security: policyName(e.SecurityPolicyURI), Mode: modeName(e.SecurityMode)}
	if e.SecurityMode == ua.MessageSecurityModeNone {
		o.Security = securityNone
	}
	if e.Server != nil && e.Server.ApplicationName != nil {
		o.Server = e.Server.ApplicationName.Text
	}
	if len(e.ServerCertificate) > 0 {
		o.Fingerprint = client.Fingerprint(e.ServerCertificate)
	}
	var users []string
	for _, p := range e.UserIdentityTokens {
		if p == nil {
			continue
		}
		switch p.TokenType {
		case ua.UserTokenTypeAnonymous:
			users = append(users, "anybody")
		case ua.UserTokenTypeUserName:
			users = append(users, "user")
		case ua.UserTokenTypeCertificate:
			users = append(users, "certificate")
		default:
		}
	}
	o.Users = strings.Join(users, " ")
	return o
}

// neighbour describes a way to connect to a server.
func neighbour(endpoint string, o *Offer) driver.Neighbour {
	n := driver.Neighbour{
		Name: registry.Readable(o.Server), Detail: fmt.Sprintf("%s at %s with %s %s", o.Server, endpoint, o.Security, o.Mode),
		Config: map[string]any{"endpoint": endpoint, "security": o.Security, "mode": o.Mode, "fingerprint": o.Fingerprint},
		Note:   "Compare the fingerprint with that at the server before you add it.",
	}
	if !o.secure() {
		n.Detail = fmt.Sprintf("%s at %s without security", o.Server, endpoint)
		n.Config = map[string]any{"endpoint": endpoint, "security": securityNone}
		n.Note = "Nothing is encrypted, and anybody on the network can change values."
	}
	return n
}
