package catalog

import (
	"context"
	"database/sql"
	"errors"

	"voltbus/fault"
	"voltbus/identity"
)

// PutPassword implements identity.Accounts.
func (c *Catalog) PutPassword(ctx context.Context, u identity.User, encoded string) error {
	err := c.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO user (name, role, created, password) VALUES (?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET role = excluded.role, password = excluded.password`,
			u.Name, u.Role.String(), micros(c.now()), encoded)
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
func (c *Catalog) Account(ctx context.Context, name string) (identity.Account, error) {
	list, err := c.accounts(ctx, selectAccount+` WHERE name = ?`, name)
	if err == nil && len(list) == 0 {
		err = fault.E("catalog.Account", fault.NotFound, name, errNoPerson)
	}
	if err != nil {
		return identity.Account{}, wrap("catalog.Account", name, err)
	}
	return list[0], nil
}

// Users implements identity.Accounts.
func (c *Catalog) Users(ctx context.Context) ([]identity.Account, error) {
	list, err := c.accounts(ctx, selectAccount+` WHERE role <> 'nobody' ORDER BY name`)
	return list, wrap("catalog.Users", "", err)
}

func (c *Catalog) accounts(ctx context.Context, query string, args ...any) ([]identity.Account, error) {
	rows, err := c.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []identity.Account
	for rows.Next() {
		var a identity.Account
		var role string
		var created sql.NullInt64
		if err := rows.Scan(&a.Name, &role, &created, &a.Password, &a.Tokens); err != nil {
			return nil, err
		}
		a.Role, _ = identity.ParseRole(role)
		a.Created = fromMicros(created)
		list = append(list, a)
	}
	return list, rows.Err()
}

var errNoPerson = errors.New("there is nobody of this name")

// DropUser implements identity.Accounts.
func (c *Catalog) DropUser(ctx context.Context, name string) error {
	err := c.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM user WHERE name = ?`, name)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return fault.E("catalog.DropUser", fault.NotFound, name, errNoPerson)
	})
	return wrap("catalog.DropUser", name, err)
}
