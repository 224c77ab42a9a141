package coding

import "testing"

func TestAccepts(t *testing.T) {
	for header, want := range map[string]bool{
		"":                    false,
		"gzip":                true,
		"GZip":                true,
		"deflate, gzip":       true,
		"br;q=1.0, gzip;q=.2": true,
		"gzip;q=1":            true,
		"gzip;q=0":            false,
		"gzip; q=0.000":       false,
		"x-gzip, identity":    false,
		"gzipped":             false,
	} {
		if got := Accepts(header, "gzip"); got != want {
			t.Errorf("%q accepts gzip: %v, want %v", header, got, want)
		}
	}
}
