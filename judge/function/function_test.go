package function_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/agent/claim"
	"voltbus/agent/jail"
	"voltbus/internal/seccomp"
	"voltbus/judge"
	"voltbus/judge/function"
	"voltbus/judge/setting"
	"voltbus/point"
)

// The test program plays the process that becomes a function's.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "agent-exec" {
		var s jail.Spec
		if err := json.Unmarshal([]byte(os.Args[2]), &s); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, s.Exec(os.Environ()))
		os.Exit(125)
	}
	goleak.VerifyTestMain(m)
}

// bed is where a function is tried: its file, and a clock that stands still.
type bed struct {
	t    testing.TB
	file string
	now  time.Time
	judge.Function
}

const header = "from voltbus.rule import PASS, Reading, each, mark, rule, withhold\n"

func open(t testing.TB, source string, change func(*setting.Rule, *function.Config)) *bed {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no Python")
	}
	b := &bed{t: t, file: filepath.Join(t.TempDir(), "rule.py"), now: time.Unix(1e9, 0)}
	b.write(source)
	r := setting.Rule{Name: "r", Check: setting.Function, File: b.file, Timeout: time.Minute}
	c := function.Config{
		Exec: []string{os.Args[0], "agent-exec"}, Isolation: "auto", Users: claim.Range{First: 731000, Count: 100}, Data: t.TempDir(),
		Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&r, &c)
	}
	b.Function = function.New(c).Make(new(r.Completed()), "sink")
	t.Cleanup(b.Close)
	return b
}

func (b *bed) write(source string) {
	b.t.Helper()
	if err := os.WriteFile(b.file, []byte(header+source), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) judge(values ...float64) []judge.Opinion {
	b.t.Helper()
	readings := make([]judge.Reading, len(values))
	for i, v := range values {
		readings[i] = judge.Reading{Point: "a/b", Time: int64(i), Value: point.FloatOf(v), Quality: point.Good}
	}
	list, err := b.Judge(b.t.Context(), readings)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// fails says what is wrong unless the function fails in a way, and its readings are withheld or marked instead.
func (b *bed) fails(why string, withheld bool) {
	b.t.Helper()
	list := b.judge(1, 2)
	s := b.State()
	if !strings.Contains(s.Err, why) {
		b.t.Errorf("it says %q, want %q", s.Err, why)
	}
	if len(list) != 2 || !list[1].Unjudged || list[1].Reading != 1 || list[1].Withheld != withheld || withheld != strings.Contains(list[1].Reason, why) {
		b.t.Errorf("what becomes of the readings: %+v", list)
	}
}

const tooWarm = `
@each
def warm(reading: Reading):
    if reading.number is None:
        return mark("no number")
    if reading.number > 90:
        return withhold(f"{reading.point} at {reading.time:%S} is {reading.value}")
`

func TestAFunctionSaysWhatBecomesOfReadings(t *testing.T) {
	b := open(t, tooWarm, nil)
	list := b.judge(20, 95, math.NaN(), math.Inf(-1), 91)
	if len(list) != 4 || list[0] != (judge.Opinion{Reading: 1, Withheld: true, Reason: "a/b at 00 is 95.0"}) || list[1] != (judge.Opinion{Reading: 2, Reason: "no number"}) || list[3].Reading != 4 {
		t.Errorf("%+v, %+v", list, b.State())
	}
	many := make([]float64, 12_001)
	many[12_000] = 99
	if list := b.judge(many...); len(list) != 1 || list[0].Reading != 12_000 {
		t.Errorf("of many: %d, %+v", len(list), b.State())
	}
}

func TestEveryValueArrives(t *testing.T) {
	b := open(t, `
@rule
def show(readings):
    return [withhold(repr(tuple(r))) for r in readings]
`, nil)
	list, err := b.Judge(t.Context(), []judge.Reading{
		{Point: `a "b"`, Time: -5, Value: point.TextOf("warm\n\u2028"), Quality: point.Good},
		{Point: "c", Time: 7, Value: point.IntOf(math.MaxInt64), Quality: point.UncertainRange},
		{Point: "c", Value: point.BoolOf(true)},
		{Point: "c", Quality: point.BadTimeout},
	})
	want := []string{`('a "b"', 'warm\n\u2028', 'good', -5)`, `('c', 9223372036854775807, '` + point.UncertainRange.String() + `', 7)`, `('c', True, 'good', 0)`, `('c', None, '` + point.BadTimeout.String() + `', 0)`}
	if err != nil || len(list) != len(want) {
		t.Fatal(err, list, b.State())
	}
	for i := range want {
		if list[i].Reason != want[i] {
			t.Errorf("%s, want %s", list[i].Reason, want[i])
		}
	}
}

func TestAFunctionThatRaisesIsToldAndStartedAgain(t *testing.T) {
	b := open(t, `
@rule
def picky(readings):
    for r in readings:
        if r.value == 2:
            raise ValueError("two is too much")
        yield PASS
`, nil)
	b.fails("rule.py, line 7: ValueError: two is too much", false)
	if list := b.judge(1); len(list) != 1 || !list[0].Unjudged {
		t.Errorf("it was started again at once: %+v", list)
	}
	b.now = b.now.Add(time.Second)
	if list := b.judge(1); len(list) != 0 || b.State().Err != "" || b.State().Failures != 1 {
		t.Errorf("after a pause: %+v, %+v", list, b.State())
	}
	b.fails("two is too much", false)
	b.now = b.now.Add(time.Second)
	if list := b.judge(1); len(list) != 1 {
		t.Errorf("the pause does not grow: %+v", list)
	}
}

func TestAFunctionThatDoesNotEndIsEnded(t *testing.T) {
	b := open(t, `
@rule
def loop(readings):
    while True:
        pass
`, func(r *setting.Rule, _ *function.Config) {
		r.Timeout, r.Failure = 100*time.Millisecond, setting.Withhold
	})
	b.fails("it gave no answer in time", true)
}

func TestAFunctionThatNeedsTooMuchMemoryIsEnded(t *testing.T) {
	b := open(t, `
kept = []
@rule
def grow(readings):
    while True:
        kept.append(bytearray(1 << 20))
`, func(r *setting.Rule, _ *function.Config) { r.MemoryMiB = 64 })
	b.fails("it needs more memory than 64 MiB", false)
}

func TestAProcessThatEndsIsTold(t *testing.T) {
	b := open(t, `
import os, sys
@rule
def gone(readings):
    print("giving up")
    sys.stdout.flush()
    os._exit(3)
`, nil)
	b.fails("its process ended with exit status 3: giving up", false)
}

func TestFilesThatCannotBeUsedAreTold(t *testing.T) {
	for source, why := range map[string]string{
		"def f(:\n":                         "SyntaxError",
		"import nowhere_at_all\n":           "ModuleNotFoundError",
		"x = 1\n":                           "no function is marked",
		"@rule\ndef f(r):\n    return []\n": "it gave 0 verdicts on 2 readings",
		"@rule\ndef f(r):\n    pass\n":      "it returned None",
		"@each\ndef f(r):\n    return 7\n":  "is not a verdict",
	} {
		open(t, source, nil).fails(why, false)
	}
	b := open(t, "", func(_ *setting.Rule, c *function.Config) { c.Exec = nil })
	b.fails("cannot start processes", false)
}

func TestAChangedFileIsUsed(t *testing.T) {
	b := open(t, "@each\ndef f(r):\n    return withhold('old')\n", nil)
	before := b.judge(1)
	b.write("@each\ndef f(r):\n    return withhold('newer')\n")
	if after := b.judge(1); before[0].Reason != "old" || after[0].Reason != "newer" {
		t.Errorf("%+v, %+v", before, after)
	}
}

func TestAFunctionEndsWithWhoAsks(t *testing.T) {
	b := open(t, "@rule\ndef f(r):\n    while True:\n        pass\n", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := b.Judge(ctx, []judge.Reading{{Point: "a"}}); err == nil {
		t.Error("it answered")
	}
}

func TestAttackAFunctionReachesNothing(t *testing.T) {
	if jail.Version() == 0 || !seccomp.Available() {
		t.Skip("this kernel cannot isolate processes")
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := open(t, fmt.Sprintf(`
import os, socket
def tried(what):
    try:
        what()
        return "done"
    except OSError as e:
        return type(e).__name__
@rule
def attack(readings):
    return [withhold(" ".join(tried(t) for t in [
        lambda: socket.socket(), lambda: socket.socketpair(), lambda: open(%q), lambda: open("/tmp/x", "w"), lambda: os.listdir("/home"), lambda: open("/etc/passwd"),
        lambda: os.kill(os.getppid(), 0),
    ]))]
`, secret), nil)
	list := b.judge(1)
	if len(list) != 1 || list[0].Reason != "PermissionError PermissionError PermissionError PermissionError PermissionError PermissionError PermissionError" {
		t.Errorf("%+v, %+v", list, b.State())
	}
}

// Readings judged by a function, one at a time and all at once.
func BenchmarkFunction(b *testing.B) {
	for name, source := range map[string]string{
		"all":  "@rule\ndef f(readings):\n    return [withhold('x') if r.value > 1e9 else PASS for r in readings]\n",
		"each": "@each\ndef f(r):\n    return withhold('x') if r.value > 1e9 else PASS\n",
	} {
		b.Run(name, func(b *testing.B) {
			bed := open(b, source, nil)
			readings := make([]judge.Reading, 5000)
			for i := range readings {
				readings[i] = judge.Reading{Point: point.Path(fmt.Sprintf("site/building/device-%d/temp", i%500)), Time: int64(i), Value: point.FloatOf(float64(i) / 7)}
			}
			for b.Loop() {
				if list, err := bed.Judge(b.Context(), readings); err != nil || len(list) != 0 {
					b.Fatal(err, list, bed.State())
				}
			}
			b.ReportMetric(float64(b.N*len(readings))/b.Elapsed().Seconds(), "readings/s")
		})
	}
}
