package catalog

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"voltbus/fault"
	"voltbus/identity"
)

// Accounts keeps users, their credentials, and members of the bus.
type Accounts struct {
	*file
	credential *sql.Stmt // by hash
	recent     recent    // credentials
}

var _ identity.Accounts = (*Accounts)(nil)

func openAccounts(ctx context.Context, f *file) (*Accounts, error) {
	credential, err := f.db.PrepareContext(ctx, selectCredential+`WHERE hash = ?`)
	return &Accounts{file: f, credential: credential}, err
}

// PutUser implements identity.Accounts.
func (a *Accounts) PutUser(ctx context.Context, u identity.User) error {
	defer a.recent.changed()
	return a.exec(ctx, "catalog.PutUser", u.Name, `
		INSERT INTO user (name, role, created) VALUES (?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET role = excluded.role`,
		u.Name, u.Role.String(), micros(a.now()))
}

// PutCredential implements identity.Accounts.
func (a *Accounts) PutCredential(ctx context.Context, cr identity.Credential) error {
	defer a.recent.changed()
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
	return a.exec(ctx, "catalog.PutCredential", cr.User.Name, `
		INSERT INTO credential (hash, user, purpose, parent, created, expires, under, id, name, most)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		cr.Hash[:], cr.User.Name, string(cr.Purpose), parent, micros(cr.Created), expires, cr.User.Under, cr.ID, cr.Name, most)
}

const selectCredential = `
	SELECT hash, user.name, user.role, purpose, parent, under, credential.created, expires, id, credential.name, most
	FROM credential JOIN user ON user.name = credential.user `

// Credential implements identity.Accounts. Every request calls it, so earlier results are cached until
// something changes, and the statement is prepared once; a look-up by key ends before a caller could give up.
func (a *Accounts) Credential(ctx context.Context, hash identity.Hash) (identity.Credential, error) {
	cr, known, changes := a.recent.get(hash)
	if known {
		return cr, nil
	}
	cr, err := scanCredential(a.credential.QueryRowContext(context.WithoutCancel(ctx), hash[:]))
	if errors.Is(err, sql.ErrNoRows) {
		err = fault.E("catalog.Credential", fault.NotFound, "", errors.New("there is no such credential"))
	}
	if err != nil {
		return identity.Credential{}, wrap("catalog.Credential", "", err)
	}
	a.recent.put(cr, changes)
	return cr, nil
}

// Credentials implements identity.Accounts.
func (a *Accounts) Credentials(ctx context.Context, purpose identity.Purpose) ([]identity.Credential, error) {
	list, err := a.credentials(ctx, `WHERE purpose = ? ORDER BY user.name, credential.created`, string(purpose))
	return list, wrap("catalog.Credentials", "", err)
}

// CredentialsOf implements identity.Accounts.
func (a *Accounts) CredentialsOf(ctx context.Context, user string) ([]identity.Credential, error) {
	list, err := a.credentials(ctx, `WHERE user = ? ORDER BY credential.created, hash`, user)
	return list, wrap("catalog.CredentialsOf", user, err)
}

func (a *Accounts) credentials(ctx context.Context, which string, args ...any) ([]identity.Credential, error) {
	rows, err := a.db.QueryContext(ctx, selectCredential+which, args...)
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
		if cr.Most = bound; !ok || bound == identity.Nobody { // whatever it means, it no longer applies
			cr.User.Role = identity.Nobody
		}
		cr.User.Role = cr.User.Role.Within(bound)
	}
	cr.Created, cr.Expires = fromMicros(created), fromMicros(expires)
	return cr, nil
}

// DropCredential implements identity.Accounts.
func (a *Accounts) DropCredential(ctx context.Context, hash identity.Hash) error {
	defer a.recent.changed()
	return a.exec(ctx, "catalog.DropCredential", "", `DELETE FROM credential WHERE hash = ?`, hash[:])
}

// DropTokens implements identity.Accounts.
func (a *Accounts) DropTokens(ctx context.Context, user string) error {
	defer a.recent.changed()
	return a.exec(ctx, "catalog.DropTokens", user, `DELETE FROM credential WHERE user = ?`, user)
}

// DropExpired implements identity.Accounts.
func (a *Accounts) DropExpired(ctx context.Context, now time.Time) error {
	defer a.recent.changed()
	return a.exec(ctx, "catalog.DropExpired", "", `DELETE FROM credential WHERE expires <= ?`, micros(now))
}

// PutMember implements identity.Accounts.
func (a *Accounts) PutMember(ctx context.Context, m identity.Member) error {
	return a.exec(ctx, "catalog.PutMember", m.Name, `
		INSERT INTO member (public, name, role, created) VALUES (?, ?, ?, ?)
		ON CONFLICT (public) DO UPDATE SET name = excluded.name, role = excluded.role`,
		m.Public, m.Name, m.Role.String(), micros(m.Created))
}

// Members implements identity.Accounts.
func (a *Accounts) Members(ctx context.Context) ([]identity.Member, error) {
	rows, err := a.db.QueryContext(ctx, `SELECT public, name, role, created FROM member ORDER BY name, public`)
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
func (a *Accounts) DropMember(ctx context.Context, public string) error {
	return a.drop(ctx, "catalog.DropMember", `DELETE FROM member WHERE public = ?`, public, errNoMember)
}

var errNoMember = errors.New("is not a member of this bus")
