package document_test

import (
	"fmt"
	"strings"
	"testing"

	"voltbus/document"
	"voltbus/fault"
)

// write has somebody write a document.
func (d *desk) write(owner, name, by, text string) error {
	_, err := d.Set(d.t.Context(), document.Document{Key: key(owner, name), Type: document.Text, Text: text, By: by}, document.AnyVersion)
	return err
}

const large = document.MaxText - 4 // and a number

func TestAttackAnAgentFillsTheDiskWithDocuments(t *testing.T) {
	d := newDesk(t)
	const agent, by = "agent/evil", "agent:evil"
	limit := document.LimitOf(agent, by)
	for i := range limit.Octets >> 20 * 2 { // versions of one document: the oldest go
		must(t, d.write(agent, "one", by, fmt.Sprintf("%4d", i)+strings.Repeat("x", large)))
	}
	history, err := d.History(t.Context(), key(agent, "one"))
	must(t, err)
	if n := len(history); n<<20 > limit.Octets || n < 10 {
		t.Errorf("%d versions of 1 MiB are kept, of %d MiB that an agent may have", n, limit.Octets>>20)
	}
	var refused error
	written := 1
	for ; refused == nil && written <= limit.Octets>>20; written++ {
		refused = d.write(agent, fmt.Sprint("other", written), by, strings.Repeat("x", document.MaxText))
	}
	if !fault.Is(refused, fault.Unavailable) || !strings.Contains(refused.Error(), "delete some") || written < limit.Octets>>21 {
		t.Errorf("after %d documents: %v", written, refused)
	}
	must(t, d.write(agent, "config", "person:ada", strings.Repeat("x", document.MaxText))) // a person finds room
	must(t, d.write("agent/good", "config", "agent:good", "x"))
	must(t, d.Delete(t.Context(), key(agent, "other1"), by, "", document.AnyVersion))
	must(t, d.write(agent, "small", by, "x"))
}

func TestAttackAnAgentMakesAndDeletesDocumentsWithoutEnd(t *testing.T) {
	d := newDesk(t)
	const agent, by = "agent/evil", "agent:evil"
	limit := document.LimitOf(agent, by)
	for i := range limit.Documents + 200 {
		must(t, d.write(agent, fmt.Sprint(i), by, "x"))
		must(t, d.Delete(t.Context(), key(agent, fmt.Sprint(i)), by, "", document.AnyVersion))
	}
	for i := range limit.Documents {
		must(t, d.write(agent, fmt.Sprint("new", i), by, "x"))
	}
	if err := d.write(agent, "one more", by, "x"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "has 500 documents, which is the most") {
		t.Errorf("one more: %v", err)
	}
	if _, err := d.History(t.Context(), key(agent, "0")); !fault.Is(err, fault.NotFound) {
		t.Errorf("what is left of a deleted document stays for ever: %v", err)
	}
}
