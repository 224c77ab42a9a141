package identity

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/identity/keyfile"
	"voltbus/identity/pki"
)

// Files in the data directory.
const (
	NodeKeyFile    = "node.nk"     // the node's key
	AdminKeyFile   = "admin.nk"    // the local administrator's key for the bus
	AdminTokenFile = "admin.token" // the local administrator's token for the API, in plain text
	TLSFolder      = "tls"
)

// AdminName is the name of the local administrator.
const AdminName = "admin"

// Options tell whose identity to open.
type Options struct {
	Dir      string           // the data directory; it must exist
	Node     string           // the node's name
	Names    []string         // further host names and addresses of the node
	Accounts Accounts         // storage of users and members
	Now      func() time.Time // the clock; nil for time.Now
	// Looks says that the data is only inspected: certificates generated for a node without any are not kept, so that the
	// node generates its own, and reports it, when it starts.
	Looks bool
}

// Identity is a node's own secrets and those of its local administrator.
type Identity struct {
	Node         *Key
	Admin        *Key
	Certificates *pki.Certificates
	Logins       *Logins
}

// Open reads the identity in the data directory and creates missing parts: the node's key, the certificates,
// and a local administrator with a bus key and an API token. Removing admin.token before a start creates a
// new token and ends the old one.
func Open(ctx context.Context, o Options) (*Identity, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	node, err := OpenKey(filepath.Join(o.Dir, NodeKeyFile))
	if err != nil {
		return nil, err
	}
	admin, err := OpenKey(filepath.Join(o.Dir, AdminKeyFile))
	if err != nil {
		return nil, err
	}
	certs, err := o.certificates()
	if err != nil {
		return nil, err
	}
	id := &Identity{Node: node, Admin: admin, Certificates: certs, Logins: NewLogins(o.Accounts, o.Now)}
	if err := id.enlist(ctx, o); err != nil {
		return nil, err
	}
	return id, id.admitAdmin(ctx, o)
}

// certificates opens the certificates of the node.
func (o *Options) certificates() (*pki.Certificates, error) {
	dir := filepath.Join(o.Dir, TLSFolder)
	if there, err := os.ReadDir(dir); o.Looks && len(there) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		passing, err := os.MkdirTemp("", "voltbus-tls-")
		if err != nil {
			return nil, keyfile.Fault("identity.Open", dir, err)
		}
		defer func() { _ = os.RemoveAll(passing) }()
		dir = passing
	}
	return pki.Open(dir, o.Node, o.Names, o.Now)
}

// enlist registers the two keys as members of the bus.
func (id *Identity) enlist(ctx context.Context, o Options) error {
	for _, m := range []Member{
		{Public: id.Node.Public(), Name: o.Node, Role: Administrator, Created: o.Now()},
		{Public: id.Admin.Public(), Name: AdminName, Role: Administrator, Created: o.Now()},
	} {
		if err := o.Accounts.PutMember(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// admitAdmin makes the token in admin.token valid. The file is written before the hash is stored, so that the
// next start repairs a crash between the two.
func (id *Identity) admitAdmin(ctx context.Context, o Options) error {
	file := filepath.Join(o.Dir, AdminTokenFile)
	token, err := ReadToken(file)
	if fault.Is(err, fault.NotFound) {
		token = newSecret()
		if err = o.Accounts.DropTokens(ctx, AdminName); err == nil {
			err = keyfile.Write(file, []byte(token+"\n"), keyfile.Private)
		}
	}
	if err != nil {
		return err
	}
	if _, err := id.Logins.Recognise(ctx, Token, token); !fault.Is(err, fault.Refused) {
		return err
	}
	return id.Logins.admit(ctx, User{Name: AdminName, Role: Administrator}, token)
}

// ReadToken returns the API token in file. A file that others may read gives fault.Refused, an
// absent one fault.NotFound, one without a token fault.Corrupt.
func ReadToken(file string) (string, error) {
	b, err := keyfile.Read(file)
	if err != nil {
		return "", err
	}
	if err := CheckToken(b); err != nil {
		return "", fault.E("identity.ReadToken", fault.Corrupt, file, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// CheckToken returns what is wrong with the content of a file that should hold a token.
func CheckToken(content []byte) error {
	_, err := hashSecret(strings.TrimSpace(string(content)))
	return err
}
