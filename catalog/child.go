package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/identity/registry"
)

var (
	errNoChild      = errors.New("there is no child of this name")
	errNoInvitation = errors.New("there is no invitation of this id")
)

// PutChild implements registry.ChildStorage.
func (r *Registry) PutChild(ctx context.Context, child registry.Child, i *registry.Invitation) error {
	grants, err := json.Marshal(child.Grants)
	if err != nil {
		return fault.E("catalog.PutChild", fault.Invalid, child.Name, fmt.Errorf("write the grants: %w", err))
	}
	previous, err := json.Marshal(child.Previous)
	if err != nil {
		return fault.E("catalog.PutChild", fault.Invalid, child.Name, fmt.Errorf("write the keys: %w", err))
	}
	err = r.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO child (name, public, state, prefix, grants, version, invitation, previous, joined, changed, by)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET public = excluded.public, state = excluded.state, prefix = excluded.prefix,
			  grants = excluded.grants, version = excluded.version, previous = excluded.previous,
			  changed = excluded.changed, by = excluded.by`,
			child.Name, child.Public, string(child.State), string(child.Prefix), string(grants), child.Version,
			child.Invitation, string(previous), micros(child.Joined), micros(child.Changed), child.By)
		if err == nil {
			err = putExpiry(ctx, tx, &child)
		}
		if err != nil || i == nil {
			return err
		}
		return putInvitation(ctx, tx, i)
	})
	return wrap("catalog.PutChild", child.Name, err)
}

// putExpiry stores the expiry of a child's key, and removes keys that belong to no child any more.
func putExpiry(ctx context.Context, tx *sql.Tx, child *registry.Child) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM bundle_key WHERE public = ? OR public NOT IN (SELECT public FROM child)`, child.Public)
	if err != nil || child.Expires.IsZero() {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO bundle_key (public, expires) VALUES (?, ?)`, child.Public, micros(child.Expires))
	return err
}

// Children implements registry.ChildStorage.
func (r *Registry) Children(ctx context.Context) ([]registry.Child, error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT name, public, state, prefix, grants, version, invitation, previous, joined, changed, by, expires
		FROM child LEFT JOIN bundle_key USING (public) ORDER BY name`)
	if err != nil {
		return nil, wrap("catalog.Children", "", err)
	}
	defer rows.Close()
	var list []registry.Child
	for rows.Next() {
		var one registry.Child
		var grants, previous []byte
		var joined, changed, expires sql.NullInt64
		err := rows.Scan(&one.Name, &one.Public, &one.State, &one.Prefix, &grants, &one.Version, &one.Invitation, &previous, &joined, &changed, &one.By,
			&expires)
		if err != nil {
			return nil, wrap("catalog.Children", "", err)
		}
		if err := errors.Join(json.Unmarshal(grants, &one.Grants), json.Unmarshal(previous, &one.Previous)); err != nil {
			return nil, fault.E("catalog.Children", fault.Corrupt, one.Name, fmt.Errorf("the grants or keys cannot be read: %w", err))
		}
		one.Joined, one.Changed, one.Expires = fromMicros(joined), fromMicros(changed), fromMicros(expires)
		list = append(list, one)
	}
	return list, wrap("catalog.Children", "", rows.Err())
}

// DropChild implements registry.ChildStorage.
func (r *Registry) DropChild(ctx context.Context, name string) error {
	return r.drop(ctx, "catalog.DropChild", `DELETE FROM child WHERE name = ?`, name, errNoChild)
}

// PutInvitation implements registry.ChildStorage.
func (r *Registry) PutInvitation(ctx context.Context, i registry.Invitation) error {
	err := r.write(ctx, func(tx *sql.Tx) error { return putInvitation(ctx, tx, &i) })
	return wrap("catalog.PutInvitation", i.ID, err)
}

func putInvitation(ctx context.Context, tx *sql.Tx, i *registry.Invitation) error {
	grants, err := json.Marshal(i.Grants)
	if err != nil {
		return fault.E("catalog.PutInvitation", fault.Invalid, i.ID, fmt.Errorf("write the grants: %w", err))
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO invitation (id, public, approved, name, prefix, grants, created, expires, by, used, used_by, canceled)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET used = excluded.used, used_by = excluded.used_by, canceled = excluded.canceled`,
		i.ID, i.Public, i.Approved, i.Name, string(i.Prefix), string(grants), micros(i.Created), micros(i.Expires), i.By,
		nullMicros(i.Used), i.UsedBy, nullMicros(i.Canceled))
	return err
}

// nullMicros returns a time in microseconds, or NULL for the zero time.
func nullMicros(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: micros(t), Valid: true}
}

// Invitations implements registry.ChildStorage.
func (r *Registry) Invitations(ctx context.Context) ([]registry.Invitation, error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT id, public, approved, name, prefix, grants, created, expires, by, used, used_by, canceled
		FROM invitation ORDER BY created DESC, id`)
	if err != nil {
		return nil, wrap("catalog.Invitations", "", err)
	}
	defer rows.Close()
	var list []registry.Invitation
	for rows.Next() {
		var i registry.Invitation
		var grants []byte
		var created, expires, used, canceled sql.NullInt64
		err := rows.Scan(&i.ID, &i.Public, &i.Approved, &i.Name, &i.Prefix, &grants, &created, &expires, &i.By, &used, &i.UsedBy, &canceled)
		if err != nil {
			return nil, wrap("catalog.Invitations", "", err)
		}
		if err := json.Unmarshal(grants, &i.Grants); err != nil {
			return nil, fault.E("catalog.Invitations", fault.Corrupt, i.ID, fmt.Errorf("the grants cannot be read: %w", err))
		}
		i.Created, i.Expires, i.Used, i.Canceled = fromMicros(created), fromMicros(expires), fromMicros(used), fromMicros(canceled)
		list = append(list, i)
	}
	return list, wrap("catalog.Invitations", "", rows.Err())
}

// DropInvitation implements registry.ChildStorage.
func (r *Registry) DropInvitation(ctx context.Context, id string) error {
	return r.drop(ctx, "catalog.DropInvitation", `DELETE FROM invitation WHERE id = ?`, id, errNoInvitation)
}
