package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/identity"
)

// Catalog is where the accounts are kept.
var _ identity.Accounts = (*Catalog)(nil)

// PutUser implements identity.Accounts.
func (c *Catalog) PutUser(ctx context.Context, u identity.User) error {
	return c.exec(ctx, "catalog.PutUser", u.Name, `
		INSERT INTO user (name, role, created) VALUES (?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET role = excluded.role`,
		u.Name, u.Role.String(), micros(c.now()))
}

// PutCredential implements identity.Accounts.
func (c *Catalog) PutCredential(ctx context.Context, cr identity.Credential) error {
	var parent any
	if cr.Parent != (identity.Hash{}) {
		parent = cr.Parent[:]
	}
	most := ""
	if cr.Most != identity.Nobody {
		most = cr.Most.String()
	}
	var expires sql.NullInt64
	if !cr.Expires.IsZero() {
		expires = sql.NullInt64{Int64: micros(cr.Expires), Valid: true}
	}
	return c.exec(ctx, "catalog.PutCredential", cr.User.Name, `
		INSERT INTO credential (hash, user, purpose, parent, created, expires, under, id, name, most)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		cr.Hash[:], cr.User.Name, string(cr.Purpose), parent, micros(cr.Created), expires, cr.User.Under, cr.ID, cr.Name, most)
}

const selectCredential = `
	SELECT hash, user.name, user.role, purpose, parent, under, credential.created, expires, id, credential.name, most
	FROM credential JOIN user ON user.name = credential.user `

// Credential implements identity.Accounts. Every request asks, so the statement is prepared once; a look-up by key is over before anybody
// could give it up.
func (c *Catalog) Credential(ctx context.Context, hash identity.Hash) (identity.Credential, error) {
	cr, err := scanCredential(c.credential.QueryRowContext(context.WithoutCancel(ctx), hash[:]))
	if errors.Is(err, sql.ErrNoRows) {
		err = fault.E("catalog.Credential", fault.NotFound, "", errors.New("there is no such credential"))
	}
	if err != nil {
		return identity.Credential{}, wrap("catalog.Credential", "", err)
	}
	return cr, nil
}

// Credentials implements identity.Accounts.
func (c *Catalog) Credentials(ctx context.Context, purpose identity.Purpose) ([]identity.Credential, error) {
	list, err := c.credentials(ctx, `WHERE purpose = ? ORDER BY user.name, credential.created`, string(purpose))
	return list, wrap("catalog.Credentials", "", err)
}

// CredentialsOf implements identity.Accounts.
func (c *Catalog) CredentialsOf(ctx context.Context, user string) ([]identity.Credential, error) {
	list, err := c.credentials(ctx, `WHERE user = ? ORDER BY credential.created, hash`, user)
	return list, wrap("catalog.CredentialsOf", user, err)
}

func (c *Catalog) credentials(ctx context.Context, which string, args ...any) ([]identity.Credential, error) {
	rows, err := c.db.QueryContext(ctx, selectCredential+which, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []identity.Credential
	for rows.Next() {
		cr, err := scanCredential(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, cr)
	}
	return list, rows.Err()
}

func scanCredential(row interface{ Scan(to ...any) error }) (identity.Credential, error) {
	var (
		cr               identity.Credential
		hash, parent     []byte
		role, most       string
		created, expires sql.NullInt64
	)
	err := row.Scan(&hash, &cr.User.Name, &role, &cr.Purpose, &parent, &cr.User.Under, &created, &expires, &cr.ID, &cr.Name, &most)
	if err != nil {
		return cr, err
	}
	copy(cr.Hash[:], hash)
	copy(cr.Parent[:], parent)
	cr.User.Role, _ = identity.ParseRole(role)
	if most != "" {
		bound, ok := identity.ParseRole(most)
		if cr.Most = bound; !ok || bound == identity.Nobody { // whatever it means, it is no more
			cr.User.Role = identity.Nobody
		}
		cr.User.Role = cr.User.Role.Within(bound)
	}
	cr.Created, cr.Expires = fromMicros(created), fromMicros(expires)
	return cr, nil
}

// DropCredential implements identity.Accounts.
func (c *Catalog) DropCredential(ctx context.Context, hash identity.Hash) error {
	return c.exec(ctx, "catalog.DropCredential", "", `DELETE FROM credential WHERE hash = ?`, hash[:])
}

// DropTokens implements identity.Accounts.
func (c *Catalog) DropTokens(ctx context.Context, user string) error {
	return c.exec(ctx, "catalog.DropTokens", user, `DELETE FROM credential WHERE user = ?`, user)
}

// DropExpired implements identity.Accounts.
func (c *Catalog) DropExpired(ctx context.Context, now time.Time) error {
	return c.exec(ctx, "catalog.DropExpired", "", `DELETE FROM credential WHERE expires <= ?`, micros(now))
}

// PutMember implements identity.Accounts.
func (c *Catalog) PutMember(ctx context.Context, m identity.Member) error {
	return c.exec(ctx, "catalog.PutMember", m.Name, `
		INSERT INTO member (public, name, role, created) VALUES (?, ?, ?, ?)
		ON CONFLICT (public) DO UPDATE SET name = excluded.name, role = excluded.role`,
		m.Public, m.Name, m.Role.String(), micros(m.Created))
}

// Members implements identity.Accounts.
func (c *Catalog) Members(ctx context.Context) ([]identity.Member, error) {
	rows, err := c.db.QueryContext(ctx, `SELECT public, name, role, created FROM member ORDER BY name, public`)
	if err != nil {
		return nil, wrap("catalog.Members", "", err)
	}
	defer rows.Close()
	var members []identity.Member
	for rows.Next() {
		var m identity.Member
		var role string
		var created sql.NullInt64
		if err := rows.Scan(&m.Public, &m.Name, &role, &created); err != nil {
			return nil, wrap("catalog.Members", "", err)
		}
		m.Role, _ = identity.ParseRole(role)
		m.Created = fromMicros(created)
		members = append(members, m)
	}
	return members, wrap("catalog.Members", "", rows.Err())
}

// DropMember implements identity.Accounts.
func (c *Catalog) DropMember(ctx context.Context, public string) error {
	err := c.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM member WHERE public = ?`, public)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return fault.E("catalog.DropMember", fault.NotFound, public, errors.New("is not a member of this bus"))
	})
	return wrap("catalog.DropMember", public, err)
}

func (c *Catalog) exec(ctx context.Context, op, subject, statement string, args ...any) error {
	err := c.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("change the accounts: %w", err)
		}
		return nil
	})
	return wrap(op, subject, err)
}
