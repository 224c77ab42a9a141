package account_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/lab/account"
)

// kept is a book of one writer who sent ten samples: 0–5 acknowledged, 6–7 refused, 8–9 unanswered.
func kept() *account.Ledger {
	b := account.NewBook()
	b.Sent(0, 0, 10)
	b.Acknowledged(0, 0, 6)
	b.Refused(0, 6, 2)
	return b
}

func TestAnAccountFindsWhatIsWrong(t *testing.T) {
	whole := account.Balance{Sent: 10, Acknowledged: 6, Refused: 2, Unanswered: 2, Found: 6}
	with := func(change func(*account.Balance)) account.Balance {
		b := whole
		change(&b)
		return b
	}
	for name, tt := range map[string]struct {
		rows []int64
		want account.Balance
		says string
	}{
		"all is there":            {[]int64{0, 1, 2, 3, 4, 5}, whole, "once and in order"},
		"an unanswered one too":   {[]int64{0, 1, 2, 3, 4, 5, 8}, with(func(b *account.Balance) { b.Found = 7 }), "once and in order"},
		"one is lost":             {[]int64{0, 1, 2, 4, 5}, with(func(b *account.Balance) { b.Found, b.Lost = 5, 1 }), "1 acknowledged samples are lost"},
		"one stands twice":        {[]int64{0, 1, 2, 2, 3, 4, 5}, with(func(b *account.Balance) { b.Repeated = 1 }), "1 rows stand twice"},
		"one is out of order":     {[]int64{0, 1, 3, 2, 4, 5}, with(func(b *account.Balance) { b.Reordered = 1 }), "1 rows are out of order"},
		"a refused one is stored": {[]int64{0, 1, 2, 3, 4, 5, 6}, with(func(b *account.Balance) { b.Found, b.Foreign = 7, 1 }), "1 rows were never accepted"},
		"one was never sent":      {[]int64{0, 1, 2, 3, 4, 5, 99}, with(func(b *account.Balance) { b.Foreign = 1 }), "1 rows were never accepted"},
		"nothing is there":        {nil, with(func(b *account.Balance) { b.Found, b.Lost = 0, 6 }), "6 acknowledged samples are lost"},
	} {
		t.Run(name, func(t *testing.T) {
			audit := kept().Audit()
			for _, n := range tt.rows {
				audit.Row(0, n)
			}
			got := audit.Balance()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(got.Words(), tt.says) {
				t.Errorf("it says %q, want %q", got.Words(), tt.says)
			}
			if got.Balanced() != strings.Contains(tt.says, "once and in order") {
				t.Errorf("balanced is %v", got.Balanced())
			}
		})
	}
}

func TestRowsOfAnUnknownWriterAreForeign(t *testing.T) {
	audit := kept().Audit()
	audit.Row(7, 0)
	if got := audit.Balance().Foreign; got != 1 {
		t.Errorf("%d foreign rows, want 1", got)
	}
}

func TestASecondAuditForgetsTheFirst(t *testing.T) {
	book := kept()
	for range 2 {
		audit := book.Audit()
		for n := range int64(6) {
			audit.Row(0, n)
		}
		if b := audit.Balance(); !b.Balanced() {
			t.Fatal(b.Words())
		}
	}
}

// Whatever is sent, dropped and repeated, the account says how much of each.
func TestInjectedLossAndRepeatsAreCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		book := account.NewBook()
		n := rapid.IntRange(1, 200).Draw(t, "samples")
		book.Sent(3, 0, n)
		book.Acknowledged(3, 0, n)
		audit := book.Audit()
		var lost, repeated uint64
		for i := range int64(n) {
			switch rapid.IntRange(0, 9).Draw(t, "fate") {
			case 0:
				lost++
			case 1:
				repeated++
				audit.Row(3, i)
				audit.Row(3, i)
			default:
				audit.Row(3, i)
			}
		}
		b := audit.Balance()
		if b.Lost != lost || b.Repeated != repeated || b.Found != uint64(n)-lost {
			t.Fatalf("lost %d and repeated %d, the account says %+v", lost, repeated, b)
		}
	})
}
