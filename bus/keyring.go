package bus

import (
	"encoding/base64"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// keyring admits connections that sign the server's nonce with a known key. Anonymous
// connections, passwords and tokens are refused.
type keyring struct{ bus *Bus }

// Check implements the server's Authentication.
func (k *keyring) Check(c server.ClientAuthentication) bool {
	opts := c.GetOpts()
	if opts.Nkey == "" || opts.Sig == "" || !signed(opts.Nkey, opts.Sig, c.GetNonce()) {
		return false
	}
	if opts.Nkey == k.bus.cfg.Key.Public() {
		c.RegisterUser(&server.User{Username: opts.Nkey, Account: k.bus.ownAccount(opts.Name)})
		return true
	}
	return k.bus.connections.enter(c, opts.Nkey)
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
