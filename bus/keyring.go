package bus

import (
	"encoding/base64"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Role is what a connection may do.
type Role uint8

// The roles of connections.
const (
	// Reader may subscribe to live messages, and nothing else.
	Reader Role = iota
	// Node may do everything, also read and write the log.
	Node
)

// String returns the role's name.
func (r Role) String() string {
	if r == Node {
		return "node"
	}
	return "reader"
}

// keyring admits connections that sign the server's nonce with a known key. Anonymous
// connections, passwords and tokens are refused.
type keyring struct {
	node string
	role func(publicKey string) (Role, bool)
}

// Check implements the server's Authentication.
func (k *keyring) Check(c server.ClientAuthentication) bool {
	opts := c.GetOpts()
	if opts.Nkey == "" || opts.Sig == "" || !signed(opts.Nkey, opts.Sig, c.GetNonce()) {
		return false
	}
	role, known := Node, opts.Nkey == k.node
	if !known && k.role != nil {
		role, known = k.role(opts.Nkey)
	}
	if !known {
		return false
	}
	c.RegisterUser(&server.User{Username: opts.Nkey, Permissions: permissions(role)})
	return true
}

func signed(publicKey, signature string, nonce []byte) bool {
	sig, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		if sig, err = base64.StdEncoding.DecodeString(signature); err != nil {
			return false
		}
	}
	key, err := nkeys.FromPublicKey(publicKey)
	return err == nil && len(nonce) > 0 && key.Verify(nonce, sig) == nil
}

// permissions returns what a role may do; nil allows everything.
func permissions(role Role) *server.Permissions {
	if role == Node {
		return nil
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Deny: []string{">"}},
		Subscribe: &server.SubjectPermission{Allow: []string{"live.>", "_INBOX.>"}},
	}
}
