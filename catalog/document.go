package catalog

import (
	"context"
	"database/sql"
	"errors"

	"voltbus/document"
	"voltbus/fault"
)

// DocumentStore keeps the versions of documents, and their schemas.
type DocumentStore struct{ *file }

var _ document.Storage = (*DocumentStore)(nil)

// PutDocument implements document.Storage.
func (s *DocumentStore) PutDocument(ctx context.Context, d *document.Document, behind int) (int, error) {
	k := d.Fold()
	err := s.write(ctx, func(tx *sql.Tx) error {
		var newest int
		err := tx.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM document WHERE owner = ? AND folded = ?`, k.Owner, k.Name).Scan(&newest)
		switch {
		case err != nil:
			return err
		case newest != behind:
			return fault.E("catalog.PutDocument", fault.Conflict, d.String(), errors.New("somebody else changed it; read it again"))
		}
		if _, err := tx.ExecContext(ctx, `UPDATE document SET newest = 0 WHERE owner = ? AND folded = ? AND newest = 1`, k.Owner, k.Name); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO document (owner, folded, version, name, type, text, by, at, note, deleted, newest)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`,
			k.Owner, k.Name, newest+1, d.Name, string(d.Type), d.Text, d.By, micros(d.At), d.Note, d.Deleted)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM document WHERE owner = ? AND folded = ? AND version <= ?`,
			k.Owner, k.Name, newest+1-document.MaxVersions)
		if err != nil || d.Deleted {
			return err
		}
		return bound(ctx, tx, d)
	})
	return behind + 1, wrap("catalog.PutDocument", d.String(), err)
}

// Document implements document.Storage.
func (s *DocumentStore) Document(ctx context.Context, k document.Key, version int) (document.Document, error) {
	where, args := `owner = ? AND folded = ? AND newest = 1`, []any{k.Owner, k.Fold().Name}
	if version > 0 {
		where, args = `owner = ? AND folded = ? AND version = ?`, append(args, version)
	}
	list, err := s.documents(ctx, `text`, where, args...)
	if err == nil && len(list) == 0 {
		err = fault.E("catalog.Document", fault.NotFound, k.String(), errors.New("there is no such document, or version of it"))
	}
	if err != nil {
		return document.Document{}, err
	}
	return list[0], nil
}

// Documents implements document.Storage.
func (s *DocumentStore) Documents(ctx context.Context, owner string) ([]document.Document, error) {
	return s.documents(ctx, `''`, `newest = 1 AND deleted = 0 AND (owner = ?1 OR ?1 = '') ORDER BY owner, folded`, owner)
}

// DocumentHistory implements document.Storage.
func (s *DocumentStore) DocumentHistory(ctx context.Context, k document.Key) ([]document.Document, error) {
	return s.documents(ctx, `''`, `owner = ? AND folded = ? ORDER BY version DESC`, k.Owner, k.Fold().Name)
}

// Referring implements document.Storage.
func (s *DocumentStore) Referring(ctx context.Context, owner string) ([]document.Document, error) {
	return s.documents(ctx, `text`, `newest = 1 AND deleted = 0 AND instr(text, 'config:') > 0 AND (owner = ?1 OR ?1 = '') ORDER BY owner, folded`, owner)
}

func (s *DocumentStore) documents(ctx context.Context, text, where string, args ...any) ([]document.Document, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT owner, name, type, `+text+`, version, by, at, note, deleted FROM document WHERE `+where, args...)
	if err != nil {
		return nil, wrap("catalog.Documents", File, err)
	}
	defer rows.Close()
	var list []document.Document
	for rows.Next() {
		var d document.Document
		var at sql.NullInt64
		if err := rows.Scan(&d.Owner, &d.Name, &d.Type, &d.Text, &d.Version, &d.By, &at, &d.Note, &d.Deleted); err != nil {
			return nil, wrap("catalog.Documents", File, err)
		}
		d.At = fromMicros(at)
		list = append(list, d)
	}
	return list, wrap("catalog.Documents", File, rows.Err())
}

// PutDocumentSchema implements document.Storage.
func (s *DocumentStore) PutDocumentSchema(ctx context.Context, k document.Key, schema string) error {
	folded := k.Fold().Name
	if schema == "" {
		return s.exec(ctx, "catalog.PutDocumentSchema", k.String(), `DELETE FROM document_schema WHERE owner = ? AND folded = ?`, k.Owner, folded)
	}
	return s.exec(ctx, "catalog.PutDocumentSchema", k.String(), `
		INSERT INTO document_schema (owner, folded, text) VALUES (?, ?, ?)
		ON CONFLICT (owner, folded) DO UPDATE SET text = excluded.text`, k.Owner, folded, schema)
}

// DocumentSchema implements document.Storage.
func (s *DocumentStore) DocumentSchema(ctx context.Context, k document.Key) (string, error) {
	var text string
	err := s.db.QueryRowContext(ctx, `SELECT text FROM document_schema WHERE owner = ? AND folded = ?`, k.Owner, k.Fold().Name).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return text, wrap("catalog.DocumentSchema", k.String(), err)
}
