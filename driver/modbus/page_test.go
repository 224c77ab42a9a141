package modbus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page of the documentation names every column and type that registries may have.
func TestTheReferencePageNamesEveryColumn(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "modbus-registers.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for name := range columns {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the page does not name the column %s", name)
		}
	}
	for _, name := range registryTable.Ignored {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the page does not name the column %s, which is read past", name)
		}
	}
	for _, name := range append(Types(), "bool", "string[n]", "string[n,latin1]") {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the page does not name the type %s", name)
		}
	}
	for _, name := range Orders() {
		if !strings.Contains(text, "| `"+name+"`") {
			t.Errorf("the page does not name the byte order %s", name)
		}
	}
}
