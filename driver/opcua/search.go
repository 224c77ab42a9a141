package opcua

import (
	"context"
	"fmt"
	"strings"

	"github.com/gopcua/opcua/ua"

	"voltbus/driver"
	"voltbus/driver/opcua/pointlist"
	"voltbus/fault"
	"voltbus/protocol/opcua/client"
)

// search asks a server what it offers: each way to connect to it is a device, the best security first.
func search(ctx context.Context, cfg driver.Config) (list []driver.Neighbour, err error) {
	const op = "opcua.Search"
	c, is := cfg.(*Config)
	if !is {
		return nil, fault.E(op, fault.Internal, "", fmt.Errorf("configuration is a %T", cfg))
	}
	endpoints, err := c.Endpoints(ctx)
	if err != nil {
		return nil, lost(op, ctx, c.Endpoint, err)
	}
	for _, e := range endpoints {
		if e.SecurityMode != ua.MessageSecurityModeNone && policyRank(e.SecurityPolicyURI) == len(policies) {
			continue
		}
		list = append(list, neighbour(c.Endpoint, e))
	}
	return list, nil
}

// Endpoints asks the server of the configuration what it offers.
func (c *Config) Endpoints(ctx context.Context) ([]*ua.EndpointDescription, error) {
	opts, err := c.options()
	if err != nil {
		return nil, err
	}
	found, err := client.Endpoints(ctx, opts)
	if err != nil {
		return nil, err
	}
	var list []*ua.EndpointDescription
	for rank := range len(policies) + 1 {
		for _, e := range found {
			if e != nil && strings.HasPrefix(e.EndpointURL, "opc.tcp:") && policyRank(e.SecurityPolicyURI) == rank {
				list = append(list, e)
			}
		}
	}
	return list, nil
}

// neighbour describes a way to connect to a server.
func neighbour(endpoint string, e *ua.EndpointDescription) driver.Neighbour {
	n := driver.Neighbour{Config: map[string]any{"endpoint": endpoint, "security": PolicyName(e.SecurityPolicyURI), "mode": ModeName(e.SecurityMode)}}
	name := ""
	if e.Server != nil && e.Server.ApplicationName != nil {
		name = e.Server.ApplicationName.Text
	}
	n.Name = pointlist.Readable(name)
	n.Detail = fmt.Sprintf("%s at %s with %s", name, endpoint, Offers([]*ua.EndpointDescription{e}))
	if e.SecurityMode == ua.MessageSecurityModeNone {
		n.Config = map[string]any{"endpoint": endpoint, "security": securityNone}
		n.Note = "Nothing is encrypted, and anybody on the network can change values."
		return n
	}
	n.Config["fingerprint"] = client.Fingerprint(e.ServerCertificate)
	n.Note = "Compare the fingerprint with that at the server before you add it."
	return n
}
