package catalog

import (
	"context"
	"database/sql"
	"errors"

	"voltbus/fault"
	"voltbus/identity"
)

// PutPassword implements identity.Accounts.
func (a *Accounts) PutPassword(ctx context.Context, u identity.User, encoded string) error {
	defer a.recent.changed()
	err := a.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO user (name, role, created, password) VALUES (?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET role = excluded.role, password = excluded.password`,
			u.Name, u.Role.String(), micros(a.now()), encoded)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM credential WHERE user = ? AND purpose = ?`, u.Name, string(identity.Session))
		return err
	})
	return wrap("catalog.PutPassword", u.Name, err)
}

const selectAccount = `SELECT name, role, created, coalesce(password, ''),
	(SELECT count(*) FROM credential WHERE user = name AND purpose = 'token') FROM user`

// Account implements identity.Accounts.
func (a *Accounts) Account(ctx context.Context, name string) (identity.Account, error) {
	list, err := a.accounts(ctx, selectAccount+` WHERE name = ?`, name)
	if err == nil && len(list) == 0 {
		err = fault.E("catalog.Account", fault.NotFound, name, errNoPerson)
	}
	if err != nil {
		return identity.Account{}, wrap("catalog.Account", name, err)
	}
	return list[0], nil
}

// Users implements identity.Accounts.
func (a *Accounts) Users(ctx context.Context) ([]identity.Account, error) {
	list, err := a.accounts(ctx, selectAccount+` WHERE role <> 'nobody' ORDER BY name`)
	return list, wrap("catalog.Users", "", err)
}

func (a *Accounts) accounts(ctx context.Context, query string, args ...any) ([]identity.Account, error) {
	rows, err := a.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []identity.Account
	for rows.Next() {
		var one identity.Account
		var role string
		var created sql.NullInt64
		if err := rows.Scan(&one.Name, &role, &created, &one.Password, &one.Tokens); err != nil {
			return nil, err
		}
		one.Role, _ = identity.ParseRole(role)
		one.Created = fromMicros(created)
		list = append(list, one)
	}
	return list, rows.Err()
}

var errNoPerson = errors.New("there is nobody of this name")

// DropUser implements identity.Accounts.
func (a *Accounts) DropUser(ctx context.Context, name string) error {
	defer a.recent.changed()
	return a.drop(ctx, "catalog.DropUser", `DELETE FROM user WHERE name = ?`, name, errNoPerson)
}
