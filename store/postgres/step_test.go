package postgres_test

import (
	"testing"

	"voltbus/point"
)

func TestTablesOfTheVersionBeforeAreBroughtUpAndGoOn(t *testing.T) {
	o := fresh(t)
	s := open(t, o)
	if _, err := s.Append(t.Context(), []*point.Block{block("edge-1", 1, 5)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	server.Query(t, "DROP TABLE "+o.Schema+".way; ALTER TABLE "+o.Schema+".schema_version DROP COLUMN id")
	server.Query(t, "ALTER TABLE "+o.Schema+".position DROP COLUMN left_out; ALTER TABLE "+o.Schema+".writer DROP COLUMN overwritten")
	server.Query(t, "UPDATE "+o.Schema+".schema_version SET version = 1")
	s = open(t, o)
	run := block("edge-1", 3, 5)
	run.First, run.Before, run.Left = 2, 5, 7
	if _, err := s.Append(t.Context(), []*point.Block{block("edge-1", 1, 5), run}); err != nil {
		t.Fatal(err)
	}
	all, err := s.Positions(t.Context())
	if p := all["edge-1"]; err != nil || p.Sequence != 3 || p.Samples != 17 || p.Stored != 10 || p.Repeated != 5 || p.Left != 7 {
		t.Errorf("the position is %+v, %v", p, err)
	}
	if ways, err := s.Ways(t.Context()); err != nil || ways["edge-1"].Sequence != 3 || ways["edge-1"].Samples != 17 {
		t.Errorf("the way is %+v, %v", ways, err)
	}
}
