package catalog

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"voltbus/document"
	"voltbus/fault"
)

// bound enforces the limits of a document's owner, and of all documents, after a write: it first removes the
// oldest superseded versions, and remains of deleted documents. fault.Unavailable if that is not enough; the
// transaction must then be rolled back.
func bound(ctx context.Context, tx *sql.Tx, d *document.Document) error {
	var names, bytes, all int
	err := tx.QueryRowContext(ctx, `
		SELECT (SELECT count(*) FROM document WHERE owner = ?1 AND newest = 1),
			(SELECT coalesce(sum(octets), 0) FROM document_use WHERE owner = ?1),
			(SELECT coalesce(sum(octets), 0) FROM document_use)`, d.Owner).Scan(&names, &bytes, &all)
	if err != nil {
		return err
	}
	limit := document.LimitOf(d.Owner, d.By)
	before := bytes
	if bytes > limit.Octets || names > limit.Documents || all > limit.All {
		if err := forget(ctx, tx, d.Owner, names-limit.Documents, bytes-limit.Octets*7/8); err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, `
			SELECT (SELECT count(*) FROM document WHERE owner = ?1 AND newest = 1),
				(SELECT coalesce(sum(octets), 0) FROM document_use WHERE owner = ?1)`, d.Owner).Scan(&names, &bytes)
		if err != nil {
			return err
		}
		all -= before - bytes
	}
	tooMany := func(text string, args ...any) error {
		return fault.E("catalog.PutDocument", fault.Unavailable, d.Owner, fmt.Errorf(text, args...))
	}
	switch {
	case names > limit.Documents:
		return tooMany("has %d documents, which is the most; delete some", limit.Documents)
	case bytes > limit.Octets:
		return tooMany("its documents would take more than %d MiB, which is the most; delete some, or make them shorter", limit.Octets>>20)
	case all > limit.All:
		return tooMany("all documents of this node would take more than %d MiB, which is the most; delete some", limit.All>>20)
	}
	return nil
}

// forget removes superseded versions of an owner, oldest first, until so many bytes are free, and remains of
// deleted documents if there are too many.
func forget(ctx context.Context, tx *sql.Tx, owner string, documents, bytes int) error {
	if documents > 0 {
		_, err := tx.ExecContext(ctx, `DELETE FROM document WHERE owner = ?1 AND folded IN (
			SELECT folded FROM document WHERE owner = ?1 AND newest = 1 AND deleted = 1 ORDER BY at LIMIT ?2)`, owner, max(documents, 100))
		if err != nil {
			return err
		}
	}
	if bytes <= 0 {
		return nil
	}
	rows, err := tx.QueryContext(ctx, `SELECT rowid, octet_length(text) + octet_length(note) + 256 FROM document
		WHERE owner = ? AND (newest = 0 OR deleted = 1) ORDER BY at, version`, owner)
	if err != nil {
		return err
	}
	defer rows.Close()
	var ids []string
	for bytes > 0 && rows.Next() {
		var id int64
		var size int
		if err := rows.Scan(&id, &size); err != nil {
			return err
		}
		ids = append(ids, strconv.FormatInt(id, 10))
		bytes -= size
	}
	if err := rows.Err(); err != nil || len(ids) == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM document WHERE rowid IN (SELECT value FROM json_each(?))`, "["+strings.Join(ids, ",")+"]")
	return err
}
